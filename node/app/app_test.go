package app

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/client/clienttest"
	"tidemark/node/consumer"
)

// lane is one client in a cluster with shared perfect logs.
type lane struct {
	*clienttest.World
	t *testing.T
	p node.Process
}

func start(t *testing.T, name string) *lane {
	l := &lane{World: clienttest.New(t, 2), t: t, p: New(Config{Name: name, Bootstrap: []string{"broker1:9092", "broker2:9092"}})}
	l.Serve()
	l.Host = l.p
	l.p.Start(l.Env())
	return l
}

func (l *lane) step(s plan.Step) {
	l.p.Posted(node.Outside, &s)
	l.Run()
}

// told writes the events of the client history, one line each.
func (l *lane) told() []string {
	var out []string
	for i := range l.Events {
		e := &l.Events[i]
		switch e.Kind {
		case event.Profile:
			continue
		case event.PollOK:
			line := fmt.Sprintf("%v %v %d..%d hw %d", e.Kind, e.TP(), e.Offset, e.End, e.HighWatermark)
			if e.Drained {
				line += " drained"
			}
			out = append(out, line)
		case event.PositionReset:
			out = append(out, fmt.Sprintf("%v %v %d..%d %s", e.Kind, e.TP(), e.Offset, e.End, e.Text))
		case event.SendInvoke, event.SendOK, event.SendFail, event.SendUnknown:
			out = append(out, fmt.Sprintf("%v %v attempt %d offset %d acks %d", e.Kind, e.TP(), e.Attempt&0xffffffff, e.Offset, e.Acks))
		default:
			out = append(out, fmt.Sprintf("%v %s", e.Kind, e.Text))
		}
	}
	return out
}

func (l *lane) want(lines ...string) {
	l.t.Helper()
	if diff := cmp.Diff(lines, l.told()); diff != "" {
		l.t.Errorf("history (-want +got):\n%s", diff)
	}
}

func settings(kv ...string) []plan.Setting {
	var out []plan.Setting
	for _, s := range kv {
		k, v, _ := strings.Cut(s, "=")
		out = append(out, plan.Setting{Key: k, Value: v})
	}
	return out
}

func TestASendIsToldAsInvokedAndThenAcknowledged(t *testing.T) {
	l := start(t, "p")
	l.Topic("t", 1)
	l.step(plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("acks=1", "linger.ms=0")})
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: -1, Value: "m1"})
	l.Advance(time.Second)
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: 0, Value: "m2"})
	l.want(
		"send t--1 attempt 1 offset -1 acks 1",
		"send-ok t-0 attempt 1 offset 0 acks 1",
		"send t-0 attempt 2 offset -1 acks 1",
		"send-ok t-0 attempt 2 offset 1 acks 1",
	)
	for i := range l.Events {
		if e := &l.Events[i]; e.Kind == event.SendOK && (e.Attempt>>32 != 1001 || e.Client != "p") {
			t.Errorf("attempt %x of %s does not begin with the node's id", e.Attempt, e.Client)
		}
	}
}

func TestRecordsCarryTheirAttemptInAHeader(t *testing.T) {
	l := start(t, "p")
	l.Topic("t", 1)
	delete(l.On, clienttest.Produce)
	l.step(plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("linger.ms=0")})
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: 0, Value: "m1", RecordKey: "k", HasKey: true})
	l.Advance(time.Second)
	req := l.Take(clienttest.Produce).Body.(*kmsg.ProduceRequest)
	_ = record.Batch(req.Topics[0].Partitions[0].Records).Each(func(r record.Record) error {
		want := binary.BigEndian.AppendUint64(nil, 1001<<32|1)
		if string(r.Value) != "m1" || string(r.Key) != "k" || len(r.Headers) != 1 || r.Headers[0].Key != "attempt" || string(r.Headers[0].Value) != string(want) {
			t.Errorf("record is %+v", r)
		}
		return nil
	})
}

func TestTheProducersProfileTellsEverySetting(t *testing.T) {
	l := start(t, "p")
	l.step(plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("acks=1")})
	got := map[string]bool{}
	for i := range l.Events {
		if e := &l.Events[i]; e.Kind == event.Profile && e.Client == "producer p" {
			got[e.Text] = true
		}
	}
	for _, want := range []string{"acks=1", "enable.idempotence=false", "linger.ms=5", "client.id=p"} {
		if !got[want] {
			t.Errorf("the profile does not tell %s", want)
		}
	}
	if len(got) != len(kafka.Definitions(kafka.ProducerScope)) {
		t.Errorf("the profile tells %d settings of %d", len(got), len(kafka.Definitions(kafka.ProducerScope)))
	}
}

