package checker_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// A case is a small history with what must be said of it, in a file of
// testdata/cases:
//
//	# why this case is what it is
//	profile min.insync.replicas=1            the cluster's, in place of defaultProfile
//	profile topic x: cleanup.policy=compact  of one topic, producer or consumer
//	world open                               the history does not show all producers
//	clock 5ms                                how wrong each event's time may be
//	clock 100us A                            and those of one client
//	tick 1h                                  the time between two events; 1ms if not said
//
//	1-4 A send x a -> ok@0                   START-END WHO VERB TOPIC[-PARTITION] ... -> RESULT
//	2- B send x k1=b acks=1 -> ??            no END: the operation is open
//	7-8 c poll x -> 0=a 1=k1=b/e3            offset=value or offset=key=value, and its epoch
//	9 *elected x 2 e2 isr=2,3 unclean        what the cluster did
//	----
//	violation lost-write witness 2,4,8
//	note phantom
//
// Numbers are event numbers. The lines below ---- name every rule with a
// violation, every excused one and every one with a note; `pass` says that there
// is neither violation nor excuse, `unknown WORD` that the verdict is unknown and
// a reason has the word, `secondary RULE CAUSE` what explains what.
//
// A file NAME.twin.txt is NAME.txt with one line of the history added, taken
// away or changed, and has another verdict.
type caseFile struct {
	name, history string
	events        []event.Event
	want          []string
}

// caseLine is one line of a history.
type caseLine struct {
	start, end uint64 // event numbers; equal for an instant, end 0: open
	who, verb  string
	args       []string          // words that are no option
	opts       map[string]string // options NAME=VALUE
	result     []string          // the words behind ->
}

// caseBuilder collects the events of a case.
type caseBuilder struct {
	t        testing.TB
	events   []event.Event
	tick     time.Duration
	clockErr map[string]time.Duration // by client, "" for all others
	acks     int16
	attempts map[string]uint64
}

// caseVerbs are the verbs of case files. A file of tests may add its own.
var caseVerbs = map[string]func(b *caseBuilder, l *caseLine){
	"send": caseSend, "poll": casePoll, "latest": caseListOffsets, "earliest": caseListOffsets,
	"reset": caseReset, "truncation": caseTruncation, "crash": caseCrash,
	"*elected": caseElected, "*isr": caseElected, "*died": caseNode, "*boot": caseNode, "*ready": caseNode, "*registered": caseRegistered,
	"*paused": caseNode, "*resumed": caseNode, "*fault": caseFault,
	"*log-start": caseLogStart, "*cleaned": caseCleaned, "*topic": caseTopic,
	"*lead": caseRole, "*follow": caseRole, "*append": caseAppend, "*hw": caseHW, "*cut": caseCut, "*recovered": caseRecovered,
	"*applied": caseElected, "*proposed": caseProposed, "*invariant": caseInvariant, "*audited": caseAudited, "*record": caseAuditRecord,
}

// caseOptions are the words NAME=VALUE that no verb takes for anything else.
var caseOptions = []string{"acks", "pid", "tid", "txn", "group", "member", "gen", "hw", "lso", "from", "to", "iso", "isr", "end", "node", "by", "pe", "key", "source", "leader", "unstable", "headers", "ts", "told", "toldheaders"}

// defaultProfile is what a case has unless it says otherwise.
var defaultProfile = []string{"acks=all", "min.insync.replicas=2", "unclean.leader.election.enable=false", "eligible.leader.replicas.version=1",
	"enable.idempotence=true", "max.in.flight.requests.per.connection=5", "cleanup.policy=delete", "history.world=closed"}

func TestCasesGetTheirVerdictsAndWitnesses(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			r := checker.Check(c.events)
			if got, want := caseVerdict(r, c.want), c.want; !slices.Equal(got, want) {
				t.Errorf("got\n  %s\nwant\n  %s%s", strings.Join(got, "\n  "), strings.Join(want, "\n  "), explain(r))
			}
		})
	}
}

func TestTwinsAreOneEditAway(t *testing.T) {
	cases := readCases(t)
	for _, twin := range cases {
		base, ok := strings.CutSuffix(twin.name, ".twin")
		if !ok {
			continue
		}
		i := slices.IndexFunc(cases, func(c *caseFile) bool { return c.name == base })
		if i < 0 {
			t.Errorf("%s has no %s.txt beside it", twin.name, base)
			continue
		}
		if n := edits(cases[i].history, twin.history); n != 1 {
			t.Errorf("%s: %d lines differ from %s, want 1", twin.name, n, base)
		}
		if slices.Equal(cases[i].want, twin.want) {
			t.Errorf("%s: the same verdict as %s", twin.name, base)
		}
	}
}

