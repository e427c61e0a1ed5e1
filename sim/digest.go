package sim

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Entry is one line of a journal: a World event and the run's digest after it.
// The first line in which two journals differ is where two runs parted.
type Entry struct {
	Event uint64 // its number, from 1
	At    int64  // ns
	Kind  string
	Node  kafka.BrokerID // -1: of no node
	Lane  string
	X     uint64 // what the kind says
	Sum   uint64
}

// String writes the entry as one line.
func (e Entry) String() string {
	return fmt.Sprintf("%d %dns %s %d/%s %#x %016x", e.Event, e.At, e.Kind, e.Node, e.Lane, e.X, e.Sum)
}

func (w *World) journal(e *entry) {
	j := Entry{Event: w.stats.Events, At: w.now, Kind: e.kind.String(), Node: kafka.NoBroker, X: e.x, Sum: w.digest.Sum()}
	switch e.kind {
	case evPump, evExpire:
	case evDie:
		j.Node = w.machines[e.lane].cfg.ID
	default:
		if int(e.lane) < len(w.lanes) {
			j.Node, j.Lane = w.lanes[e.lane].m.cfg.ID, w.lanes[e.lane].id.String()
		}
	}
	w.opts.Journal(j)
}

// Digest is the rolling digest of everything that has happened.
func (w *World) Digest() uint64 { return w.digest.Sum() }

// Checkpoint takes the state into the digest: disks (durable and cached), timers,
// mail, messages on their way. What did not show in an event yet shows here.
func (w *World) Checkpoint() {
	for _, m := range w.machines {
		w.digest.Uint64(uint64(uint32(m.cfg.ID))<<32 | uint64(m.life))
		w.digest.Uint64(flag(m.alive) | flag(m.paused)<<1)
		w.digestLanes(m)
		if m.disk != nil {
			m.disk.Digest(w.digest.Bytes)
			w.digestRecords(m)
		}
	}
	w.digestQueue()
	w.net.Digest(w.digest.Uint64, w.digest.Bytes)
	if w.opts.Journal != nil {
		w.journal(&entry{lane: 1<<16 - 1})
	}
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (w *World) digestLanes(m *machine) {
	for _, l := range m.lanes {
		w.digest.Uint64(uint64(l.id))
		w.digest.Uint64(uint64(l.busy))
		w.digest.Uint64(uint64(l.mailbox.len()))
		for i := l.mailbox.head; i < len(l.mailbox.items); i++ {
			w.digest.Uint64(uint64(l.mailbox.items[i].kind))
			w.digest.Uint64(l.mailbox.items[i].x)
		}
	}
}

// digestQueue takes in what is scheduled, in its order.
func (w *World) digestQueue() {
	pending := slices.Clone(w.queue.heap)
	slices.SortStableFunc(pending, func(a, b entry) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	for i := range pending {
		e := &pending[i]
		if w.isVoid(e) {
			continue
		}
		w.digest.Uint64(uint64(e.at))
		w.digest.Uint64(uint64(e.kind) | uint64(e.lane)<<8 | uint64(e.life)<<32)
		w.digest.Uint64(e.x)
	}
}

// digestRecords takes in what the bytes of a machine's logs mean, on both sides
// of the page cache.
func (w *World) digestRecords(m *machine) {
	for _, side := range [...]faultdisk.Side{faultdisk.Durable, faultdisk.Cached} {
		for _, path := range m.disk.Paths(side) {
			if !strings.HasSuffix(path, logSuffix) {
				continue
			}
			w.digest.String(path)
			readSegment(m.disk, side, path, func(b record.Batch) {
				w.digest.Uint64(uint64(b.BaseOffset()))
				w.digest.Uint64(uint64(b.LeaderEpoch()))
				_ = w.inflater.Each(b, func(r record.Record) error {
					w.digest.Uint64(uint64(r.Offset))
					w.digest.Bytes(r.Key)
					w.digest.Bytes(r.Value)
					return nil
				})
			})
		}
	}
}
