package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// script is a Process whose callbacks are what a test says; nil does nothing.
type script struct {
	env    node.Env
	start  func(node.Env)
	posted func(node.Env, any)
	fire   func(node.Env)
}

func (s *script) Start(env node.Env) {
	s.env = env
	if s.start != nil {
		s.start(env)
	}
}

func (s *script) Receive(node.ConnID, *node.Message) {}

func (s *script) Posted(_ node.Lane, msg any) {
	if s.posted != nil {
		s.posted(s.env, msg)
	}
}

func (s *script) Fire(node.TimerID) {
	if s.fire != nil {
		s.fire(s.env)
	}
}

func (s *script) Synced(disk.Token, error) {}

func (s *script) Disconnected(node.ConnID) {}

// driver records scripts: a driver of the tests' own, which is told what comes
// next. Its files are those of a disk in memory, until a device fault is due.
type driver struct {
	t     *testing.T
	out   *recording.Writer
	file  bytes.Buffer
	disk  *simdisk.Disk
	lanes map[node.Lane]*driven
}

type driven struct {
	*env // what a test's lane does not use; nil
	d    *driver
	id   node.Lane
	p    node.Process
	tape *recording.Tape
	fail error // of the next write
	last node.TimerID
}

func (l *driven) FS() disk.FS {
	return &failing{l.d.disk.View(l.id.String(), (*host)(&life{disk: l.d.disk})), l}
}
func (l *driven) Post(node.Lane, any) {}
func (l *driven) Rand(string) uint64  { return 7 }
func (l *driven) Exit(string)         {}

// failing is a disk whose device fails in the middle of a write.
type failing struct {
	disk.FS
	l *driven
}

func (f *failing) Create(name string) (disk.File, error) {
	file, err := f.FS.Create(name)
	return &failingFile{file, f.l}, err
}

type failingFile struct {
	disk.File
	l *driven
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	if f.l.fail == nil {
		return f.File.WriteAt(p, off)
	}
	n, _ := f.File.WriteAt(p[:len(p)/2], off)
	return n, f.l.fail
}

// record begins the recording of a node with these lanes.
func record(t *testing.T, scripts map[node.Lane]*script, order ...node.Lane) *driver {
	d := &driver{t: t, disk: simdisk.New(), lanes: map[node.Lane]*driven{}}
	var err error
	if d.out, err = recording.NewWriter(&d.file); err != nil {
		t.Fatal(err)
	}
	d.write(recording.Chunk{Kind: recording.NodeChunk})
	for _, id := range order {
		l := &driven{d: d, id: id, p: scripts[id]}
		l.tape = recording.NewTape(l)
		d.lanes[id] = l
		d.step(id, recording.Input{Kind: recording.Start}, func(p node.Process) { p.Start(l.tape) })
	}
	return d
}

func (d *driver) write(c recording.Chunk) {
	if err := d.out.Write(c); err != nil {
		d.t.Fatal(err)
	}
}

// step runs and records one callback; one that panics is cut short.
func (d *driver) step(id node.Lane, in recording.Input, call func(node.Process)) {
	l := d.lanes[id]
	l.tape.Begin(in)
	func() {
		defer func() { l.tape.End(recover() != nil) }()
		call(l.p)
	}()
	d.write(recording.Chunk{Kind: recording.LaneChunk, Lane: id, Data: l.tape.Recorded()})
	l.tape.Taken()
}

func (d *driver) fire(id node.Lane) {
	d.step(id, recording.Input{Kind: recording.Fire, Timer: 1}, func(p node.Process) { p.Fire(1) })
}

func (d *driver) deliver(id, from node.Lane, msg any) {
	d.step(id, recording.Input{Kind: recording.Posted, From: from}, func(p node.Process) { p.Posted(from, msg) })
}

func (d *driver) end(reason string) { d.write(recording.Chunk{Kind: recording.EndChunk, Name: reason}) }

