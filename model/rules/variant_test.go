package rules

import (
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
)

func TestCurrentRulesFollowLeaderEpochs(t *testing.T) {
	r := Current().Replica
	if got := r.StartFollowing(FollowerLog{LogStart: 1, HighWatermark: 4, LogEnd: 9, LastEpoch: 2}); got != 9 {
		t.Errorf("a log with epochs is cut to %d, want no cut (9)", got)
	}
	if got := r.StartFollowing(FollowerLog{LogStart: 1, HighWatermark: 4, LogEnd: 9, LastEpoch: kafka.NoEpoch}); got != 4 {
		t.Errorf("a log without epochs is cut to %d, want its high watermark 4", got)
	}
	if got := r.LastFetchedEpoch(2); got != 2 {
		t.Errorf("a fetch tells epoch %d, want 2", got)
	}
}

func TestTruncateToHWCutsEveryNewFollowerAndTellsNoEpoch(t *testing.T) {
	r, err := Parse("truncate=toHW")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Replica.StartFollowing(FollowerLog{LogStart: 1, HighWatermark: 4, LogEnd: 9, LastEpoch: 2}); got != 4 {
		t.Errorf("a new follower is cut to %d, want its high watermark 4", got)
	}
	if got := r.Replica.LastFetchedEpoch(2); got != kafka.NoEpoch {
		t.Errorf("a fetch tells epoch %d, want none", got)
	}
}

func TestNoNamesAreTheCurrentRules(t *testing.T) {
	for _, names := range []string{"", "truncate=leaderEpoch", " truncate=leaderEpoch "} {
		r, err := Parse(names)
		if err != nil {
			t.Errorf("%q: %v", names, err)
		} else if got := r.Replica.LastFetchedEpoch(2); got != 2 {
			t.Errorf("%q: a fetch tells epoch %d, want 2", names, got)
		}
	}
}

func TestBadNamesAreOneLineThatHelps(t *testing.T) {
	for names, want := range map[string][]string{
		"truncate=never":                     {`"truncate=never"`, "truncate=toHW", "truncate=leaderEpoch"},
		"truncate":                           {`"truncate"`, "truncate=toHW"},
		"truncate=toHW,":                     {`""`},
		"truncate=toHW,truncate=leaderEpoch": {"truncate is set twice"},
	} {
		_, err := Parse(names)
		if err == nil {
			t.Errorf("%q is accepted", names)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: error %q does not say %s", names, err, w)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error has several lines: %q", names, err)
		}
	}
}

func TestVariantsAreSortedAndTellTheirHistory(t *testing.T) {
	names := make([]string, 0, len(Variants()))
	for _, v := range Variants() {
		names = append(names, v.Name())
		if v.Current == "" || v.Current == v.Value || v.Summary == "" || v.History == "" || v.Stories == "" || v.Apply == nil {
			t.Errorf("%s does not tell all of itself: %+v", v.Name(), v)
		}
		if strings.Contains(v.Summary, "\n") {
			t.Errorf("summary of %s is more than a line", v.Name())
		}
		if _, err := Parse(v.Name()); err != nil {
			t.Error(err)
		}
	}
	if !slices.IsSorted(names) || len(names) == 0 {
		t.Errorf("variants are %v", names)
	}
}
