package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// producerMemory is what can be told of the leaders' memory of idempotent
// producers. A leader knows each producer's last five batches, but a producer
// snapshot holds the last one alone. A replica that was opened again, or cut its
// log, has its memory out of a snapshot: should it lead while a producer still
// retries a batch before the last, it takes the retry for a gap; the producer
// bumps its epoch and sends again what is there (KAFKA-9199). So idempotence has
// a premise: whoever leads saw the batches in flight itself.
type producerMemory struct {
	// rebuilt is where the log of a replica ended when its memory was made anew.
	rebuilt map[replicaOf]kafka.Offset
	appends map[kafka.TopicPartition][]leaderAppend
}

type replicaOf struct {
	tp   kafka.TopicPartition
	node kafka.BrokerID
}

// leaderAppend is a batch, [from, end), as its leader appended it. What that
// leader knew of batches below told it had not seen itself.
type leaderAppend struct {
	from, end kafka.Offset
	node      kafka.BrokerID
	told      kafka.Offset
}

func (m *producerMemory) observe(e *event.Event) {
	if m.rebuilt == nil {
		m.rebuilt, m.appends = map[replicaOf]kafka.Offset{}, map[kafka.TopicPartition][]leaderAppend{}
	}
	switch e.Kind {
	case event.Recovered, event.Truncated:
		m.rebuilt[replicaOf{e.TP(), e.Node}] = e.End
	case event.Appended:
		if e.Text == "leader" {
			m.appends[e.TP()] = append(m.appends[e.TP()], leaderAppend{e.Offset, e.End, e.Node, m.rebuilt[replicaOf{e.TP(), e.Node}]})
		}
	}
}

// repeat is one record of an idempotent producer at two offsets.
type repeat struct {
	client       string
	first, again kafka.Offset
}

// forgetting names a leader that knew of a producer's batches below told by a
// snapshot.
type forgetting struct {
	client string
	node   kafka.BrokerID
	told   kafka.Offset
}

// premises says for each repeated record of a partition that its second leader
// could not know, "" where that leader had no excuse: it knew of the first copy by a
// snapshot, and a later batch of the same producer was there as well, which the
// snapshot told of. Once one batch is taken for a gap, all behind it are sent
// again, the one in the snapshot too.
func (m *producerMemory) premises(h *history, rd *reading, repeats []repeat) []string {
	forgot := map[forgetting]bool{}
	for _, r := range repeats {
		if by, next, ok := m.teller(rd, r); ok && h.wrote(rd, r.client, next, by.told) {
			forgot[by] = true
		}
	}
	out := make([]string, len(repeats))
	for i, r := range repeats {
		if by, _, ok := m.teller(rd, r); ok && forgot[by] {
			out[i] = fmt.Sprintf("broker %d knew of the producer's last batch alone, out of a snapshot (KAFKA-9199)", by.node)
		}
	}
	return out
}

// teller finds the leader that appended the second copy, if it knew of the first
// by a snapshot; next is where the first copy's batch ends.
func (m *producerMemory) teller(rd *reading, r repeat) (by forgetting, next kafka.Offset, ok bool) {
	next = kafka.NoOffset
	for _, a := range m.appends[rd.tp] {
		if a.from <= r.first && r.first < a.end {
			next = a.end
		}
		if a.from <= r.again && r.again < a.end && next != kafka.NoOffset && next <= a.told {
			return forgetting{r.client, a.node, a.told}, next, true
		}
	}
	return forgetting{}, next, false
}

// wrote reports whether a record of a client was read in [from, to).
func (h *history) wrote(rd *reading, client string, from, to kafka.Offset) bool {
	for i := range rd.records.len() {
		rec := rd.record(int32(i))
		if s := h.send(rec.Attempt); s != nil && s.client == client && from <= rec.Offset && rec.Offset < to {
			return true
		}
	}
	return false
}
