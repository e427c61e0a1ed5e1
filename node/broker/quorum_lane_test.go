package broker

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// duo is the quorum lane of controller 101 and that of broker 1, each on its own
// bench, with a wire between them that carries encoded messages.
type duo struct {
	t                  *testing.T
	controller, broker *bench
	toController       int // messages of the broker that were delivered
	toBroker           int
	waiting            map[node.ConnID][]sentMessage // requests without an answer, oldest first
}

func controllerConfig(pairs ...kafka.Pair) Config {
	cfg := testConfig(0, pairs...)
	cfg.ID, cfg.Broker, cfg.Controller = 101, false, true
	cfg.ControllerAddr = "c101:9093"
	return cfg
}

func newDuo(t *testing.T) *duo {
	d := &duo{t: t, waiting: map[node.ConnID][]sentMessage{}}
	d.controller = newBench(t, controllerConfig(), simdisk.New(), node.Quorum)
	d.controller.advance(time.Second) // the features are written
	d.broker = newBench(t, testConfig(2), simdisk.New(), node.Quorum)
	return d
}

// run lets time pass on both sides and carries what they send.
func (d *duo) run(span time.Duration) *duo {
	const tick = time.Millisecond
	for ; span > 0; span -= tick {
		d.controller.advance(tick)
		d.broker.advance(tick)
		d.carry()
	}
	return d
}

func (d *duo) carry() {
	d.t.Helper()
	c, b := d.controller.lane(node.Quorum), d.broker.lane(node.Quorum)
	for d.toController < len(b.sent) {
		s := b.sent[d.toController]
		d.toController++
		m, err := unpackRequest(packRequest(s.m))
		if err != nil {
			d.t.Fatal(err)
		}
		d.waiting[s.conn] = append(d.waiting[s.conn], s)
		d.controller.call(func() { c.process.Receive(s.conn, m) })
		d.controller.settle()
	}
	for d.toBroker < len(c.sent) {
		s := c.sent[d.toBroker]
		d.toBroker++
		if len(d.waiting[s.conn]) == 0 {
			continue // asked by the test
		}
		asked := d.waiting[s.conn][0]
		d.waiting[s.conn] = d.waiting[s.conn][1:]
		m, err := unpackResponse(packResponse(s.m), asked.m)
		if err != nil {
			d.t.Fatal(err)
		}
		d.broker.call(func() { b.process.Receive(s.conn, m) })
		d.broker.settle()
	}
}

// ask puts a request before the controller on a connection of its own and
// returns the answer, after as much time as a commit takes.
func ask[T kmsg.Response](d *duo, req kmsg.Request) T {
	d.t.Helper()
	const conn = 7
	before := d.controller.sentCount(node.Quorum)
	d.controller.request(node.Quorum, conn, req)
	d.run(100 * time.Millisecond)
	for _, s := range d.controller.lane(node.Quorum).sent[before:] {
		if s.conn == conn {
			return s.m.Response.(T)
		}
	}
	d.t.Fatalf("no answer to a request of key %d", req.Key())
	panic("unreachable")
}

func (d *duo) register(id kafka.BrokerID) kafka.BrokerEpoch {
	req := kmsg.NewPtrBrokerRegistrationRequest()
	req.Version, req.BrokerID, req.ClusterID, req.PreviousBrokerEpoch = 4, int32(id), d.controller.cfg.ClusterID.String(), -1
	req.IncarnationID = kafka.UUID{1, byte(id)}
	req.LogDirs = [][16]byte{{2, byte(id)}}
	for _, f := range supportedFeatures {
		feature := kmsg.NewBrokerRegistrationRequestFeature()
		feature.Name, feature.MinSupportedVersion, feature.MaxSupportedVersion = f.Name, f.Min, f.Max
		req.Features = append(req.Features, feature)
	}
	res := ask[*kmsg.BrokerRegistrationResponse](d, req)
	if res.ErrorCode != 0 {
		d.t.Fatalf("registration of broker %d: %v", id, kafka.ErrorCode(res.ErrorCode))
	}
	return kafka.BrokerEpoch(res.BrokerEpoch)
}

func (d *duo) heartbeat(id kafka.BrokerID, epoch kafka.BrokerEpoch, offset kafka.Offset) *kmsg.BrokerHeartbeatResponse {
	req := kmsg.NewPtrBrokerHeartbeatRequest()
	req.Version, req.BrokerID, req.BrokerEpoch, req.CurrentMetadataOffset = 1, int32(id), int64(epoch), int64(offset)
	return ask[*kmsg.BrokerHeartbeatResponse](d, req)
}

