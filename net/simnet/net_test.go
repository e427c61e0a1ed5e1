package simnet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// bench drives a network alone: it keeps the wakes, accepts every dial that is
// not refused, and writes down what each end hears.
type bench struct {
	n       *Net
	now     int64
	wakes   []wake
	refuse  map[int32]bool
	auto    bool // resume an acceptor at once
	heard   []string
	effects []Fault
}

type wake struct {
	p  Pipe
	at int64
}

func newBench(cfg Config) *bench {
	b := &bench{refuse: map[int32]bool{}, auto: true}
	b.n = New(cfg, b)
	return b
}

func (b *bench) Wake(p Pipe, at int64)          { b.wakes = append(b.wakes, wake{p, at}) }
func (b *bench) Effect(f Fault, from, to int32) { b.effects = append(b.effects, f) }
func (b *bench) Gone(c Conn, side Side)         { b.note(c, side, "gone") }
func (b *bench) Draw(stream, n uint64) uint64   { return (stream + n*2654435761) >> 3 }
func (b *bench) note(c Conn, side Side, what string) {
	b.heard = append(b.heard, fmt.Sprintf("%d %s %s@%d", c.Slot(), [2]string{"dialler", "acceptor"}[side], what, b.now))
}

// run pumps until nothing is due before or at end.
func (b *bench) run(end int64) {
	for {
		i := -1
		for j, w := range b.wakes {
			if w.at <= end && (i < 0 || w.at < b.wakes[i].at) {
				i = j
			}
		}
		if i < 0 {
			b.now = end
			return
		}
		w := b.wakes[i]
		b.wakes = slices.Delete(b.wakes, i, i+1)
		b.now = w.at
		b.pump(w.p)
	}
}

func (b *bench) pump(p Pipe) {
	c, to := p.Conn(), p.From().Other()
	switch arrival, frame := b.n.Pump(p, b.now); arrival {
	case Request:
		if b.refuse[b.n.conns[c.Slot()].ends[Acceptor].node] {
			b.n.Refuse(c, b.now)
		} else {
			b.n.Accept(c, b.now)
		}
	case Data:
		b.note(c, to, string(frame))
		if b.auto && to == Acceptor {
			b.n.Resume(c, b.now)
		}
	case Closed:
		b.note(c, to, "closed")
	}
}

func (b *bench) send(c Conn, from Side, text string) {
	b.n.Send(c, from, b.now, []byte(text), 1, from == Acceptor)
}

func (b *bench) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.heard); diff != "" {
		t.Fatalf("what the ends heard (-want +got):\n%s", diff)
	}
	b.heard = nil
}

// standing returns a connection from node 1 to node 2 that is established.
func (b *bench) standing(t *testing.T) Conn {
	t.Helper()
	c := b.n.Dial(1, 2, b.now, 1)
	b.run(b.now + 100)
	if !b.n.Holds(c, Dialler) || !b.n.Holds(c, Acceptor) {
		t.Fatal("the connection did not come up")
	}
	return c
}

func TestDialTakesARoundTripBeforeTheFirstMessageTravels(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.n.Dial(1, 2, 0, 1)
	b.send(c, Dialler, "hello")
	b.run(100)
	b.expect(t, "0 acceptor hello@30")
}

func TestRefusedDialIsClosedAfterARoundTrip(t *testing.T) {
	b := newBench(Config{Base: 10})
	b.refuse[2] = true
	b.send(b.n.Dial(1, 2, 0, 1), Dialler, "hello")
	b.run(100)
	b.expect(t, "0 dialler closed@20")
	if b.n.Living() != 0 {
		t.Fatal("a refused dial leaves its connection behind")
	}
}

func TestCutDelaysAndLosesNothing(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.send(c, Dialler, "one")
	b.n.Cut(1, 2)
	b.send(c, Dialler, "two")
	b.send(c, Acceptor, "back")
	b.run(1000)
	b.expect(t, "0 dialler back@110")
	b.n.Heal(1, 2, b.now)
	b.run(2000)
	b.expect(t, "0 acceptor one@1010", "0 acceptor two@1010")
	if !slices.Equal(b.effects, []Fault{Cut}) {
		t.Fatalf("effects %v, want one cut", b.effects)
	}
}

func TestDialAcrossACutInEitherDirectionHangsUntilExpiryOrHeal(t *testing.T) {
	for _, l := range [][2]int32{{1, 2}, {2, 1}} {
		b := newBench(Config{Base: 10})
		b.n.Cut(l[0], l[1])
		c := b.n.Dial(1, 2, 0, 1)
		b.send(c, Dialler, "hello")
		b.run(5000)
		b.expect(t)
		b.n.Heal(l[0], l[1], b.now)
		b.run(6000)
		if len(b.heard) != 1 || b.n.Expire(c) {
			t.Fatalf("after the heal of %v: %v", l, b.heard)
		}

		b.n.Cut(l[0], l[1])
		c = b.n.Dial(1, 2, b.now, 1)
		b.run(7000)
		if !b.n.Expire(c) || b.n.Holds(c, Dialler) {
			t.Fatal("a dial across a cut did not expire")
		}
	}
}

