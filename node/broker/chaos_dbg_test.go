package broker_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/sim"
)

func TestDbgChaos(t *testing.T) {
	n := 30
	base := 1
	if s := os.Getenv("SEEDS"); s != "" { n, _ = strconv.Atoi(s) }
	if s := os.Getenv("BASE"); s != "" { base, _ = strconv.Atoi(s) }
	for seed := base; seed < base+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { chaos(t, uint64(seed)) })
	}
}

func chaos(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := newTown(t, seed, 1+int(seed%3))
	w.run(5 * time.Second)
	id := w.createOrders()
	down := map[kafka.BrokerID]bool{}
	defer func() {
		if t.Failed() && os.Getenv("V") != "" {
			for _, e := range w.events {
				if e.Kind >= 32 && e.Kind != event.Profile {
					fmt.Printf("%d %d n%d peer%d %s-%d off%d end%d hw%d ep%d isr%v %v %q\n", e.At/1e6, e.Kind, e.Node, e.Peer, e.Topic, e.Partition, e.Offset, e.End, e.HighWatermark, e.Epoch, e.ISR, e.Code, e.Text)
				}
			}
		}
	}()
	for i := range 60 {
		bid := kafka.BrokerID(1 + r.IntN(3))
		other := kafka.BrokerID(1 + r.IntN(3))
		switch r.IntN(17) {
		case 14:
			lanes := []string{"data-0", "logs", "quorum", "lifecycle", "router"}
			w.world.Crash(bid, lanes[r.IntN(5)], 1+r.IntN(60), r.IntN(2) == 0)
		case 0:
			w.world.Kill(bid)
			down[bid] = true
		case 1:
			w.world.Power(bid, simdisk.Loss(r.IntN(3)))
			down[bid] = true
		case 2:
			w.world.Stop(bid)
			down[bid] = true
		case 3, 4, 5:
			w.world.Start(bid)
		case 6:
			w.world.Pause(bid)
		case 7:
			w.world.Resume(bid)
		case 8:
			if other != bid { w.world.Cut(sim.Link{From: bid, To: other}) }
		case 9:
			w.world.HealAll()
		case 10:
			w.world.Stall(bid, time.Duration(r.IntN(20))*time.Second)
		case 11:
			w.world.Cut(sim.Link{From: bid, To: 101})
		default:
			b := record.NewBuilder(record.NoProducer())
			b.Append(1_767_225_600_000, nil, []byte(fmt.Sprint(i)), nil)
			req := kmsg.NewPtrProduceRequest()
			req.Version, req.Acks, req.TimeoutMillis = 13, -1, 3000
			req.Topics = []kmsg.ProduceRequestTopic{{TopicID: id, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: b.Build()}}}}
			w.world.Post(1001, node.App, question{fmt.Sprintf("b%d:9092", bid), req})
		}
		w.run(time.Duration(r.IntN(4000)) * time.Millisecond)
	}
	w.world.HealAll()
	for b := kafka.BrokerID(1); b <= 3; b++ {
		w.world.Resume(b)
	}
	w.run(300 * time.Second)
	for b := kafka.BrokerID(1); b <= 3; b++ {
		w.world.Start(b)
	}
	w.run(60 * time.Second)
	isr := 0
	leader := kafka.BrokerID(-1)
	for _, e := range w.events {
		if (e.Kind == event.ISRChanged || e.Kind == event.Elected) && e.Topic == "orders" {
			isr = len(e.ISR)
			leader = e.Peer
		}
		if e.Kind == event.Died && strings.HasPrefix(e.Text, "exit") {
			t.Logf("died %v", e.Text)
		}
	}
	if leader < 0 {
		t.Logf("no leader at the end")
		return
	}
	if isr != 3 {
		t.Errorf("isr %d at the end", isr)
	}
	w.run(5 * time.Second)
	var all []string
	for b := 1; b <= 3; b++ {
		v, hw := w.read(fmt.Sprintf("b%d:9092", b), id)
		all = append(all, fmt.Sprint(v, hw))
	}
	t.Logf("%s", all[0])
	if all[0] != all[1] || all[1] != all[2] {
		t.Errorf("replicas differ: %v", all)
	}
}
