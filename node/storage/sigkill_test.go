package storage

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

var killedLives = flag.Int("kill.lives", 6, "how many lives of a child process on real files end with SIGKILL")

// childRoot tells a process of this test binary that it is the child, and where its
// files are.
const childRoot = "STORAGE_CHILD_ROOT"

// A child process works on real files and writes down what it is about to do, and
// what it has done, until it is killed. The next life must have all that was done, and
// at most the one thing more that it was about to do.
//
//	child ── "+ 42 1 9fa3…" "= " "< 40 1" "= " "! 40" … ──▶ parent ── SIGKILL
func TestWhatAProcessHadReportedIsThereAfterSIGKILL(t *testing.T) {
	root := t.TempDir()
	random := rand.New(rand.NewPCG(11, 5))
	r := &reported{}
	for life := range *killedLives {
		r.follow(t, root, life, 20+random.IntN(150))
		w := newRealWorld(t, root)
		l := w.openAs(small(), Opening{RecoveryPoint: r.point})
		found := text(content(t, l))
		cut := begins(r.line, found) && begins(found, r.intended) // some of the segments that were to go
		if !cut && !slices.Equal(found, r.intended) && !slices.Equal(found, r.line) {
			t.Fatalf("life %d: the log differs (-reported +found):\n%s", life, cmp.Diff(r.line, found))
		}
		audit(t, l)
		retryLast(t, l)
		r.line = found
		l.Close()
		if err := w.real.d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lives left %d batches, recovery point %d", *killedLives, len(r.line), r.point)
}

// begins tells that all begins with first.
func begins(all, first []string) bool {
	return len(first) <= len(all) && slices.Equal(all[:len(first)], first)
}

// reported is what the parent knows of the child's log: batches as text tells them.
type reported struct {
	line, intended []string
	point          kafka.Offset // of the last flush that was reported
}

// follow runs a life of the child and kills it after so many lines.
func (r *reported) follow(t *testing.T, root string, life, lines int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestAChildOfTheKilledKind$")
	child.Env = append(os.Environ(), childRoot+"="+root, "STORAGE_CHILD_LIFE="+strconv.Itoa(life), "STORAGE_CHILD_POINT="+offsetText(r.point))
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.intended = r.line
	scanner := bufio.NewScanner(out)
	for n := 0; scanner.Scan(); n++ {
		r.take(t, scanner.Text())
		if n == lines {
			child.Process.Kill() // what it writes meanwhile is read to the end
		}
	}
	child.Wait()
	if state := child.ProcessState.String(); state != "signal: killed" {
		t.Fatalf("life %d of the child ended: %s", life, state)
	}
}

// take reads one line of the child. A kill cuts none short: a pipe takes a short line
// as a whole.
func (r *reported) take(t *testing.T, line string) {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "+": // is about to append this batch
		r.intended = append(slices.Clone(r.line), rest)
	case "<": // is about to keep so many batches
		n, err := strconv.Atoi(rest)
		if err != nil {
			t.Fatalf("the child said %q", line)
		}
		r.intended = slices.Clone(r.line[:n])
		r.point = min(r.point, pointAfter(r.intended))
	case "=": // has done it
		r.line = r.intended
	case "!": // has flushed
		o, _ := strconv.ParseInt(rest, 10, 64)
		r.point = kafka.Offset(o)
	default:
		t.Fatalf("the child said %q", line)
	}
}

// pointAfter is the offset after the last of some batches.
func pointAfter(line []string) (next kafka.Offset) {
	if n := len(line); n > 0 {
		var first, last kafka.Offset
		fmt.Sscanf(line[n-1], "%d-%d", &first, &last)
		next = last + 1
	}
	return next
}

// TestAChildOfTheKilledKind is the child's life, and nothing without a parent.
func TestAChildOfTheKilledKind(t *testing.T) {
	root := os.Getenv(childRoot)
	if root == "" {
		t.Skip("no parent wants a child")
	}
	life, _ := strconv.ParseUint(os.Getenv("STORAGE_CHILD_LIFE"), 10, 64)
	point, _ := strconv.ParseInt(os.Getenv("STORAGE_CHILD_POINT"), 10, 64)
	w := newRealWorld(t, root)
	c := &child{w: w, out: os.Stdout, l: w.openAs(small(), Opening{RecoveryPoint: kafka.Offset(point)}), random: rand.New(rand.NewPCG(life, 3))}
	c.epoch = kafka.LeaderEpoch(life) * 1000
	for {
		c.step()
	}
}

// child is a process that works until it is killed.
type child struct {
	w      *world
	l      *Log
	out    io.Writer
	random *rand.Rand
	epoch  kafka.LeaderEpoch
}

func (c *child) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

func (c *child) step() {
	switch c.random.IntN(12) {
	case 0:
		c.truncate()
	case 1:
		end := c.l.LogEnd()
		c.l.Flush(func(err error) { c.must(err); c.say("! %d", min(end, c.l.LogEnd())) })
	case 2:
		c.w.drain()
	case 3:
		if c.l.active().size > 0 {
			c.must(c.l.roll(c.l.end))
		}
	default:
		c.append()
	}
}

func (c *child) must(err error) {
	if err != nil {
		c.w.t.Fatalf("%v", err)
	}
}

func (c *child) append() {
	o := record.BuilderOptions{BaseOffset: c.l.LogEnd(), LeaderEpoch: c.epoch, ProducerID: 1 + kafka.ProducerID(c.random.IntN(2))}
	if s := c.l.producers.states[o.ProducerID]; s != nil {
		o.ProducerEpoch, o.BaseSequence = s.epoch, s.lastSequence().Add(1)
	}
	b := record.NewBuilder(o)
	for range 1 + c.random.IntN(3) {
		b.Append(kafka.Timestamp(1000+c.l.LogEnd()), nil, noise(c.random.Uint64(), c.random.IntN(100)), nil)
	}
	batch := b.BuildCompressed(new(record.Deflater), []record.Codec{record.None, record.LZ4, record.Zstd}[c.random.IntN(3)])
	c.say("+ %s", text([]record.Batch{batch})[0])
	_, err := c.l.AppendAsFollower(batch, c.epoch)
	c.must(err)
	c.say("=")
}

// truncate cuts up to five batches.
func (c *child) truncate() {
	all := content(c.w.t, c.l)
	keep := max(0, len(all)-c.random.IntN(6))
	if keep == len(all) {
		return
	}
	c.epoch++
	c.say("< %d", keep)
	c.must(c.l.TruncateTo(all[keep].BaseOffset()))
	c.say("=")
	c.w.drain()
}
