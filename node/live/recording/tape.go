package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/net/wire"
	"tidemark/node"
)

// Tape is a lane's Env and writes down what the lane does with it. It belongs to
// its lane.
type Tape struct {
	env   node.Env
	fs    *tapeFS // nil if the lane has none
	step  Step    // the one that is written
	files uint64  // opened so far
	posts [256]uint64

	buf  []byte // callbacks; when replaying, the step just written
	from int    // of the open callback in buf
	open bool

	replaying bool
	expected  []byte // steps that were recorded and did not come yet
	diverge   func(recorded, replayed string)
	next      Step

	outline []byte
	holes   []wire.Hole
	chunk   []byte
}

// NewTape records what a lane does with env.
func NewTape(env node.Env) *Tape {
	t := &Tape{env: env}
	if fs := env.FS(); fs != nil {
		t.fs = &tapeFS{t, fs}
	}
	return t
}

// NewReplay compares what a lane does with env with what it did. diverge is told
// of the first step that differs and must not return.
func NewReplay(env node.Env, diverge func(recorded, replayed string)) *Tape {
	t := NewTape(env)
	t.replaying, t.diverge = true, diverge
	return t
}

// Begin opens a callback.
func (t *Tape) Begin(in Input) {
	if in.Kind == Posted {
		t.posts[in.From]++
		in.Ordinal = t.posts[in.From]
	}
	t.from, t.open = len(t.buf), true
	t.buf = append(t.buf, 0, 0, 0, 0)
	t.buf = appendInput(t.buf, &in)
}

// End closes it. After the lane's death, it closes what was open as cut short.
func (t *Tape) End(cut bool) {
	if !t.open {
		return
	}
	t.open = false
	callback := t.buf[t.from+4:]
	binary.BigEndian.PutUint32(t.buf[t.from:], uint32(len(callback)))
	if cut {
		callback[0] |= cutShort
	}
}

// Recorded is what was recorded since Taken, to be written as a LaneChunk.
func (t *Tape) Recorded() []byte { return t.buf }

// keep is how much memory a tape keeps for what it records, bytes.
const keep = 1 << 20

// Taken forgets what was recorded. No callback may be open.
func (t *Tape) Taken() {
	t.buf = t.buf[:0]
	if cap(t.buf) > keep {
		t.buf = nil
	}
}

// Expect readies a replaying tape for a callback.
func (t *Tape) Expect(c *Callback) { t.expected = c.Steps }

// Rest tells what the recorded callback did that did not come; "" if it did
// nothing more.
func (t *Tape) Rest() string {
	if len(t.expected) == 0 {
		return ""
	}
	return t.Expected()
}

// Expected is the recorded step whose turn it is, in words.
func (t *Tape) Expected() string {
	if len(t.expected) == 0 {
		return "nothing more"
	}
	var s Step
	if _, ok := parseStep(t.expected, &s); !ok {
		return "nothing that can be read"
	}
	return s.String()
}

// Next is the recorded step whose turn it is, for the driver that answers as it
// was answered; false if there is none of that kind. It is valid until the step
// is done.
func (t *Tape) Next(kind StepKind) (*Step, bool) {
	_, ok := parseStep(t.expected, &t.next)
	return &t.next, ok && t.next.Kind == kind
}

// Left tells whether recorded steps are left.
func (t *Tape) Left() bool { return len(t.expected) > 0 }

// begin starts to write a step.
func (t *Tape) begin(kind StepKind, numbers ...uint64) *Step {
	t.step = Step{Kind: kind, Numbers: append(t.step.Numbers[:0], numbers...), Strings: t.step.Strings[:0]}
	return &t.step
}

// done writes the step, or compares it.
func (t *Tape) done() {
	if !t.replaying {
		t.buf = appendStep(t.buf, &t.step)
		return
	}
	t.buf = appendStep(t.buf[:0], &t.step)
	if !bytes.HasPrefix(t.expected, t.buf) {
		t.diverge(t.Expected(), t.step.String())
	}
	t.expected = t.expected[len(t.buf):]
}

