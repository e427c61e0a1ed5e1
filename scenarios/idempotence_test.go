package scenarios

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/node/producer"
	"tidemark/node/replica"
)

// lossy draws a plan of kills, cuts, lost answers and resets around three
// brokers, while two producers write with five requests in flight.
func lossy(seed uint64) string {
	draw := rand.New(rand.NewPCG(seed, 98)) // KIP-98
	one := func() int { return 1 + draw.IntN(3) }
	var b strings.Builder
	b.WriteString(`cluster brokers=3 controllers=1 lanes=2
set min.insync.replicas=2 broker.session.timeout.ms=3000 broker.heartbeat.interval.ms=500
topic t assignment=1,2,3;2,3,1
producer p linger.ms=0 request.timeout.ms=1500
producer q linger.ms=0 request.timeout.ms=1500 batch.size=400
consumer auditor
wait isr t-0 = 1,2,3 within 30s
write p t-0 60 every 30ms
write q t-1 60 every 30ms
`)
	for range 2 + draw.IntN(2) {
		fmt.Fprintf(&b, "sleep %dms\n", 200+draw.IntN(400))
		id, client := one(), []string{"p", "q"}[draw.IntN(2)]
		switch draw.IntN(6) {
		case 0, 1, 5:
			fmt.Fprintf(&b, "kill %d\nsleep %dms\nstart %d\nwait isr t-0 = 1,2,3 within 60s\nwait isr t-1 = 1,2,3 within 60s\n", id, 100+draw.IntN(5000), id)
		case 2:
			fmt.Fprintf(&b, "cut %d -> %s\nsleep %dms\nheal\n", id, client, 100+draw.IntN(3000))
		case 3:
			fmt.Fprintf(&b, "hold produce response %d -> %s\nsleep %dms\nreset %d <-> %s\nrelease\n", id, client, 50+draw.IntN(1000), id, client)
		case 4:
			fmt.Fprintf(&b, "cut %d <-> %d\nsleep %dms\nheal\n", id, id%3+1, 100+draw.IntN(4000))
		}
	}
	b.WriteString("wait acked p = 60 within 120s\nwait acked q = 60 within 120s\nverify auditor t\n")
	return b.String()
}

// effects counts the effects with a text.
func (r *Result) effects(text string) (n int) {
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind == event.Effect && e.Text == text {
			n++
		}
	}
	return n
}

// written lists a client's records in the order in which a reader got them from a
// partition: by their number among the client's sends.
func (r *Result) written(reader string, partition int32) (order []uint32) {
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind == event.PollOK && e.Client == reader && e.Partition == partition {
			for _, rec := range e.Records {
				order = append(order, event.Ordinal(rec.Attempt))
			}
		}
	}
	return order
}

func TestRetriesUnderFailoverWriteEachRecordOnceAndInOrder(t *testing.T) {
	retries, dropped, elections := 0, 0, 0
	for seed := range uint64(200) {
		r := play(t, lossy(seed), Options{Seed: seed})
		if r.Report.Verdict != checker.Pass || len(r.Report.Notes) > 0 {
			t.Fatalf("seed %d: %s %v %v\n%s", seed, r.Report.Verdict, r.Report.Findings, r.Report.Notes, lossy(seed))
		}
		for partition := range int32(2) {
			order := r.written("auditor", partition)
			for i, n := range order {
				if n != uint32(i+1) {
					t.Fatalf("seed %d: t-%d holds %v\n%s", seed, partition, order, lossy(seed))
				}
			}
			if len(order) != 60 {
				t.Fatalf("seed %d: t-%d holds %d records, want 60", seed, partition, len(order))
			}
		}
		retries += r.effects(producer.RetryEffect)
		dropped += r.effects(replica.DuplicateEffect)
		elections += r.count(event.Elected, 101, 0, r.Simulated) - 2 // the topic's creation
	}
	t.Logf("%d retries, %d duplicates dropped, %d elections", retries, dropped, elections)
	if retries < 500 || dropped < 500 || elections < 100 {
		t.Errorf("%d retries, %d duplicates dropped, %d elections: too few to tell", retries, dropped, elections)
	}
}

// lostAnswers is a leader that appends five batches and cannot answer before it is
// gone: by what, the cases say.
const lostAnswers = `cluster brokers=1 controllers=1 lanes=1
topic t assignment=1
producer p linger.ms=0 %s
consumer auditor
wait leader t-0 = 1 within 30s
send p t-0 first
wait acked p = 1 within 5s
hold produce response 1 -> p
write p t-0 5 every 10ms
%s
wait acked p = 6 within 60s
verify auditor t
`

func TestALeaderThatIsBackKnowsOfItsProducersWhatKafkaRemembers(t *testing.T) {
	const gone = "sleep 1s\n%s 1\nsleep 1s\nreset 1 <-> p\nrelease\nstart 1"
	for _, c := range []struct {
		name, settings, fault string
		copies, dropped       int // of the five records in the log; batches that were known again
		verdict               checker.Verdict
	}{
		{"the connection alone is lost", "", "sleep 1s\nreset 1 <-> p\nrelease", 5, 5, checker.Pass},
		{"killed: its batches tell it all", "", fmt.Sprintf(gone, "kill"), 5, 5, checker.Pass},
		// KAFKA-9199: the snapshot of a clean stop holds each producer's last batch.
		{"stopped: it knows the last batch alone", "", fmt.Sprintf(gone, "stop"), 10, 0, checker.Excused},
		{"stopped, with one request in flight", "max.in.flight.requests.per.connection=1", fmt.Sprintf(gone, "stop"), 5, 1, checker.Pass},
		{"without idempotence (story P1)", "enable.idempotence=false", "sleep 1s\nreset 1 <-> p\nrelease", 10, 0, checker.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, fmt.Sprintf(lostAnswers, c.settings, c.fault), Options{Seed: 1})
			got, dropped := r.written("auditor", 0), r.effects(replica.DuplicateEffect)
			if r.Report.Verdict != c.verdict || len(got) != 1+c.copies || dropped != c.dropped {
				t.Errorf("%s, the log holds %v, %d batches were dropped; want %s, %d copies, %d dropped\n%v",
					r.Report.Verdict, got, dropped, c.verdict, c.copies, c.dropped, r.Report.Findings)
			}
		})
	}
}

// Story P2: 25 hours by the leader's clock, in an instant, are more than
// producer.id.expiration.ms. Kafka has no cure.
func TestAnExpiredProducersRetryIsWrittenTwice(t *testing.T) {
	text := fmt.Sprintf(lostAnswers, "request.timeout.ms=1200000 delivery.timeout.ms=3600000",
		"sleep 1s\nclock 1 jump %s\nsleep 11m\nreset 1 <-> p\nrelease")
	for jump, want := range map[string]struct {
		verdict checker.Verdict
		copies  int
	}{"23h": {checker.Pass, 5}, "25h": {checker.Violation, 10}} {
		r := play(t, fmt.Sprintf(text, jump), Options{Seed: 1})
		if got := r.written("auditor", 0); r.Report.Verdict != want.verdict || len(got) != 1+want.copies {
			t.Errorf("jump of %s: %s, the log holds %v; want %s and %d copies", jump, r.Report.Verdict, got, want.verdict, want.copies)
		}
		if want.verdict == checker.Violation && strings.Join(r.Report.Broken(), " ") != "duplicate" {
			t.Errorf("broken: %v", r.Report.Broken())
		}
	}
}
