package storage

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

var killedLives = flag.Int("kill.lives", 6, "how many lives of a child process on real files end with SIGKILL, for a compacted topic and for one whose records are deleted")

// childRoot tells a process of this test binary that it is the child, and where its
// files are.
const childRoot = "STORAGE_CHILD_ROOT"

// A child process is a broker with one log on real files. It writes down what the next
// life owes to it, before it does something and when it is done, and a dot before each
// operation of the disk, until it is killed at one of the dots. The next life is the
// parent's, which must find what is owed, in a log that it can go on with; then comes
// the next child.
//
//	child ── "owe {lines, flushed, start ...}" "." "." "owe ..." "." ──▶ parent ── SIGKILL
func TestWhatAProcessHadReportedIsThereAfterSIGKILL(t *testing.T) {
	if onRealFiles() {
		t.Skip("the first run has it on real files")
	}
	for _, policy := range []string{"compact", "delete"} {
		t.Run(policy, func(t *testing.T) { killAndJudge(t, policy) })
	}
}

func killAndJudge(t *testing.T, policy string) {
	root := t.TempDir()
	random := rand.New(rand.NewPCG(11, uint64(len(policy))))
	p := &witness{policy: policy, batches: map[string]record.Batch{}, did: map[string]int{}}
	for life := range *killedLives {
		p.follow(t, root, life, random.IntN(2500))
		w := worldAt(t, root)
		k := keeperOn(w)
		k.due, k.hw, k.deletes = p.due, p.hw, policy == "delete"
		k.boot()
		k.judge()
		retryLast(t, k.l)
		p.due, p.hw = k.settled(), k.hw
		k.l.Close()
		if err := w.real.d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lives did %v, and left %d batches", *killedLives, p.did, len(p.due.lines[0]))
}

// settled is what the next life owes if this one does nothing more: all that there is,
// as a kill leaves the page cache.
func (k *keeper) settled() debt {
	line := content(k.w.t, k.l)
	for i, b := range line {
		line[i] = append(record.Batch{}, b...)
	}
	return debt{lines: [][]record.Batch{line}, flushed: k.l.LogEnd(), start: k.l.LogStart()}
}

// owed is a debt as the child tells it. Batches are named, and told once each.
type owed struct {
	Lines              [][]string
	Flushed, Start     kafka.Offset
	Cutting, Cleaned   bool
	Cut, HighWatermark kafka.Offset
}

// witness is what the parent knows of its child.
type witness struct {
	policy  string
	due     debt
	hw      kafka.Offset
	batches map[string]record.Batch
	did     map[string]int
}

// follow runs a life of the child and kills it at the n-th dot.
func (p *witness) follow(t *testing.T, root string, life, dots int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestAChildOfTheKilledKind$")
	child.Env = append(os.Environ(), childRoot+"="+root, fmt.Sprintf("STORAGE_CHILD_LIFE=%d %d %s", life, p.hw, p.policy))
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for n := 0; ; {
		line, err := r.ReadString('\n')
		if err != nil { // what is cut short was about something that did not begin
			break
		}
		if line == ".\n" {
			if n++; n == dots {
				child.Process.Kill() // what it writes meanwhile is read to the end
			}
			continue
		}
		p.take(t, strings.TrimSpace(line))
	}
	child.Wait()
	if state := child.ProcessState.String(); state != "signal: killed" {
		t.Fatalf("life %d of the child ended: %s", life, state)
	}
}

// take reads one line of the child.
func (p *witness) take(t *testing.T, line string) {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "did":
		p.did[rest]++
	case "batch":
		name, bytes, _ := strings.Cut(rest, " ")
		b, err := hex.DecodeString(bytes)
		if err != nil {
			t.Fatalf("the child said %q: %v", line, err)
		}
		p.batches[name] = b
	case "owe":
		var o owed
		if err := json.Unmarshal([]byte(rest), &o); err != nil {
			t.Fatalf("the child said %q: %v", line, err)
		}
		p.due = debt{flushed: o.Flushed, start: o.Start, cutting: o.Cutting, cut: o.Cut, cleaned: o.Cleaned}
		p.hw = o.HighWatermark
		for _, names := range o.Lines {
			var batches []record.Batch
			for _, name := range names {
				batches = append(batches, p.batches[name])
			}
			p.due.lines = append(p.due.lines, batches)
		}
	default:
		t.Fatalf("the child said %q", line)
	}
}

// TestAChildOfTheKilledKind is the child's life, and nothing without a parent.
func TestAChildOfTheKilledKind(t *testing.T) {
	root := os.Getenv(childRoot)
	if root == "" {
		t.Skip("no parent wants a child")
	}
	var life, hw int64
	var policy string
	if _, err := fmt.Sscan(os.Getenv("STORAGE_CHILD_LIFE"), &life, &hw, &policy); err != nil {
		t.Fatal(err)
	}
	w := worldAt(t, root)
	w.watch = func() { fmt.Println(".") }
	c := &child{keeper: keeperOn(w), out: os.Stdout, random: rand.New(rand.NewPCG(uint64(life), 3)), sent: map[string]bool{}}
	c.hw, c.deletes = kafka.Offset(hw), policy == "delete"
	c.boot()
	c.due = c.settled()
	c.told = c.tell
	for {
		c.step()
	}
}

