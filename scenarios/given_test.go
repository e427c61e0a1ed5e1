package scenarios

import (
	"strings"
	"testing"

	"tidemark/model/plan"
)

const givenPlan = `cluster brokers=3 controllers=1 lanes=1
set min.insync.replicas=1
topic t partitions=1 replicas=3 min.insync.replicas=2
topic u partitions=1 replicas=3
producer p acks=all
producer q
consumer c
`

func given(t *testing.T, set, files string, drawn bool) string {
	t.Helper()
	p, err := plan.Parse("given.txt", givenPlan)
	if err != nil {
		t.Fatal(err)
	}
	g := Given{Set: plan.SplitSettings(set), Files: plan.SplitSettings(files)}
	q := g.On(p)
	if drawn {
		q = g.OnDrawn(p)
	}
	if p.String() != givenPlan {
		t.Fatalf("the plan itself was changed:\n%s", p)
	}
	return q.String()
}

// lines are the lines of b that a does not have.
func lines(a, b string) string {
	var fresh []string
	for line := range strings.Lines(b) {
		if !strings.Contains(a, line) {
			fresh = append(fresh, strings.TrimSpace(line))
		}
	}
	return strings.Join(fresh, "; ")
}

func TestSettingsFindTheirPlacesInAPlan(t *testing.T) {
	for _, c := range []struct{ name, set, files, want string }{
		{"nothing given", "", "", ""},
		{"set wins over the scenario, for brokers and where a topic says something itself", "min.insync.replicas=3", "",
			"set min.insync.replicas=3; topic t partitions=1 replicas=3 min.insync.replicas=3"},
		{"a file does not", "", "min.insync.replicas=3", ""},
		{"a file says what nobody else does", "", "broker.session.timeout.ms=6000", "set broker.session.timeout.ms=6000"},
		{"set wins over a file", "broker.session.timeout.ms=7000", "broker.session.timeout.ms=6000", "set broker.session.timeout.ms=7000"},
		{"a later line wins over an earlier one", "", "broker.session.timeout.ms=6000,broker.session.timeout.ms=8000",
			"set broker.session.timeout.ms=8000"},
		{"whether it has a prefix or not", "", "producer.linger.ms=1,linger.ms=2,producer.linger.ms=3,consumer.check.crcs=false,check.crcs=true",
			"producer p acks=all linger.ms=3; producer q linger.ms=3; consumer c check.crcs=true"},
		{"a producer's key is for producers", "acks=1", "", "producer p acks=1; producer q acks=1"},
		{"from a file, for those that do not set it", "", "acks=1", "producer q acks=1"},
		{"a key of both clients is for both, unless a prefix says whose", "producer.request.timeout.ms=9000,metadata.max.age.ms=70000", "",
			"producer p acks=all request.timeout.ms=9000 metadata.max.age.ms=70000; producer q request.timeout.ms=9000 metadata.max.age.ms=70000; consumer c metadata.max.age.ms=70000"},
		{"a topic's key that brokers do not have is for all topics", "segment.bytes=4096", "",
			"topic t partitions=1 replicas=3 min.insync.replicas=2 segment.bytes=4096; topic u partitions=1 replicas=3 segment.bytes=4096"},
	} {
		if got := lines(givenPlan, given(t, c.set, c.files, false)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestWhatASeedDrewGivesWayToFiles(t *testing.T) {
	want := "set min.insync.replicas=3; topic t partitions=1 replicas=3 min.insync.replicas=3; producer p acks=1; producer q acks=1"
	if got := lines(givenPlan, given(t, "", "min.insync.replicas=3,acks=1", true)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	got := lines(givenPlan, given(t, "min.insync.replicas=2", "min.insync.replicas=3", true))
	if want := "set min.insync.replicas=2"; got != want {
		t.Errorf("set over a file: got %s, want %s", got, want)
	}
}

func TestDrawnSettingsThatKafkaBindsToAGivenOneGiveWay(t *testing.T) {
	p, err := plan.Parse("drawn.txt", "producer p acks=1 request.timeout.ms=40000 delivery.timeout.ms=60000 batch.size=400\n")
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"delivery.timeout.ms=35000": "producer p acks=1 batch.size=400 delivery.timeout.ms=35000",
		"enable.idempotence=true":   "producer p request.timeout.ms=40000 delivery.timeout.ms=60000 batch.size=400 enable.idempotence=true",
		"linger.ms=7,acks=all":      "producer p batch.size=400 linger.ms=7 acks=all",
	} {
		if got := (Given{Set: plan.SplitSettings(set)}).OnDrawn(p).Steps[0].String(); got != want {
			t.Errorf("%s: %s\nwant %s", set, got, want)
		}
	}
}

func TestSettingsThatBindEachOtherAreLookedAtOnceAllAreGiven(t *testing.T) {
	p, err := plan.Parse("given.txt", givenPlan)
	if err != nil {
		t.Fatal(err)
	}
	g := Given{Set: plan.SplitSettings("log.cleaner.max.compaction.lag.ms=5,topic.min.compaction.lag.ms=9")}
	_, err = Run(g.On(p), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "topic t: min.compaction.lag.ms: 9 is more than max.compaction.lag.ms, which is 5") {
		t.Error(err)
	}
}