func TestWriteSendsNumberedRecordsAtItsPace(t *testing.T) {
	l := start(t, "p")
	l.Topic("t", 1)
	l.step(plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("linger.ms=0")})
	l.Advance(time.Second)
	l.step(plan.Step{Verb: plan.VerbWrite, Client: "p", Topic: "t", Partition: -1, Count: 3, Every: 100 * time.Millisecond})
	l.Advance(150 * time.Millisecond)
	sent := func() (values []uint64) {
		for i := range l.Events {
			if l.Events[i].Kind == event.SendInvoke {
				values = append(values, l.Events[i].Hash)
			}
		}
		return values
	}
	if n := len(sent()); n != 2 {
		t.Fatalf("%d records after 150 ms at every 100 ms, want 2", n)
	}
	l.Advance(time.Second)
	l.step(plan.Step{Verb: plan.VerbWrite, Client: "p", Topic: "t", Partition: -1, Count: 1, Every: 100 * time.Millisecond})
	l.Advance(time.Second)
	var want []uint64
	for _, v := range []string{"p-1", "p-2", "p-3", "p-4"} {
		want = append(want, event.HashValue([]byte(v)))
	}
	if diff := cmp.Diff(want, sent()); diff != "" {
		t.Errorf("hashes of the values p-1 to p-4 (-want +got):\n%s", diff)
	}
}

// produce fills partitions of t with n records each, from another client.
func (l *lane) produce(n int, partitions ...int32) {
	other := &lane{World: l.World, t: l.t, p: New(Config{Name: "other", Bootstrap: []string{"broker1:9092"}})}
	l.Host = other.p
	other.p.Start(l.Env())
	for range n {
		for _, p := range partitions {
			other.step(plan.Step{Verb: plan.VerbSend, Topic: "t", Partition: p, Value: "v"})
			l.Advance(time.Second)
		}
	}
	other.p.Posted(node.Outside, node.Stop{})
	l.Run()
	l.Host, l.Events, l.Exited = l.p, nil, ""
}

func TestRecordsOfAnEarlierRunAreForeign(t *testing.T) {
	for _, c := range []struct {
		run     []kafka.BrokerID
		foreign bool
	}{{nil, false}, {[]kafka.BrokerID{7, 1001}, false}, {[]kafka.BrokerID{7, 8}, true}} {
		l := start(t, "c")
		l.Topic("t", 1)
		l.produce(1, 0) // by node 1001
		l.p = New(Config{Name: "c", Bootstrap: []string{"broker1:9092"}, Run: c.run})
		l.Host = l.p
		l.p.Start(l.Env())
		l.step(plan.Step{Verb: plan.VerbRead, Client: "c", Topic: "t", Partition: -1, From: "earliest"})
		l.Advance(2 * time.Second)
		if got := l.find(event.PollOK).Records[0].Attempt; (got == 0) != c.foreign {
			t.Errorf("a run of nodes %v reads attempt %d, want foreign: %v", c.run, got, c.foreign)
		}
	}
}

func TestReadConsumesFromWhereTheStepSays(t *testing.T) {
	for _, c := range []struct {
		from string
		want []string
	}{
		{"earliest", []string{"position-reset t-0 -1..0 assign", "poll t-0 0..3 hw 3 drained"}},
		{"latest", []string{"position-reset t-0 -1..3 assign"}},
		{"2", []string{"position-reset t-0 -1..2 assign", "poll t-0 2..3 hw 3 drained"}},
	} {
		l := start(t, "c")
		l.Topic("t", 1)
		l.produce(3, 0)
		l.step(plan.Step{Verb: plan.VerbRead, Client: "c", Topic: "t", Partition: -1, From: c.from})
		l.Advance(2 * time.Second)
		l.want(c.want...)
	}
}

