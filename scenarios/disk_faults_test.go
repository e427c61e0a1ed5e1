package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/sim"
)

// leaderBreaks is what happens when the disk of broker 1, which leads, breaks
// while m2 is on its way: the broker says so and stops, having acknowledged
// nothing that it could not keep; another one leads; mended, it comes back.
const leaderBreaks = `cluster brokers=3 controllers=1 lanes=2
set min.insync.replicas=2 %s
topic t assignment=1,2,3
producer p acks=all linger.ms=0
consumer c
wait isr t-0 = 1,2,3 within 30s
send p t m1
wait acked p = 1 within 5s
wait hw 3 t-0 >= 1 within 5s
disk 1 %s
send p t m2
wait leader t-0 = 2 within 30s
wait acked p = 2 within 30s
disk 1 heal
start 1
wait isr t-0 = 1,2,3 within 60s
send p t m3
wait acked p = 3 within 30s
verify c t
`

func TestBrokerWhoseOnlyLogDirectoryFailsAcknowledgesNothingMoreAndStops(t *testing.T) {
	const flushing = "log.flush.interval.messages=1"
	for _, c := range []struct {
		settings, fault string
		kind            sim.FaultKind
		says            string
	}{
		{"", "write-error t-0", sim.FaultWriteError, "input/output error"},
		{"", "write-error t-0 short", sim.FaultWriteError, "input/output error"},
		{"", "write-error t-0/*.log op 1", sim.FaultWriteError, "input/output error"},
		{"", "capacity 1000", sim.FaultCapacity, "no space left on device"},
		{flushing, "fsync-error keeps t-0/*.log op 1", sim.FaultSyncError, "input/output error"},
		{flushing, "fsync-error reverts t-0/*.log op 1", sim.FaultSyncError, "input/output error"},
		{flushing, "fsync-error gone t-0/*.log op 1", sim.FaultSyncError, "input/output error"},
		{"", "fsync-error keeps * op 1", sim.FaultSyncError, "input/output error"}, // of a checkpoint
	} {
		t.Run(c.fault, func(t *testing.T) {
			r := play(t, fmt.Sprintf(leaderBreaks, c.settings, c.fault), Options{Seed: 1})
			failed, died := r.failing(1)
			if failed == nil || !strings.Contains(failed.Text, c.says) {
				t.Fatalf("the broker says %+v of its log directory", failed)
			}
			if died == nil || died.At-failed.At > int64(time.Millisecond) || !strings.Contains(died.Text, "all log dirs have failed") {
				t.Errorf("it failed at %d and died as %+v", failed.At, died)
			}
			for i := range r.Events {
				e := &r.Events[i]
				if e.Node == 1 && e.Seq > failed.Seq && e.Seq < died.Seq && (e.Kind == event.Appended || e.Kind == event.HighWatermarkMoved) {
					t.Errorf("after the failure broker 1 went on: %v %v %d", e.Kind, e.TP(), e.Offset)
				}
			}
			if f := r.Stats.Faults[c.kind]; f.Fired != 1 || f.Effective != 1 {
				t.Errorf("the fault is counted as %+v", f)
			}
			if r.Report.Verdict != checker.Pass {
				t.Errorf("verdict %v: %v", r.Report.Verdict, r.Report.Findings)
			}
		})
	}
}

// failing are the first failure of a broker's log directory and its death after
// that, nil if there was none.
func (r *Result) failing(id int) (failed, died *event.Event) {
	for i := range r.Events {
		e := &r.Events[i]
		switch {
		case int(e.Node) != id:
		case e.Kind == event.StorageFailed && failed == nil:
			failed = e
		case e.Kind == event.Died && failed != nil && died == nil:
			died = e
		}
	}
	return failed, died
}