func TestHoldKeepsTheMessageAndAllBehindItOnItsConnectionOnly(t *testing.T) {
	b := newBench(Config{Base: 10})
	c, d := b.standing(t), b.standing(t)
	b.n.Hold(1, 2, 1, false)
	b.send(c, Dialler, "held")
	b.n.Send(c, Dialler, b.now, []byte("behind"), 9, false)
	b.run(300)
	b.send(d, Dialler, "other")
	b.send(c, Acceptor, "back")
	b.run(400)
	b.expect(t, "1 acceptor other@310", "0 dialler back@310")
	if got := b.n.Release(1, 2, b.now); got != 1 {
		t.Fatalf("released %d", got)
	}
	b.run(500)
	b.expect(t, "0 acceptor held@410", "0 acceptor behind@410")
}

func TestReleasedMessageIsNotCaughtByALaterHold(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.Hold(1, 2, 1, false)
	b.send(c, Dialler, "first")
	b.run(300)
	b.n.Release(1, 2, b.now)
	b.n.Hold(1, 2, 1, false)
	b.send(c, Dialler, "second")
	b.run(400)
	b.expect(t, "0 acceptor first@310")
}

func TestReleaseDisarmsAHoldThatCaughtNothing(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.Hold(1, 2, 1, false)
	if b.n.Release(1, 2, b.now) != 1 || b.n.Release(1, 2, b.now) != 0 {
		t.Fatal("the hold was not disarmed once")
	}
	b.send(c, Dialler, "free")
	b.run(200)
	b.expect(t, "0 acceptor free@110")
}

func TestFailResetsTheConnectionOfTheNthRequestInPlaceOfIt(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.Fail(1, 2, 1, false, 2)
	b.send(c, Dialler, "one")
	b.send(c, Dialler, "two")
	b.send(c, Dialler, "three")
	b.run(300)
	b.expect(t, "0 acceptor one@110", "0 dialler gone@110", "0 acceptor gone@110")
}

func TestResetLosesWhatHasNotArrived(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.send(c, Dialler, "arrives")
	b.run(115)
	b.send(c, Dialler, "lost")
	b.send(c, Acceptor, "lost too")
	if b.n.Reset(2, 1) != 1 {
		t.Fatal("the connection was not hit")
	}
	b.run(300)
	b.expect(t, "0 acceptor arrives@110", "0 dialler gone@115", "0 acceptor gone@115")
	if b.n.Living() != 0 {
		t.Fatal("the connection lives on")
	}
}

func TestHalfOpenPeerLearnsOnlyByTheAnswerToItsNextMessage(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.HalfOpen(2, 1, b.now)
	b.run(10_000)
	b.expect(t, "0 acceptor gone@100")
	b.send(c, Dialler, "anyone?")
	b.run(20_000)
	b.expect(t, "0 dialler closed@10020")
}

func TestHalfOpenPeerBehindACutNeverLearns(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.HalfOpen(2, 1, b.now)
	b.n.Cut(2, 1)
	b.heard = nil
	b.send(c, Dialler, "anyone?")
	b.run(1_000_000)
	b.expect(t)
}

func TestAcceptorReadsOneRequestAtATime(t *testing.T) {
	b := newBench(Config{Base: 10})
	b.auto = false
	c := b.standing(t)
	b.send(c, Dialler, "one")
	b.send(c, Dialler, "two")
	b.run(500)
	b.expect(t, "0 acceptor one@110")
	b.n.Resume(c, 700)
	b.run(1000)
	b.expect(t, "0 acceptor two@700")
}

func TestReservedMessageKeepsItsPlaceUntilItIsWritten(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.send(c, Acceptor, "zero")
	ticket := b.n.Reserve(c, Acceptor, b.now, 1, true)
	b.send(c, Acceptor, "two")
	b.run(500)
	b.expect(t, "0 dialler zero@110")
	b.n.Write(c, Acceptor, ticket, []byte("one"), 600)
	b.run(1000)
	b.expect(t, "0 dialler one@610", "0 dialler two@610")
}

func TestAbortedWriterResetsBehindWhatWasComplete(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.send(c, Acceptor, "zero")
	b.n.Reserve(c, Acceptor, b.now, 1, true)
	b.n.Abort(c, Acceptor, b.now)
	b.run(500)
	b.expect(t, "0 dialler zero@110", "0 dialler closed@110")
}

