package plan

import (
	"fmt"
	"strings"
	"time"
)

// Error is a fault of a scenario file: one line that says where and what.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *Error) Unwrap() error { return e.Err }

// Parse reads a scenario file. file names it in errors and, without directory
// and ending, the plan. The first fault is returned as an *Error.
func Parse(file, text string) (*Plan, error) {
	p := &Plan{Name: baseName(file), Cluster: Cluster{Brokers: 3, Controllers: 1, DataLanes: 1}}
	text = strings.TrimPrefix(text, byteOrderMark)
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, goldenMark) {
			p.Golden = parseGolden(lines[i:])
			break
		}
		if err := p.parseLine(i+1, strings.TrimSpace(line)); err != nil {
			return nil, &Error{file, i + 1, err}
		}
	}
	if line, err := p.resolve(); err != nil {
		return nil, &Error{file, line, err}
	}
	return p, nil
}

func baseName(file string) string {
	base := file[strings.LastIndexByte(file, '/')+1:]
	name, _, _ := strings.Cut(base, ".")
	return name
}

func (p *Plan) parseLine(n int, line string) error {
	if prose, ok := strings.CutPrefix(line, "#"); ok {
		if len(p.Steps) == 0 {
			p.Prose = append(p.Prose, strings.TrimPrefix(prose, " "))
		}
		return nil
	}
	if line == "" {
		return nil
	}
	words, err := split(line)
	if err != nil {
		return err
	}
	a := &args{words: words}
	switch word := a.next("the verb"); word {
	case "seed":
		p.Seed, p.HasSeed = uint64(a.integer("the seed", 0, 1<<62)), true
	case "cluster":
		p.parseCluster(a)
	case "set":
		p.Settings = append(p.Settings, a.settings(n)...)
	case "expect":
		p.parseExpect(a, n)
	default:
		p.Steps = append(p.Steps, parseStep(a, word, n))
	}
	if a.err == nil && len(a.words) > 0 {
		a.failf("%q is one word too many", a.words[0])
	}
	return a.err
}

func parseStep(a *args, word string, line int) Step {
	s := Step{Line: line, At: -1}
	if word == "at" {
		if s.At = a.duration("the time"); s.At < 0 {
			a.failf("the time is %v: it counts from the start of the run, 0s or later", s.At)
		}
		word = a.next("the verb")
	}
	v, ok := verbs[Verb(word)]
	if !ok {
		a.failf("%q is not a verb: see tidemark run --help", word)
		return s
	}
	s.Verb = v.name
	if s.At >= 0 && (s.Verb == VerbWait || s.Verb == VerbSleep) {
		a.failf("%s cannot stand behind a time: it holds up the steps that follow", word)
	}
	v.parse(a, &s)
	if a.err != nil {
		a.err = fmt.Errorf("%w; write %s", a.err, v.usage)
	}
	return s
}

func (p *Plan) parseCluster(a *args) {
	for _, kv := range a.settings(0) {
		switch kv.Key {
		case "brokers":
			p.Cluster.Brokers = int(positive(a, kv, 9))
		case "controllers":
			p.Cluster.Controllers = int(positive(a, kv, 1))
		case "lanes":
			p.Cluster.DataLanes = int(positive(a, kv, 8))
		default:
			a.failf("%q is not part of a cluster: brokers=N, controllers=N, lanes=N", kv.Key)
		}
	}
}

// String prints the plan as Parse reads it, without its golden output.
func (p *Plan) String() string {
	var b strings.Builder
	for _, line := range p.Prose {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	if p.HasSeed {
		fmt.Fprintf(&b, "seed %d\n", p.Seed)
	}
	fmt.Fprintf(&b, "cluster brokers=%d controllers=%d lanes=%d\n", p.Cluster.Brokers, p.Cluster.Controllers, p.Cluster.DataLanes)
	for _, s := range p.Settings {
		b.WriteString("set" + printSettings([]Setting{s}) + "\n")
	}
	for _, e := range p.Expect {
		b.WriteString(e.String() + "\n")
	}
	for i := range p.Steps {
		b.WriteString(p.Steps[i].String() + "\n")
	}
	return b.String()
}

// String prints the step as Parse reads it.
func (s *Step) String() string {
	out := strings.TrimRight(string(s.Verb)+" "+verbs[s.Verb].print(s), " ")
	if s.At >= 0 {
		out = "at " + formatDuration(s.At) + " " + out
	}
	return out
}

func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return d.String()
}

// Clients are the names of the producers and consumers, in order of declaration.
func (p *Plan) Clients() []string {
	var names []string
	for i := range p.Steps {
		if v := p.Steps[i].Verb; v == VerbProducer || v == VerbConsumer {
			names = append(names, p.Steps[i].Client)
		}
	}
	return names
}
