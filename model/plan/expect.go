package plan

import (
	"maps"
	"slices"
	"strings"

	"tidemark/model/kafka"
)

func (p *Plan) parseExpect(a *args, line int) {
	e := Expectation{Line: line, Verdict: a.choice("the verdict", "pass", "violation", "excused")}
	for a.more() && a.words[0] != "with" && a.words[0] != "under" {
		e.Checks = append(e.Checks, a.next("a check"))
	}
	if a.take("with") {
		e.With = parseWith(a)
	}
	if a.take("under") {
		e.Rules = a.next("the rules")
	}
	p.Expect = append(p.Expect, e)
}

// parseWith reads the settings of an expectation, in any order.
func parseWith(a *args) string {
	settings := SplitSettings(a.next("the settings"))
	for _, s := range settings {
		if s.Value == "" {
			a.failf("expected KEY=VALUE, found %q", s.Key)
		} else if err := kafka.CheckScoped(s.Key, s.Value); err != nil {
			a.failf("%w", err)
		}
	}
	return JoinSettings(settings)
}

// SplitSettings reads KEY=VALUE[,KEY=VALUE ...]; "" is none. What has no =
// continues the value before it, for some of Kafka's values are lists.
func SplitSettings(s string) []Setting {
	var settings []Setting
	for w := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(w, "=")
		if n := len(settings); n > 0 && !ok {
			settings[n-1].Value += "," + w
		} else if w != "" {
			settings = append(settings, Setting{Key: key, Value: value})
		}
	}
	return settings
}

// JoinSettings writes settings in the form that expectations are found by:
// KEY=VALUE[,KEY=VALUE ...] in order of the keys; the last value of a key counts.
func JoinSettings(settings []Setting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		words = append(words, key+"="+values[key])
	}
	return strings.Join(words, ",")
}

// String prints the expectation as Parse reads it.
func (e Expectation) String() string {
	out := strings.Join(append([]string{"expect", e.Verdict}, e.Checks...), " ")
	if v := e.clause(); v != "" {
		out += " " + v
	}
	return out
}

// clause writes what the expectation depends on, as a scenario file does.
func (e Expectation) clause() string {
	var words []string
	if e.With != "" {
		words = append(words, "with "+e.With)
	}
	if e.Rules != "" {
		words = append(words, "under "+e.Rules)
	}
	return strings.Join(words, " ")
}

// Variant names a run of a plan, and the section of its golden output: "" for
// one under current rules and with the plan's own settings, else the rules, else
// what an expectation says behind its checks.
func Variant(rules, with string) string {
	if with == "" {
		return rules
	}
	return Expectation{Rules: rules, With: with}.clause()
}

// Expected is the declared verdict under a composition of rules and with
// settings (see JoinSettings) over the plan's, if any.
func (p *Plan) Expected(rules, with string) (Expectation, bool) {
	for _, e := range p.Expect {
		if e.Rules == rules && e.With == with {
			return e, true
		}
	}
	return Expectation{}, false
}
