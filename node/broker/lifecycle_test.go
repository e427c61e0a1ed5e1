package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

func TestHeartbeatStateMachine(t *testing.T) {
	const interval = 2 * time.Second
	for _, c := range []struct {
		name   string
		from   state
		said   heartbeatAnswer
		heard  bool
		to     state
		within time.Duration
	}{
		{"starting goes on until caught up", starting, heartbeatAnswer{Fenced: true}, false, starting, 10 * time.Millisecond},
		{"caught up begins recovery, at the quick pace", starting, heartbeatAnswer{CaughtUp: true, Fenced: true}, false, recovery, 10 * time.Millisecond},
		{"recovery waits while fenced", recovery, heartbeatAnswer{CaughtUp: true, Fenced: true}, false, recovery, interval},
		{"unfenced is running", recovery, heartbeatAnswer{CaughtUp: true}, false, running, interval},
		{"running stays so when fenced", running, heartbeatAnswer{Fenced: true}, false, running, interval},
		{"first wait of a shutdown is short", pendingShutdown, heartbeatAnswer{}, false, pendingShutdown, 50 * time.Millisecond},
		{"later waits are not", pendingShutdown, heartbeatAnswer{}, true, pendingShutdown, interval},
		{"granted", pendingShutdown, heartbeatAnswer{ShouldShutDown: true}, true, shuttingDown, 0},
		{"a grant that nobody asked for", running, heartbeatAnswer{ShouldShutDown: true}, false, running, interval},
	} {
		to, within := c.from.afterHeartbeat(c.said, c.heard, interval)
		if to != c.to || within != c.within {
			t.Errorf("%s: state %d in %v, want %d in %v", c.name, to, within, c.to, c.within)
		}
	}
	for from, to := range map[state]state{starting: shuttingDown, recovery: shuttingDown, running: pendingShutdown,
		pendingShutdown: pendingShutdown, shuttingDown: shuttingDown} {
		if got := from.afterStop(); got != to {
			t.Errorf("stop in state %d leads to %d, want %d", from, got, to)
		}
	}
}

func TestFailedHeartbeatsBackOffUpToTheSessionTimeout(t *testing.T) {
	const middle = retryJitter // the draw that moves nothing
	for n, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
		if got := retryDelay(n, 9*time.Second, middle); got != want {
			t.Errorf("after failure %d: %v, want %v", n, got, want)
		}
	}
	if got := retryDelay(60, 9*time.Second, middle); got != 9*time.Second {
		t.Errorf("at most: %v, want 9s", got)
	}
	if low, high := retryDelay(0, time.Second, 0), retryDelay(0, time.Second, jitterSamples-1); low != 98*time.Millisecond || high != 102*time.Millisecond {
		t.Errorf("jitter spans %v to %v, want 2 %% each way", low, high)
	}
}

// registeredBench is a lifecycle lane that knows its directory and controller
// and is registered with epoch 77.
func registeredBench(t *testing.T) *bench {
	b := newBench(t, testConfig(1), simdisk.New(), node.Lifecycle)
	b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 101, Addr: "c101:9093", Epoch: 1})
	b.post(node.Logs, node.Lifecycle, directoriesPost{Directories: []kafka.UUID{{9}}, PreviousEpoch: 33})
	res := kmsg.NewPtrBrokerRegistrationResponse()
	res.BrokerEpoch = 77
	b.answer(node.Lifecycle, res)
	return b
}

func heartbeatSaid(caughtUp, fenced, shutDown bool) *kmsg.BrokerHeartbeatResponse {
	res := kmsg.NewPtrBrokerHeartbeatResponse()
	res.IsCaughtUp, res.IsFenced, res.ShouldShutdown = caughtUp, fenced, shutDown
	return res
}

// allApplied says that every lane applied the image at offset.
func allApplied(b *bench, offset kafka.Offset) {
	for _, lane := range []node.Lane{node.Router, node.Logs, node.Data(0)} {
		b.post(lane, node.Lifecycle, appliedPost{Offset: offset})
	}
}

