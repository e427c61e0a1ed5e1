package reports

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// How much a line matters; where room is short, higher ranks go first. What
// only led up to the first witness of a loss counts less than what followed,
// and what only set the scene, before the first record was sent, least.
const (
	rankWitness  = 0
	rankElection = 1
	rankTurn     = 2 // truncations, deaths, failed steps
	rankFault    = 4
	rankFlow     = 6
	rankISR      = 8
	rankRole     = 10
	rankBefore   = 5  // is added before the first witness
	rankScene    = 20 // is added to what sets the scene
)

// item is one line of the narrative.
type item struct {
	at   int64
	seq  uint64 // 0: sums up several events
	kind event.Kind
	rank int
	// weight is the rank by which the line goes, as weigh sets it.
	weight int
	pair   int  // from 1: an outage's beginning and end share it; 0: alone
	scene  bool // only sets the scene
	text   string
}

// outages numbers deaths and pauses, so that the line of an end stays or goes
// with the line of its beginning.
type outages struct {
	last int
	open map[kafka.BrokerID]int
}

func (o *outages) begin(node kafka.BrokerID) int {
	if o.open == nil {
		o.open = map[kafka.BrokerID]int{}
	}
	o.last++
	o.open[node] = o.last
	return o.last
}

func (o *outages) end(node kafka.BrokerID) int { return o.open[node] }

// setScene marks what led up to the first record: elections and roles, but
// neither the creation nor the leader whom the record finds.
func setScene(items []item) {
	first, last := -1, -1
	for i := range items {
		if items[i].kind == event.Elected {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	for i := range items {
		switch items[i].kind {
		case event.Elected, event.ISRChanged, event.BecameLeader, event.BecameFollower, event.Fenced, event.Unfenced, event.Recovered:
			items[i].scene = i != first && i != last
		}
	}
}

// weigh sets the weights. Both halves of an outage take the weight of the one
// that matters more.
func weigh(items []item) {
	witness := slices.IndexFunc(items, func(it item) bool { return it.rank == rankWitness })
	best := map[int]int{}
	for i := range items {
		it := &items[i]
		it.weight = it.rank
		if it.rank != rankWitness && i < witness {
			it.weight += rankBefore
		}
		if it.rank != rankWitness && it.scene {
			it.weight += rankScene
		}
		if w, ok := best[it.pair]; !ok || it.weight < w {
			best[it.pair] = it.weight
		}
	}
	for i := range items {
		if it := &items[i]; it.pair > 0 {
			it.weight = best[it.pair]
		}
	}
}

// prune keeps what fits into room lines, one of which says how many lines were
// left out: the quietest go first and, among equals, the latest.
func prune(items []item, room int) (kept []item, dropped int) {
	kept = slices.Clone(items)
	weigh(kept)
	for weight := rankRole + rankBefore + rankScene; weight >= rankWitness; weight-- {
		for i := len(kept) - 1; i >= 0; i-- {
			if len(kept)+min(dropped, 1) <= room {
				return kept, dropped
			}
			if kept[i].weight == weight {
				kept = without(kept, i)
				i = min(i, len(kept))
				dropped = len(items) - len(kept)
			}
		}
	}
	return kept, dropped
}

// without removes an item and the other half of its outage.
func without(items []item, i int) []item {
	pair := items[i].pair
	items = slices.Delete(items, i, i+1)
	if pair == 0 {
		return items
	}
	return slices.DeleteFunc(items, func(it item) bool { return it.pair == pair })
}
