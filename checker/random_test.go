package checker_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// model is a partition with three replicas whose ISR is always all three, that
// does what Kafka allows, in random order, and writes down what it does.
type model struct {
	events  []event.Event
	logs    [4][]entry // by broker 1 to 3
	hw      [4]int     // claimed by each
	leader  int
	epoch   kafka.LeaderEpoch
	sent    uint64
	waiting []entry // appended and not acknowledged
}

// entry is one record in a batch of its own.
type entry struct {
	attempt uint64
	epoch   kafka.LeaderEpoch
}

func (m *model) emit(k event.Kind, node int, set func(*event.Event)) {
	e := event.New(k)
	e.Seq = uint64(len(m.events) + 1)
	e.At = int64(e.Seq) * 1000
	e.Topic, e.Node = "t", kafka.BrokerID(node)
	set(&e)
	m.events = append(m.events, e)
}

func (m *model) elect(leader int) {
	m.epoch++
	m.leader = leader
	m.emit(event.Elected, 101, func(e *event.Event) {
		e.Peer, e.Epoch, e.Text, e.ISR = kafka.BrokerID(leader), m.epoch, "clean", []kafka.BrokerID{1, 2, 3}
	})
	role := func(e *event.Event) {
		e.Epoch, e.End, e.HighWatermark = m.epoch, kafka.Offset(len(m.logs[e.Node])), kafka.Offset(m.hw[e.Node])
	}
	m.emit(event.BecameLeader, leader, role)
	for _, b := range m.followers() {
		m.emit(event.BecameFollower, b, role)
		common := 0
		for common < min(len(m.logs[b]), len(m.logs[leader])) && m.logs[b][common] == m.logs[leader][common] {
			common++
		}
		if common < len(m.logs[b]) {
			m.emit(event.Truncated, b, func(e *event.Event) {
				e.Offset, e.End, e.Text = kafka.Offset(len(m.logs[b])), kafka.Offset(common), "diverging"
			})
			m.logs[b] = m.logs[b][:common]
		}
	}
	m.waiting = nil // their producer never hears of them
}

func (m *model) followers() []int {
	return slices.DeleteFunc([]int{1, 2, 3}, func(b int) bool { return b == m.leader })
}

func (m *model) append(b int, x entry, role string) {
	m.emit(event.Appended, b, func(e *event.Event) {
		e.Offset, e.End, e.Epoch, e.Hash, e.Text = kafka.Offset(len(m.logs[b])), kafka.Offset(len(m.logs[b])+1), x.epoch, 1000+x.attempt, role
	})
	m.logs[b] = append(slices.Clip(m.logs[b]), x)
}

func (m *model) produce() {
	m.sent++
	x := entry{m.sent, m.epoch}
	m.emit(event.SendInvoke, 1001, func(e *event.Event) { e.Client, e.Attempt, e.Hash, e.Acks = "p", x.attempt, x.attempt*7, -1 })
	m.append(m.leader, x, "leader")
	m.waiting = append(m.waiting, x)
}

func (m *model) fetch(b int) {
	if n := len(m.logs[b]); b != m.leader && n < len(m.logs[m.leader]) {
		m.append(b, m.logs[m.leader][n], "follower")
	}
	m.raise(b, min(m.hw[m.leader], len(m.logs[b])), "follower")
}

func (m *model) raise(b, hw int, role string) {
	if hw > m.hw[b] {
		m.emit(event.HighWatermarkMoved, b, func(e *event.Event) {
			e.Offset, e.HighWatermark, e.Text = kafka.Offset(m.hw[b]), kafka.Offset(hw), role
		})
		m.hw[b] = hw
	}
}

// commit moves the leader's high watermark as far as all replicas reach.
func (m *model) commit() {
	hw := min(len(m.logs[1]), len(m.logs[2]), len(m.logs[3]))
	m.raise(m.leader, hw, "leader")
	for len(m.waiting) > 0 {
		at := slices.Index(m.logs[m.leader], m.waiting[0])
		if at >= m.hw[m.leader] {
			return
		}
		x := m.waiting[0]
		m.emit(event.SendOK, 1001, func(e *event.Event) {
			e.Client, e.Attempt, e.Hash, e.Acks, e.Offset = "p", x.attempt, x.attempt*7, -1, kafka.Offset(at)
		})
		m.waiting = m.waiting[1:]
	}
}

// read polls everything below the leader's high watermark.
func (m *model) read(client string) {
	m.emit(event.PositionReset, 1002, func(e *event.Event) { e.Client, e.Offset, e.End, e.Text = client, 0, 0, "assign" })
	m.emit(event.PollOK, 1002, func(e *event.Event) {
		e.Client, e.Offset, e.End, e.Drained = client, 0, kafka.Offset(m.hw[m.leader]), true
		for i, x := range m.logs[m.leader][:m.hw[m.leader]] {
			e.Records = append(e.Records, event.Record{Offset: kafka.Offset(i), Epoch: x.epoch, Attempt: x.attempt, Hash: x.attempt * 7})
		}
	})
}