// runningBench is one that is unfenced.
func runningBench(t *testing.T) *bench {
	b := registeredBench(t)
	b.post(node.Quorum, node.Lifecycle, newCluster(1).whole())
	allApplied(b, 1)
	b.answer(node.Lifecycle, heartbeatSaid(true, true, false))
	b.answer(node.Lifecycle, heartbeatSaid(true, false, false))
	return b
}

func TestBrokerRegistersOnceItKnowsDirectoryAndController(t *testing.T) {
	b := newBench(t, testConfig(1), simdisk.New(), node.Lifecycle)
	b.post(node.Logs, node.Lifecycle, directoriesPost{Directories: []kafka.UUID{{9}}, PreviousEpoch: 33})
	if n := b.sentCount(node.Lifecycle); n != 0 {
		t.Fatalf("%d messages without a controller", n)
	}
	b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 101, Addr: "c101:9093", Epoch: 1})
	req, _ := take[*kmsg.BrokerRegistrationRequest](b, node.Lifecycle)
	if req.BrokerID != 1 || req.PreviousBrokerEpoch != 33 || len(req.LogDirs) != 1 || req.LogDirs[0] != (kafka.UUID{9}) {
		t.Errorf("registration %+v", req)
	}
	if req.Listeners[0].Host != "b1" || req.Listeners[0].Port != 9092 || kafka.UUID(req.IncarnationID).IsZero() {
		t.Errorf("registration %+v", req)
	}
}

func TestRegistrationEpochIsToldToTheDataLanes(t *testing.T) {
	b := registeredBench(t)
	if got := postedTo[registeredPost](b, node.Data(0)); len(got) != 1 || got[0].Epoch != 77 {
		t.Errorf("data lane was told %v", got)
	}
	req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	if req.BrokerEpoch != 77 || !req.WantFence {
		t.Errorf("first heartbeat %+v, want epoch 77 and want-fence", req)
	}
}

func TestRegistrationThatIsNotAcceptedInTimeEndsTheProcess(t *testing.T) {
	b := newBench(t, testConfig(1), simdisk.New(), node.Lifecycle)
	b.advance(59 * time.Second)
	if b.exit != "" {
		t.Fatalf("exit %q before the time", b.exit)
	}
	b.advance(time.Second)
	if b.exit == "" {
		t.Error("still waiting after initial.broker.registration.timeout.ms")
	}
}

func TestUnfencingWaitsForTheFirstImageOfEveryLane(t *testing.T) {
	b := registeredBench(t)
	b.post(node.Quorum, node.Lifecycle, newCluster(1).whole())
	b.answer(node.Lifecycle, heartbeatSaid(true, true, false))
	b.post(node.Router, node.Lifecycle, appliedPost{Offset: 1})
	b.post(node.Logs, node.Lifecycle, appliedPost{Offset: 1})
	b.advance(10 * time.Millisecond)
	if req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle); !req.WantFence {
		t.Fatal("wants unfencing although a data lane has not applied its first image")
	}
	b.answer(node.Lifecycle, heartbeatSaid(true, true, false))
	b.post(node.Data(0), node.Lifecycle, appliedPost{Offset: 1})
	req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	if req.WantFence || req.CurrentMetadataOffset != 1 {
		t.Errorf("heartbeat %+v, want unfencing at offset 1 at once", req)
	}
	if n := len(b.saw(event.Ready)); n != 0 {
		t.Fatalf("ready %d times while fenced", n)
	}
	b.answer(node.Lifecycle, heartbeatSaid(true, false, false))
	if n := len(b.saw(event.Ready)); n != 1 {
		t.Errorf("ready %d times once unfenced, want 1", n)
	}
}

