package client_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/client"
	"tidemark/node/client/clienttest"
)

// host is a lane that is a client and nothing else.
type host struct {
	*client.Client
	timers *node.Timers
}

func (h host) Receive(c node.ConnID, m *node.Message) { h.Client.Receive(c, m) }
func (h host) Disconnected(c node.ConnID)             { h.Client.Disconnected(c) }
func (h host) Fire(id node.TimerID)                   { h.timers.Fire(id) }

func start(t *testing.T, w *clienttest.World, pairs ...kafka.Pair) *client.Client {
	t.Helper()
	props, err := kafka.NewProducerConfig(pairs...)
	if err != nil {
		t.Fatal(err)
	}
	timers := node.NewTimers(w.Env())
	c := client.New(w.Env(), timers, client.NewConfig("p", w.Bootstrap(), props))
	w.Host = host{c, timers}
	w.Run()
	return c
}

func tp(partition int32) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: "t", Partition: partition}
}

// know makes the client learn of topic t.
func know(w *clienttest.World, c *client.Client) {
	c.Want("t")
	w.Advance(200 * time.Millisecond)
}

func TestLeaderIsFoundThroughBootstrapAddresses(t *testing.T) {
	w := clienttest.New(t, 3)
	w.Topic("t", 2)
	w.Lead("t", 1, 3, 4)
	c := start(t, w)
	if got := c.Leader(tp(1)); got != client.NoLeader {
		t.Fatalf("leader before the topic is wanted: %v", got)
	}
	know(w, c)
	if got, want := c.Leader(tp(1)), (client.LeaderAndEpoch{Leader: 3, Epoch: 4}); got != want {
		t.Fatalf("leader is %v, want %v", got, want)
	}
	if topic, ok := c.Topic("t"); !ok || topic.ID != w.TopicID("t") || len(topic.Partitions) != 2 {
		t.Fatalf("topic is %+v, %v", topic, ok)
	}
}

func TestMetadataWithAnOlderLeaderEpochIsIgnored(t *testing.T) {
	w := clienttest.New(t, 2)
	w.Topic("t", 1)
	w.Lead("t", 0, 2, 7)
	c := start(t, w)
	know(w, c)

	w.Lead("t", 0, 1, 6) // a broker that lags
	c.RequestUpdate()
	w.Advance(2 * time.Second)
	if got, want := c.Leader(tp(0)), (client.LeaderAndEpoch{Leader: 2, Epoch: 7}); got != want {
		t.Fatalf("leader is %v, want %v as seen before", got, want)
	}
	w.Lead("t", 0, 1, 8)
	c.RequestUpdate()
	w.Advance(2 * time.Second)
	if got, want := c.Leader(tp(0)), (client.LeaderAndEpoch{Leader: 1, Epoch: 8}); got != want {
		t.Fatalf("leader is %v, want the newer %v", got, want)
	}
}

func TestATopicCreatedAnewBeginsItsEpochsAgain(t *testing.T) {
	w := clienttest.New(t, 2)
	w.Topic("t", 1)
	w.Lead("t", 0, 2, 7)
	c := start(t, w)
	know(w, c)

	w.Recreate("t")
	c.RequestUpdate()
	w.Advance(2 * time.Second)
	if got, want := c.Leader(tp(0)), (client.LeaderAndEpoch{Leader: 2, Epoch: 0}); got != want {
		t.Fatalf("leader is %v, want %v of the new topic", got, want)
	}
}

func TestMetadataIsAskedForAgainAfterItsMaxAge(t *testing.T) {
	w := clienttest.New(t, 1)
	w.Topic("t", 1)
	c := start(t, w)
	know(w, c)
	before := w.Count(clienttest.Metadata)
	w.Advance(299 * time.Second)
	if got := w.Count(clienttest.Metadata); got != before {
		t.Fatalf("%d requests within 5 minutes, want none", got-before)
	}
	w.Advance(2 * time.Second)
	if got := w.Count(clienttest.Metadata); got != before+1 {
		t.Fatalf("%d requests after 5 minutes, want 1", got-before)
	}
}

func TestMetadataBackoffGrowsToOneSecondWhileNothingChanges(t *testing.T) {
	w := clienttest.New(t, 1)
	c := start(t, w)
	c.Want("missing")
	w.Advance(time.Minute)
	var at []time.Duration
	for _, r := range w.Seen {
		if r.Body.Key() == clienttest.Metadata {
			at = append(at, r.At)
		}
	}
	if first := at[1] - at[0]; first < 80*time.Millisecond || first > 120*time.Millisecond {
		t.Errorf("first pause is %v, want 100 ms within a fifth", first)
	}
	n := len(at)
	if n < 55 || n > 80 {
		t.Errorf("%d requests in a minute, want about one a second at the end", n)
	}
	if last := at[n-1] - at[n-2]; last < 800*time.Millisecond || last > time.Second {
		t.Errorf("last pause is %v, want 1 s or up to a fifth less", last)
	}
}

