package checker_test

import (
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// The register's lines: NODE, leader epoch, partition epoch, ISR.
//
//	elected 1 e0 p0 1,2,3      by the controller, or: changed
//	propose 1 e0 p0 1,2        answer 1 e0 p1 1,2        metadata 1 e0 p1 1,2
//	lead 1 e0 p0 1,2,3         refuse 1 e0 p0 CODE       died 101
func registerHistory(t *testing.T, text string) []event.Event {
	t.Helper()
	kinds := map[string]event.Kind{"elected": event.Elected, "changed": event.ISRChanged, "propose": event.ISRProposed, "answer": event.ISRApplied,
		"metadata": event.ISRApplied, "lead": event.BecameLeader, "refuse": event.AlterPartitionRefused, "died": event.Died}
	codes := map[string]kafka.ErrorCode{"INVALID_UPDATE_VERSION": kafka.InvalidUpdateVersion, "FENCED_LEADER_EPOCH": kafka.FencedLeaderEpoch,
		"INELIGIBLE_REPLICA": kafka.IneligibleReplica}
	var events []event.Event
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		w := strings.Fields(line)
		e := event.New(kinds[w[0]])
		e.Seq, e.Topic, e.Node = uint64(len(events)+1), "t", kafka.BrokerID(num(t, w[1]))
		if e.Kind == event.Died {
			e.Text = "kill"
			events = append(events, e)
			continue
		}
		e.Epoch = epoch(t, w[2])
		e.PartitionEpoch = kafka.PartitionEpoch(num(t, strings.TrimPrefix(w[3], "p")))
		switch w[0] {
		case "refuse":
			e.Node, e.Peer, e.Code = 101, e.Node, codes[w[4]]
		case "elected", "changed":
			e.Node, e.Peer, e.Text = 101, e.Node, "clean"
		case "answer", "metadata":
			e.Text = w[0]
		case "lead":
			e.End, e.HighWatermark = 0, 0
		}
		if e.Kind != event.AlterPartitionRefused {
			for _, id := range strings.Split(w[4], ",") {
				e.ISR = append(e.ISR, kafka.BrokerID(num(t, id)))
			}
		}
		events = append(events, e)
	}
	return events
}