func TestHeartbeatReportsTheMetadataThatEveryLaneApplied(t *testing.T) {
	b := runningBench(t)
	c := newCluster(1)
	change := c.topic(1, 1, 1) // offsets 2, 3
	b.post(node.Quorum, node.Lifecycle, change)
	b.post(node.Router, node.Lifecycle, appliedPost{Offset: 3})
	b.post(node.Logs, node.Lifecycle, appliedPost{Offset: 3})
	b.advance(2 * time.Second)
	if req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle); req.CurrentMetadataOffset != 1 {
		t.Errorf("offset %d while a data lane is at 1", req.CurrentMetadataOffset)
	}
	b.post(node.Data(0), node.Lifecycle, appliedPost{Offset: 3})
	idle := c.commit() // an image without a change goes to lifecycle alone
	b.post(node.Quorum, node.Lifecycle, imagePost{Image: idle.Image, Delta: idle.Delta})
	b.answer(node.Lifecycle, heartbeatSaid(true, false, false))
	b.advance(2 * time.Second)
	if req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle); req.CurrentMetadataOffset != int64(idle.Image.Offset()) {
		t.Errorf("offset %d, want %d", req.CurrentMetadataOffset, idle.Image.Offset())
	}
}

func TestHeartbeatsGoOnAtTheNewControllerAfterItMoved(t *testing.T) {
	b := runningBench(t)
	b.advance(2 * time.Second)
	_, first := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	b.disconnect(node.Lifecycle, first.conn)
	b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 102, Addr: "c102:9093", Epoch: 2})
	_, second := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	if addr := b.lane(node.Lifecycle).dialed[second.conn]; addr != "c102:9093" {
		t.Errorf("heartbeat went to %q", addr)
	}
	no := heartbeatSaid(false, true, false)
	no.ErrorCode = int16(kafka.NotController)
	b.answer(node.Lifecycle, no)
	b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 103, Addr: "c103:9093", Epoch: 3})
	_, third := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	if addr := b.lane(node.Lifecycle).dialed[third.conn]; addr != "c103:9093" {
		t.Errorf("heartbeat after NOT_CONTROLLER went to %q", addr)
	}
}

func TestHeartbeatThatGetsNoAnswerIsGivenUpAfterHalfASession(t *testing.T) {
	b := runningBench(t)
	b.advance(2 * time.Second)
	n := b.sentCount(node.Lifecycle)
	_, hung := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	b.advance(4499 * time.Millisecond)
	if b.sentCount(node.Lifecycle) != n {
		t.Fatal("a second heartbeat while one is in flight")
	}
	b.advance(time.Second)
	_, again := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	if again.conn == hung.conn || b.sentCount(node.Lifecycle) == n {
		t.Error("no new heartbeat on a new connection")
	}
}

func TestStaleBrokerEpochIsRetriedNeverReplaced(t *testing.T) {
	b := runningBench(t)
	b.advance(2 * time.Second)
	stale := heartbeatSaid(false, true, false)
	stale.ErrorCode = int16(kafka.StaleBrokerEpoch)
	b.answer(node.Lifecycle, stale)
	b.advance(103 * time.Millisecond)
	if req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle); req.BrokerEpoch != 77 {
		t.Errorf("heartbeat with epoch %d", req.BrokerEpoch)
	}
}