func TestClientGoesBackToItsBootstrapAddressesWhenEveryKnownBrokerIsGone(t *testing.T) {
	w := clienttest.New(t, 2)
	w.Topic("t", 1)
	timers := node.NewTimers(w.Env())
	props, _ := kafka.NewProducerConfig()
	w.Down(2)
	c := client.New(w.Env(), timers, client.NewConfig("p", w.Bootstrap(), props))
	w.Host = host{c, timers}
	know(w, c)
	w.Advance(2 * time.Second)
	if got := c.Leader(tp(0)).Leader; got != 1 {
		t.Fatalf("leader is %v, want 1, the only broker that is up", got)
	}
	w.Down(1)
	w.Up(2)
	w.Lead("t", 0, 2, 1)
	w.Advance(3 * time.Second)
	if got, want := c.Leader(tp(0)), (client.LeaderAndEpoch{Leader: 2, Epoch: 1}); got != want {
		t.Fatalf("leader is %v, want %v, learned from a bootstrap address", got, want)
	}
}

func TestVersionsAreNegotiatedDownForEachConnection(t *testing.T) {
	w := clienttest.New(t, 1)
	w.Topic("t", 1)
	w.MaxVersions[clienttest.ApiVersions] = 3
	w.MaxVersions[clienttest.Metadata] = 11
	w.MaxVersions[clienttest.Produce] = 9
	c := start(t, w)
	know(w, c)
	var result []client.Produced
	c.Produce(1, -1, time.Second, []client.ProducePartition{{TP: tp(0), Records: []byte("batch")}},
		func(r []client.Produced, _ kafka.ErrorCode) { result = r })
	w.Run()

	var versions []int16
	for _, r := range w.Seen[:3] {
		versions = append(versions, r.Body.GetVersion())
	}
	if diff := cmp.Diff([]int16{4, 3, 11}, versions); diff != "" {
		t.Errorf("versions of ApiVersions, ApiVersions, Metadata (-want +got):\n%s", diff)
	}
	r := w.Take(clienttest.Produce)
	req := r.Body.(*kmsg.ProduceRequest)
	if req.Version != 9 || req.Topics[0].Topic != "t" {
		t.Errorf("produce is version %d for topic %q, want 9 and the name", req.Version, req.Topics[0].Topic)
	}
	r.Answer(produced(w, kafka.None, 41))
	w.Run()
	if len(result) != 1 || result[0].Base != 41 {
		t.Errorf("result is %+v, want base offset 41", result)
	}
}

// produced answers a produce request for t-0, by name and by id.
func produced(w *clienttest.World, code kafka.ErrorCode, base int64) *kmsg.ProduceResponse {
	res := kmsg.NewPtrProduceResponse()
	t := kmsg.NewProduceResponseTopic()
	t.Topic, t.TopicID = "t", w.TopicID("t")
	p := kmsg.NewProduceResponseTopicPartition()
	p.ErrorCode, p.BaseOffset = int16(code), base
	t.Partitions = append(t.Partitions, p)
	res.Topics = append(res.Topics, t)
	return res
}

