package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/producer"
	"tidemark/node/replica"
	"tidemark/sim"
)

func result(seed uint64, v checker.Verdict, sends, acked int) SeedResult {
	return SeedResult{Seed: seed, Report: checker.Report{Verdict: v}, Sends: sends, Acked: acked}
}

func TestTallyCountsHowOftenAndInHowManySeeds(t *testing.T) {
	a, b, c := result(1, checker.Pass, 10, 10), result(2, checker.Violation, 10, 5), result(3, checker.Pass, 0, 0)
	a.Faults[sim.FaultKill] = sim.FaultCount{Fired: 3, Effective: 2}
	b.Faults[sim.FaultKill] = sim.FaultCount{Fired: 1}
	b.Faults[sim.FaultHeal] = sim.FaultCount{Fired: 1, Effective: 1}
	a.Conditions[LogTruncated], b.Conditions[LogTruncated] = 4, 1
	var tally Tally
	for _, r := range []SeedResult{a, b, c} {
		tally.Add(r)
	}
	if diff := cmp.Diff([]Total{{"kill", 4, 2, 1}}, tally.Faults()); diff != "" {
		t.Errorf("faults; heal mends and is none (-want +got):\n%s", diff)
	}
	if got := tally.Conditions()[LogTruncated]; got != (Total{"truncation", 0, 5, 2}) {
		t.Errorf("truncation: %+v", got)
	}
	if tally.Seeds != 3 || tally.Verdicts[checker.Pass] != 2 || len(tally.Judged) != 1 || tally.Judged[0].Seed != 2 {
		t.Errorf("%d seeds, %v, judged %v", tally.Seeds, tally.Verdicts, tally.Judged)
	}
}

func TestMedianOfAcknowledgedSendsIsOverTheSeedsThatSent(t *testing.T) {
	var tally Tally
	if _, ok := tally.AckedMedian(); ok {
		t.Error("a sweep without sends has a median")
	}
	for i, acked := range []int{100, 0, 90, 70} {
		tally.Add(result(uint64(i), checker.Pass, 100, acked))
	}
	tally.Add(result(9, checker.Pass, 0, 0))
	if m, ok := tally.AckedMedian(); !ok || m != 700 {
		t.Errorf("the lower median of 100 %%, 0 %%, 90 %% and 70 %% is %d per mille", m)
	}
}

func TestWitnessTellsConditionsFromEvents(t *testing.T) {
	w := newWitness()
	elected := func(leader kafka.BrokerID, isr ...kafka.BrokerID) *event.Event {
		return &event.Event{Kind: event.Elected, Topic: "t", Peer: leader, ISR: isr}
	}
	for _, e := range []*event.Event{
		elected(1, 1, 2, 3), // created
		elected(2, 2, 3),    // another leader, ISR shrinks
		elected(kafka.NoBroker),
		elected(2, 2), // the same leader again: no election; ISR expands from none
		{Kind: event.ISRChanged, Topic: "t", ISR: []kafka.BrokerID{2, 3}},
		{Kind: event.Fenced},
		{Kind: event.Truncated, Offset: 5, End: 5}, // cut nothing
		{Kind: event.Truncated, Offset: 5, End: 4},
		{Kind: event.Recovered, Text: "clean"},
		{Kind: event.Recovered, Text: "unclean"},
		{Kind: event.Recovered, Text: "unclean cut at 10 of 0.log"},
		{Kind: event.Effect, Text: producer.RetryEffect},
		{Kind: event.Effect, Text: replica.DuplicateEffect},
		{Kind: event.Effect, Text: "diverging answer"},
		{Kind: event.SendInvoke, Acks: -1}, {Kind: event.SendInvoke, Acks: 1}, {Kind: event.SendInvoke, Acks: 0},
		{Kind: event.SendOK, Acks: -1}, {Kind: event.SendOK, Acks: 0},
	} {
		w.observe(e)
	}
	want := [Conditions]uint64{ElectionHappened: 1, BrokerFenced: 1, ISRShrunk: 2, ISRExpanded: 2, LogTruncated: 1,
		UncleanStart: 2, TornBatchRecovered: 1, ProduceRetried: 1, DuplicateDropped: 1}
	if diff := cmp.Diff(want, w.counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if w.sends != 2 || w.acked != 1 {
		t.Errorf("%d sends that can be acknowledged, %d of them are", w.sends, w.acked)
	}
}
