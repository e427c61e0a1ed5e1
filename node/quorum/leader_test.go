package quorum

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/metadata"
	"tidemark/node/storage"
)

// quorumState is the file as it would be found after a power loss.
func (m *machine) quorumState() string {
	b, err := m.disk.ReadFile(faultdisk.Durable, Dir+"/quorum-state")
	if err != nil {
		m.Fatal(err)
	}
	return string(b)
}

func TestASoleVoterElectsItselfAtOnceAndOpensItsEpochWithALeaderChange(t *testing.T) {
	m := newMachine(t, 101).boot().run(200 * time.Millisecond)
	if leader, epoch := m.raft.Leader(); leader != 101 || epoch != 1 {
		t.Fatalf("leader %d in epoch %d", leader, epoch)
	}
	want := `{"clusterId":"","leaderId":101,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":101}],"data_version":0}`
	if got := m.quorumState(); got != want {
		t.Errorf("quorum-state\n got %s\nwant %s", got, want)
	}
	buf, err := m.raft.log.ReadBatches(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b, rest, err := record.Next(buf)
	if err != nil || len(rest) > 0 || !b.IsControl() || b.LeaderEpoch() != 1 || b.BaseOffset() != 0 {
		t.Errorf("the log holds %d bytes, error %v", len(buf), err)
	}
	if m.raft.HighWatermark() != 1 || !slices.Equal(m.leaders, []electionState{{epoch: 1, leader: 101}}) {
		t.Errorf("high watermark %d, told of %v", m.raft.HighWatermark(), m.leaders)
	}
}

func TestAVoteIsOnDiskBeforeTheLeadershipIs(t *testing.T) {
	m := newMachine(t, 101).boot()
	for m.step(int64(time.Second)) {
		if _, err := m.disk.ReadFile(faultdisk.Durable, Dir+"/quorum-state"); err == nil {
			break
		}
	}
	if got := m.quorumState(); !strings.Contains(got, `"leaderId":-1,"leaderEpoch":1,"votedId":101`) {
		t.Fatalf("the first durable state is %s", got)
	}
	// A candidate of a past life goes on in its epoch.
	m.power().boot().run(time.Second)
	if leader, epoch := m.raft.Leader(); leader != 101 || epoch != 1 {
		t.Errorf("leader %d in epoch %d", leader, epoch)
	}
}

func TestALeaderThatComesBackLeadsTheNextEpoch(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(time.Second)
	for epoch := kafka.LeaderEpoch(2); epoch < 4; epoch++ {
		m.power().boot()
		if m.raft.role != roleResigned {
			t.Errorf("it starts in role %d", m.raft.role)
		}
		m.run(time.Second)
		if leader, got := m.raft.Leader(); leader != 101 || got != epoch {
			t.Errorf("leader %d in epoch %d, want epoch %d", leader, got, epoch)
		}
		if m.topics() != 1 {
			t.Errorf("%d topics after the power loss", m.topics())
		}
	}
}

func TestALogOfALaterEpochThanTheStateFileCounts(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.power().boot().run(time.Second) // epoch 2
	if err := m.fs.Remove(Dir + "/quorum-state"); err != nil {
		t.Fatal(err)
	}
	m.kill().boot().run(time.Second)
	if _, epoch := m.raft.Leader(); epoch != 3 {
		t.Errorf("epoch %d, the log holds records of epoch 2", epoch)
	}
}

// K1: what an answer was given for survives a power loss; what was not synced
// was not exposed.
func TestRecordsAreCommittedOnceTheyAreSynced(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.disk.Stall(m.now + int64(10*time.Second))
	base := m.raft.Append([]metadata.Record{topic(0), topic(1)})
	if base != 1 || m.raft.NextOffset() != 3 {
		t.Errorf("appended at %d, next is %d", base, m.raft.NextOffset())
	}
	m.run(5 * time.Second)
	if m.raft.LogEnd() != 3 || m.raft.HighWatermark() != 1 || m.topics() != 0 {
		t.Fatalf("log end %d, high watermark %d, %d topics while the disk stalls", m.raft.LogEnd(), m.raft.HighWatermark(), m.topics())
	}
	m.run(10 * time.Second)
	if m.raft.HighWatermark() != 3 || m.topics() != 2 {
		t.Fatalf("high watermark %d, %d topics", m.raft.HighWatermark(), m.topics())
	}
	m.power().boot().run(time.Second)
	if m.topics() != 2 {
		t.Errorf("%d topics after the power loss", m.topics())
	}
}

func TestRecordsThatLingerShareOneBatch(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(20 * time.Millisecond)
	m.raft.Append([]metadata.Record{topic(1)})
	if m.raft.LogEnd() != 1 {
		t.Error("it did not linger")
	}
	m.run(time.Second)
	last := m.batches[len(m.batches)-1]
	if last.Base != 1 || last.Last != 2 || last.Epoch != 1 || len(last.Records) != 2 {
		t.Errorf("the last batch is %+v", last)
	}
}

// K4: records of older epochs are exposed with the first record of the new one.
func TestOlderEpochsAreExposedOnlyWithTheLeaderChangeOfTheNewOne(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(time.Second)
	m.kill().boot()
	for m.raft.role != roleLeader && m.step(m.now+int64(time.Second)) {
	}
	if m.raft.LogEnd() != 3 {
		t.Fatalf("the log ends at %d", m.raft.LogEnd())
	}
	m.raft.synced(2) // as if all but the LeaderChange record were acknowledged
	if m.raft.HighWatermark() != kafka.NoOffset || len(m.batches) != 0 || len(m.leaders) != 0 {
		t.Errorf("high watermark %d before a record of this epoch is committed", m.raft.HighWatermark())
	}
	m.run(time.Second)
	if m.raft.HighWatermark() != 3 || m.topics() != 1 || len(m.leaders) != 1 {
		t.Errorf("high watermark %d, %d topics, leaders %v", m.raft.HighWatermark(), m.topics(), m.leaders)
	}
}

func TestTheListenerLeadsAfterItHasEverythingBeforeItsEpoch(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(time.Second)
	m.power().boot()
	led := false
	m.onLead = func() {
		led = true
		if m.topics() != 1 || m.image.Offset() != 2 {
			t.Errorf("it leads with %d topics, at offset %d", m.topics(), m.image.Offset())
		}
		if base := m.raft.Append([]metadata.Record{topic(1)}); base != 3 {
			t.Errorf("its first record is at offset %d", base)
		}
	}
	m.run(time.Second)
	if !led || m.topics() != 2 {
		t.Errorf("led %v, %d topics", led, m.topics())
	}
}

func TestAQuorumOfSeveralVotersIsRefusedInOneLine(t *testing.T) {
	m := newMachine(t, 101)
	m.voters = []kafka.BrokerID{101, 102}
	m.life = &life{m: m}
	err := New(Config{ID: 101, Voters: m.voters}, m.life, nil, nil, nil, nil).Start()
	if err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("error %v", err)
	}
}