// A rule that no case breaks, or none of its cases passes, may never speak or
// always.
func TestEveryRuleHasAViolatingAndAPassingCase(t *testing.T) {
	violated, passed := map[string]bool{}, map[string]bool{}
	neverPromised, elseUnknown := map[string]bool{}, map[string]bool{} // what these find is a note, or unknown
	for _, p := range checker.Promises() {
		neverPromised[p.Rule] = strings.HasPrefix(p.Text, "(never promised)")
		elseUnknown[p.Rule] = strings.HasSuffix(p.Text, "else unknown")
	}
	for _, c := range readCases(t) {
		r := checker.Check(c.events)
		found, spoke := map[string]bool{}, map[string]bool{}
		for _, rule := range r.Broken() {
			spoke[rule] = true
		}
		for _, x := range r.Findings {
			found[x.Rule] = true
		}
		for _, n := range r.Notes {
			found[n.Rule] = true
			spoke[n.Rule] = spoke[n.Rule] || neverPromised[n.Rule]
		}
		for _, u := range r.Unknown {
			rule, _, _ := strings.Cut(u, ":")
			found[rule] = true
			spoke[rule] = spoke[rule] || elseUnknown[rule]
		}
		for _, n := range r.Checks {
			violated[n.Rule] = violated[n.Rule] || spoke[n.Rule]
			passed[n.Rule] = passed[n.Rule] || n.Checks > 0 && !found[n.Rule] && r.Verdict == checker.Pass
		}
	}
	for _, p := range checker.Promises() {
		if p.Rule == "checker-disagreement" {
			continue // it speaks of the checker
		}
		if !violated[p.Rule] || !passed[p.Rule] {
			t.Errorf("%s: violated by a case: %v, judged by a case that passes: %v", p.Rule, violated[p.Rule], passed[p.Rule])
		}
	}
}

// A clause of the contract that no case asks may say anything.
func TestEveryClauseOfTheContractDecidesACase(t *testing.T) {
	spoke := map[[2]string]bool{}
	for _, c := range readCases(t) {
		r := checker.Check(c.events)
		for _, x := range r.Findings {
			spoke[[2]string{x.Rule, x.Contract}] = true
		}
		for _, k := range checker.Clauses() {
			for _, n := range r.Notes {
				spoke[k] = spoke[k] || n.Rule == k[0] && strings.Contains(n.Text, ": "+k[1])
			}
			for _, u := range r.Unknown {
				spoke[k] = spoke[k] || strings.HasPrefix(u, k[0]+": ") && strings.HasSuffix(u, ": "+k[1])
			}
		}
	}
	for _, k := range checker.Clauses() {
		if !spoke[k] {
			t.Errorf("%s: no case is decided by the clause %q", k[0], k[1])
		}
	}
}

// Elections that may be unclean and that nobody saw leave nothing to say of what
// rests on them.
func TestElectionsThatNobodySawConvictNobody(t *testing.T) {
	for _, c := range readCases(t) {
		if slices.ContainsFunc(c.events, func(e event.Event) bool { return e.Kind == event.Elected }) {
			continue
		}
		allowed := event.New(event.Profile)
		allowed.Text = "unclean.leader.election.enable=true"
		i := slices.IndexFunc(c.events, func(e event.Event) bool { return e.Seq > 0 })
		unseen := checker.Check(slices.Insert(slices.Clone(c.events), i, allowed))
		for _, rule := range unseen.Broken() {
			if slices.Contains(checker.RestOnElections, rule) {
				t.Errorf("%s: %s is a violation all the same", c.name, rule)
			}
		}
		if before := checker.Check(c.events); before.Verdict == checker.Violation && unseen.Verdict == checker.Pass {
			t.Errorf("%s: it was a violation of %v, and passes now", c.name, before.Broken())
		}
	}
}

// edits counts the lines that were changed, added or taken away.
func edits(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return max(len(x), len(y))
}