func (t *Tape) number(kind StepKind, numbers ...uint64) {
	t.begin(kind, numbers...)
	t.done()
}

func digest(p []byte) uint64 {
	var d event.Digest
	d.Bytes(p)
	return d.Sum()
}

// Node implements node.Env.
func (t *Tape) Node() kafka.BrokerID { return t.env.Node() }

// Now implements node.Env.
func (t *Tape) Now() time.Duration { return t.env.Now() }

// Wall implements node.Env.
func (t *Tape) Wall() kafka.Timestamp { return t.env.Wall() }

// SetTimer implements node.Env.
func (t *Tape) SetTimer(d time.Duration) node.TimerID {
	id := t.env.SetTimer(d)
	t.number(StepSetTimer, uint64(id), uint64(d))
	return id
}

// CancelTimer implements node.Env.
func (t *Tape) CancelTimer(id node.TimerID) {
	t.env.CancelTimer(id)
	t.number(StepCancelTimer, uint64(id))
}

// Dial implements node.Env.
func (t *Tape) Dial(addr string) node.ConnID {
	id := t.env.Dial(addr)
	s := t.begin(StepDial, uint64(id))
	s.Strings = append(s.Strings, addr)
	t.done()
	return id
}

// Send implements node.Env. The frame is digested before it leaves, without the
// bytes of its regions: those were digested where the regions were made.
func (t *Tape) Send(conn node.ConnID, m *node.Message) {
	var err error
	if t.outline, t.holes, err = wire.Outline(m, t.outline[:0], t.holes[:0]); err != nil {
		panic(err.Error())
	}
	var d event.Digest
	d.Bytes(t.outline)
	size := len(t.outline)
	for _, h := range t.holes {
		d.Uint64(uint64(h.At))
		d.Uint64(uint64(h.Region.Off))
		size += h.Region.N
	}
	clear(t.holes)
	if cap(t.outline) > keep {
		t.outline = nil
	}
	key, version, id := m.Key(), m.Version(), m.CorrelationID
	t.env.Send(conn, m)
	t.number(StepSend, uint64(conn), uint64(uint16(key)), uint64(uint16(version)), uint64(uint32(id)), uint64(size), d.Sum())
}

// Release implements node.Env.
func (t *Tape) Release(conn node.ConnID) {
	t.env.Release(conn)
	t.number(StepRelease, uint64(conn))
}

// Close implements node.Env.
func (t *Tape) Close(conn node.ConnID) {
	t.env.Close(conn)
	t.number(StepClose, uint64(conn))
}

// Post implements node.Env. The value itself shows in what its receiver does.
func (t *Tape) Post(to node.Lane, msg any) {
	t.env.Post(to, msg)
	s := t.begin(StepPost, uint64(to))
	s.Strings = append(s.Strings, typeName(msg))
	t.done()
}

func typeName(v any) string {
	if v == nil {
		return "nil"
	}
	return reflect.TypeOf(v).String()
}

// FS implements node.Env.
func (t *Tape) FS() disk.FS {
	if t.fs == nil {
		return nil
	}
	return t.fs
}

// Rand implements node.Env.
func (t *Tape) Rand(site string) uint64 {
	v := t.env.Rand(site)
	s := t.begin(StepRand, v)
	s.Strings = append(s.Strings, site)
	t.done()
	return v
}

// Emit implements node.Env.
func (t *Tape) Emit(e *event.Event) {
	var d event.Digest
	d.Add(e)
	t.env.Emit(e)
	t.number(StepEmit, uint64(e.Kind), d.Sum())
}

// Exit implements node.Env. It does not return, so it is written before.
func (t *Tape) Exit(reason string) {
	s := t.begin(StepExit)
	s.Strings = append(s.Strings, reason)
	t.done()
	t.env.Exit(reason)
	panic(fmt.Sprintf("the driver came back from Exit %q", reason))
}