func TestProduceNamesTopicsByID(t *testing.T) {
	w := clienttest.New(t, 1)
	w.Topic("t", 1)
	c := start(t, w)
	know(w, c)
	var result []client.Produced
	c.Produce(1, -1, time.Second, []client.ProducePartition{{TP: tp(0), Records: []byte("batch")}},
		func(r []client.Produced, _ kafka.ErrorCode) { result = r })
	w.Run()
	r := w.Take(clienttest.Produce)
	req := r.Body.(*kmsg.ProduceRequest)
	if req.Version != 13 || req.Topics[0].Topic != "" || req.Topics[0].TopicID != w.TopicID("t") {
		t.Errorf("produce is version %d for %q / %v", req.Version, req.Topics[0].Topic, req.Topics[0].TopicID)
	}
	r.Answer(produced(w, kafka.None, 3))
	w.Run()
	if diff := cmp.Diff([]client.Produced{{TP: tp(0), Base: 3, LogStart: -1}}, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestAnAnswerThatNamesANewLeaderIsBelievedAtOnce(t *testing.T) {
	w := clienttest.New(t, 2)
	w.Topic("t", 1)
	c := start(t, w)
	know(w, c)
	c.Produce(1, -1, time.Second, []client.ProducePartition{{TP: tp(0)}}, func([]client.Produced, kafka.ErrorCode) {})
	w.Run()
	before := w.Count(clienttest.Metadata)
	res := produced(w, kafka.NotLeaderOrFollower, -1)
	res.Topics[0].Partitions[0].CurrentLeader = kmsg.ProduceResponseTopicPartitionCurrentLeader{LeaderID: 2, LeaderEpoch: 5}
	b := kmsg.NewProduceResponseBroker()
	b.NodeID, b.Host, b.Port = 2, "broker2", 9092
	res.Brokers = append(res.Brokers, b)
	w.Take(clienttest.Produce).Answer(res)
	w.Run()
	if got, want := c.Leader(tp(0)), (client.LeaderAndEpoch{Leader: 2, Epoch: 5}); got != want {
		t.Fatalf("leader is %v, want %v", got, want)
	}
	if got := w.Count(clienttest.Metadata); got != before {
		t.Fatalf("%d metadata requests were needed, want none", got-before)
	}
}

// produce sends one call and notes its end in codes.
func produce(c *client.Client, to kafka.BrokerID, codes *[]kafka.ErrorCode) {
	c.Produce(to, -1, time.Second, []client.ProducePartition{{TP: tp(0)}},
		func(_ []client.Produced, code kafka.ErrorCode) { *codes = append(*codes, code) })
}

func TestABrokenConnectionIsANetworkExceptionForEachCallInFlight(t *testing.T) {
	w := clienttest.New(t, 2)
	w.Topic("t", 1)
	c := start(t, w)
	know(w, c)
	var codes []kafka.ErrorCode
	produce(c, 1, &codes)
	produce(c, 1, &codes)
	w.Run()
	w.Cut(1)
	w.Run()
	want := []kafka.ErrorCode{kafka.NetworkException, kafka.NetworkException}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Fatalf("codes (-want +got):\n%s", diff)
	}
}

func TestACallWithoutAnswerTimesOutAndCostsTheConnection(t *testing.T) {
	w := clienttest.New(t, 1)
	w.Topic("t", 1)
	c := start(t, w)
	know(w, c)
	var codes []kafka.ErrorCode
	produce(c, 1, &codes)
	w.Advance(29 * time.Second)
	if len(codes) != 0 {
		t.Fatalf("ended with %v before request.timeout.ms", codes)
	}
	late := w.Take(clienttest.Produce)
	w.Advance(2 * time.Second)
	late.Answer(produced(w, kafka.None, 0))
	w.Run()
	if diff := cmp.Diff([]kafka.ErrorCode{kafka.RequestTimedOut}, codes); diff != "" {
		t.Fatalf("codes (-want +got):\n%s", diff)
	}
}

func TestNoMoreCallsAreInFlightThanTheWindowAllows(t *testing.T) {
	w := clienttest.New(t, 1)
	w.Topic("t", 1)
	timers := node.NewTimers(w.Env())
	props, _ := kafka.NewProducerConfig()
	cfg := client.NewConfig("p", w.Bootstrap(), props)
	cfg.Network.MaxInFlight = 2
	c := client.New(w.Env(), timers, cfg)
	w.Host = host{c, timers}
	know(w, c)
	var codes []kafka.ErrorCode
	for range 3 {
		produce(c, 1, &codes)
	}
	w.Run()
	if got := w.Waits(clienttest.Produce); got != 2 {
		t.Fatalf("%d calls are in flight, want 2", got)
	}
	if c.Ready(1) {
		t.Fatal("a node whose window is full counts as ready")
	}
	w.Take(clienttest.Produce).Answer(produced(w, kafka.None, 0))
	w.Run()
	if got := w.Count(clienttest.Produce); got != 3 {
		t.Fatalf("%d calls were sent, want 3", got)
	}
}

func TestReconnectsBackOffExponentially(t *testing.T) {
	w := clienttest.New(t, 2)
	w.Topic("t", 1)
	c := start(t, w)
	know(w, c)
	w.Down(1)
	w.Run()
	before := w.Dials(1)
	for range 1000 { // ten seconds
		if c.Ready(1) {
			t.Fatal("a broker that is down is ready")
		}
		w.Advance(10 * time.Millisecond)
	}
	if got := w.Dials(1) - before; got < 12 || got > 22 {
		t.Fatalf("%d attempts to connect, want a few fast ones and then about one a second", got)
	}
}