func envelope(inner kmsg.Request) *kmsg.EnvelopeRequest {
	req := kmsg.NewPtrEnvelopeRequest()
	req.RequestData = packRequest(&node.Message{CorrelationID: 5, ClientID: "admin", Request: inner})
	return req
}

// enveloped asks through an Envelope, as a broker does for its client.
func enveloped[T kmsg.Response](d *duo, inner kmsg.Request) T {
	d.t.Helper()
	res := ask[*kmsg.EnvelopeResponse](d, envelope(inner))
	if res.ErrorCode != 0 {
		d.t.Fatalf("envelope: %v", kafka.ErrorCode(res.ErrorCode))
	}
	m, err := unpackResponse(res.ResponseData, &node.Message{CorrelationID: 5, Request: inner})
	if err != nil {
		d.t.Fatal(err)
	}
	return m.Response.(T)
}

func createTopic(name string, replicas ...int32) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 7
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	a.Replicas = replicas
	topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	value := "2"
	c := kmsg.NewCreateTopicsRequestTopicConfig()
	c.Name, c.Value = kafka.MinInsyncReplicas, &value
	topic.Configs = append(topic.Configs, c)
	req.Topics = append(req.Topics, topic)
	return req
}

func TestABrokerIsToldTheControllerAndThenTheImageOnceItIsWhole(t *testing.T) {
	d := newDuo(t).run(time.Second)
	told := postedTo[controllerPost](d.broker, node.Lifecycle)
	if len(told) == 0 || told[len(told)-1] != (controllerPost{Controller: 101, Addr: "c101:9093", Epoch: 1}) {
		t.Fatalf("lifecycle was told %v", told)
	}
	var order []node.Lane
	for _, m := range d.broker.posted {
		if p, ok := m.msg.(imagePost); ok && len(order) < 5 {
			order = append(order, m.to)
			if p.Image.Feature(metadata.FeatureMetadataVersion) != 27 || !p.Delta.Features {
				t.Errorf("the first image for %v has features %v", m.to, p.Image.Features())
			}
		}
	}
	if want := []node.Lane{node.Router, node.Lifecycle, node.Logs, node.Data(0), node.Data(1)}; !slices.Equal(order, want) {
		t.Errorf("posted to %v, want %v", order, want)
	}
	if leader := d.broker.lane(node.Quorum).dialed; len(leader) != 1 {
		t.Errorf("dialled %v", leader)
	}
}

func TestImagesWithoutAChangeGoToLifecycleAlone(t *testing.T) {
	d := newDuo(t).run(time.Second)
	d.broker.posted = nil
	d.run(2 * time.Second) // four no-op records
	beats := postedTo[imagePost](d.broker, node.Lifecycle)
	if len(beats) != 4 || !beats[0].Delta.Empty() || beats[3].Image.Offset() <= beats[0].Image.Offset() {
		t.Errorf("lifecycle got %d images", len(beats))
	}
	if n := len(postedTo[imagePost](d.broker, node.Data(0))) + len(postedTo[imagePost](d.broker, node.Router)); n != 0 {
		t.Errorf("%d images to lanes that have nothing to do", n)
	}
}

func TestACommitReachesABrokerWithoutWaitingForItsNextFetch(t *testing.T) {
	d := newDuo(t).run(time.Second)
	d.broker.posted = nil
	d.register(1)
	images := postedTo[imagePost](d.broker, node.Data(1))
	if len(images) != 1 || !slices.Equal(images[0].Delta.Brokers, []kafka.BrokerID{1}) {
		t.Errorf("within 100 ms the data lane got %d images", len(images))
	}
}