// caseVerdict writes a report as the lower part of a case does. What is wanted
// decides how much is told: witnesses, words and causes only where asked for.
func caseVerdict(r checker.Report, want []string) []string {
	var got []string
	if r.Verdict == checker.Pass {
		got = append(got, "pass")
	}
	for _, rule := range r.Broken() {
		got = append(got, "violation "+rule)
	}
	for _, rule := range r.Excused() {
		got = append(got, "excused "+rule)
	}
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, "note "+n.Rule)
	}
	slices.Sort(notes)
	got = append(got, slices.Compact(notes)...)
	for _, w := range want {
		f := strings.Fields(w)
		switch {
		case f[0] == "unknown" && r.Verdict == checker.Unknown:
			if slices.ContainsFunc(r.Unknown, func(s string) bool { return strings.Contains(s, f[1]) }) {
				got = append(got, w)
			}
		case len(f) > 3 && f[2] == "witness":
			if i := slices.Index(got, f[0]+" "+f[1]); i >= 0 {
				got[i] += " witness " + witness(r, f[1])
			}
		case f[0] == "secondary":
			for _, x := range r.Findings {
				if x.Rule == f[1] && x.Secondary && !slices.Contains(got, "secondary "+x.Rule+" "+x.Cause) {
					got = append(got, "secondary "+x.Rule+" "+x.Cause)
				}
			}
		}
	}
	if r.Verdict == checker.Unknown && !slices.ContainsFunc(want, func(s string) bool { return strings.HasPrefix(s, "unknown") }) {
		got = append(got, "unknown")
	}
	slices.Sort(got)
	return got
}

// witness is the witness of the first finding of a rule.
func witness(r checker.Report, rule string) string {
	for _, x := range r.Findings {
		if x.Rule != rule {
			continue
		}
		var w []string
		for _, seq := range x.Witness {
			w = append(w, strconv.FormatUint(seq, 10))
		}
		return strings.Join(w, ",")
	}
	return ""
}

// readCases reads every case; the directory is listed by name.
func readCases(t testing.TB) []*caseFile {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []*caseFile
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, parseCase(t, strings.TrimSuffix(filepath.Base(f), ".txt"), string(text)))
	}
	return cases
}

func parseCase(t testing.TB, name, text string) *caseFile {
	t.Helper()
	history, verdict, ok := strings.Cut(text, "\n----\n")
	if !ok {
		t.Fatalf("%s: no line ---- between the history and its verdict", name)
	}
	c := &caseFile{name: name}
	b := &caseBuilder{t: t, tick: time.Millisecond, acks: -1, attempts: map[string]uint64{}, clockErr: map[string]time.Duration{}}
	for _, p := range defaultProfile {
		b.profile(p)
	}
	for _, line := range strings.Split(history, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			c.history += line + "\n"
			b.line(name, line)
		}
	}
	slices.SortStableFunc(b.events, func(x, y event.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	c.events = b.events
	for i := range c.events {
		c.events[i].At = int64(c.events[i].Seq) * int64(b.tick)
		e := &c.events[i]
		err, own := b.clockErr[e.Client]
		if !own {
			err = b.clockErr[""]
		}
		e.ClockErr = int64(err)
	}
	for _, line := range strings.Split(verdict, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			c.want = append(c.want, line)
		}
	}
	slices.Sort(c.want)
	return c
}

func (b *caseBuilder) line(name, line string) {
	b.t.Helper()
	w := strings.Fields(line)
	var err error
	switch w[0] {
	case "profile":
		b.profile(strings.TrimSpace(strings.TrimPrefix(line, "profile")))
		return
	case "world":
		b.profile("history.world=" + w[1])
		return
	case "clock":
		b.clockErr[strings.Join(w[2:], " ")], err = time.ParseDuration(w[1])
	case "tick":
		b.tick, err = time.ParseDuration(w[1])
	default:
		l := b.operation(name, line, w)
		do := caseVerbs[l.verb]
		if do == nil {
			b.t.Fatalf("%s: no such verb: %s", name, line)
		}
		do(b, l)
	}
	if err != nil {
		b.t.Fatalf("%s: %s: %v", name, line, err)
	}
}