func (m *model) audit() {
	for b := 1; b <= 3; b++ {
		for i, x := range m.logs[b] {
			m.emit(event.AuditRecord, b, func(e *event.Event) {
				e.Offset, e.Epoch, e.Attempt, e.Hash = kafka.Offset(i), x.epoch, x.attempt, x.attempt*7
			})
		}
		m.emit(event.AuditReplica, b, func(e *event.Event) {
			e.Offset, e.End, e.HighWatermark, e.Text = 0, kafka.Offset(len(m.logs[b])), kafka.Offset(m.hw[b]), "live"
		})
	}
}

// legalRun draws a run and ends it in step: every replica complete, everything
// committed and read.
func legalRun(t *rapid.T) *model {
	m := &model{}
	m.elect(1)
	broker := rapid.IntRange(1, 3)
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1, 2:
			m.produce()
		case 3, 4, 5, 6:
			m.fetch(broker.Draw(t, "broker"))
		case 7:
			m.commit()
		case 8:
			m.read("r")
		case 9:
			m.elect(broker.Draw(t, "leader"))
		}
	}
	m.settle()
	m.elect(broker.Draw(t, "last leader"))
	m.settle()
	m.read("v")
	m.audit()
	return m
}

// settle writes one more record and lets every replica have and commit all.
func (m *model) settle() {
	m.produce()
	for range len(m.logs[m.leader]) + 1 {
		for _, b := range m.followers() {
			m.fetch(b)
		}
	}
	m.commit()
	for _, b := range m.followers() {
		m.fetch(b)
	}
}

func TestLegalRunsPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if r := checker.Check(legalRun(t).events); r.Verdict != checker.Pass {
			t.Fatalf("got %s%s", judged(r), explain(r))
		}
	})
}

// Each fault is planted into one event of a legal run.
func TestPlantedFaultsAreFound(t *testing.T) {
	faults := []struct {
		name, rule string
		at         func(m *model, e *event.Event) bool
		plant      func(e *event.Event)
	}{
		{"a follower's batch is another one", "LogMatching",
			func(m *model, e *event.Event) bool {
				return e.Kind == event.Appended && e.Text == "follower" && m.survives(e)
			},
			func(e *event.Event) { e.Hash++ }},
		{"a leader starts one record short of what was committed", "LeaderCompleteness",
			func(m *model, e *event.Event) bool {
				return e.Kind == event.BecameLeader && e.End > 0 && m.committed(e.Seq) >= e.End
			},
			func(e *event.Event) { e.End-- }},
		{"a record in a segment is another one", "LogMatching",
			func(m *model, e *event.Event) bool { return e.Kind == event.AuditRecord },
			func(e *event.Event) { e.Hash++ }},
		{"a claimed high watermark lies beyond the segments", "audit",
			func(m *model, e *event.Event) bool { return e.Kind == event.AuditReplica },
			func(e *event.Event) { e.HighWatermark = e.End + 1 }},
		{"the last read misses its last record, which was acknowledged", "lost-write",
			func(m *model, e *event.Event) bool {
				return e.Kind == event.PollOK && e.Client == "v" && m.acked(e.Records[len(e.Records)-1].Attempt)
			},
			func(e *event.Event) { e.Records = e.Records[:len(e.Records)-1] }},
		{"a read shows another value", "corrupt-value",
			func(m *model, e *event.Event) bool { return e.Kind == event.PollOK && len(e.Records) > 0 },
			func(e *event.Event) {
				e.Records = slices.Clone(e.Records)
				e.Records[0].Hash++
			}},
		{"an acknowledgement is for another offset", "ack-offset-wrong",
			func(m *model, e *event.Event) bool { return e.Kind == event.SendOK && e.Offset > 0 },
			func(e *event.Event) { e.Offset-- }},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			planted := 0
			rapid.Check(t, func(t *rapid.T) {
				m := legalRun(t)
				var places []int
				for i := range m.events {
					if f.at(m, &m.events[i]) {
						places = append(places, i)
					}
				}
				if len(places) == 0 {
					return
				}
				planted++
				f.plant(&m.events[rapid.SampledFrom(places).Draw(t, "place")])
				if r := checker.Check(m.events); !slices.Contains(r.Broken(), f.rule) {
					t.Fatalf("%s was not found, got %s%s", f.rule, judged(r), explain(r))
				}
			})
			if planted < 10 {
				t.Errorf("planted only %d times", planted)
			}
		})
	}
}

// survives reports whether an appended record is in the log at the end.
func (m *model) survives(e *event.Event) bool {
	for i := range m.events {
		if x := &m.events[i]; x.Seq > e.Seq && x.Kind == event.Truncated && x.Node == e.Node && x.End <= e.Offset {
			return false
		}
	}
	return true
}

// committed is the true high watermark before an event.
func (m *model) committed(before uint64) kafka.Offset {
	hw := kafka.NoOffset
	for i := range m.events[:before-1] {
		if x := &m.events[i]; x.Kind == event.HighWatermarkMoved && x.Text == "leader" {
			hw = max(hw, x.HighWatermark)
		}
	}
	return hw
}

func (m *model) acked(attempt uint64) bool {
	return slices.ContainsFunc(m.events, func(e event.Event) bool { return e.Kind == event.SendOK && e.Attempt == attempt })
}