func TestPolledRecordsNameTheAttemptThatSentThem(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 1)
	l.produce(2, 0)
	l.step(plan.Step{Verb: plan.VerbRead, Client: "c", Topic: "t", Partition: 0, From: "earliest"})
	l.Advance(2 * time.Second)
	last := l.Events[len(l.Events)-1]
	hash := event.HashValue([]byte("v"))
	want := []event.Record{{Offset: 0, Attempt: 1001<<32 | 1, Hash: hash}, {Offset: 1, Attempt: 1001<<32 | 2, Hash: hash}}
	for i := range want {
		want[i].Headers = event.HashHeader(event.NoHeaders, "attempt", binary.BigEndian.AppendUint64(nil, want[i].Attempt))
		want[i].Timestamp = last.Records[i].Timestamp // see TestARecordIsToldWithItsTimestampAtBothEnds
	}
	if diff := cmp.Diff(want, last.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestARecordIsToldWithItsTimestampAtBothEnds(t *testing.T) {
	l := start(t, "p")
	l.Topic("t", 1)
	l.Advance(1234 * time.Millisecond)
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: 0, Value: "v"})
	l.Advance(time.Second)
	l.step(plan.Step{Verb: plan.VerbRead, Client: "p", Topic: "t", Partition: 0, From: "earliest"})
	l.Advance(2 * time.Second)
	sent, read := l.find(event.SendInvoke), l.find(event.PollOK)
	if sent.Timestamp == 0 || sent.Headers == 0 || read.Records[0].Timestamp != sent.Timestamp || read.Records[0].Headers != sent.Headers {
		t.Errorf("sent with headers %x at %d, read with %x at %d", sent.Headers, sent.Timestamp, read.Records[0].Headers, read.Records[0].Timestamp)
	}
}

// What the leader stamped says nothing of what was sent.
func TestATimestampOfTheLeaderIsNotTold(t *testing.T) {
	l := start(t, "c")
	for _, whose := range []record.TimestampType{record.LogAppendTime, record.CreateTime} {
		l.Events = nil
		r := &reader{app: l.p.(*app)}
		r.polled(&consumer.Polled{Records: []consumer.Record{{Record: record.Record{Timestamp: 99}, TimestampType: whose}}})
		if got, want := l.find(event.PollOK).Records[0].Timestamp, map[record.TimestampType]kafka.Timestamp{record.CreateTime: 99}[whose]; got != want {
			t.Errorf("%v is told as %d", whose, got)
		}
	}
}

func TestOutcomesOfAnIdempotentProducerTellItsIDAndEpoch(t *testing.T) {
	l := start(t, "p")
	l.Topic("t", 1)
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: 0, Value: "v"})
	l.Advance(time.Second)
	if ok := l.find(event.SendOK); ok.Who().ProducerID != 1 || ok.Who().ProducerEpoch != 0 { // clienttest counts from 1
		t.Errorf("acknowledged to %+v", ok.Who())
	}
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: 0, Value: "v"})
	l.Advance(time.Second)
	if last := l.Events[len(l.Events)-1]; last.Kind != event.SendOK || last.Session != l.find(event.SendOK).Session {
		t.Errorf("the second outcome makes a session of its own: %v %p", last.Kind, last.Session)
	}
}

// find is the first event of a kind.
func (l *lane) find(k event.Kind) *event.Event {
	l.t.Helper()
	for i := range l.Events {
		if l.Events[i].Kind == k {
			return &l.Events[i]
		}
	}
	l.t.Fatalf("no event of kind %v", k)
	return nil
}

func TestVerifyReadsEveryPartitionToItsEndOnce(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 2)
	l.produce(2, 0) // partition 1 stays empty
	l.step(plan.Step{Verb: plan.VerbVerify, Client: "c", Topic: "t", Partition: -1})
	l.Advance(3 * time.Second)
	got := l.told()
	for _, line := range []string{"poll t-0 0..2 hw 2", "poll t-0 2..2 hw 2 drained", "poll t-1 0..0 hw 0 drained"} {
		n := 0
		for _, g := range got {
			if g == line {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is told %d times, want once, in:\n%s", line, n, strings.Join(got, "\n"))
		}
	}
	before := l.Count(clienttest.Fetch)
	l.Advance(time.Minute)
	if n := l.Count(clienttest.Fetch) - before; n != 0 {
		t.Errorf("%d fetches after the end of the verification", n)
	}
}