func (b *caseBuilder) operation(name, line string, w []string) *caseLine {
	b.t.Helper()
	l := &caseLine{opts: map[string]string{}}
	start, end, interval := strings.Cut(w[0], "-")
	l.start = uint64(num(b.t, start))
	switch {
	case !interval:
		l.end = l.start
	case end != "":
		l.end = uint64(num(b.t, end))
	}
	if len(w) < 2 || w[1][0] != '*' && len(w) < 3 {
		b.t.Fatalf("%s: want NUMBERS WHO VERB or NUMBERS *EVENT: %s", name, line)
	}
	rest := w[1:]
	if w[1][0] != '*' {
		l.who, rest = w[1], w[2:]
	}
	l.verb = rest[0]
	for i, word := range rest[1:] {
		if word == "->" || word == "→" {
			l.result = rest[i+2:]
			break
		}
		k, v, ok := strings.Cut(word, "=")
		if ok && slices.Contains(caseOptions, k) {
			l.opts[k] = v
			continue
		}
		l.args = append(l.args, word)
	}
	return l
}

// profile takes `KEY=VALUE ...` or `SCOPE NAME: KEY=VALUE ...` in.
func (b *caseBuilder) profile(text string) {
	scope, settings, scoped := strings.Cut(text, ": ")
	if !scoped {
		scope, settings = "", text
	}
	for _, s := range strings.Fields(settings) {
		e := event.New(event.Profile)
		e.Client, e.Text = scope, s
		b.events = append(b.events, e)
		if acks, ok := strings.CutPrefix(s, "acks="); ok {
			b.acks = acksOf(b.t, acks)
		}
	}
}

func acksOf(t testing.TB, s string) int16 {
	if s == "all" {
		return -1
	}
	return int16(num(t, s))
}

// emit adds an event; the words TOPIC[-PARTITION] name its partition.
func (b *caseBuilder) emit(seq uint64, k event.Kind, l *caseLine, tp string, set func(e *event.Event)) {
	e := event.New(k)
	e.Seq, e.Client = seq, l.who
	topic, partition, ok := strings.Cut(tp, "/")
	e.Topic = topic
	if ok {
		e.Partition = int32(num(b.t, partition))
	}
	e.Session = b.session(l)
	if set != nil {
		set(&e)
	}
	b.events = append(b.events, e)
}

// session is what the options pid=ID/EPOCH tid= txn= group= member= gen= say,
// nil for none of them.
func (b *caseBuilder) session(l *caseLine) *event.Session {
	s := event.NewSession()
	if v, ok := l.opts["pid"]; ok {
		id, ep, _ := strings.Cut(v, "/")
		s.ProducerID, s.ProducerEpoch = kafka.ProducerID(num(b.t, id)), kafka.ProducerEpoch(num(b.t, ep))
	}
	s.TransactionalID, s.Group, s.Member = l.opts["tid"], l.opts["group"], l.opts["member"]
	if v, ok := l.opts["txn"]; ok {
		s.Txn = uint64(num(b.t, v))
	}
	if v, ok := l.opts["gen"]; ok {
		s.Generation = int32(num(b.t, v))
	}
	if s == event.NewSession() {
		return nil
	}
	return &s
}

// attempt numbers the sends by name; b/2 is b sent a second time by the
// application: the same value, another attempt.
func (b *caseBuilder) attempt(name string) uint64 {
	if b.attempts[name] == 0 {
		b.attempts[name] = uint64(len(b.attempts) + 1)
	}
	return b.attempts[name]
}

// record splits a word [KEY=]VALUE; the value null is a tombstone.
func (b *caseBuilder) record(word string) (attempt, key, hash uint64, text string) {
	value := word
	if k, v, ok := strings.Cut(word, "="); ok {
		key, value = event.HashValue([]byte(k)), v
	}
	text, _, _ = strings.Cut(value, "/")
	if name := strings.TrimRight(text, "0123456789"); name == "null" {
		return b.attempt(word), key, 0, text
	}
	return b.attempt(value), key, event.HashValue([]byte(text)), text
}

func (l *caseLine) offset(t testing.TB, name string, or kafka.Offset) kafka.Offset {
	if v, ok := l.opts[name]; ok {
		return kafka.Offset(num(t, v))
	}
	return or
}

// codeOf reads CODE out of no(CODE) or ??(CODE).
func codeOf(t testing.TB, word string) kafka.ErrorCode {
	_, name, ok := strings.Cut(word, "(")
	name = strings.TrimSuffix(name, ")")
	if !ok {
		return kafka.None
	}
	for c := kafka.ErrorCode(-1); c < 150; c++ {
		if c.String() == name {
			return c
		}
	}
	t.Fatalf("no such error: %s", word)
	return kafka.None
}