func TestBrokersRegisterBeatAndCreateTopicsOverTheControllerListener(t *testing.T) {
	d := newDuo(t).run(time.Second)
	one, two := d.register(1), d.register(2)
	if hb := d.heartbeat(1, one, 0); hb.ErrorCode != 0 || !hb.IsFenced || hb.IsCaughtUp {
		t.Errorf("a broker that is behind: %+v", hb)
	}
	if hb := d.heartbeat(1, one, 1000); hb.IsFenced || !hb.IsCaughtUp {
		t.Errorf("a broker that caught up: %+v", hb)
	}
	if hb := d.heartbeat(2, two+1, 1000); kafka.ErrorCode(hb.ErrorCode) != kafka.StaleBrokerEpoch {
		t.Errorf("another life: %v", kafka.ErrorCode(hb.ErrorCode))
	}
	d.heartbeat(2, two, 1000)

	made := enveloped[*kmsg.CreateTopicsResponse](d, createTopic("orders", 1, 2)).Topics[0]
	if made.ErrorCode != 0 || made.NumPartitions != 1 || made.ReplicationFactor != 2 {
		t.Fatalf("created %+v", made)
	}
	again := enveloped[*kmsg.CreateTopicsResponse](d, createTopic("orders", 1, 2)).Topics[0]
	if kafka.ErrorCode(again.ErrorCode) != kafka.TopicAlreadyExists || again.ErrorMessage == nil {
		t.Errorf("created again: %+v", again)
	}
	images := postedTo[imagePost](d.broker, node.Data(0))
	topic, ok := images[len(images)-1].Image.Topic("orders")
	if !ok || topic.ID != made.TopicID || topic.Partitions[0].Leader != 1 {
		t.Errorf("the broker's image has %+v", topic)
	}
	if len(d.controller.saw(event.Registered)) != 2 || len(d.controller.saw(event.TopicCreated)) != 1 {
		t.Errorf("the trace holds %v", d.controller.events)
	}

	alter := kmsg.NewPtrAlterPartitionRequest()
	alter.Version, alter.BrokerID, alter.BrokerEpoch = 3, 1, int64(one)
	part := kmsg.NewAlterPartitionRequestTopicPartition()
	member := kmsg.NewAlterPartitionRequestTopicPartitionNewEpochISR()
	member.BrokerID, member.BrokerEpoch = 1, int64(one)
	part.NewEpochISR = append(part.NewEpochISR, member)
	asked := kmsg.NewAlterPartitionRequestTopic()
	asked.TopicID = made.TopicID
	asked.Partitions = append(asked.Partitions, part)
	alter.Topics = append(alter.Topics, asked)
	got := ask[*kmsg.AlterPartitionResponse](d, alter).Topics[0].Partitions[0]
	if got.ErrorCode != 0 || got.PartitionEpoch != 1 || got.LeaderID != 1 || !slices.Equal(got.ISR, []int32{1}) {
		t.Errorf("ISR change answered %+v", got)
	}

	elect := kmsg.NewPtrElectLeadersRequest()
	elect.Version, elect.ElectionType = 2, 0
	wanted := kmsg.NewElectLeadersRequestTopic()
	wanted.Topic, wanted.Partitions = "orders", []int32{0, 9}
	elect.Topics = append(elect.Topics, wanted)
	results := enveloped[*kmsg.ElectLeadersResponse](d, elect).Topics[0].Partitions
	if kafka.ErrorCode(results[0].ErrorCode) != kafka.ElectionNotNeeded || kafka.ErrorCode(results[1].ErrorCode) != kafka.UnknownTopicOrPartition {
		t.Errorf("elections answered %+v", results)
	}

	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Version = 6
	gone := kmsg.NewDeleteTopicsRequestTopic()
	gone.TopicID = made.TopicID
	remove.Topics = append(remove.Topics, gone)
	if r := enveloped[*kmsg.DeleteTopicsResponse](d, remove).Topics[0]; r.ErrorCode != 0 || *r.Topic != "orders" {
		t.Errorf("deletion answered %+v", r)
	}
}

func TestAControllerThatDoesNotLeadYetSendsBrokersElsewhere(t *testing.T) {
	d := newDuo(t)
	lane := d.controller.lane(node.Quorum).process.(*quorumLane)
	lane.controller.HandleLeaderChange(kafka.NoBroker, 2)
	if res := ask[*kmsg.EnvelopeResponse](d, envelope(createTopic("t", 1))); kafka.ErrorCode(res.ErrorCode) != kafka.NotController {
		t.Errorf("envelope: %v", kafka.ErrorCode(res.ErrorCode))
	}
	if hb := d.heartbeat(1, 1, 1); kafka.ErrorCode(hb.ErrorCode) != kafka.NotController {
		t.Errorf("heartbeat: %v", kafka.ErrorCode(hb.ErrorCode))
	}
}

