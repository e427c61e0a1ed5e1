package replay

import (
	"fmt"

	"tidemark/disk"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// lane is one lane of a life.
type lane struct {
	life    *life
	id      node.Lane
	process node.Process
	disk    bool
	fs      disk.FS // nil if the lane has none
	tape    *recording.Tape

	queue   [][]byte           // callbacks that were not taken yet
	head    recording.Callback // the next one, if pending
	pending bool
	over    bool                // the node died in a callback of the lane
	posts   map[node.Lane][]any // made and not delivered, by sender
	taken   [256]uint64         // posts delivered, by sender
	timers  uint64              // set so far
	conns   node.ConnID         // so far
	running *recording.Callback // whose turn it is

	callbacks uint64
}

// open readies the lane for its Start.
func (n *lane) open() {
	if n.disk {
		n.fs = &files{n, n.life.disk.View(n.id.String(), (*host)(n.life))}
	}
	n.tape = recording.NewReplay((*env)(n), func(recorded, replayed string) {
		panic(stop{&mismatch{recorded, replayed}})
	})
}

// run runs callbacks until the next one must wait; moved tells whether any ran.
func (n *lane) run() (moved bool, err error) {
	for {
		if err := n.peek(); err != nil {
			return moved, err
		}
		if !n.pending || !n.ready() {
			return moved, nil
		}
		n.pending = false
		moved = true
		if err := n.callback(&n.head); err != nil || n.life.p.result.Difference != nil {
			return moved, err
		}
	}
}

// peek takes the next callback off the queue.
func (n *lane) peek() error {
	for !n.pending && len(n.queue) > 0 {
		if len(n.queue[0]) == 0 {
			n.queue = n.queue[1:]
			continue
		}
		var err error
		if n.head, n.queue[0], err = recording.NextCallback(n.queue[0]); err != nil {
			return fmt.Errorf("callback %d of %v of node %d: %w", n.callbacks+1, n.id, n.life.id, err)
		}
		if n.over || (n.head.Kind == recording.Start) != (n.callbacks == 0) {
			return fmt.Errorf("%w: callback %d of %v of node %d cannot be where it is", recording.ErrFormat, n.callbacks+1, n.id, n.life.id)
		}
		n.pending = true
	}
	return nil
}

// ready tells whether all that the callback depends on has happened.
func (n *lane) ready() bool {
	switch c := &n.head; {
	case c.Kind == recording.Start:
		return n.life.lanes[n.life.started] == n
	case c.Kind == recording.Posted && c.From != node.Outside:
		return len(n.posts[c.From]) > 0
	}
	return true
}

// callback runs one callback and counts it.
func (n *lane) callback(c *recording.Callback) error {
	n.callbacks++
	n.life.p.result.Callbacks++
	if c.Kind == recording.Posted {
		if err := n.deliver(c); err != nil {
			return err
		}
	}
	n.running = c
	n.tape.Expect(c)
	end := n.call(c)
	n.running = nil
	switch rest := n.tape.Rest(); {
	case end.mismatch != nil:
		n.differ(end.mismatch.recorded, end.mismatch.replayed)
	case rest != "":
		n.differ(rest, "the end of the callback")
	case end.died != c.Cut:
		n.differ(ending(c.Cut), ending(end.died))
	}
	n.over = end.died
	if c.Kind == recording.Start {
		n.life.started++
	}
	return nil
}

func ending(died bool) string {
	if died {
		return "death before its next step"
	}
	return "the end of the callback"
}

// deliver takes the post that a callback is about.
func (n *lane) deliver(c *recording.Callback) error {
	n.taken[c.From]++
	if c.Ordinal != n.taken[c.From] {
		return fmt.Errorf("%w: %v of node %d is given post %d of %v as its %dth", recording.ErrFormat, n.id, n.life.id, c.Ordinal, c.From, n.taken[c.From])
	}
	if c.From != node.Outside {
		made := n.posts[c.From]
		c.Value, made[0] = made[0], nil
		n.posts[c.From] = made[1:]
	}
	return nil
}

// differ notes the difference that ends the replay.
func (n *lane) differ(recorded, replayed string) {
	n.life.p.result.Difference = &Difference{Node: n.life.id, Life: n.life.number, Lane: n.id, Callback: n.callbacks,
		Input: n.head.Kind, Recorded: recorded, Replayed: replayed}
}

// stop unwinds a callback: at a step that differs, or at the death of the node.
type stop struct{ mismatch *mismatch }

type mismatch struct{ recorded, replayed string }

// finish is how a callback ended.
type finish struct {
	mismatch *mismatch
	died     bool
}

// contain is the one place that recovers. A panic of the process is what it did
// in real mode too, if the recording ends there.
func (n *lane) contain(end *finish) {
	r := recover()
	if r == nil {
		return
	}
	if s, ok := r.(stop); ok {
		*end = finish{mismatch: s.mismatch, died: s.mismatch == nil}
		return
	}
	text := fmt.Sprintf("panic %q", fmt.Sprint(r))
	if n.running.Cut && !n.tape.Left() {
		n.life.p.note("node %d (life %d), %v, callback %d ends in the %s", n.life.id, n.life.number, n.id, n.callbacks, text)
		end.died = true
		return
	}
	end.mismatch = &mismatch{n.tape.Expected(), text}
}

func (n *lane) call(c *recording.Callback) (end finish) {
	defer n.contain(&end)
	switch c.Kind {
	case recording.Start:
		n.process.Start(n.tape)
	case recording.Receive:
		n.life.p.result.Messages++
		n.life.p.result.Frames += uint64(len(c.Frame))
		n.conns = max(n.conns, c.Conn)
		n.process.Receive(c.Conn, c.Message)
	case recording.Posted:
		n.process.Posted(c.From, c.Value)
	case recording.Fire:
		n.process.Fire(c.Timer)
	case recording.Synced:
		n.process.Synced(c.Token, c.Fault.Err())
	case recording.Disconnected:
		n.process.Disconnected(c.Conn)
	}
	return end
}
