package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
)

// followerBench is broker 1 following broker 2 for all partitions of orders.
func followerBench(t *testing.T, partitions int) (*bench, *cluster) {
	t.Helper()
	c := newCluster(3)
	c.topic(partitions, 2, 2, 1)
	return boot(t, testConfig(1), simdisk.New(), c.whole()), c
}

// leaderSays is the leader's answer to the fetch in flight: one partition with
// records, in the session.
func leaderSays(session int32, partition int32, hw kafka.Offset, batches ...[]byte) *kmsg.FetchResponse {
	res := kmsg.NewPtrFetchResponse()
	res.SessionID = session
	topic := kmsg.NewFetchResponseTopic()
	topic.TopicID = ordersID
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.HighWatermark, p.LogStartOffset = partition, int64(hw), 0
	for _, b := range batches {
		p.RecordBatches = append(p.RecordBatches, b...)
	}
	topic.Partitions = append(topic.Partitions, p)
	res.Topics = append(res.Topics, topic)
	return res
}

// leaderBatch is a batch as a leader stamped it.
func leaderBatch(base kafka.Offset, epoch kafka.LeaderEpoch, values ...string) []byte {
	b := record.Batch(batchOf(values...))
	b.SetBaseOffset(base)
	b.SetLeaderEpoch(epoch)
	return b
}

func TestFollowerFetchesFromItsLeaderInASession(t *testing.T) {
	b, _ := followerBench(t, 2)
	first, sent := take[*kmsg.FetchRequest](b, node.Data(0))
	if addr := b.lane(node.Data(0)).dialed[sent.conn]; addr != "b2:9092" {
		t.Errorf("fetches from %q", addr)
	}
	if first.Version != 18 || first.ReplicaState.ID != 1 || first.ReplicaState.Epoch != 77 || first.SessionEpoch != 0 {
		t.Errorf("first fetch %+v", first)
	}
	if first.MaxWaitMillis != 500 || first.MinBytes != 1 || first.MaxBytes != 10<<20 || len(first.Topics[0].Partitions) != 2 {
		t.Errorf("first fetch %+v", first)
	}
	b.answer(node.Data(0), leaderSays(5, 0, 0, leaderBatch(0, 0, "a", "b")))
	second, _ := take[*kmsg.FetchRequest](b, node.Data(0))
	if second.SessionID != 5 || second.SessionEpoch != 1 || len(second.Topics) != 1 || len(second.Topics[0].Partitions) != 1 {
		t.Fatalf("second fetch %+v, want only what changed", second)
	}
	if p := second.Topics[0].Partitions[0]; p.Partition != 0 || p.FetchOffset != 2 || p.LastFetchedEpoch != 0 || p.CurrentLeaderEpoch != 0 {
		t.Errorf("second fetch asks %+v", p)
	}
	b.answer(node.Data(0), leaderSays(5, 0, 2))
	if third, _ := take[*kmsg.FetchRequest](b, node.Data(0)); third.SessionEpoch != 2 || len(third.Topics) != 0 {
		t.Errorf("third fetch %+v, want nothing but the session", third)
	}
	if e := b.saw(event.HighWatermarkMoved); len(e) != 1 || e[0].HighWatermark != 2 {
		t.Errorf("high watermark %+v", e)
	}
}

func TestFollowerAsksForEverythingAgainWhenItsSessionIsLost(t *testing.T) {
	b, _ := followerBench(t, 2)
	b.answer(node.Data(0), leaderSays(5, 0, 0))
	lost := kmsg.NewPtrFetchResponse()
	lost.ErrorCode = int16(kafka.FetchSessionIDNotFound)
	b.answer(node.Data(0), lost)
	full, _ := take[*kmsg.FetchRequest](b, node.Data(0))
	if full.SessionID != 0 || full.SessionEpoch != 0 || len(full.Topics[0].Partitions) != 2 {
		t.Errorf("fetch after the loss %+v, want a full one at once", full)
	}
}

func TestFollowerBacksOffASecondAfterALostConnection(t *testing.T) {
	b, _ := followerBench(t, 1)
	b.answer(node.Data(0), leaderSays(5, 0, 0))
	_, sent := take[*kmsg.FetchRequest](b, node.Data(0))
	n := b.sentCount(node.Data(0))
	b.disconnect(node.Data(0), sent.conn)
	b.advance(999 * time.Millisecond)
	if b.sentCount(node.Data(0)) != n {
		t.Fatal("fetched within the back-off")
	}
	b.advance(time.Millisecond)
	again, next := take[*kmsg.FetchRequest](b, node.Data(0))
	if next.conn == sent.conn || again.SessionID != 5 || again.SessionEpoch != 0 || len(again.Topics) != 1 {
		t.Errorf("fetch after the back-off %+v, want a full one that closes session 5", again)
	}
}

func TestFollowerGivesARequestUpAfter30Seconds(t *testing.T) {
	b, _ := followerBench(t, 1)
	_, sent := take[*kmsg.FetchRequest](b, node.Data(0))
	n := b.sentCount(node.Data(0))
	b.advance(30 * time.Second)
	if closed := b.lane(node.Data(0)).closed; len(closed) != 1 || closed[0] != sent.conn {
		t.Errorf("closed %v", closed)
	}
	b.advance(time.Second)
	if b.sentCount(node.Data(0)) != n+1 {
		t.Errorf("sent %d more, want one", b.sentCount(node.Data(0))-n)
	}
}

