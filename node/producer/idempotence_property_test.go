package producer

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/client/clienttest"
	"tidemark/node/storage"
)

// leaderLog is the log of a partition that two brokers lead in turn and that
// never loses anything: a real one, as the leaders' judgement of sequences is
// half of what is tested.
type leaderLog struct {
	t      *rapid.T
	disk   *simdisk.Disk
	syncs  *node.Syncs
	log    *storage.Log
	leader kafka.BrokerID
	epoch  kafka.LeaderEpoch
}

// The disk's host: nothing takes time, and no fsync ever completes.
func (x *leaderLog) Now() int64                               { return 0 }
func (x *leaderLog) Charge(int64)                             {}
func (x *leaderLog) Step()                                    {}
func (x *leaderLog) Complete(disk.Token, int64, simdisk.Sync) {}

// open begins a life of the leader, after a kill.
func (x *leaderLog) open() {
	x.disk.Kill()
	x.syncs = node.NewSyncs()
	log, _, err := storage.Open(x.disk.View("data-0", x), "t-0", storage.DefaultConfig(), storage.Opening{Syncs: x.syncs})
	if err != nil {
		x.t.Fatal(err)
	}
	x.log = log
}

func (x *leaderLog) values() (values []string) {
	for o := kafka.Offset(0); o < x.log.LogEnd(); {
		buf, err := x.log.ReadBatches(o, 1<<20)
		if err != nil {
			x.t.Fatal(err)
		}
		for len(buf) > 0 {
			b, rest, err := record.Next(buf)
			if err != nil {
				x.t.Fatal(err)
			}
			_ = b.Each(func(r record.Record) error {
				values = append(values, string(r.Value))
				return nil
			})
			o, buf = b.NextOffset(), rest
		}
	}
	return values
}

// meet lets a broker do something with the first request that waits.
func (x *leaderLog) meet(l *lane, what string) {
	r := l.take()
	if r.Broker != x.leader {
		r.reply(kafka.NotLeaderOrFollower, -1)
		return
	}
	switch what {
	case "refuse":
		r.reply(kafka.NotEnoughReplicas, -1)
		return
	case "lose":
		r.Break()
		l.Run()
		return
	}
	b := bytes.Clone(r.Body.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
	done, code, err := x.log.AppendAsLeader(b, x.epoch, 1_700_000_000_000+kafka.Timestamp(l.Env().Now().Milliseconds()))
	switch {
	case err != nil:
		x.t.Fatal(err)
	case what == "lose answer":
		r.Break()
		l.Run()
	case code == kafka.None && what == "answer late":
		r.reply(kafka.RequestTimedOut, -1)
	default:
		r.reply(code, done.First)
	}
}

// Whatever is refused, lost or answered late, whoever leads, and though leaders
// are killed: with five requests in flight the log has each record at most once,
// in the order of the sends, and each acknowledged one where it was said to be.
//
// The first record is acknowledged before anything goes wrong. A leader that knows
// nothing of a producer takes any first sequence, also that of a batch which
// overtook the one before; that one is then sent again in a new epoch, with all
// behind it. KIP-890 closed this for transactions alone.
func TestTheLogHasEachRecordOnceInOrderWhateverIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		patience := rapid.SampledFrom([]string{"120000", "4017"}).Draw(rt, "delivery.timeout.ms")
		l := start(t, 2, 1, set("linger.ms", "0"), set("batch.size", "150"), set("request.timeout.ms", "3000"), set("delivery.timeout.ms", patience),
			set("retry.backoff.ms", "50"), set("reconnect.backoff.max.ms", "100"))
		x := &leaderLog{t: rt, disk: simdisk.New(), leader: 1}
		x.open()
		first := rapid.SampledFrom([]kafka.Sequence{0, math.MaxInt32 - 5}).Draw(rt, "first sequence")
		l.p.acc.topic("t").queue(0).sequencer = sequencer{as: l.p.as, next: first, acked: first - 1}
		n := rapid.IntRange(2, 25).Draw(rt, "records")
		l.send(0, "0")
		x.meet(l, "append")
		for i := 1; i < n; i++ {
			l.send(0, strconv.Itoa(i))
			for range rapid.IntRange(0, 2).Draw(rt, "requests met") {
				if l.Waits(clienttest.Produce) > 0 {
					x.meet(l, rapid.SampledFrom([]string{"append", "append", "refuse", "lose", "lose answer", "answer late"}).Draw(rt, "fate"))
				}
			}
			switch rapid.IntRange(0, 9).Draw(rt, "leader") {
			case 0:
				x.leader, x.epoch = 3-x.leader, x.epoch+1
				l.Lead("t", 0, x.leader, x.epoch)
			case 1:
				x.open()
			}
			l.Advance(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 60, 150, 700}).Draw(rt, "pause")) * time.Millisecond)
		}
		for range 200 { // to the end of delivery.timeout.ms
			for l.Waits(clienttest.Produce) > 0 {
				x.meet(l, "append")
			}
			l.Advance(700 * time.Millisecond)
		}
		if problem := judgeOnce(l, n, x.values()); problem != "" {
			rt.Fatalf("%s; log %v, results %v", problem, x.values(), l.results)
		}
	})
}

func judgeOnce(l *lane, n int, log []string) string {
	if len(l.results) != n || l.p.Open() != 0 {
		return fmt.Sprintf("%d of %d records have a result, %d are open", len(l.results), n, l.p.Open())
	}
	last := -1
	for _, v := range log {
		i, _ := strconv.Atoi(v)
		if i <= last {
			return fmt.Sprintf("%d comes after %d", i, last)
		}
		last = i
	}
	for v, r := range l.results {
		switch {
		case r.Outcome == Acked && (int(r.Offset) >= len(log) || log[r.Offset] != v):
			return "acknowledged " + v + " is not at its offset"
		case r.Outcome == Failed:
			return v + " failed, though nothing refuses for good"
		}
	}
	return ""
}
