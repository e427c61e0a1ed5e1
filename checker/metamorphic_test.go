package checker

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	files "tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// judgement is what must not change when a history is only told differently.
func judgement(r Report) string {
	return fmt.Sprintf("%s, broken %v, excused %v", r.Verdict, r.Broken(), r.Excused())
}

// anyHistory draws a clean history or a spoilt one.
func anyHistory(t *rapid.T, histories []*clean, faults []fault) (string, []event.Event) {
	h := rapid.SampledFrom(histories).Draw(t, "history")
	f := rapid.SampledFrom(faults).Draw(t, "fault")
	from := rapid.IntRange(0, len(h.events)-1).Draw(t, "place")
	for k := range h.events {
		if spoilt := f.plant(h, (from+k)%len(h.events)); spoilt != nil {
			return h.name + ", " + f.name, numbered(spoilt)
		}
	}
	return h.name, numbered(h.copied())
}

// retold are the faults that a history keeps however it is told. Bounds of time do
// not: a send that nobody answers, which is one telling, breaks one. Nor can all that
// nobody can have seen be written to a file.
func retold() []fault {
	return slices.DeleteFunc(plantedFaults(), func(f fault) bool {
		return f.says == unknowable || slices.ContainsFunc(boundFaults, func(b fault) bool { return b.name == f.name })
	})
}

// A history that is told differently gets the same verdict for the same rules.
func TestVerdictDoesNotDependOnHowAHistoryIsTold(t *testing.T) {
	histories, faults := cleanHistories(t), retold()
	tellings := []struct {
		name string
		as   func(t *rapid.T, events []event.Event) []event.Event
	}{
		{"all times later", later},
		{"clients, topics, groups and ids renamed", renamed},
		{"one more send of unknown outcome that nobody sees", oneMoreUnknown},
		{"in a file for each partition", splitAndMerged},
		{"concurrent events the other way round", permuted},
	}
	spoilt := 0
	rapid.Check(t, func(t *rapid.T) {
		name, events := anyHistory(t, histories, faults)
		r := Check(events)
		want := judgement(r)
		if r.Verdict == Violation {
			spoilt++
		}
		for _, x := range tellings {
			if got := judgement(Check(x.as(t, slices.Clone(events)))); got != want {
				t.Fatalf("%s; %s: %s, before %s", name, x.name, got, want)
			}
		}
	})
	if spoilt < 10 {
		t.Errorf("only %d histories were broken", spoilt)
	}
}

// later adds the same to all times.
func later(t *rapid.T, events []event.Event) []event.Event {
	d := rapid.Int64Range(1, 1<<50).Draw(t, "later by ns")
	for i := range events {
		events[i].At += d
	}
	return events
}

// renamed gives everything another name, which sorts the other way round.
func renamed(_ *rapid.T, events []event.Event) []event.Event {
	names := map[string]string{}
	as := func(name string) string {
		if name != "" && names[name] == "" {
			names[name] = fmt.Sprintf("n%04d", 9999-len(names))
		}
		return names[name]
	}
	sessions := map[*event.Session]*event.Session{}
	for i := range events {
		e := &events[i]
		if e.Kind == event.Profile {
			if scope, name, ok := strings.Cut(e.Client, " "); ok {
				e.Client = scope + " " + as(name)
			}
			continue
		}
		e.Client, e.Topic = as(e.Client), as(e.Topic)
		if topic, rest, ok := strings.Cut(e.Source, "-"); ok {
			e.Source = as(topic) + "-" + rest
		}
		if s := e.Session; s != nil {
			if sessions[s] == nil {
				other := *s
				other.Group, other.Member, other.TransactionalID = as(s.Group), as(s.Member), as(s.TransactionalID)
				sessions[s] = &other
			}
			e.Session = sessions[s]
		}
	}
	return events
}

