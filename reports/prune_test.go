package reports

import (
	"fmt"
	"strings"
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func TestNarratorKeepsToItsRoomWhateverTheRanksOfItsLines(t *testing.T) {
	ranks := []int{rankWitness, rankTurn, rankFault, rankFlow, rankISR, rankRole}
	for items := 1; items <= 24; items++ {
		for shift := range ranks {
			n := &narrator{}
			for i := range items {
				n.items = append(n.items, item{at: int64(i), seq: uint64(i + 1), rank: ranks[(i*i+shift)%len(ranks)], text: "x"})
			}
			for room := 1; room <= items+1; room++ {
				if got := len(n.lines(room)); got > room {
					t.Fatalf("%d items, shift %d, room %d: %d lines", items, shift, room, got)
				}
			}
		}
	}
}

func TestPruningNeverTellsHalfOfAnOutage(t *testing.T) {
	n := &narrator{tp: kafka.TopicPartition{Topic: "orders"}}
	at := int64(0)
	tell := func(k event.Kind, node kafka.BrokerID, topic, text string) {
		at++
		e := event.New(k)
		e.Seq, e.At, e.Node, e.Topic, e.Text, e.Peer = uint64(at), at, node, topic, text, 1
		n.tell(&e)
	}
	tell(event.Elected, 101, "orders", "create")
	for id := kafka.BrokerID(1); id <= 5; id++ {
		tell(event.Died, id, "", "stop")
		tell(event.Paused, id+5, "", "")
		tell(event.Elected, 101, "orders", "clean")
	}
	for id := kafka.BrokerID(1); id <= 5; id++ {
		tell(event.Boot, id, "", "")
		tell(event.Resumed, id+5, "", "")
	}
	for room := 1; room <= len(n.items); room++ {
		told := strings.Join(n.lines(room), "\n")
		for id := 1; id <= 5; id++ {
			down, up := strings.Contains(told, fmt.Sprintf("broker %d is shut down", id)), strings.Contains(told, fmt.Sprintf("broker %d starts", id))
			paused, resumed := strings.Contains(told, fmt.Sprintf("broker %d is paused", id+5)), strings.Contains(told, fmt.Sprintf("broker %d goes on", id+5))
			if down != up || paused != resumed {
				t.Fatalf("room %d tells half of an outage:\n%s", room, told)
			}
		}
	}
}

// What set the scene goes before anything else, but for the creation and the
// leader whom the first record finds.
func TestPruningDropsWhatSetTheSceneFirst(t *testing.T) {
	n := &narrator{tp: kafka.TopicPartition{Topic: "orders"}}
	at := int64(0)
	tell := func(k event.Kind, set func(*event.Event)) {
		at++
		e := event.New(k)
		e.Seq, e.At, e.Topic, e.Node = uint64(at), at, "orders", 1
		set(&e)
		n.tell(&e)
	}
	elect := func(leader kafka.BrokerID, how string) {
		tell(event.Elected, func(e *event.Event) { e.Peer, e.Epoch, e.Text = leader, kafka.LeaderEpoch(leader), how })
		tell(event.BecameLeader, func(e *event.Event) { e.Node, e.Epoch, e.End = leader, kafka.LeaderEpoch(leader), 0 })
		tell(event.BecameFollower, func(e *event.Event) { e.Node, e.Epoch, e.End = 9, kafka.LeaderEpoch(leader), 0 })
	}
	elect(1, "create")
	elect(2, "clean")
	elect(3, "clean")
	tell(event.SendInvoke, func(e *event.Event) { e.Client, e.Partition = "p", -1 })
	elect(4, "clean")
	told := strings.Join(n.lines(6), "\n")
	for _, want := range []string{"creates orders-0: leader 1", "elects broker 3", "elects broker 4", "broker 4 leads", "broker 9 follows in epoch 4", "7 quieter lines"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
}