func TestAlterPartitionIsACompareAndSet(t *testing.T) {
	const created = `
		elected 1 e0 p0 1,2,3
		lead 1 e0 p0 1,2,3
		`
	for _, c := range []struct{ name, want, text string }{
		{"a shrink is proposed, committed and answered", "pass", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 2,1
			answer 1 e0 p1 1,2`},
		{"answered and never committed", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			answer 1 e0 p1 1,2
			elected 2 e1 p1 2,3
			lead 2 e1 p1 2,3`},
		{"a proposal on an old partition epoch is committed", "violation alter-partition-register", `
			changed 1 e0 p1 1,2
			propose 1 e0 p0 1,3
			changed 1 e0 p2 1,3
			answer 1 e0 p2 1,3`},
		{"twin: it was made on the newest one", "pass", `
			changed 1 e0 p1 1,2
			metadata 1 e0 p1 1,2
			propose 1 e0 p1 1,3
			changed 1 e0 p2 1,3
			answer 1 e0 p2 1,3`},
		{"an answer with another ISR than was asked for", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			answer 1 e0 p1 1`},
		{"an answer with the ISR that the controller chose itself", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,3
			answer 1 e0 p1 1,3`},
		{"twin: the proposal had asked for it", "pass", `
			propose 1 e0 p0 1,3
			changed 1 e0 p1 1,3
			answer 1 e0 p1 1,3`},
		{"asked for what was there", "pass", `
			propose 1 e0 p0 1,2,3
			answer 1 e0 p0 1,2,3`},
		{"the answer comes after the controller's next commit", "pass", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,2
			changed 1 e0 p2 1
			answer 1 e0 p1 1,2`},
		{"an election leads to the ISR that was proposed in the epoch before", "pass", `
			propose 1 e0 p0 1,2
			elected 1 e1 p1 1,2
			refuse 1 e0 p0 FENCED_LEADER_EPOCH`},
		{"the controller comes to the ISR later that was proposed in vain", "pass", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,3
			refuse 1 e0 p0 INVALID_UPDATE_VERSION
			changed 1 e0 p2 1,2`},
		{"the leader learns what was never committed", "violation alter-partition-register", `
			changed 1 e0 p1 1,2
			metadata 1 e0 p1 1,3`},
		{"twin: it learns late", "pass", `
			changed 1 e0 p1 1,2
			changed 1 e0 p2 1
			metadata 1 e0 p1 1,2
			metadata 1 e0 p2 1`},
		{"refused though it was made on the newest", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			refuse 1 e0 p0 INVALID_UPDATE_VERSION`},
		{"twin: the controller was faster, and tells of it later", "pass", `
			propose 1 e0 p0 1,2
			refuse 1 e0 p0 INVALID_UPDATE_VERSION
			changed 1 e0 p1 1,3`},
		{"sent twice, committed once", "pass", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,2
			refuse 1 e0 p0 INVALID_UPDATE_VERSION
			metadata 1 e0 p1 1,2`},
		{"fenced by no election", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			refuse 1 e0 p0 FENCED_LEADER_EPOCH`},
		{"twin: by an election", "pass", `
			propose 1 e0 p0 1,2
			elected 2 e1 p1 2,3
			refuse 1 e0 p0 FENCED_LEADER_EPOCH`},
		{"the first is refused for a replica, the second is another", "pass", `
			propose 1 e0 p0 1,2
			refuse 1 e0 p0 INELIGIBLE_REPLICA
			propose 1 e0 p0 1
			changed 1 e0 p1 1
			answer 1 e0 p1 1`},
		{"twin: the second is the same", "pass", `
			propose 1 e0 p0 1,2
			refuse 1 e0 p0 INELIGIBLE_REPLICA
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,2
			answer 1 e0 p1 1,2`},
		{"refused for a replica, by a controller that was further already", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,2
			answer 1 e0 p1 1,2
			changed 1 e0 p2 1
			propose 1 e0 p1 1,3
			refuse 1 e0 p1 INELIGIBLE_REPLICA`},
		{"twin: it went further after the proposal", "pass", `
			propose 1 e0 p0 1,2
			changed 1 e0 p1 1,2
			answer 1 e0 p1 1,2
			propose 1 e0 p1 1,3
			changed 1 e0 p2 1
			refuse 1 e0 p1 INELIGIBLE_REPLICA`},
		{"a partition epoch is given twice", "violation alter-partition-register+metadata-order", `
			changed 1 e0 p1 1,2
			changed 1 e0 p1 1,3`},
		{"a controller dies with a commit that it told nobody of", "pass", `
			propose 1 e0 p0 1,2
			died 101
			refuse 1 e0 p0 INVALID_UPDATE_VERSION
			metadata 1 e0 p1 1,2
			changed 1 e0 p2 1`},
		{"twin: it lives", "violation alter-partition-register", `
			propose 1 e0 p0 1,2
			metadata 1 e0 p1 1,2
			changed 1 e0 p2 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := checker.Check(registerHistory(t, created+strings.TrimSpace(c.text)))
			if got := judged(r); got != c.want {
				t.Errorf("got %s, want %s%s", got, c.want, explain(r))
			}
		})
	}
}

func TestRegisterFindingNamesWhatDoesNotFit(t *testing.T) {
	r := checker.Check(registerHistory(t, `
		elected 1 e0 p0 1,2,3
		propose 1 e0 p0 1,2
		refuse 1 e0 p0 INVALID_UPDATE_VERSION`))
	want := "t-0: its ISR did not change by compare-and-set: porcupine can order 1 of 2 operations " +
		"(the controller's commit of ISR 1,2,3 as partition epoch 0 in leader epoch 0 (event 1)); " +
		"then the refusal of broker 1's proposal on partition epoch 0 with INVALID_UPDATE_VERSION (event 3) does not fit"
	if len(r.Findings) != 1 || r.Findings[0].Text != want {
		t.Errorf("want %s%s", want, explain(r))
	}
}
