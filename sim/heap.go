package sim

// kind is what an entry of the queue does.
type kind uint8

const (
	evWake   kind = 1 + iota // a lane runs its next callback
	evPump                   // the network moves the head of pipe x
	evExpire                 // the dial of connection x has waited long enough
	evWrite                  // slot x of writes goes to its socket
	evVerify                 // slot x of writes must not have changed
	evPost                   // slot x of posts reaches its lane
	evTimer                  // timer x is due
	evSync                   // slot x of syncs is complete
	evEmit                   // slot x of emits joins the trace
	evDie                    // the doom of node `lane` comes true
	evBoot                   // node `lane` boots, if it is down
)

var kindNames = [...]string{evWake: "wake", evPump: "pump", evExpire: "expire", evWrite: "write", evVerify: "verify",
	evPost: "post", evTimer: "timer", evSync: "sync", evEmit: "emit", evDie: "die"}

// String names the kind as journals do.
func (k kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "checkpoint"
}

// entry is one World event: 32 bytes without a pointer, so that the queue costs
// the garbage collector nothing.
type entry struct {
	at   int64  // ns
	seq  uint64 // order of making, unique
	x    uint64 // what the kind says
	life uint32 // of the node that it belongs to; 0: of nobody
	lane uint16 // index in World.lanes; for evDie and evBoot in World.machines
	kind kind
}

func (e *entry) before(o *entry) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// queue is a 4-ary heap: half the levels of a binary one, and the four children
// share two cache lines.
type queue struct {
	heap []entry
}

func (q *queue) push(e entry) {
	q.heap = append(q.heap, e)
	q.up(len(q.heap) - 1)
}

func (q *queue) pop() entry {
	h := q.heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	q.heap = h[:last]
	if last > 1 {
		q.down(0)
	}
	return top
}

func (q *queue) up(i int) {
	h := q.heap
	e := h[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *queue) down(i int) {
	h := q.heap
	e := h[i]
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}

// sweep drops the entries that keep refuses. The order of the rest is total, so
// rebuilding the heap changes nothing that anyone sees.
func (q *queue) sweep(keep func(*entry) bool) {
	kept := q.heap[:0]
	for i := range q.heap {
		if keep(&q.heap[i]) {
			kept = append(kept, q.heap[i])
		}
	}
	q.heap = kept
	for i := (len(kept) - 2) / 4; i >= 0 && len(kept) > 1; i-- {
		q.down(i)
	}
}