func TestWhatTheControllerDoesNotServeEndsTheConnection(t *testing.T) {
	d := newDuo(t).run(time.Second)
	l := d.controller.lane(node.Quorum)
	old := kmsg.NewPtrAlterPartitionRequest()
	old.Version = 2
	for i, req := range []kmsg.Request{kmsg.NewPtrProduceRequest(), old} {
		d.controller.request(node.Quorum, node.ConnID(20+i), req)
		if len(l.closed) != i+1 {
			t.Errorf("key %d version %d left the connection open", req.Key(), req.GetVersion())
		}
	}
	bad := kmsg.NewPtrEnvelopeRequest()
	bad.RequestData = []byte{0, 1}
	if res := ask[*kmsg.EnvelopeResponse](d, bad); kafka.ErrorCode(res.ErrorCode) != kafka.InvalidRequest {
		t.Errorf("an envelope without a request: %v", kafka.ErrorCode(res.ErrorCode))
	}
	if res := ask[*kmsg.EnvelopeResponse](d, envelope(kmsg.NewPtrFetchRequest())); kafka.ErrorCode(res.ErrorCode) != kafka.UnsupportedVersion {
		t.Errorf("an envelope around a Fetch: %v", kafka.ErrorCode(res.ErrorCode))
	}
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version = 4
	if res := ask[*kmsg.ApiVersionsResponse](d, versions); len(res.ApiKeys) != len(controllerAPIs()) || len(res.FinalizedFeatures) != 2 {
		t.Errorf("versions: %+v", res)
	}
	versions.Version = 9
	if res := ask[*kmsg.ApiVersionsResponse](d, versions); kafka.ErrorCode(res.ErrorCode) != kafka.UnsupportedVersion || res.Version != 0 {
		t.Errorf("a version of the future: %+v", res)
	}
}

func TestABrokerWithoutAControllerTriesAgainEverMoreSlowly(t *testing.T) {
	b := newBench(t, testConfig(1), simdisk.New(), node.Quorum)
	l := b.lane(node.Quorum)
	var gaps []time.Duration
	last := b.now
	for range 7 {
		b.disconnect(node.Quorum, l.sent[len(l.sent)-1].conn)
		for n := len(l.sent); len(l.sent) == n; {
			b.advance(time.Millisecond)
		}
		gaps, last = append(gaps, (b.now-last)/time.Millisecond), b.now
	}
	// each with 20 ms of controller.quorum.retry.backoff.ms
	if want := []time.Duration{70, 120, 220, 420, 520, 520, 520}; !slices.Equal(gaps, want) {
		t.Errorf("gaps in ms %v, want %v", gaps, want)
	}
}

func TestASilentControllerIsGivenUpAfterTheRequestTimeout(t *testing.T) {
	b := newBench(t, testConfig(1), simdisk.New(), node.Quorum)
	l := b.lane(node.Quorum)
	b.advance(1999 * time.Millisecond)
	if len(l.closed) != 0 || len(l.sent) != 1 {
		t.Fatalf("closed %v, sent %d", l.closed, len(l.sent))
	}
	b.advance(50 * time.Millisecond)
	if len(l.closed) != 1 || len(l.sent) != 2 || l.sent[1].conn == l.sent[0].conn {
		t.Errorf("closed %v, sent %d", l.closed, len(l.sent))
	}
}

func TestSIGTERMOnAControllerKeepsItsLogAndEndsTheProcess(t *testing.T) {
	d := simdisk.New()
	b := newBench(t, controllerConfig(), d, node.Quorum)
	b.advance(time.Second)
	b.post(node.Outside, node.Quorum, node.Stop{})
	if b.exit != cleanExit {
		t.Fatalf("exit %q", b.exit)
	}
	d.Kill()
	again := newBench(t, controllerConfig(), d, node.Quorum)
	again.advance(time.Second)
	lane := again.lane(node.Quorum).process.(*quorumLane)
	if _, epoch := lane.raft.Leader(); epoch != 2 || !lane.controller.Active() {
		t.Errorf("epoch %d in the next life", epoch)
	}
}

func TestANodeOfBothRolesFeedsItsOwnLanes(t *testing.T) {
	cfg := controllerConfig()
	cfg.Broker, cfg.ClientAddr, cfg.DataLanes = true, "b:9092", 1
	b := newBench(t, cfg, simdisk.New(), node.Quorum)
	b.advance(time.Second)
	images := postedTo[imagePost](b, node.Data(0))
	if len(images) == 0 || images[len(images)-1].Image.Feature(metadata.FeatureMetadataVersion) != 27 {
		t.Errorf("the data lane got %d images", len(images))
	}
	if told := postedTo[controllerPost](b, node.Lifecycle); len(told) != 1 || told[0].Controller != 101 {
		t.Errorf("lifecycle was told %v", told)
	}
}
