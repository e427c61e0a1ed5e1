package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

func TestABrokerEpochIsTheOffsetAtWhichItsRegistrationBatchBegins(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.after(11 * time.Second)
	next := w.log.next
	// Broker 1 is in no ISR or ELR any more, so its batch is the registration
	// alone; broker 3, which led last, is in the ELR and must leave it first.
	if epoch := w.register(1, 2, kafka.NoBrokerEpoch); epoch != kafka.BrokerEpoch(next) {
		t.Errorf("epoch %d, the log was at %d", epoch, next)
	}
	next = w.log.next
	epoch := w.register(3, 2, kafka.NoBrokerEpoch)
	b, _ := w.Image().Broker(3)
	if epoch != kafka.BrokerEpoch(next) || b.RegistrationOffset != next+1 {
		t.Errorf("epoch %d and record at %d, the log was at %d and a partition had to change first", epoch, b.RegistrationOffset, next)
	}
}

func TestTheSameIncarnationAsksAgainAndKeepsWhatItHas(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	before, _ := w.Image().Broker(1)
	if epoch := w.register(1, 1, kafka.NoBrokerEpoch); epoch != before.Epoch {
		t.Errorf("epoch %d became %d", before.Epoch, epoch)
	}
	if b, _ := w.Image().Broker(1); b.Fenced || b.IncarnationID != before.IncarnationID {
		t.Errorf("the registration became %+v", b)
	}
	w.want(1, brokers(1, 2, 3), nil)
}

func TestALiveSessionKeepsAnotherIncarnationOut(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	if code, _ := w.tryRegister(1, 2, kafka.NoBrokerEpoch); code != kafka.DuplicateBrokerRegistration {
		t.Errorf("while it is unfenced: %s", code)
	}
	w.fenceNow(1)
	if code, _ := w.tryRegister(1, 2, kafka.NoBrokerEpoch); code != kafka.DuplicateBrokerRegistration {
		t.Errorf("while it is fenced but alive: %s", code)
	}
	w.after(9*time.Second + time.Millisecond)
	if code, _ := w.tryRegister(1, 2, kafka.NoBrokerEpoch); code != kafka.None {
		t.Errorf("after the session: %s", code)
	}
}

// KAFKA-19047: a broker that stops is expected to come back soon.
func TestABrokerInControlledShutdownMayRegisterAnewAtOnce(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	w.beat(1, wantShutdown)
	if code, _ := w.tryRegister(1, 2, kafka.NoBrokerEpoch); code != kafka.None {
		t.Error(code)
	}
	if b, _ := w.Image().Broker(1); b.InControlledShutdown || !b.Fenced {
		t.Errorf("the new life is %+v", b)
	}
	last := w.env.events[len(w.env.events)-2:]
	if last[0].Kind != event.Fenced || last[1].Kind != event.Registered {
		t.Errorf("the trace tells of %v", w.env.kinds())
	}
}

func TestRegistrationsThatCannotServeAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*RegistrationRequest)
		want   kafka.ErrorCode
	}{
		{"another cluster", func(r *RegistrationRequest) { r.ClusterID = kafka.UUID{1}.String() }, kafka.InconsistentClusterID},
		{"no log directory", func(r *RegistrationRequest) { r.LogDirs = nil }, kafka.InvalidRegistration},
		{"a directory twice", func(r *RegistrationRequest) { r.LogDirs = append(r.LogDirs, r.LogDirs[0]) }, kafka.InvalidRegistration},
		{"a reserved directory", func(r *RegistrationRequest) { r.LogDirs[0] = kafka.UUID{15: 1} }, kafka.InvalidRegistration},
		{"another broker's directory", func(r *RegistrationRequest) { r.LogDirs[0] = kafka.UUID{0: 1, 15: 1} }, kafka.InvalidRegistration},
		{"too old for the metadata.version", func(r *RegistrationRequest) { r.Features[0].Max = 23 }, kafka.UnsupportedVersion},
		{"a feature it has not heard of", func(r *RegistrationRequest) { r.Features = r.Features[:1] }, kafka.UnsupportedVersion},
		{"nothing wrong", func(*RegistrationRequest) {}, kafka.None},
	} {
		w := newWorld(t, elr)
		w.register(1, 1, kafka.NoBrokerEpoch)
		req := request(2, 1, kafka.NoBrokerEpoch)
		c.change(&req)
		w.RegisterBroker(req, func(code kafka.ErrorCode, _ kafka.BrokerEpoch) {
			if code != c.want {
				t.Errorf("%s: %s, want %s", c.name, code, c.want)
			}
		})
		w.commit()
	}
}

func TestAnEmptyLogGetsItsFeaturesFirst(t *testing.T) {
	w := newWorld(t, elr, kafka.Pair{Key: kafka.MinInsyncReplicas, Value: "2"})
	want := []metadata.Record{
		metadata.FeatureLevel{Name: "metadata.version", Level: 27},
		metadata.FeatureLevel{Name: "eligible.leader.replicas.version", Level: 1},
		metadata.Config{ResourceType: metadata.BrokerResource, Name: "min.insync.replicas", Value: "2"},
	}
	if diff := cmp.Diff(want, w.log.batches[0].Records); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	w.HandleLeaderChange(kafka.NoBroker, 2)
	w.HandleLeaderChange(101, 3)
	if len(w.log.batches) != 1 {
		t.Error("a second term wrote them again")
	}
	off := newWorld(t, []metadata.FeatureLevel{elr[0], {Name: metadata.FeatureEligibleLeaderReplicas, Level: 0}})
	if diff := cmp.Diff(want[:1], off.log.batches[0].Records); diff != "" {
		t.Errorf("with ELR off, -want +got:\n%s", diff)
	}
}
