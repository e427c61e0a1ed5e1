package replay

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// life is one life of a node.
type life struct {
	p       *replay
	id      kafka.BrokerID
	number  int // in the recording, from 1
	disk    *simdisk.Disk
	seed    disk.FS // through which the directory is filled; nil once lanes run
	lanes   []*lane // in the order of their Start
	byID    [256]*lane
	started int      // lanes
	exits   []string // reasons that lanes gave to Exit
	ended   bool
}

func newLife(p *replay, spec node.Spec, number int) *life {
	l := &life{p: p, id: spec.ID, number: number, disk: simdisk.New()}
	l.disk.Share(spec.LogDirs)
	l.seed = l.disk.View("directory", (*host)(l))
	for _, s := range spec.Lanes {
		n := &lane{life: l, id: s.Lane, process: s.Process, posts: map[node.Lane][]any{}}
		l.lanes = append(l.lanes, n)
		l.byID[s.Lane] = n
		n.disk = s.Disk
	}
	return l
}

// path makes a path that the directory had before the life.
func (l *life) path(name string, size int64) error {
	if l.seed == nil {
		return fmt.Errorf("%w: path %q after callbacks", recording.ErrFormat, name)
	}
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		return badPath(name, l.seed.Mkdir(dir))
	}
	f, err := l.seed.Create(name)
	if err == nil {
		err = f.Truncate(size)
		f.Close()
	}
	return badPath(name, err)
}

// bytes fills a part of a file of the directory.
func (l *life) bytes(name string, off int64, data []byte) error {
	if l.seed == nil {
		return fmt.Errorf("%w: bytes of %q after callbacks", recording.ErrFormat, name)
	}
	f, err := l.seed.Open(name)
	if err == nil {
		_, err = f.WriteAt(data, off)
		f.Sync(1)
		f.Close()
	}
	return badPath(name, err)
}

func badPath(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%w: path %q of the directory: %w", recording.ErrFormat, name, err)
	}
	return nil
}

// open ends the filling of the directory: lanes own its paths from now on.
func (l *life) open() {
	if l.seed == nil {
		return
	}
	l.seed = nil
	l.disk.Kill()
	for _, n := range l.lanes {
		n.open()
	}
}

// feed gives a lane its next callbacks and runs what can run.
func (l *life) feed(id node.Lane, data []byte) error {
	n := l.byID[id]
	if n == nil {
		return fmt.Errorf("%w: node %d has no lane %v", recording.ErrFormat, l.id, id)
	}
	l.open()
	n.queue = append(n.queue, data)
	return l.run()
}

// run runs callbacks until every lane waits.
func (l *life) run() error {
	for again := true; again; {
		again = false
		for _, n := range l.lanes {
			moved, err := n.run()
			if err != nil || l.p.result.Difference != nil {
				return err
			}
			again = again || moved
		}
	}
	return nil
}

// end closes a life that was recorded whole: nothing may be left of it, and the
// lane that ended it must have done so again.
func (l *life) end(reason string) error {
	l.ended = true
	for _, n := range l.lanes {
		if n.pending {
			n.differ("delivers post "+fmt.Sprint(n.head.Ordinal)+" of "+n.head.From.String(), "nobody made it")
			return nil
		}
	}
	if reason != "" && !slices.Contains(l.exits, reason) {
		l.p.result.Difference = &Difference{Node: l.id, Life: l.number, Recorded: fmt.Sprintf("the end %q", reason), Replayed: "no lane that ends it"}
	}
	*l = life{p: l.p, id: l.id, number: l.number, ended: true}
	return nil
}

// counts tells how many callbacks ran, and whether others wait.
func (l *life) counts() (done uint64, waiting bool) {
	for _, n := range l.lanes {
		done += n.callbacks
		waiting = waiting || n.pending
	}
	return done, waiting
}

// host is a life as its disk sees it: time costs nothing, a sync is done at once
// because when its end was delivered is an input.
type host life

// Now implements simdisk.Host.
func (h *host) Now() int64 { return 0 }

// Charge implements simdisk.Host.
func (h *host) Charge(int64) {}

// Step implements simdisk.Host.
func (h *host) Step() {}

// Complete implements simdisk.Host.
func (h *host) Complete(_ disk.Token, at int64, s simdisk.Sync) { h.disk.Finish(s, at) }