func TestVerifyDoesNotTakeALaggingHighWatermarkForTheEnd(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 1)
	l.produce(3, 0)
	l.Lag("t", 0, 1) // a new leader that has not heard of the last record's commit
	l.step(plan.Step{Verb: plan.VerbVerify, Client: "c", Topic: "t", Partition: -1})
	l.Advance(3 * time.Second)
	l.want("position-reset t-0 -1..0 assign", "poll t-0 0..2 hw 2")
	l.Lag("t", 0, 0)
	l.Advance(3 * time.Second)
	l.want("position-reset t-0 -1..0 assign", "poll t-0 0..2 hw 2", "poll t-0 2..3 hw 3", "poll t-0 3..3 hw 3 drained")
}

func TestVerifyGoesOnToTheHighWatermarkBehindItsTarget(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 1)
	l.Append("t", 0, "a")
	serve := l.On[clienttest.Fetch]
	delete(l.On, clienttest.Fetch)
	l.step(plan.Step{Verb: plan.VerbConsumer, Client: "c", Settings: settings("max.partition.fetch.bytes=1")})
	l.step(plan.Step{Verb: plan.VerbVerify, Client: "c", Topic: "t", Partition: -1})
	l.Advance(3 * time.Second) // the end that it was told is 1
	l.Append("t", 0, "b")
	l.On[clienttest.Fetch] = serve
	serve(l.Take(clienttest.Fetch))
	l.Advance(time.Second)
	l.want("position-reset t-0 -1..0 assign", "poll t-0 0..1 hw 2", "poll t-0 1..2 hw 2", "poll t-0 2..2 hw 2 drained")
}

func TestVerifyBeginsAgainAtTheStartWhenItsPositionIsGone(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 1)
	l.Append("t", 0, "a")
	serve := l.On[clienttest.Fetch]
	l.On[clienttest.Fetch] = func(r *clienttest.Request) {
		l.On[clienttest.Fetch] = serve
		res := kmsg.NewPtrFetchResponse()
		topic := kmsg.NewFetchResponseTopic()
		topic.TopicID = l.TopicID("t")
		p := kmsg.NewFetchResponseTopicPartition()
		p.ErrorCode = int16(kafka.OffsetOutOfRange)
		topic.Partitions = append(topic.Partitions, p)
		res.Topics = append(res.Topics, topic)
		r.Answer(res)
	}
	l.step(plan.Step{Verb: plan.VerbConsumer, Client: "c", Settings: settings("auto.offset.reset=latest")})
	l.step(plan.Step{Verb: plan.VerbVerify, Client: "c", Topic: "t", Partition: -1})
	l.Advance(3 * time.Second)
	l.want("position-reset t-0 -1..0 assign", "position-reset t-0 0..0 out-of-range", "poll t-0 0..1 hw 1", "poll t-0 1..1 hw 1 drained")
}

func TestVerifyEndsAtTheShorterLogOfALaterLeader(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 1)
	l.produce(4, 0)
	l.Lag("t", 0, 2)
	l.step(plan.Step{Verb: plan.VerbVerify, Client: "c", Topic: "t", Partition: -1})
	l.Advance(3 * time.Second) // has read 2 of 4
	l.CutLog("t", 0, 2)
	l.Lag("t", 0, 0)
	l.Lead("t", 0, 2, 1)
	l.Advance(5 * time.Second)
	l.want("position-reset t-0 -1..0 assign", "poll t-0 0..2 hw 2", "poll t-0 2..2 hw 2 drained")
}

func TestATruncationIsToldBeforeThePositionMoves(t *testing.T) {
	l := start(t, "c")
	l.Topic("t", 1)
	l.produce(4, 0)
	l.step(plan.Step{Verb: plan.VerbRead, Client: "c", Topic: "t", Partition: 0, From: "earliest"})
	l.Advance(3 * time.Second)
	l.CutLog("t", 0, 2)
	l.Lead("t", 0, 2, 1)
	l.Advance(5 * time.Second)
	l.want("position-reset t-0 -1..0 assign", "poll t-0 0..4 hw 4 drained", "truncation-detected ", "position-reset t-0 4..2 truncated")
}