// oneMoreUnknown puts a send between the others whose outcome nobody knows and
// which nobody sees: it may never have happened.
func oneMoreUnknown(t *rapid.T, events []event.Event) []event.Event {
	var sends []int
	for i := range events {
		if events[i].Kind == event.SendInvoke {
			sends = append(sends, i)
		}
	}
	e := events[rapid.SampledFrom(sends).Draw(t, "send like")]
	e.Client, e.Session, e.Source, e.Attempt, e.Hash = "somebody", nil, "", 1<<41, 1<<41
	from := rapid.IntRange(1, len(events)).Draw(t, "from")
	all := inserted(events, from, e)
	e.Kind = event.SendUnknown
	return inserted(all, rapid.IntRange(from+1, len(all)).Draw(t, "to"), e)
}

// splitAndMerged writes a file for each partition and reads all as one.
func splitAndMerged(t *rapid.T, events []event.Event) []event.Event {
	parts := map[kafka.TopicPartition]*bytes.Buffer{}
	writers := map[kafka.TopicPartition]*files.Writer{}
	for i := range events {
		tp := events[i].TP()
		if writers[tp] == nil {
			parts[tp] = &bytes.Buffer{}
			writers[tp] = files.NewWriter(parts[tp], files.Header{})
		}
		if events[i].Seq > 0 {
			writers[tp].Write(&events[i])
		}
	}
	var streams []files.Stream
	for _, tp := range slices.SortedFunc(maps.Keys(parts), func(a, b kafka.TopicPartition) int { return strings.Compare(a.String(), b.String()) }) {
		if err := writers[tp].Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := files.NewReader(tp.String(), parts[tp])
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, r)
	}
	merged, err := files.Merge(streams...)
	if err != nil {
		t.Fatal(err)
	}
	all := merged.Header().Events()
	for {
		var e event.Event
		if err := merged.Next(&e); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		e.Records, e.ISR = slices.Clone(e.Records), slices.Clone(e.ISR)
		all = append(all, e)
	}
}

// begins and ends tell what calls an operation and what answers it.
var begins = []event.Kind{event.SendInvoke, event.PollInvoke, event.CommitInvoke, event.FetchCommittedInvoke, event.InitProducerInvoke, event.TxnEndInvoke, event.ListOffsetsInvoke}

var ends = []event.Kind{event.SendOK, event.SendFail, event.SendUnknown, event.PollOK, event.CommitOK, event.CommitFail, event.CommitUnknown,
	event.FetchCommittedOK, event.FetchCommittedFail, event.InitProducerOK, event.InitProducerFail, event.InitProducerUnknown,
	event.TxnEndOK, event.TxnEndFail, event.TxnEndUnknown, event.ListOffsetsOK, event.ListOffsetsFail}

// permuted exchanges neighbours of two clients that both call, or both answer:
// which of two calls, or of two answers, came first orders no operations.
func permuted(t *rapid.T, events []event.Event) []event.Event {
	seed := rapid.Uint64().Draw(t, "exchanges")
	for i := 1; i < len(events); i++ {
		a, b := &events[i-1], &events[i]
		alike := slices.Contains(begins, a.Kind) && slices.Contains(begins, b.Kind) || slices.Contains(ends, a.Kind) && slices.Contains(ends, b.Kind)
		seed = seed*6364136223846793005 + 1442695040888963407
		if alike && a.Client != b.Client && seed>>63 == 0 {
			a.Seq, b.Seq, a.At, b.At = b.Seq, a.Seq, b.At, a.At
			*a, *b = *b, *a
		}
	}
	return events
}

// What is wrong in one partition is wrong whether or not the others are shown.
func TestPartitionsAreJudgedEachByItself(t *testing.T) {
	faults := retold()
	histories := slices.DeleteFunc(cleanHistories(t), func(h *clean) bool { return !strings.HasPrefix(h.name, "compaction") })
	rapid.Check(t, func(t *rapid.T) {
		name, events := anyHistory(t, histories, faults)
		var apart []string
		for _, topic := range []string{"kv", "plain"} {
			var part []event.Event
			for _, e := range events {
				if e.Topic == topic || e.Kind == event.Profile {
					part = append(part, e)
				}
			}
			apart = append(apart, Check(part).Broken()...)
		}
		slices.Sort(apart)
		if whole := Check(events).Broken(); !slices.Equal(slices.Compact(apart), whole) {
			t.Fatalf("%s: partitions by themselves %v, together %v", name, apart, whole)
		}
	})
}
