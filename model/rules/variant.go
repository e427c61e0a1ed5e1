package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Variant sets one decision back to what Kafka did before it learned better.
type Variant struct {
	// Switch and Value name it, as in truncate=toHW; Current is the value of the
	// same switch that stands for today's rule.
	Switch, Value, Current string
	// Summary says in one line what a node then does.
	Summary string
	// History names the releases, the KIP and the JIRA.
	History string
	// Stories names the failures that it brings back, such as "R1, R2".
	Stories string
	// Apply changes the rules, which may be changed by other variants already.
	Apply func(*Rules)
}

// Name writes the variant as users do: truncate=toHW.
func (v Variant) Name() string { return v.Switch + "=" + v.Value }

// Variants returns every variant, sorted by name.
func Variants() []Variant {
	all := []Variant{
		truncateToHW,
		cleanBoundActiveSegment,
		deleteHorizonSegmentMtime,
		cleanLastBatchDrop,
		recoveryTrust,
		indexRecoveryTrust,
		hwCheckpointLoadedOnly,
		localCleanCheckEpochMatch,
		markerUnlinkSyncDirSync,
	}
	slices.SortStableFunc(all, func(a, b Variant) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// Parse returns the current rules changed by the named variants, in the order
// given: "truncate=toHW". Names are separated by commas; "" is Current. A switch
// may be named once, and its current value is a name too (truncate=leaderEpoch).
// An error is one line that says which name is wrong and what is known.
func Parse(names string) (Rules, error) {
	r := Current()
	if names == "" {
		return r, nil
	}
	var switches []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		v, isVariant, err := lookUp(name)
		if err != nil {
			return Rules{}, err
		}
		if slices.Contains(switches, v.Switch) {
			return Rules{}, fmt.Errorf("rules %q: switch %s is set twice; keep one", names, v.Switch)
		}
		switches = append(switches, v.Switch)
		if isVariant {
			v.Apply(&r)
		}
	}
	return r, nil
}

// lookUp finds the variant of a name, and tells whether the name stands for it
// or for the current value of its switch.
func lookUp(name string) (v Variant, isVariant bool, err error) {
	var known []string
	for _, v := range Variants() {
		current := v.Switch + "=" + v.Current
		if name == v.Name() || name == current {
			return v, name == v.Name(), nil
		}
		known = append(known, v.Name()+" (now "+current+")")
	}
	return Variant{}, false, fmt.Errorf("no rule variant is called %q; known are %s", name, strings.Join(known, ", "))
}