func TestCreateTopicIsTriedUntilTheBrokersAreThere(t *testing.T) {
	l := start(t, "admin")
	answers := []kafka.ErrorCode{kafka.InvalidReplicationFactor, kafka.RequestTimedOut, kafka.TopicAlreadyExists}
	l.On[clienttest.CreateTopics] = func(r *clienttest.Request) {
		res := kmsg.NewPtrCreateTopicsResponse()
		topic := kmsg.NewCreateTopicsResponseTopic()
		topic.Topic, topic.ErrorCode = "t", int16(answers[0])
		answers = answers[1:]
		res.Topics = append(res.Topics, topic)
		r.Answer(res)
	}
	l.step(plan.Step{Verb: plan.VerbTopic, Topic: "t", Partitions: 3, Replicas: 2, Settings: settings("min.insync.replicas=2")})
	l.Advance(10 * time.Second)
	l.want()
	if len(answers) != 0 {
		t.Fatalf("%d answers were not asked for", len(answers))
	}
	var req *kmsg.CreateTopicsRequest
	for _, r := range l.Seen {
		if q, ok := r.Body.(*kmsg.CreateTopicsRequest); ok {
			req = q
		}
	}
	topic := req.Topics[0]
	if topic.NumPartitions != 3 || topic.ReplicationFactor != 2 || topic.Configs[0].Name != "min.insync.replicas" || *topic.Configs[0].Value != "2" {
		t.Errorf("request is %+v", topic)
	}
}

func TestATopicThatCannotBeIsAnEffect(t *testing.T) {
	l := start(t, "admin")
	l.Topic("t", 1)
	l.step(plan.Step{Verb: plan.VerbTopic, Topic: "t", Partitions: 1})
	l.Advance(time.Second)
	l.want("effect create topic t: TOPIC_ALREADY_EXISTS")
}

func TestElectNamesThePartitionAndTheKind(t *testing.T) {
	l := start(t, "admin")
	l.step(plan.Step{Verb: plan.VerbElect, Topic: "t", Partition: 1, Kind: "unclean"})
	l.Advance(time.Second)
	r := l.Take(clienttest.ElectLeaders)
	req := r.Body.(*kmsg.ElectLeadersRequest)
	if req.ElectionType != 1 || req.Topics[0].Topic != "t" || req.Topics[0].Partitions[0] != 1 {
		t.Errorf("request is %+v", req)
	}
	res := kmsg.NewPtrElectLeadersResponse()
	topic := kmsg.NewElectLeadersResponseTopic()
	topic.Topic = "t"
	part := kmsg.NewElectLeadersResponseTopicPartition()
	part.Partition, part.ErrorCode = 1, int16(kafka.EligibleLeadersNotAvailable)
	topic.Partitions = append(topic.Partitions, part)
	res.Topics = append(res.Topics, topic)
	r.Answer(res)
	l.Advance(time.Minute)
	l.want("effect elect unclean leader of t-1: ELIGIBLE_LEADERS_NOT_AVAILABLE")
}

func TestStopFlushesAndThenExits(t *testing.T) {
	l := start(t, "p")
	l.Topic("t", 1)
	l.step(plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("linger.ms=60000")})
	l.step(plan.Step{Verb: plan.VerbSend, Client: "p", Topic: "t", Partition: 0, Value: "m1"})
	l.Advance(time.Second)
	if len(l.told()) != 1 {
		t.Fatalf("history before the stop is %v, want the send alone", l.told())
	}
	l.p.Posted(node.Outside, node.Stop{})
	l.Run()
	l.want("send t-0 attempt 1 offset -1 acks -1", "send-ok t-0 attempt 1 offset 0 acks -1")
	if l.Exited != "controlled shutdown" {
		t.Errorf("exit reason is %q", l.Exited)
	}
}

func TestCheckStepNamesTheSettingThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		step plan.Step
		want string
	}{
		{plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("acks=2")}, "producer p: acks: 2 is not a valid value: allowed are all, -1, 0, 1"},
		{plan.Step{Verb: plan.VerbConsumer, Client: "c", Settings: settings("acks=1")}, "consumer c: acks: not a consumer configuration key that tidemark has: tidemark keys lists them"},
		{plan.Step{Verb: plan.VerbProducer, Client: "p", Settings: settings("delivery.timeout.ms=10")},
			"producer p: delivery.timeout.ms: 10 is too short: linger.ms plus request.timeout.ms, which is 30005, is needed at least"},
	} {
		if err := CheckStep(&c.step); err == nil || err.Error() != c.want {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
	if err := CheckStep(&plan.Step{Verb: plan.VerbProducer, Settings: settings("acks=all")}); err != nil {
		t.Error(err)
	}
}
