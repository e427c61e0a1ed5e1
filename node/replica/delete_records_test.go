package replica

import (
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/rules"
)

func TestDeleteRecordsRaisesTheLogStartUpToTheHighWatermark(t *testing.T) {
	for _, c := range []struct {
		name    string
		at      kafka.BrokerID
		offset  kafka.Offset
		compact bool
		want    kafka.Offset // required
		code    kafka.ErrorCode
		start   kafka.Offset
	}{
		{"inside", A, 3, false, 3, kafka.None, 3},
		{"all that is committed", A, DeleteToHighWatermark, false, 4, kafka.None, 4},
		{"nothing", A, 0, false, 0, kafka.None, 0},
		{"not committed", A, 5, false, kafka.NoOffset, kafka.OffsetOutOfRange, 0},
		{"no offset", A, -2, false, kafka.NoOffset, kafka.OffsetOutOfRange, 0},
		{"a follower", B, 3, false, kafka.NoOffset, kafka.NotLeaderOrFollower, 0},
		{"a compacted topic", A, 3, true, kafka.NoOffset, kafka.PolicyViolation, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := replicated(t, 2, 4, rules.Current(), 1)
			k.produce(A, 1)
			p := k.at(c.at).p
			cfg := p.Log().Config()
			cfg.Delete = !c.compact
			p.Log().SetConfig(cfg)
			got, code := p.DeleteRecords(c.offset)
			if got != c.want || code != c.code || p.Log().LogStart() != c.start {
				t.Errorf("required %d, %v, log start %d", got, code, p.Log().LogStart())
			}
		})
	}
}

// deleting is a DeleteRecords request that waits, or waited.
type deleting struct {
	d    *DelayedDelete
	done []DeleteStatus
}

func (k *cluster) deleteRecords(upTo kafka.Offset) *deleting {
	x := &deleting{}
	required, code := k.at(A).p.DeleteRecords(upTo)
	x.d = &DelayedDelete{Partitions: []DeleteStatus{{TP: testTP, Required: required, Code: code}}, Done: func(s []DeleteStatus) { x.done = s }}
	k.at(A).purgatory.WatchDelete(x.d)
	return x
}

func (x *deleting) want(t *testing.T, low kafka.Offset, code kafka.ErrorCode) {
	t.Helper()
	if len(x.done) != 1 || x.done[0].Low != low || x.done[0].Code != code {
		t.Fatalf("answered with %+v, want low watermark %d, %v", x.done, low, code)
	}
}

func TestDeleteRecordsWaitsForTheFollowersLogStart(t *testing.T) {
	k := replicated(t, 3, 4, rules.Current(), 1)
	x := k.deleteRecords(3)
	k.fetch(B, 1) // learns it
	k.fetch(C, 1)
	k.fetch(B, 1) // says so
	if x.done != nil {
		t.Fatalf("answered before C has it: %+v", x.done)
	}
	k.fetch(C, 1)
	x.want(t, 3, kafka.None)
	if low := k.at(A).p.LowWatermark(); low != 3 {
		t.Errorf("low watermark %d", low)
	}
}

func TestDeleteRecordsDoesNotWaitForAFencedFollower(t *testing.T) {
	k := replicated(t, 2, 4, rules.Current(), 1)
	b := k.image[B]
	b.Fenced = true
	k.image[B] = b
	k.deleteRecords(3).want(t, 3, kafka.None)
}

func TestDeleteRecordsTimesOut(t *testing.T) {
	k := replicated(t, 2, 4, rules.Current(), 1)
	x := k.deleteRecords(3)
	k.at(A).purgatory.ExpireDelete(x.d)
	x.want(t, kafka.NoOffset, kafka.RequestTimedOut)
}

func TestDeleteRecordsFailsWhenLeadershipIsLost(t *testing.T) {
	k := replicated(t, 2, 4, rules.Current(), 1)
	x := k.deleteRecords(3)
	k.elect(B)
	k.at(A).purgatory.Complete()
	x.want(t, kafka.NoOffset, kafka.NotLeaderOrFollower)
}

func TestDeleteRecordsThatIsRefusedIsAnsweredAtOnce(t *testing.T) {
	k := replicated(t, 2, 4, rules.Current(), 1)
	k.deleteRecords(9).want(t, kafka.NoOffset, kafka.OffsetOutOfRange)
}
