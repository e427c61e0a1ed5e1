package reports

import (
	"cmp"
	"slices"
	"strings"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// spot is where the findings of one moment are marked: in the lane of the
// client or of the broker whose event decided them, else in the controller's.
type spot struct {
	at     int64
	client string
	node   kafka.BrokerID // NoBroker: the client's or the controller's lane
}

// found are the findings that one event, or several of one moment, decided in
// one lane, the gravest first.
type found struct {
	spot
	findings []*checker.Finding
}

// mostRules is the most rules that a found label names.
const mostRules = 3

// takeFindings marks every finding of the partition, and of the run as a whole,
// where and when it became true, so that no rule can break unseen. Findings
// without a moment have no place.
func (p *Picture) takeFindings(events []event.Event) {
	by := map[uint64]*event.Event{}
	for i := range p.report.Findings {
		by[p.report.Findings[i].Seq] = nil
	}
	for i := range events {
		if _, ok := by[events[i].Seq]; ok {
			by[events[i].Seq] = &events[i]
		}
	}
	for _, f := range gravestFirst(p.report.Findings) {
		if f.Seq == 0 || f.TP != p.tracks.tp && f.TP.Topic != "" {
			continue
		}
		at := p.tracks.where(f, by[f.Seq])
		i := slices.IndexFunc(p.found, func(g found) bool { return g.spot == at })
		if i < 0 {
			i = len(p.found)
			p.found = append(p.found, found{spot: at})
		}
		p.found[i].findings = append(p.found[i].findings, f)
	}
	slices.SortStableFunc(p.found, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	for _, g := range p.found {
		p.tracks.mark(g, p.starred(g))
	}
}

// where chooses the lane: whose event it was, else whom the finding names.
func (t *tracks) where(f *checker.Finding, e *event.Event) spot {
	at := spot{at: f.At, node: kafka.NoBroker}
	switch {
	case e != nil && e.Client != "":
		at.client = e.Client
	case e != nil && t.find(e.Node) != nil:
		at.node = e.Node
	case e != nil && e.Node >= firstController:
	case t.find(f.Node) != nil:
		at.node = f.Node
	default:
		at.client = f.Client
	}
	return at
}

// starred reports whether a star says already all that was found there.
func (p *Picture) starred(g found) bool {
	return !slices.ContainsFunc(g.findings, func(f *checker.Finding) bool {
		return f.Lost.Seq == 0 || f.Lost.At != g.at || f.Lost.Node != g.node ||
			!slices.ContainsFunc(p.losses, func(c cause) bool { return slices.Contains(c, f) })
	})
}

// mark puts the mark into its lane and the moment on the time axis.
func (t *tracks) mark(g found, starred bool) {
	t.addInstant(g.at)
	m := mark{at: g.at, glyph: glyphFound, text: g.text(), lost: true}
	switch {
	case starred:
	case g.node != kafka.NoBroker:
		r := t.find(g.node)
		r.found = append(r.found, foundMark{m, g.findings[0].Offset})
	case g.client != "":
		t.client(g.client).find(g, m.text)
	default:
		i, _ := slices.BinarySearchFunc(t.decisions, g.at+1, func(d mark, at int64) int { return cmp.Compare(d.at, at) })
		t.decisions = slices.Insert(t.decisions, i, m)
	}
}

// addInstant puts a key moment on the time axis, which may end later by it.
func (t *tracks) addInstant(at int64) {
	i, _ := slices.BinarySearchFunc(t.instants, at, func(i instant, at int64) int { return cmp.Compare(i.at, at) })
	t.instants = slices.Insert(t.instants, i, instant{at, true})
}

// find marks what the client was told when the finding became true, or the
// moment alone.
func (c *clientTrack) find(g found, text string) {
	for i := range c.marks {
		m := &c.marks[i]
		if m.found == "" && slices.ContainsFunc(g.findings, func(f *checker.Finding) bool { return f.Seq == m.seq }) {
			m.found = text
			return
		}
	}
	i, same := slices.BinarySearchFunc(c.marks, g.at, func(m clientMark, at int64) int { return cmp.Compare(m.at, at) })
	if same && c.marks[i].found == "" {
		c.marks[i].found = text
		return
	}
	c.marks = slices.Insert(c.marks, i, clientMark{at: g.at, seq: g.findings[0].Seq, alone: true, found: text})
}

// text names the rules, what the gravest finding is about, and the event.
func (g found) text() string {
	var rules []string
	first, others := g.findings[0], false
	for _, f := range g.findings {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
		others = others || f.Offset != first.Offset || f.Last != first.Last
	}
	s := strings.Join(rules[:min(len(rules), mostRules)], ", ")
	if n := len(rules) - mostRules; n > 0 {
		s += " and " + plural(n, "more rule")
	}
	if first.Offset != kafka.NoOffset {
		s += ": " + records(first)
		if others {
			s += " and others"
		}
	}
	return s + " (event " + num(int64(first.Seq)) + ")"
}

// band is a range of offsets that findings of a rule are about, to exclusive.
type band struct {
	rule     string
	from, to kafka.Offset
}

// bands are the offsets of the findings, without those that are striped as lost:
// merged by rule, wider ones first, so that none hides another.
func (p *Picture) bands() []band {
	var all []band
	for _, g := range p.found {
		for _, f := range g.findings {
			if f.Offset != kafka.NoOffset && !p.striped(f) {
				all = append(all, band{f.Rule, f.Offset, max(f.Offset, f.Last) + 1})
			}
		}
	}
	slices.SortFunc(all, func(a, b band) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	merged := all[:0]
	for _, b := range all {
		if n := len(merged); n > 0 && b.rule == merged[n-1].rule && b.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, b.to)
			continue
		}
		merged = append(merged, b)
	}
	slices.SortStableFunc(merged, func(a, b band) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	return slices.CompactFunc(merged, func(a, b band) bool { return a.from == b.from && a.to == b.to })
}

// striped reports whether a finding's offsets are those of records of which the
// picture shows the loss.
func (p *Picture) striped(f *checker.Finding) bool {
	return slices.ContainsFunc(p.losses, func(c cause) bool {
		return c[0].Acked.Seq > 0 && c[0].Lost.Seq > 0 && c.holds(f.Offset) && c.holds(max(f.Offset, f.Last))
	})
}