// child is a broker that works until it is killed.
type child struct {
	*keeper
	out    io.Writer
	random *rand.Rand
	sent   map[string]bool // batches that the parent knows
}

// tell tells the parent what is owed now.
func (c *child) tell() {
	o := owed{Flushed: c.due.flushed, Start: c.due.start, Cutting: c.due.cutting, Cut: c.due.cut, Cleaned: c.due.cleaned, HighWatermark: c.hw}
	for _, line := range c.due.lines {
		names := []string{}
		for _, b := range line {
			name := strconv.Itoa(int(b.BaseOffset())) + "-" + strconv.Itoa(int(b.LeaderEpoch())) + "-" + strconv.Itoa(int(b.CRC()))
			if !c.sent[name] {
				c.sent[name] = true
				fmt.Fprintf(c.out, "batch %s %x\n", name, []byte(b))
			}
			names = append(names, name)
		}
		o.Lines = append(o.Lines, names)
	}
	text, err := json.Marshal(o)
	c.must(err)
	fmt.Fprintf(c.out, "owe %s\n", text)
}

// chores are what the child does, as often as each is named.
var chores = []struct {
	name string
	do   func(*child)
}{
	{"append", func(c *child) { c.keeper.append() }},
	{"append", func(c *child) { c.keeper.append() }},
	{"append compressed", func(c *child) { c.appendCompressed() }},
	{"append in a transaction", (*child).transactional},
	{"append in a transaction", (*child).transactional},
	{"end a transaction", (*child).endTransaction},
	{"roll", func(c *child) { c.roll() }},
	{"fsync", func(c *child) { c.fsync() }},
	{"commit", (*child).commit},
	{"commit", (*child).commit},
	{"truncate", func(c *child) { c.truncate() }},
	{"checkpoint", func(c *child) { c.checkpoint() }},
	{"clean", func(c *child) { c.clean() }},
	{"delete", (*child).delete},
	{"stop and start", func(c *child) { c.stop() }},
}

// step does one thing. What it appended is in the page cache then, where no kill
// reaches it.
func (c *child) step() {
	chore := chores[c.random.IntN(len(chores))]
	chore.do(c)
	c.owe(func(d *debt) { d.flushed = c.l.LogEnd() })
	fmt.Fprintln(c.out, "did", chore.name)
}

// commit lets everything be committed that is flushed.
func (c *child) commit() {
	c.fsync()
	c.hw = c.l.LogEnd()
	c.l.SetHighWatermark(c.hw)
}

// transactional appends a batch in a transaction of one of two producers.
func (c *child) transactional() {
	o := record.BuilderOptions{BaseOffset: c.l.LogEnd(), LeaderEpoch: c.epoch, ProducerID: 7 + kafka.ProducerID(c.random.IntN(2)), Transactional: true}
	if s := c.l.producers.states[o.ProducerID]; s != nil {
		o.ProducerEpoch, o.BaseSequence = s.epoch, s.lastSequence().Add(1)
	}
	b := record.NewBuilder(o)
	for range 1 + c.random.IntN(3) {
		b.Append(kafka.Timestamp(1000+c.l.LogEnd()), fmt.Appendf(nil, "in transaction %d", c.random.IntN(3)), noise(c.random.Uint64(), 100), nil)
	}
	batch := b.Build()
	c.note(batch)
	_, err := c.l.AppendAsFollower(batch, c.epoch)
	c.appended(kafka.None, err)
}

// endTransaction commits or aborts each transaction that is open.
func (c *child) endTransaction() {
	for id := kafka.ProducerID(7); id <= 8; id++ {
		s := c.l.producers.states[id]
		if s == nil || s.openTransaction == kafka.NoOffset {
			continue
		}
		end := record.EndTransaction{Type: []record.ControlType{record.Commit, record.Abort}[c.random.IntN(2)], CoordinatorEpoch: 1}
		b := end.Batch(id, s.epoch, 1000)
		b.SetBaseOffset(c.l.LogEnd())
		b.SetLeaderEpoch(c.epoch)
		c.note(b)
		m := Marker{ProducerID: id, ProducerEpoch: s.epoch, CoordinatorEpoch: 1, Type: end.Type}
		_, code, err := c.l.AppendMarker(m, c.epoch, 1000)
		c.appended(code, err)
	}
}

// keptMs is the age at which records of a topic that is not compacted go, ms.
const keptMs = 500

// delete lets old records go: by their age or, in a compacted topic, by the log start.
func (c *child) delete() {
	if !c.deletes {
		c.deleteSegment()
		return
	}
	c.owe(func(d *debt) { d.start = c.hw })
	_, err := c.l.DeleteOldSegments(kafka.Timestamp(1000+c.l.LogStart()) + keptMs + kafka.Timestamp(c.random.IntN(40)))
	c.must(err)
	c.w.drain()
	c.owe(func(d *debt) { d.start = c.l.LogStart() })
	c.w.advance(1 << 40)
	c.w.drain()
}