// replay replays with the given lanes.
func (d *driver) replay(scripts map[node.Lane]*script, order ...node.Lane) Result {
	d.t.Helper()
	r, err := Run(bytes.NewReader(d.file.Bytes()), func([]byte) (node.Spec, error) {
		spec := node.Spec{ID: 1}
		for _, id := range order {
			spec.Lanes = append(spec.Lanes, node.LaneSpec{Lane: id, Process: scripts[id], Disk: true})
		}
		return spec, nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// writer writes a file and says what its disk answered, and what is in it then.
func writer() map[node.Lane]*script {
	var f disk.File
	said := func(env node.Env, text string) {
		g, err := env.FS().Create(text)
		if err == nil {
			g.Close()
		}
	}
	return map[node.Lane]*script{node.Logs: {
		start: func(env node.Env) { f, _ = env.FS().Create("log") },
		fire: func(env node.Env) {
			_, err := f.WriteAt([]byte("abcdef"), 0)
			got := make([]byte, 6)
			n, e := f.ReadAt(got, 0)
			said(env, fmt.Sprintf("%v %v %v %s", err, errors.Is(err, disk.ErrNoSpace), e == io.EOF, got[:n]))
		},
	}}
}

func TestShortWriteOfAFullDeviceHappensAgain(t *testing.T) {
	d := record(t, writer(), node.Logs)
	d.lanes[node.Logs].fail = fmt.Errorf("write \"log\": %w", disk.ErrNoSpace)
	d.fire(node.Logs)
	d.lanes[node.Logs].fail = nil
	d.fire(node.Logs)
	d.end("")
	r := d.replay(writer(), node.Logs)
	if r.Difference != nil || r.Callbacks != 3 || len(r.Notes) != 0 {
		t.Fatalf("%v, %+v", r.Difference, r)
	}
	for _, want := range []string{`"write \"log\": no space left on device true true abc"`, `"<nil> false false abcdef"`} {
		if text := fmt.Sprintf("%q", d.disk.Paths(0)); !strings.Contains(text, want[1:len(want)-1]) {
			t.Errorf("the lane said %s, not %s", text, want)
		}
	}
}

func TestFirstStepThatDiffersIsNamed(t *testing.T) {
	lanes := func(text string) map[node.Lane]*script {
		return map[node.Lane]*script{node.Data(0): {fire: func(env node.Env) {
			env.Rand("a")
			f, _ := env.FS().Create("x")
			f.WriteAt([]byte(text), 3)
			f.Close()
		}}}
	}
	d := record(t, lanes("one"), node.Data(0))
	d.fire(node.Data(0))
	r := d.replay(lanes("two"), node.Data(0))
	if r.Difference == nil {
		t.Fatal("no difference")
	}
	text := r.Difference.String()
	for _, want := range []string{"node 1 (life 1", "data-0, callback 2 (Fire): recorded WriteAt file=1 offset=3 bytes=3 digest=", "; replayed WriteAt file=1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

func TestStepThatIsMissingOrTooMuchIsNamed(t *testing.T) {
	lanes := func(draws int) map[node.Lane]*script {
		return map[node.Lane]*script{node.Logs: {fire: func(env node.Env) {
			for range draws {
				env.Rand("a")
			}
		}}}
	}
	for _, c := range []struct {
		draws int
		want  string
	}{{0, "replayed the end of the callback"}, {2, "recorded nothing more; replayed Rand"}} {
		d := record(t, lanes(1), node.Logs)
		d.fire(node.Logs)
		if r := d.replay(lanes(c.draws), node.Logs); r.Difference == nil || !strings.Contains(r.Difference.String(), c.want) {
			t.Errorf("%d draws: %v", c.draws, r.Difference)
		}
	}
}

// poster posts a number at each timer; the other lane creates a file of its name.
func poster() map[node.Lane]*script {
	n := 0
	return map[node.Lane]*script{
		node.Router: {fire: func(env node.Env) {
			n++
			env.Post(node.Logs, n)
		}},
		node.Logs: {posted: func(env node.Env, msg any) { env.FS().Create(fmt.Sprint(msg)) }},
	}
}

func TestPostIsMadeAgainAndDeliveredInOrder(t *testing.T) {
	d := record(t, poster(), node.Router, node.Logs)
	// The receiver's callback may be in the file before the sender's.
	d.deliver(node.Logs, node.Router, 1)
	d.fire(node.Router)
	d.fire(node.Router)
	d.deliver(node.Logs, node.Router, 2)
	d.end("")
	if r := d.replay(poster(), node.Router, node.Logs); r.Difference != nil || r.Callbacks != 6 {
		t.Errorf("%v, %+v", r.Difference, r)
	}
}

func TestCallbackWhosePostIsLostIsLeftOut(t *testing.T) {
	d := record(t, poster(), node.Router, node.Logs)
	d.deliver(node.Logs, node.Router, 1)
	r := d.replay(poster(), node.Router, node.Logs)
	if r.Difference != nil || r.Callbacks != 2 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "posts that are lost") {
		t.Errorf("%v, %+v", r.Difference, r)
	}
	d.end("")
	if r := d.replay(poster(), node.Router, node.Logs); r.Difference == nil {
		t.Error("a post that nobody made is no difference in a whole recording")
	}
}

func TestPanicOfALaneHappensAgainAndIsNoted(t *testing.T) {
	lanes := func(text string) map[node.Lane]*script {
		return map[node.Lane]*script{node.Logs: {fire: func(env node.Env) {
			env.Rand("a")
			panic(text)
		}}}
	}
	d := record(t, lanes("offset 4 after 9"), node.Logs)
	d.fire(node.Logs)
	r := d.replay(lanes("offset 4 after 9"), node.Logs)
	if r.Difference != nil || !strings.Contains(strings.Join(r.Notes, "\n"), `logs, callback 2 ends in the panic "offset 4 after 9"`) {
		t.Errorf("%v, notes %q", r.Difference, r.Notes)
	}
	quiet := map[node.Lane]*script{node.Logs: {fire: func(env node.Env) { env.Rand("a") }}}
	if r := d.replay(quiet, node.Logs); r.Difference == nil {
		t.Error("a lane that lives on is no difference")
	}
}

func TestEndOfALifeIsComparedToo(t *testing.T) {
	lanes := func() map[node.Lane]*script {
		return map[node.Lane]*script{node.Logs: {fire: func(env node.Env) { env.Exit("the disk is gone") }}}
	}
	d := record(t, lanes(), node.Logs)
	d.fire(node.Logs)
	d.end("the disk is gone")
	if r := d.replay(lanes(), node.Logs); r.Difference != nil {
		t.Error(r.Difference)
	}
	d = record(t, lanes(), node.Logs)
	d.end("the disk is gone")
	if r := d.replay(lanes(), node.Logs); r.Difference == nil || !strings.Contains(r.Difference.String(), `recorded the end "the disk is gone"`) {
		t.Errorf("an end that nobody made: %v", r.Difference)
	}
}