func TestFollowerMovesToTheNewLeader(t *testing.T) {
	b, c := followerBench(t, 1)
	b.answer(node.Data(0), leaderSays(5, 0, 1, leaderBatch(0, 0, "a")))
	_, old := take[*kmsg.FetchRequest](b, node.Data(0))
	b.image(c.elect(3, 3, 1))
	req, sent := take[*kmsg.FetchRequest](b, node.Data(0))
	if addr := b.lane(node.Data(0)).dialed[sent.conn]; addr != "b3:9092" {
		t.Errorf("fetches from %q", addr)
	}
	if p := req.Topics[0].Partitions[0]; p.FetchOffset != 1 || p.LastFetchedEpoch != 0 || p.CurrentLeaderEpoch != 1 {
		t.Errorf("asks %+v", p)
	}
	if closed := b.lane(node.Data(0)).closed; len(closed) != 1 || closed[0] != old.conn {
		t.Errorf("closed %v, want the idle connection to broker 2", closed)
	}
}

func TestFollowerAsksForOffsetsWhenItsOwnIsOutOfRange(t *testing.T) {
	b, _ := followerBench(t, 1)
	out := leaderSays(5, 0, -1)
	out.Topics[0].Partitions[0].ErrorCode = int16(kafka.OffsetOutOfRange)
	b.answer(node.Data(0), out)
	latest, _ := take[*kmsg.ListOffsetsRequest](b, node.Data(0))
	if latest.ReplicaID != 1 || latest.Topics[0].Topic != "orders" || latest.Topics[0].Partitions[0].Timestamp != -1 {
		t.Errorf("asks %+v", latest)
	}
	said := kmsg.NewPtrListOffsetsResponse()
	said.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: "orders", Partitions: []kmsg.ListOffsetsResponseTopicPartition{{Offset: 9}}}}
	b.answer(node.Data(0), said)
	if earliest, _ := take[*kmsg.ListOffsetsRequest](b, node.Data(0)); earliest.Topics[0].Partitions[0].Timestamp != -2 {
		t.Errorf("asks %+v", earliest)
	}
	said.Topics[0].Partitions[0].Offset = 4
	b.answer(node.Data(0), said)
	if fetch, _ := take[*kmsg.FetchRequest](b, node.Data(0)); fetch.Topics[0].Partitions[0].FetchOffset != 4 {
		t.Errorf("goes on with %+v, want the leader's start", fetch.Topics[0].Partitions[0])
	}
}

func TestFollowerThatLeavesInAControlledShutdownStopsFetchingAndKeepsItsLog(t *testing.T) {
	b, c := followerBench(t, 1)
	b.answer(node.Data(0), leaderSays(5, 0, 0, leaderBatch(0, 0, "a")))
	b.post(node.Lifecycle, node.Data(0), shutdownPost{})
	b.image(c.commit(metadata.PartitionChange{PartitionID: 0, TopicID: ordersID, Leader: metadata.KeepLeader, ISR: []kafka.BrokerID{2}, RecoveryState: metadata.KeepRecoveryState}))
	if links := b.lane(node.Data(0)).process.(*dataLane).links; len(links) != 0 {
		t.Errorf("%d links", len(links))
	}
	if e := b.saw(event.BecameFollower); len(e) != 1 {
		t.Errorf("became follower %d times", len(e))
	}
}

func TestCutBelowTheRecoveryPointIsCheckpointedBeforeFetchingGoesOn(t *testing.T) {
	b, c := followerBench(t, 1)
	b.answer(node.Data(0), leaderSays(5, 0, 0, leaderBatch(0, 0, "a", "b", "c")))
	lane := b.lane(node.Data(0)).process.(*dataLane)
	b.call(func() { lane.hosted[orders(0)].log.Flush(nil) })
	b.settle()
	b.advance(30 * time.Second)
	if got, want := b.file(string(recoveryPoints)), "0\n1\norders 0 3\n"; got != want {
		t.Fatalf("recovery points %q, want %q", got, want)
	}
	b.image(c.elect(3, 3, 1))
	diverging := leaderSays(6, 0, -1)
	diverging.Topics[0].Partitions[0].DivergingEpoch.Epoch = 0
	diverging.Topics[0].Partitions[0].DivergingEpoch.EndOffset = 1
	n := b.sentCount(node.Data(0))
	checked := false
	b.onSync = func() {
		if b.file(string(recoveryPoints)) != "0\n1\norders 0 0\n" && b.sentCount(node.Data(0)) > n {
			t.Errorf("fetched on while the file says %q", b.file(string(recoveryPoints)))
		}
		checked = true
	}
	b.answer(node.Data(0), diverging)
	if req, _ := take[*kmsg.FetchRequest](b, node.Data(0)); !checked || b.sentCount(node.Data(0)) != n+1 || req.Topics[0].Partitions[0].FetchOffset != 0 {
		t.Errorf("checked %v, sent %d, asks %+v", checked, b.sentCount(node.Data(0))-n, req.Topics)
	}
}

func TestDeletedTopicFreesItsNameAtOnceAndItsFilesAfterTheDelay(t *testing.T) {
	b, c := followerBench(t, 1)
	b.image(c.commit(metadata.RemoveTopic{TopicID: ordersID}))
	count := func() (plain, aside int) {
		for _, path := range b.disk.Paths(cachedSide) {
			if path == "orders-0/" {
				plain++
			} else if len(path) > 9 && path[:9] == "orders-0." && path[len(path)-1] == '/' {
				aside++
			}
		}
		return plain, aside
	}
	if plain, aside := count(); plain != 0 || aside != 1 {
		t.Errorf("after the deletion: %d replicas, %d set aside", plain, aside)
	}
	b.advance(time.Minute)
	if plain, aside := count(); plain != 0 || aside != 0 {
		t.Errorf("after the delay: %d replicas, %d set aside", plain, aside)
	}
}