func TestStopAsksForAShutdownAndEndsTheServiceWhenItIsGranted(t *testing.T) {
	b := runningBench(t)
	b.post(node.Outside, node.Lifecycle, node.Stop{})
	req, _ := take[*kmsg.BrokerHeartbeatRequest](b, node.Lifecycle)
	if !req.WantShutdown {
		t.Fatalf("heartbeat %+v, want shutdown", req)
	}
	if n := len(postedTo[shutdownPost](b, node.Data(0))); n != 1 {
		t.Errorf("data lane was told %d times of the shutdown", n)
	}
	b.answer(node.Lifecycle, heartbeatSaid(true, false, false))
	b.advance(50 * time.Millisecond)
	if n := len(postedTo[closePost](b, node.Data(0))); n != 0 {
		t.Fatal("closed before the grant")
	}
	b.answer(node.Lifecycle, heartbeatSaid(true, true, true))
	for _, lane := range []node.Lane{node.Router, node.Logs, node.Data(0)} {
		if got := postedTo[closePost](b, lane); len(got) != 1 || got[0].Epoch != 77 {
			t.Errorf("%v was told to close: %v", lane, got)
		}
	}
	n := b.sentCount(node.Lifecycle)
	b.post(node.Data(0), node.Lifecycle, alterPost{proposal(0)})
	b.post(node.Router, node.Lifecycle, forwardPost{ID: 1, Request: &node.Message{Request: kmsg.NewPtrCreateTopicsRequest()}})
	b.advance(time.Minute)
	if b.exit != "" || b.sentCount(node.Lifecycle) != n {
		t.Fatalf("exit %q, %d requests before the marker is written", b.exit, b.sentCount(node.Lifecycle)-n)
	}
	b.post(node.Logs, node.Lifecycle, cleanPost{})
	if b.exit != cleanExit {
		t.Errorf("exit %q", b.exit)
	}
}

func TestStopDoesNotWaitLongerThanFiveMinutesForTheGrant(t *testing.T) {
	b := runningBench(t)
	b.post(node.Outside, node.Lifecycle, node.Stop{})
	b.advance(MaxShutdownWait - time.Second)
	if n := len(postedTo[closePost](b, node.Logs)); n != 0 {
		t.Fatal("closed too early")
	}
	b.advance(time.Second)
	if n := len(postedTo[closePost](b, node.Logs)); n != 1 {
		t.Errorf("told to close %d times", n)
	}
}

// proposal is one for partition n of orders.
func proposal(n int32) *replica.Proposal {
	return &replica.Proposal{TP: orders(n), TopicID: ordersID, LeaderEpoch: 4, PartitionEpoch: 5,
		ISR: []replica.Member{{Broker: 1, Epoch: 77}, {Broker: 2, Epoch: 20}}}
}

// altered answers all partitions of an AlterPartition request with code.
func altered(req *kmsg.AlterPartitionRequest, code kafka.ErrorCode) *kmsg.AlterPartitionResponse {
	res := kmsg.NewPtrAlterPartitionResponse()
	for _, t := range req.Topics {
		topic := kmsg.NewAlterPartitionResponseTopic()
		topic.TopidID = t.TopicID
		for _, p := range t.Partitions {
			part := kmsg.NewAlterPartitionResponseTopicPartition()
			part.Partition, part.ErrorCode, part.PartitionEpoch, part.LeaderEpoch = p.Partition, int16(code), p.PartitionEpoch+1, p.LeaderEpoch
			part.ISR = []int32{1, 2}
			topic.Partitions = append(topic.Partitions, part)
		}
		res.Topics = append(res.Topics, topic)
	}
	return res
}

func TestAlterPartitionHasOneRequestInFlightWithAllThatWaits(t *testing.T) {
	b := runningBench(t)
	b.post(node.Data(0), node.Lifecycle, alterPost{proposal(0)})
	first, _ := take[*kmsg.AlterPartitionRequest](b, node.Lifecycle)
	b.post(node.Data(0), node.Lifecycle, alterPost{proposal(1)})
	b.post(node.Data(0), node.Lifecycle, alterPost{proposal(2)})
	if again, _ := take[*kmsg.AlterPartitionRequest](b, node.Lifecycle); again != first {
		t.Fatal("a second request while one is in flight")
	}
	if first.BrokerEpoch != 77 || first.Topics[0].Partitions[0].NewEpochISR[1].BrokerEpoch != 20 {
		t.Errorf("request %+v", first)
	}
	b.answer(node.Lifecycle, altered(first, kafka.None))
	second, _ := take[*kmsg.AlterPartitionRequest](b, node.Lifecycle)
	if len(second.Topics) != 1 || len(second.Topics[0].Partitions) != 2 ||
		second.Topics[0].Partitions[0].Partition != 1 || second.Topics[0].Partitions[1].Partition != 2 {
		t.Errorf("second request has %+v, want partitions 1 and 2", second.Topics)
	}
	answers := postedTo[alteredPost](b, node.Data(0))
	if len(answers) != 1 || answers[0].Answer.Code != kafka.None || answers[0].Answer.PartitionEpoch != 6 || len(answers[0].Answer.ISR) != 2 {
		t.Errorf("answers %+v", answers)
	}
}

