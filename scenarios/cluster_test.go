package scenarios

import (
	"fmt"
	"testing"
	"time"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/plan"
)

// play runs a scenario's text and fails the test if a wait did.
func play(t *testing.T, text string, o Options) *Result {
	t.Helper()
	p, err := plan.Parse(t.Name()+".txt", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failure != nil || len(r.Report.Unknown) > 0 {
		t.Fatalf("the run went astray: %v %v", r.Failure, r.Report.Unknown)
	}
	return r
}

// count counts the events of a kind at a node in [from, to).
func (r *Result) count(k event.Kind, node int, from, to time.Duration) int {
	n := 0
	for i := range r.Events {
		e := &r.Events[i]
		if e.Kind == k && int(e.Node) == node && e.At >= int64(from) && e.At < int64(to) {
			n++
		}
	}
	return n
}

// when is the instant at which the step with this text began.
func (r *Result) when(t *testing.T, step string) time.Duration {
	t.Helper()
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind == event.Step && e.Text == step {
			return time.Duration(e.At)
		}
	}
	t.Fatalf("no step %q was taken", step)
	return 0
}

func TestDiskThatStallsForTwentySecondsStopsItsPartitionsAndNotItsBroker(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		r := play(t, `cluster brokers=3 lanes=1
topic t assignment=2
producer p acks=all
consumer c
wait leader t-0 = 2 within 30s
write p t 300 every 100ms
sleep 5s
stall 2 for 20s
sleep 30s
wait acked p = 300 within 60s
verify c t
`, Options{Seed: 1, DataLanes: lanes})
		begin := r.when(t, "stall 2 for 20s")
		end := begin + 20*time.Second
		if n := r.count(event.Appended, 2, begin+time.Millisecond, end); n > 0 {
			t.Errorf("%d lanes: %d batches were appended on a disk that stalls", lanes, n)
		}
		if n := r.count(event.Appended, 2, end, end+5*time.Second); n == 0 {
			t.Errorf("%d lanes: nothing was appended after the stall", lanes)
		}
		for i := range r.Events {
			if e := &r.Events[i]; e.Kind == event.Fenced && e.Peer == 2 && e.At > int64(begin) {
				t.Errorf("%d lanes: broker 2 was fenced at %v although only its disk stalled", lanes, time.Duration(e.At))
			}
		}
	}
}

func TestFollowerThatIsKilledWhileItsDiskStallsHasAcknowledgedNothing(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		r := play(t, `cluster brokers=2
set min.insync.replicas=2
topic t assignment=1,2
producer p acks=all
consumer c
wait isr t-0 = 1,2 within 30s
send p t before
wait acked p = 1 within 5s
stall 2 for 8s
send p t during
wait leo 1 t-0 >= 2 within 5s
sleep 3s
kill 2
sleep 4s
start 2
wait acked p = 2 within 60s
verify c t
`, Options{Seed: seed})
		begin, back := r.when(t, "stall 2 for 8s"), r.when(t, "start 2")
		for i := range r.Events {
			e := &r.Events[i]
			if within := e.At > int64(begin) && e.At < int64(back); within && (e.Kind == event.SendOK || e.Kind == event.HighWatermarkMoved && e.HighWatermark > 1) {
				t.Errorf("seed %d: at %v the record counts as replicated (%v) though the follower died with its write stalled", seed, time.Duration(e.At), e.Kind)
			}
		}
	}
}

// A crash before every operation of a lane, one run each: whatever the process
// was about to do, nothing that was promised is lost and the cluster heals.
func TestCrashBeforeAnyOperationOfADataLaneLosesNothing(t *testing.T) {
	crashes := 0
	for _, target := range []string{"1/data-0", "2/data-0"} {
		for op := 1; op <= 60; op++ {
			kind := []string{"kill", "power"}[op%2]
			r := play(t, fmt.Sprintf(`cluster brokers=3
set min.insync.replicas=2
topic t assignment=1,2,3
producer p acks=all linger.ms=0
consumer c
wait isr t-0 = 1,2,3 within 30s
write p t 40 every 20ms
sleep 300ms
crash %s op %d %s
sleep 15s
start 1
start 2
wait acked p = 40 within 120s
wait isr t-0 = 1,2,3 within 60s
verify c t
`, target, op, kind), Options{Seed: uint64(op)})
			if r.Report.Verdict != checker.Pass {
				t.Errorf("crash %s op %d %s: %s: %v", target, op, kind, r.Report.Verdict, r.Report.Broken())
			}
			crashes += r.count(event.Died, int(target[0]-'0'), 0, time.Hour)
		}
	}
	if crashes < 100 {
		t.Errorf("only %d of 120 crashes took place", crashes)
	}
}

// A rolling upgrade is a plan: one broker still follows the old rule.
func TestRulesAreGivenToEachNodeAtItsBoot(t *testing.T) {
	r := play(t, `cluster brokers=3
topic t assignment=1,2,3
producer p acks=all linger.ms=0
consumer c
wait isr t-0 = 1,2,3 within 30s
rules 3 truncate=toHW
kill 3
start 3
wait isr t-0 = 1,2,3 within 60s
send p t m1
wait acked p = 1 within 5s
hold fetch response 1 -> 2
hold fetch response 1 -> 3
kill 1
wait leader t-0 = 2 within 30s
wait epoch 3 t-0 >= 1 within 5s
verify c t
`, Options{Seed: 1})
	cuts := map[int]int{}
	for _, n := range []int{2, 3} {
		cuts[n] = r.count(event.Truncated, n, r.when(t, "kill 1"), time.Hour)
	}
	if cuts[2] != 0 || cuts[3] == 0 {
		t.Errorf("truncations after the failover: broker 2 (current) %d, broker 3 (truncate=toHW) %d", cuts[2], cuts[3])
	}
}
