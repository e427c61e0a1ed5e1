package plan

import (
	"fmt"
	"strings"
)

// Help is the scenario format in full, from the same table that parses it.
func Help() string {
	var b strings.Builder
	b.WriteString(`A scenario file is text, one line a step; a # begins a comment. The steps run in
order, each as soon as the one before it is done; only wait, sleep and verify take
time. A step behind "at DURATION" takes place at that time of the run instead.
Brokers are 1, 2, 3 ..., controllers 101 ..., clients go by name. A lane is one of
the single-threaded parts of a broker: partitions lie on its data lanes. Names of
checks are listed by tidemark checks, configuration keys by tidemark keys. What
follows a line ---- is the output that the run printed last (run --rewrite FILE).

Head
  seed N
      the seed, unless --seed gives one
  cluster brokers=N controllers=1 lanes=N
      the cluster: 3 brokers, 1 controller and 1 data lane for each broker
      unless given
  set KEY=VALUE ...
      Kafka settings of all brokers, such as replica.lag.time.max.ms=10000
  expect pass|violation|excused [CHECK ...] [with KEY=VALUE,...] [under RULES]
      the verdict that the run must end with, with those settings (--set) and
      under those rules (--rules); without it a violation fails

`)
	for _, section := range []struct {
		title string
		verbs []verb
	}{{"Workload", workloadVerbs}, {"Faults", faultVerbs}, {"Pace", pacingVerbs}} {
		b.WriteString(section.title + "\n")
		for _, v := range section.verbs {
			fmt.Fprintf(&b, "  %s\n%s", v.usage, wrap(v.help, "      "))
		}
		b.WriteByte('\n')
	}
	b.WriteString("Faults of a disk\n")
	for _, v := range diskVerbs {
		fmt.Fprintf(&b, "  disk NODE %s\n%s", v.usage, wrap(v.help, "      "))
	}
	b.WriteString("\nPredicates of wait\n")
	for _, p := range predicates {
		fmt.Fprintf(&b, "  %s\n%s", p.usage, wrap(p.help, "      "))
	}
	b.WriteString(`
Example
  topic orders assignment=1,2,3 min.insync.replicas=2
  producer p acks=all
  consumer c
  write p orders 100 every 10ms
  wait acked p >= 10 within 5s
  cut 2 <-> 3
  kill 1
  wait leader orders-0 = 2 within 30s
  heal
  wait acked p = 100 within 60s
  verify c orders
`)
	return b.String()
}

// wrap breaks text at 78 columns behind an indent.
func wrap(text, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 78 && line != indent {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}
