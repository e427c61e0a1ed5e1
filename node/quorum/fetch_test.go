package quorum

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/metadata"
)

// fetchFrom is the request of a replica that has all of the leader's log.
func fetchFrom(r *Raft) FetchRequest {
	return FetchRequest{ClusterID: clusterID.String(), Replica: 1, LeaderEpoch: r.state.epoch, Offset: r.log.LogEnd(),
		LastFetchedEpoch: r.lastFetchedEpoch(), HighWatermark: r.highWatermark, MaxWait: 500 * time.Millisecond, MaxBytes: 1 << 20}
}

func TestAFetchIsCheckedBeforeItIsServed(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.power().boot().run(time.Second) // epoch 2
	for _, c := range []struct {
		name   string
		change func(*FetchRequest)
		want   kafka.ErrorCode
	}{
		{"another cluster", func(r *FetchRequest) { r.ClusterID = "other" }, kafka.InconsistentClusterID},
		{"no cluster", func(r *FetchRequest) { r.ClusterID, r.MaxWait = "", 0 }, kafka.None},
		{"older epoch", func(r *FetchRequest) { r.LeaderEpoch, r.LastFetchedEpoch = 1, 1 }, kafka.FencedLeaderEpoch},
		{"newer epoch", func(r *FetchRequest) { r.LeaderEpoch = 3 }, kafka.UnknownLeaderEpoch},
		{"records of the future", func(r *FetchRequest) { r.LastFetchedEpoch = 3 }, kafka.InvalidRequest},
		{"no last epoch", func(r *FetchRequest) { r.LastFetchedEpoch = -1 }, kafka.InvalidRequest},
		{"negative offset", func(r *FetchRequest) { r.Offset = -1 }, kafka.InvalidRequest},
		{"negative wait", func(r *FetchRequest) { r.MaxWait = -1 }, kafka.InvalidRequest},
	} {
		req := fetchFrom(m.raft)
		c.change(&req)
		answered := false
		m.raft.HandleFetch(req, func(resp FetchResponse) {
			answered = true
			if resp.Code != c.want || resp.Leader != 101 || resp.LeaderEpoch != 2 {
				t.Errorf("%s: %s, leader %d in epoch %d", c.name, resp.Code, resp.Leader, resp.LeaderEpoch)
			}
		})
		if !answered {
			t.Errorf("%s: not answered at once", c.name)
		}
	}
}

func TestAFetchWithNothingNewWaitsForRecordsNewsOrItsTime(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	var got []FetchResponse
	keep := func(r FetchResponse) { got = append(got, r) }
	start := m.now
	m.raft.HandleFetch(fetchFrom(m.raft), keep)
	for len(got) == 0 && m.step(m.now+int64(time.Minute)) {
	}
	if waited := time.Duration(m.now - start); waited != 500*time.Millisecond || len(got[0].Records) != 0 || got[0].HighWatermark != 1 {
		t.Errorf("after %v: %+v", waited, got)
	}
	got = nil
	m.raft.HandleFetch(fetchFrom(m.raft), keep)
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(100 * time.Millisecond)
	if len(got) != 1 || len(got[0].Records) == 0 || got[0].HighWatermark != 2 {
		t.Errorf("records came: %+v", got)
	}
	// KIP-1166: a replica that does not know the high watermark hears of it at once.
	got = nil
	req := fetchFrom(m.raft)
	req.HighWatermark = 1
	m.raft.HandleFetch(req, keep)
	req.HighWatermark = kafka.NoOffset
	m.raft.HandleFetch(req, keep)
	if len(got) != 2 || got[0].HighWatermark != 2 {
		t.Errorf("news of the high watermark: %+v", got)
	}
	got = nil
	req.HighWatermark = HighWatermarkNotGiven
	m.raft.HandleFetch(req, keep)
	if len(got) != 0 {
		t.Error("a replica of an older version is not told early")
	}
}

func TestRecordsAreServedOnlyOnceTheyAreSynced(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.disk.Stall(m.now + int64(2*time.Second))
	req := fetchFrom(m.raft)
	req.MaxWait = 10 * time.Second
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(time.Second)
	var got []FetchResponse
	m.raft.HandleFetch(req, func(r FetchResponse) { got = append(got, r) })
	if m.raft.LogEnd() != 2 || len(got) != 0 {
		t.Fatalf("log end %d, answered %v", m.raft.LogEnd(), got)
	}
	m.run(2 * time.Second)
	if len(got) != 1 || len(got[0].Records) == 0 {
		t.Errorf("answered %v", got)
	}
}