func TestFollowerWhoseDiskFailsLeavesTheISRAndTheWriteGoesOn(t *testing.T) {
	r := play(t, `cluster brokers=3 controllers=1 lanes=1
set min.insync.replicas=2
topic t assignment=1,2,3
producer p acks=all linger.ms=0
consumer c
wait isr t-0 = 1,2,3 within 30s
disk 3 write-error t-0
send p t m1
wait isr t-0 = 1,2 within 30s
wait acked p = 1 within 30s
disk 3 heal
start 3
wait isr t-0 = 1,2,3 within 60s
verify c t
`, Options{Seed: 1})
	if failed, died := r.failing(3); failed == nil || died == nil {
		t.Errorf("failed %v, died %v", failed, died)
	}
	if r.Report.Verdict != checker.Pass {
		t.Errorf("verdict %v", r.Report.Verdict)
	}
}

// A read error at the socket write costs the connection, as an error of sendfile
// does; the log directory is none the wiser, and the follower reads elsewhere
// later or again.
func TestReadErrorAtTheSocketResetsTheConnectionOnly(t *testing.T) {
	r := play(t, `cluster brokers=1 controllers=1 lanes=1
topic t assignment=1
producer p acks=all linger.ms=0
consumer c
disk 1 page-cache 65536
write p t 3000 every 1ms
wait acked p = 3000 within 30s
disk 1 read-error t-0/*.log bytes 8192-16384
at 9s disk 1 heal
verify c t
`, Options{Seed: 1})
	resets := 0
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind == event.Effect && strings.HasPrefix(e.Text, "socket write reset: ") {
			resets++
		}
	}
	if failed, _ := r.failing(1); resets == 0 || failed != nil {
		t.Errorf("%d resets; the log directory failed: %v", resets, failed)
	}
	if r.Stats.Faults[sim.FaultReadError].Effective != 1 || r.Report.Verdict != checker.Pass {
		t.Errorf("%+v, verdict %v", r.Stats.Faults[sim.FaultReadError], r.Report.Verdict)
	}
}

// One of two log directories fails, in every way: its partition is led by another
// broker, never again touched here, and the other directory's goes on as before.
func TestOneLogDirectoryThatFailsTakesItsPartitionsAloneOffline(t *testing.T) {
	for _, fault := range []string{"write-error d0", "write-error d0/t-0/*.log short", "write-error d0/t-0/*.log op 1",
		"fsync-error keeps d0/t-0/*.log op 1", "fsync-error reverts d0/t-0/*.log op 1", "fsync-error gone d0/t-0/*.log op 1",
		"fsync-error keeps d0/*checkpoint.tmp op 1"} {
		t.Run(fault, func(t *testing.T) {
			r := play(t, `cluster brokers=3 controllers=1 lanes=1
set log.dirs=d0,d1 min.insync.replicas=2 log.flush.interval.messages=1
topic t assignment=1,2,3;1,2,3
producer p acks=all linger.ms=0
consumer c
wait isr t-0 = 1,2,3 within 30s
wait isr t-1 = 1,2,3 within 30s
write p t-0 20 every 50ms
write p t-1 20 every 50ms
wait acked p >= 10 within 5s
disk 1 `+fault+`
wait leader t-0 = 2 within 30s
wait leader t-1 = 1 within 1s
wait acked p = 40 within 60s
wait isr t-0 = 2,3 within 60s
wait isr t-1 = 1,2,3 within 1s
disk 1 heal
sleep 10s
verify c t
`, Options{Seed: 1})
			failed, died := r.failing(1)
			if failed == nil || died != nil {
				t.Fatalf("failed %+v, died %+v", failed, died)
			}
			for i := range r.Events {
				e := &r.Events[i]
				if e.Node == 1 && e.Seq > failed.Seq && e.Partition == 0 && (e.Kind == event.Appended || e.Kind == event.HighWatermarkMoved) {
					t.Errorf("broker 1 went on with what it cannot trust: %v %v %d", e.Kind, e.TP(), e.Offset)
				}
			}
			if r.Report.Verdict != checker.Pass {
				t.Errorf("verdict %v: %v", r.Report.Verdict, r.Report.Findings)
			}
		})
	}
}
