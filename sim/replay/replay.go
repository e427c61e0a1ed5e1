package replay

import (
	"errors"
	"fmt"
	"io"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// Boot builds a node's lanes from the configuration that was recorded with it.
type Boot func(config []byte) (node.Spec, error)

// Result is what a replay did.
type Result struct {
	Lives     int    // of nodes
	Callbacks uint64 // replayed
	Messages  uint64 // among them: requests and responses received
	Frames    uint64 // of these messages, bytes
	// Difference is the first one, nil if there is none.
	Difference *Difference
	// Notes say, a line each, which lives are not recorded to their end and how
	// lives ended in a panic.
	Notes []string
}

// Difference is a step that came out differently.
type Difference struct {
	Node     kafka.BrokerID
	Life     int // in the recording, from 1
	Lane     node.Lane
	Callback uint64 // of the lane, from 1; 0 if it is about the end of the life
	Input    recording.InputKind
	Recorded string
	Replayed string
}

// String says it in one line.
func (d *Difference) String() string {
	if d.Callback == 0 {
		return fmt.Sprintf("node %d (life %d of the recording): recorded %s; replayed %s", d.Node, d.Life, d.Recorded, d.Replayed)
	}
	return fmt.Sprintf("node %d (life %d of the recording), %v, callback %d (%v): recorded %s; replayed %s",
		d.Node, d.Life, d.Lane, d.Callback, d.Input, d.Recorded, d.Replayed)
}

// Run replays a recording up to its end or to the first difference. An error that
// wraps recording.ErrFormat is about the file.
func Run(in io.Reader, boot Boot) (Result, error) {
	r, err := recording.NewReader(in)
	if err != nil {
		return Result{}, err
	}
	p := &replay{boot: boot}
	for p.result.Difference == nil {
		c, err := r.Next()
		if errors.Is(err, recording.ErrCut) {
			p.note("%v", err)
			break
		}
		if err == io.EOF {
			break
		}
		if err == nil {
			err = p.take(c)
		}
		if err != nil {
			return p.result, err
		}
	}
	p.unfinished()
	return p.result, nil
}

// replay is a replay under way.
type replay struct {
	boot   Boot
	lives  []*life
	result Result
}

func (p *replay) note(format string, v ...any) {
	p.result.Notes = append(p.result.Notes, fmt.Sprintf(format, v...))
}

// take handles a chunk.
func (p *replay) take(c recording.Chunk) error {
	if c.Kind == recording.NodeChunk {
		return p.begin(c)
	}
	if c.Node < 0 || c.Node >= len(p.lives) || p.lives[c.Node].ended {
		return fmt.Errorf("%w: a chunk of life %d, which has not begun or is over", recording.ErrFormat, c.Node+1)
	}
	l := p.lives[c.Node]
	switch c.Kind {
	case recording.PathChunk:
		return l.path(c.Name, c.Number)
	case recording.BytesChunk:
		return l.bytes(c.Name, c.Number, c.Data)
	case recording.LaneChunk:
		return l.feed(c.Lane, c.Data)
	}
	return l.end(c.Name)
}

func (p *replay) begin(c recording.Chunk) error {
	if c.Node != len(p.lives) {
		return fmt.Errorf("%w: life %d begins after life %d", recording.ErrFormat, c.Node+1, len(p.lives))
	}
	spec, err := p.boot(c.Data)
	if err != nil {
		return fmt.Errorf("%w: the configuration of life %d: %w", recording.ErrFormat, c.Node+1, err)
	}
	p.lives = append(p.lives, newLife(p, spec, len(p.lives)+1))
	p.result.Lives++
	return nil
}

// unfinished notes the lives whose end is not recorded.
func (p *replay) unfinished() {
	for _, l := range p.lives {
		if l.ended || p.result.Difference != nil {
			continue
		}
		done, waiting := l.counts()
		note := fmt.Sprintf("node %d (life %d) is not recorded to its end: replayed up to its last whole callbacks, %d", l.id, l.number, done)
		if waiting {
			note += "; what followed on posts that are lost was left out"
		}
		p.note("%s", note)
	}
}