func TestAlterPartitionThatFailsAsAWholeIsSentAgainAfter50ms(t *testing.T) {
	b := runningBench(t)
	b.post(node.Data(0), node.Lifecycle, alterPost{proposal(0)})
	stale := kmsg.NewPtrAlterPartitionResponse()
	stale.ErrorCode = int16(kafka.StaleBrokerEpoch)
	b.answer(node.Lifecycle, stale)
	n := b.sentCount(node.Lifecycle)
	b.advance(49 * time.Millisecond)
	if b.sentCount(node.Lifecycle) != n || len(postedTo[alteredPost](b, node.Data(0))) != 0 {
		t.Fatal("sent or answered too early")
	}
	b.advance(time.Millisecond)
	if req, _ := take[*kmsg.AlterPartitionRequest](b, node.Lifecycle); len(req.Topics) != 1 {
		t.Errorf("resent %+v", req)
	}
}

func TestSecondProposalOfAPartitionIsRefusedWhileOneWaits(t *testing.T) {
	b := runningBench(t)
	b.post(node.Data(0), node.Lifecycle, alterPost{proposal(0)})
	second := proposal(0)
	b.post(node.Data(0), node.Lifecycle, alterPost{second})
	answers := postedTo[alteredPost](b, node.Data(0))
	if len(answers) != 1 || answers[0].Proposal != second || answers[0].Answer.Code != kafka.OperationNotAttempted {
		t.Errorf("answers %+v", answers)
	}
}

func TestClientRequestTravelsToTheControllerAndBackInAnEnvelope(t *testing.T) {
	b := runningBench(t)
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version = 7
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic = "orders"
	create.Topics = append(create.Topics, topic)
	asked := &node.Message{CorrelationID: 5, ClientID: "admin", Request: create}
	b.post(node.Router, node.Lifecycle, forwardPost{ID: 3, Request: asked})
	envelope, _ := take[*kmsg.EnvelopeRequest](b, node.Lifecycle)
	inside, err := unpackRequest(envelope.RequestData)
	if err != nil {
		t.Fatal(err)
	}
	if got := inside.Request.(*kmsg.CreateTopicsRequest); got.Topics[0].Topic != "orders" || inside.ClientID != "admin" || inside.Version() != 7 {
		t.Errorf("envelope holds %+v of %q", got, inside.ClientID)
	}
	created := kmsg.NewPtrCreateTopicsResponse()
	res := kmsg.NewPtrEnvelopeResponse()
	res.ResponseData = packResponse(inside.Reply(created))
	b.answer(node.Lifecycle, res)
	back := postedTo[forwardedPost](b, node.Router)
	if len(back) != 1 || back[0].ID != 3 || back[0].Response == nil || back[0].Response.Key() != 19 {
		t.Errorf("router got %+v", back)
	}
}

func TestForwardedRequestIsGivenUpAfterAMinuteWithoutController(t *testing.T) {
	b := runningBench(t)
	b.post(node.Quorum, node.Lifecycle, controllerPost{})
	b.post(node.Router, node.Lifecycle, forwardPost{ID: 3, Request: &node.Message{Request: kmsg.NewPtrCreateTopicsRequest()}})
	b.advance(forwardPatience - time.Second)
	if got := postedTo[forwardedPost](b, node.Router); len(got) != 0 {
		t.Fatalf("given up early: %+v", got)
	}
	b.advance(time.Second)
	if got := postedTo[forwardedPost](b, node.Router); len(got) != 1 || got[0].Response != nil {
		t.Errorf("router got %+v, want no response", got)
	}
}