func TestALogThatDivergesIsToldWhere(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second) // epoch 1: offset 0
	m.raft.Append([]metadata.Record{topic(0)})      // epoch 1: offset 1
	m.run(time.Second)
	m.power().boot().run(time.Second) // epoch 2: offset 2
	m.power().boot().run(time.Second) // epoch 3: offset 3
	for _, c := range []struct {
		offset kafka.Offset
		last   kafka.LeaderEpoch
		epoch  kafka.LeaderEpoch // NoEpoch: does not diverge
		end    kafka.Offset
	}{
		{2, 1, kafka.NoEpoch, kafka.NoOffset},
		{5, 1, 1, 2},
		{4, 2, 2, 3},
		{9, 3, 3, 4},
		{0, 0, kafka.NoEpoch, kafka.NoOffset},
		{2, 0, 0, 0},
	} {
		req := fetchFrom(m.raft)
		req.Offset, req.LastFetchedEpoch, req.MaxWait = c.offset, c.last, 0
		m.raft.HandleFetch(req, func(r FetchResponse) {
			if r.DivergingEpoch != c.epoch || r.DivergingEnd != c.end || c.epoch != kafka.NoEpoch && len(r.Records) > 0 {
				t.Errorf("at offset %d of epoch %d: diverging %d at %d, %d bytes", c.offset, c.last, r.DivergingEpoch, r.DivergingEnd, len(r.Records))
			}
		})
	}
}

// pair is a leader and an observer without a network between them.
type pair struct {
	*testing.T
	leader, observer *machine
}

func newPair(t *testing.T) *pair {
	p := &pair{T: t, leader: newMachine(t, 101).boot(), observer: newMachine(t, 1).boot()}
	return p.run(time.Second)
}

// run lets both live; requests and answers arrive at once.
func (p *pair) run(d time.Duration) *pair {
	const tick = 5 * time.Millisecond
	for ; d > 0; d -= tick {
		p.leader.run(tick)
		p.observer.run(tick)
		o := p.observer.life
		sent := o.sent
		o.sent = nil
		for _, req := range sent {
			p.leader.raft.HandleFetch(req, func(r FetchResponse) { o.raft.HandleFetchResponse(r) })
		}
	}
	return p
}

func TestAnObserverFindsTheLeaderAndFollowsItsCommits(t *testing.T) {
	p := newPair(t)
	o := p.observer
	if leader, epoch := o.raft.Leader(); leader != 101 || epoch != 1 || !o.raft.CaughtUp() {
		t.Fatalf("leader %d in epoch %d, caught up %v", leader, epoch, o.raft.CaughtUp())
	}
	b, err := o.disk.ReadFile(faultdisk.Durable, Dir+"/quorum-state")
	want := `{"clusterId":"","leaderId":101,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":101}],"data_version":0}`
	if err != nil || string(b) != want {
		t.Errorf("quorum-state %s, error %v", b, err)
	}
	p.leader.raft.Append([]metadata.Record{topic(0)})
	p.run(100 * time.Millisecond)
	if o.topics() != 1 || o.raft.HighWatermark() != 2 || o.image.Epoch() != 1 {
		t.Errorf("%d topics, high watermark %d", o.topics(), o.raft.HighWatermark())
	}
}

func TestAnObserverFollowsTheLeaderIntoItsNextEpoch(t *testing.T) {
	p := newPair(t)
	p.leader.raft.Append([]metadata.Record{topic(0)})
	p.run(time.Second)
	p.leader.power()
	p.observer.raft.HandleFetchFailure()
	p.leader.boot()
	p.run(2 * time.Second)
	if leader, epoch := p.observer.raft.Leader(); leader != 101 || epoch != 2 {
		t.Errorf("leader %d in epoch %d", leader, epoch)
	}
	p.leader.raft.Append([]metadata.Record{topic(1)})
	p.run(time.Second)
	if p.observer.topics() != 2 {
		t.Errorf("%d topics", p.observer.topics())
	}
}

func TestAnObserverThatComesBackExposesNothingBeforeItHearsOfTheHighWatermark(t *testing.T) {
	p := newPair(t)
	p.leader.raft.Append([]metadata.Record{topic(0)})
	p.run(time.Second)
	p.observer.kill().boot()
	if p.observer.raft.CaughtUp() {
		t.Error("caught up with a leader that it did not hear yet")
	}
	p.observer.run(10 * time.Second)
	if p.observer.topics() != 0 || p.observer.raft.CaughtUp() || p.observer.raft.LogEnd() != 2 {
		t.Errorf("%d topics, log end %d", p.observer.topics(), p.observer.raft.LogEnd())
	}
	if leader, _ := p.observer.raft.Leader(); leader != 101 {
		t.Errorf("it forgot the leader: %d", leader)
	}
	p.run(time.Second)
	if p.observer.topics() != 1 || !p.observer.raft.CaughtUp() {
		t.Errorf("%d topics", p.observer.topics())
	}
}