func TestAStateFileThatNobodyWroteIsRefused(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	contents := []string{"", "{", `{"leaderId":1}`, `{"leaderId":1,"data_version":9}`}
	sound := string(encodeState(unattached(3), []kafka.BrokerID{101}))
	for _, name := range append(stateFields, "data_version") {
		contents = append(contents, strings.Replace(sound, `"`+name, `"#`+name[1:], 1))
	}
	for _, content := range contents {
		storage.NewAtomicFile(m.fs, m.syncs, Dir+"/"+stateFile).Write([]byte(content), nil)
		m.run(time.Second)
		if s, err := readState(m.fs, Dir); err == nil {
			t.Errorf("%q was read as %+v", content, s)
		}
	}
}

func TestStoppingFailsWhatWaitsAndKeepsTheLog(t *testing.T) {
	m := newMachine(t, 101).boot().run(time.Second)
	m.raft.Append([]metadata.Record{topic(0)})
	m.run(time.Second)
	var got FetchResponse
	m.raft.HandleFetch(fetchFrom(m.raft), func(r FetchResponse) { got = r })
	stopped := false
	m.raft.Stop(func() { stopped = true })
	m.run(time.Second)
	if !stopped || got.Code != kafka.NotLeaderOrFollower || m.leaders[len(m.leaders)-1].leader != kafka.NoBroker {
		t.Errorf("stopped %v, parked fetch answered %s, leaders %v", stopped, got.Code, m.leaders)
	}
	m.kill().boot().run(time.Second)
	if m.topics() != 1 {
		t.Errorf("%d topics in the next life", m.topics())
	}
}
