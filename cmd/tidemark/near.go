package main

import (
	"strings"

	"tidemark/model/kafka"
	"tidemark/model/rules"
)

// everyScope are all who have configuration keys.
const everyScope = kafka.BrokerScope | kafka.TopicScope | kafka.ProducerScope | kafka.ConsumerScope

// badKey is the error for a setting that a flag gives wrong. A key that nobody in the
// scopes has gets the one that was probably meant, and who lists it.
func badKey(flag string, scopes kafka.Scope, key string, err error) error {
	prefix, bare := "", key
	for _, name := range scopeNames {
		if rest, ok := strings.CutPrefix(key, name+"."); ok && scopes == everyScope {
			prefix, bare, scopes = name+".", rest, keyScopes[name]
		}
	}
	if _, known := kafka.Lookup(scopes, bare); known {
		return usageError("%s: %w", flag, err)
	}
	text := strings.TrimSuffix(err.Error(), ": tidemark keys lists them")
	var names, of []string
	for _, name := range scopeNames {
		if scopes&keyScopes[name] == 0 {
			continue
		}
		for _, d := range kafka.Definitions(keyScopes[name]) {
			names, of = append(names, d.Key), append(of, name)
		}
	}
	if i := nearest(bare, names); i >= 0 {
		return usageError("%s: %s: did you mean %s%s? tidemark keys %s lists them", flag, text, prefix, names[i], of[i])
	}
	return usageError("%s: %s: tidemark keys lists them", flag, text)
}

// parseRules reads --rules. A name that is nearly one gets that instead of the list.
func parseRules(names string) (rules.Rules, error) {
	chosen, err := rules.Parse(names)
	if err == nil {
		return chosen, nil
	}
	var known []string
	for _, v := range rules.Variants() {
		known = append(known, v.Name(), v.Switch+"="+v.Current)
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if _, bad := rules.Parse(name); bad == nil {
			continue
		}
		if i := nearest(name, known); i >= 0 {
			return chosen, usageError("--rules: no rule variant is called %q: did you mean %s? tidemark rules lists them", name, known[i])
		}
		break
	}
	return chosen, usageError("--rules: %w", err)
}

// nearest is the index of the name that a word was probably meant to be, the first of
// equally near ones; -1 if none differs in a quarter or less of its letters. Case
// counts for nothing.
func nearest(word string, names []string) int {
	best, least := -1, 0
	for i, name := range names {
		d := distance(strings.ToLower(word), strings.ToLower(name))
		if d*4 <= len(name) && (best < 0 || d < least) {
			best, least = i, d
		}
	}
	return best
}

// distance is how many letters must be put in, left out or changed to make b of a
// (Levenshtein's).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