func TestKillDropsWhatWasStampedLaterAndClosesBehindTheRest(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.Send(c, Acceptor, 150, []byte("before"), 1, true)
	b.n.Send(c, Acceptor, 300, []byte("after"), 1, true)
	b.n.Close(c, Acceptor, 400)
	b.run(200)
	b.n.Kill(2, 200)
	b.run(1000)
	b.expect(t, "0 dialler before@160", "0 dialler closed@210")
	if b.n.Living() != 0 {
		t.Fatal("the connection lives on")
	}
}

func TestPowerLossIsNoticedOnlyWhenTheMachineIsBack(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.send(c, Acceptor, "on the wire")
	b.run(105)
	b.n.PowerOff(2, b.now)
	b.send(c, Dialler, "anyone?")
	b.run(10_000)
	b.expect(t, "0 dialler on the wire@110")
	b.n.PowerOn(2, b.now)
	b.run(20_000)
	b.expect(t, "0 dialler closed@10020")
}

func TestPowerLossTakesWhatACutHadKeptInTheKernel(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.Cut(2, 1)
	b.send(c, Acceptor, "kept")
	b.run(200)
	b.n.PowerOff(2, b.now)
	b.n.Heal(2, 1, b.now)
	b.run(10_000)
	b.expect(t)
}

func TestDialToAMachineWithoutPowerHangsUntilItIsBack(t *testing.T) {
	b := newBench(Config{Base: 10})
	b.n.PowerOff(2, 0)
	c := b.n.Dial(1, 2, 0, 1)
	b.send(c, Dialler, "hello")
	b.run(1000)
	b.expect(t)
	b.n.PowerOn(2, b.now)
	b.run(2000)
	b.expect(t, "0 acceptor hello@1030")
}

func TestNamesOfConnectionsAreNotReused(t *testing.T) {
	b := newBench(Config{Base: 10})
	c := b.standing(t)
	b.n.Reset(1, 2)
	d := b.standing(t)
	if c == d || c.Slot() != d.Slot() || b.n.Holds(c, Dialler) {
		t.Fatalf("connections %d and %d share a name, or do not share a slot", c, d)
	}
}

func TestDigestSeesOneByteOnTheWay(t *testing.T) {
	state := func(text string) string {
		b := newBench(Config{Base: 10})
		b.send(b.standing(t), Dialler, text)
		var s strings.Builder
		b.n.Digest(func(v uint64) { fmt.Fprint(&s, v, " ") }, func(p []byte) { s.Write(p) })
		return s.String()
	}
	if state("a") == state("b") || state("a") != state("a") {
		t.Fatal("the digest does not tell messages on the way apart")
	}
}

// Whatever is cut, healed, held, released, reset or killed, each end hears a
// prefix of what the other sent, in order, and all of it while both live.
func TestEveryEndHearsAPrefixInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(Config{Base: 10, Jitter: 50})
		c := b.n.Dial(1, 2, 0, rapid.Uint64().Draw(t, "stream"))
		b.run(200)
		var sent [2][]string
		broken := false
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2, 3:
				side := Side(rapid.IntRange(0, 1).Draw(t, "side"))
				text := fmt.Sprint("m", i)
				b.send(c, side, text)
				sent[side.Other()] = append(sent[side.Other()], text)
			case 4:
				b.n.Cut(1, 2)
			case 5:
				b.n.Heal(1, 2, b.now)
			case 6:
				b.n.Hold(2, 1, 1, true)
			case 7:
				b.n.Release(2, 1, b.now)
			case 8:
				if rapid.IntRange(0, 5).Draw(t, "rarely") == 0 {
					broken = true
					b.n.Kill(2, b.now)
				}
			}
			b.run(b.now + int64(rapid.IntRange(0, 40).Draw(t, "pause")))
		}
		b.n.Heal(1, 2, b.now)
		for range 60 {
			b.n.Release(2, 1, b.now)
			b.run(b.now + 200)
		}
		var got [2][]string
		for _, h := range b.heard {
			f := strings.Fields(h)
			text, _, _ := strings.Cut(f[2], "@")
			if text == "closed" || text == "gone" {
				continue
			}
			side := Dialler
			if f[1] == "acceptor" {
				side = Acceptor
			}
			got[side] = append(got[side], text)
		}
		for side := range got {
			if len(got[side]) > len(sent[side]) || !slices.Equal(got[side], sent[side][:len(got[side])]) {
				t.Fatalf("side %d heard %v of %v", side, got[side], sent[side])
			}
			if !broken && len(got[side]) != len(sent[side]) {
				t.Fatalf("side %d heard only %v of %v", side, got[side], sent[side])
			}
		}
	})
}
