package reports

import (
	"maps"
	"slices"
	"strings"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// subject is the partition that a report tells of, among all of the run.
type subject struct {
	tp    kafka.TopicPartition
	found bool // the run has a partition, or the options name one
	asked bool // the options name it
	of    int  // partitions of the run
	all   []kafka.TopicPartition
}

// subject chooses the partition to show.
func (o Options) subject(events []event.Event, rep *checker.Report) subject {
	ps := partitions{}
	for i := range events {
		ps.take(&events[i])
	}
	s := subject{of: len(ps), all: ps.sorted()}
	if o.TP.Topic != "" {
		s.tp, s.found, s.asked = o.TP, true, true
		return s
	}
	for _, f := range gravestFirst(rep.Findings) {
		if f.TP.Topic != "" {
			s.tp, s.found = f.TP, true
			return s
		}
	}
	s.tp, s.found = ps.busiest()
	return s
}

// name is the partition and, if it is one of several, of how many: what the
// report says it says of one only.
func (s subject) name() string {
	switch {
	case !s.found:
		return ""
	case s.of > 1:
		return s.tp.String() + ", 1 of " + num(int64(s.of)) + " partitions"
	}
	return s.tp.String()
}

// mostOthers is how many other partitions the picture names.
const mostOthers = 6

// others names the other partitions behind the flag that asks for them; "" if
// there are none, or no flag.
func (s subject) others(flag string) string {
	var names []string
	for _, tp := range s.all {
		if tp != s.tp {
			names = append(names, tp.String())
		}
	}
	if flag == "" || len(names) == 0 {
		return ""
	}
	text := strings.Join(names[:min(len(names), mostOthers)], ", ")
	if len(names) > mostOthers {
		text += " ..."
	}
	return "to see another partition: " + flag + " " + text
}

// partitions counts the records that leaders took, by partition that had one.
type partitions map[kafka.TopicPartition]kafka.Offset

func (ps partitions) take(e *event.Event) {
	switch {
	case e.Topic == kafka.MetadataTopic:
	case e.Kind == event.BecameLeader:
		ps[e.TP()] += 0
	case e.Kind == event.Appended && e.Text == "leader":
		ps[e.TP()] += e.End - e.Offset
	}
}

// sorted are the partitions by name.
func (ps partitions) sorted() []kafka.TopicPartition {
	return slices.SortedFunc(maps.Keys(ps), func(a, b kafka.TopicPartition) int {
		if a.Less(b) {
			return -1
		}
		return 1
	})
}

// busiest is the partition with the most records, the first by name of equals.
func (ps partitions) busiest() (kafka.TopicPartition, bool) {
	var best kafka.TopicPartition
	// unordered: the order by name decides among equals
	for tp, n := range ps {
		if best.Topic == "" || n > ps[best] || n == ps[best] && tp.Less(best) {
			best = tp
		}
	}
	return best, best.Topic != ""
}