func TestAnObserverThatLostItsTailFetchesItAgain(t *testing.T) {
	p := newPair(t)
	for n := range byte(5) {
		p.leader.raft.Append([]metadata.Record{topic(n)})
		p.run(100 * time.Millisecond)
	}
	p.observer.power().boot()
	p.run(time.Second)
	if p.observer.topics() != 5 {
		t.Errorf("%d topics", p.observer.topics())
	}
}

func TestAnObserverCutsWhatTheLeaderDoesNotHave(t *testing.T) {
	p := newPair(t)
	o := p.observer.raft
	// Records of epoch 1 that the leader never synced, seen by nobody.
	opts := record.NoProducer()
	opts.BaseOffset, opts.LeaderEpoch = 1, 1
	w := record.NewBuilder(opts)
	w.Append(0, nil, metadata.Append(nil, topic(7)), nil)
	if _, err := o.log.AppendAsFollower(w.Build(), 1); err != nil {
		t.Fatal(err)
	}
	o.HandleFetchFailure() // the request with the old offset is dropped
	p.observer.sent = nil
	p.leader.power().boot() // epoch 2 begins at offset 1
	p.run(2 * time.Second)
	if o.LogEnd() != 2 || p.observer.topics() != 0 || o.HighWatermark() != 2 {
		t.Errorf("log end %d, %d topics, high watermark %d", o.LogEnd(), p.observer.topics(), o.HighWatermark())
	}
	if entries := o.log.Epochs().Entries(); len(entries) != 2 || entries[1].Start != 1 {
		t.Errorf("epochs %v", entries)
	}
}

// KAFKA-12460: below the high watermark lies what was exposed.
func TestACutBelowTheHighWatermarkIsFatal(t *testing.T) {
	p := newPair(t)
	p.leader.raft.Append([]metadata.Record{topic(0)})
	p.run(time.Second)
	o := p.observer
	o.raft.HandleFetchResponse(FetchResponse{Leader: 101, LeaderEpoch: 1, HighWatermark: 1, DivergingEpoch: 1, DivergingEnd: 1})
	if o.exit == "" || o.raft.LogEnd() != 2 {
		t.Errorf("exit %q, log end %d", o.exit, o.raft.LogEnd())
	}
}

func TestAnAnswerOfAnOlderEpochMovesNothing(t *testing.T) {
	p := newPair(t)
	p.leader.power().boot()
	p.observer.raft.HandleFetchFailure()
	p.run(2 * time.Second)
	o := p.observer
	hw := o.raft.HighWatermark()
	o.raft.HandleFetchResponse(FetchResponse{Leader: 101, LeaderEpoch: 1, HighWatermark: 99, DivergingEpoch: kafka.NoEpoch})
	if _, epoch := o.raft.Leader(); epoch != 2 || o.raft.HighWatermark() != hw {
		t.Errorf("epoch %d, high watermark %d", epoch, o.raft.HighWatermark())
	}
}

// Whatever is lost on either side, an observer's image is always that of a
// prefix of the leader's log, and reaches its end when both live.
func TestObserversHoldAPrefixOfWhatTheLeaderCommitted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t)
		n := byte(0)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0, 1:
				if leader, _ := p.leader.raft.Leader(); leader == 101 && n < 25 {
					p.leader.raft.Append([]metadata.Record{topic(n)})
					n++
				}
			case 2:
				p.observer.power().boot()
			case 3:
				p.leader.power().boot()
				p.observer.sent = nil
				p.observer.raft.HandleFetchFailure()
				p.leader.run(time.Second)
				n = byte(p.leader.topics())
			}
			p.run(time.Duration(rapid.IntRange(1, 100).Draw(rt, "ms")) * time.Millisecond)
			if o := p.observer.topics(); o > p.leader.topics() {
				rt.Fatalf("the observer has %d topics, the leader committed %d", o, p.leader.topics())
			}
		}
		p.run(2 * time.Second)
		if p.observer.exit != "" || p.leader.exit != "" {
			rt.Fatalf("exits: %q %q", p.leader.exit, p.observer.exit)
		}
		if p.observer.topics() != int(n) || p.observer.image.Offset() != p.leader.image.Offset() {
			rt.Fatalf("at the end the observer has %d of %d topics", p.observer.topics(), n)
		}
	})
}
