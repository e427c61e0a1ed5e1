package main

import (
	"encoding/json"
	"fmt"
	"io"

	"tidemark/checker"
	"tidemark/scenarios"
	"tidemark/sim"
)

// printLine writes one line of JSON.
func printLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// sweptSeed is a seed's line. Faults and conditions that did not happen are left
// out.
type sweptSeed struct {
	Seed        uint64                 `json:"seed"`
	Verdict     checker.Verdict        `json:"verdict"`
	Broken      []string               `json:"broken,omitempty"`
	Excused     []string               `json:"excused,omitempty"`
	Premise     string                 `json:"premise,omitempty"`
	Unknown     []string               `json:"unknown,omitempty"`
	Reason      string                 `json:"reason,omitempty"`
	Replay      string                 `json:"replay,omitempty"`
	Faults      map[string]faultCounts `json:"faults"`
	Conditions  map[string]uint64      `json:"conditions"`
	Sends       int                    `json:"sends"`
	Acked       int                    `json:"acked"`
	Events      int                    `json:"events"`
	WorldEvents uint64                 `json:"world_events"`
	SimulatedMs int64                  `json:"simulated_ms"`
	Digest      string                 `json:"digest"`
}

type faultCounts struct {
	Fired     uint64 `json:"fired"`
	Effective uint64 `json:"effective"`
}

func (s *sweeping) seedLine(r scenarios.SeedResult) sweptSeed {
	l := sweptSeed{Seed: r.Seed, Verdict: r.Report.Verdict, Broken: r.Report.Broken(), Excused: r.Report.Excused(),
		Unknown: r.Report.Unknown, Faults: map[string]faultCounts{}, Conditions: map[string]uint64{},
		Sends: r.Sends, Acked: r.Acked, Events: r.Events, WorldEvents: r.WorldEvents,
		SimulatedMs: r.Simulated.Milliseconds(), Digest: fmt.Sprintf("%016x", r.Digest)}
	for k, c := range r.Faults {
		if c.Fired > 0 {
			l.Faults[sim.FaultKind(k).String()] = faultCounts{c.Fired, c.Effective}
		}
	}
	for k, n := range r.Conditions {
		if n > 0 {
			l.Conditions[scenarios.Condition(k).String()] = n
		}
	}
	switch r.Report.Verdict {
	case checker.Violation, checker.Unknown:
		l.Reason, l.Replay = firstReason(r), s.replay(r.Seed)
	case checker.Excused:
		l.Premise = premise(r.Report)
	}
	return l
}

// sweepSummary is the last line.
type sweepSummary struct {
	Seeds         string                  `json:"seeds"`
	Rules         string                  `json:"rules"`
	Set           []string                `json:"set,omitempty"`
	Judged        int                     `json:"judged"`
	Stopped       bool                    `json:"stopped"`
	Verdicts      map[checker.Verdict]int `json:"verdicts"`
	AckedPerMille int                     `json:"acked_per_mille_median"`
	Faults        []sweptTotal            `json:"faults"`
	Conditions    []sweptTotal            `json:"conditions"`
	WorldEvents   uint64                  `json:"world_events"`
	Ignored       []ignoredKey            `json:"ignored,omitempty"`
}

type sweptTotal struct {
	Name      string `json:"name"`
	Fired     uint64 `json:"fired,omitempty"`
	Effective uint64 `json:"effective"`
	Seeds     int    `json:"seeds"`
}

func (s *sweeping) summaryLine() sweepSummary {
	l := sweepSummary{Seeds: s.flags.seeds, Rules: s.flags.rules, Set: s.flags.given.set, Judged: s.tally.Seeds,
		Stopped: s.stopped(), Verdicts: map[checker.Verdict]int{}, WorldEvents: s.tally.WorldEvents, Ignored: s.ignored}
	for _, v := range verdictOrder {
		l.Verdicts[v] = s.tally.Verdicts[v]
	}
	l.AckedPerMille, _ = s.tally.AckedMedian()
	for _, t := range s.tally.Faults() {
		l.Faults = append(l.Faults, sweptTotal(t))
	}
	for _, t := range s.tally.Conditions() {
		l.Conditions = append(l.Conditions, sweptTotal(t))
	}
	return l
}
