package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
)

func epochs(entries ...EpochEntry) *EpochCache { return &EpochCache{entries} }

func TestEndOffsetForFollowsTheEpochHistory(t *testing.T) {
	c := epochs(EpochEntry{2, 10}, EpochEntry{3, 20}, EpochEntry{6, 35})
	type answer struct {
		Epoch kafka.LeaderEpoch
		End   kafka.Offset
		OK    bool
	}
	undefined := answer{kafka.NoEpoch, kafka.NoOffset, false}
	for e, want := range map[kafka.LeaderEpoch]answer{
		kafka.NoEpoch: undefined,
		0:             {0, 10, true}, // below the first: where the first starts
		2:             {2, 20, true},
		3:             {3, 35, true},
		5:             {3, 35, true}, // never led here: the largest below it
		6:             {6, 50, true}, // the latest ends with the log
		7:             undefined,
	} {
		var got answer
		got.Epoch, got.End, got.OK = c.EndOffsetFor(e, 50)
		if got != want {
			t.Errorf("epoch %d: %v, want %v", e, got, want)
		}
	}
	if _, _, ok := epochs().EndOffsetFor(0, 50); ok {
		t.Error("an empty cache knows where epoch 0 ends")
	}
}

func TestAssignReplacesWhatItContradicts(t *testing.T) {
	history := []EpochEntry{{2, 10}, {3, 20}, {6, 35}}
	for _, c := range []struct {
		name    string
		add     EpochEntry
		want    []EpochEntry
		changed bool
	}{
		{"a new epoch", EpochEntry{8, 40}, []EpochEntry{{2, 10}, {3, 20}, {6, 35}, {8, 40}}, true},
		{"the latest again, later", EpochEntry{6, 40}, history, false},
		{"the latest again, earlier", EpochEntry{6, 30}, []EpochEntry{{2, 10}, {3, 20}, {6, 30}}, true},
		{"a new epoch where the latest has no record", EpochEntry{7, 35}, []EpochEntry{{2, 10}, {3, 20}, {7, 35}}, true},
		{"an older epoch", EpochEntry{3, 36}, []EpochEntry{{2, 10}, {3, 36}}, true},
		{"an epoch before all", EpochEntry{9, 5}, []EpochEntry{{9, 5}}, true},
	} {
		cache := epochs(append([]EpochEntry(nil), history...)...)
		changed := cache.assign(c.add.Epoch, c.add.Start)
		if diff := cmp.Diff(c.want, cache.Entries()); diff != "" || changed != c.changed {
			t.Errorf("%s: changed %t (-want +got):\n%s", c.name, changed, diff)
		}
	}
}

func TestTrimsKeepTheHistoryOfTheRecordsThatStay(t *testing.T) {
	for _, c := range []struct {
		name string
		trim func(*EpochCache) bool
		want []EpochEntry
	}{
		{"end inside an epoch", func(c *EpochCache) bool { return c.trimEnd(30) }, []EpochEntry{{2, 10}, {3, 20}}},
		{"end at a start", func(c *EpochCache) bool { return c.trimEnd(20) }, []EpochEntry{{2, 10}}},
		{"end below all", func(c *EpochCache) bool { return c.trimEnd(10) }, []EpochEntry{}},
		{"start inside an epoch", func(c *EpochCache) bool { return c.trimStart(30) }, []EpochEntry{{3, 30}, {6, 35}}},
		{"start at a start", func(c *EpochCache) bool { return c.trimStart(20) }, []EpochEntry{{3, 20}, {6, 35}}},
		{"start above all", func(c *EpochCache) bool { return c.trimStart(99) }, []EpochEntry{{6, 99}}},
	} {
		cache := epochs(EpochEntry{2, 10}, EpochEntry{3, 20}, EpochEntry{6, 35})
		if !c.trim(cache) || cmp.Diff(c.want, cache.Entries()) != "" {
			t.Errorf("%s: %v, want %v", c.name, cache.Entries(), c.want)
		}
	}
	untouched := epochs(EpochEntry{2, 10})
	if untouched.trimStart(5) || untouched.trimStart(10) || untouched.trimEnd(11) {
		t.Errorf("trims that drop nothing changed %v", untouched.Entries())
	}
}

func TestEpochsSurviveAStopAndLoseOnlyTheOneWithoutRecords(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 1, 2)
	lead(t, l, 4, 3)
	if err := l.AssignEpoch(5, l.LogEnd()); err != nil {
		t.Fatal(err)
	}
	stop(t, w, l)
	content, err := ReadFile(w.fs, dir+"/leader-epoch-checkpoint")
	if err != nil || string(content) != "0\n3\n1 0\n4 2\n5 5\n" {
		t.Fatalf("file %q, %v", content, err)
	}
	l, _ = w.open(true, 0, 0)
	if diff := cmp.Diff([]EpochEntry{{1, 0}, {4, 2}}, l.Epochs().Entries()); diff != "" {
		t.Fatalf("epochs after a clean start (-want +got):\n%s", diff)
	}
}

func TestEpochAtIsTheEpochThatWroteTheOffset(t *testing.T) {
	c := epochs(EpochEntry{2, 10}, EpochEntry{5, 20})
	for o, want := range map[kafka.Offset]kafka.LeaderEpoch{9: kafka.NoEpoch, 10: 2, 19: 2, 20: 5, 99: 5} {
		if e, ok := c.EpochAt(o); e != want || ok != (want != kafka.NoEpoch) {
			t.Errorf("offset %d: epoch %d, %t; want %d", o, e, ok, want)
		}
	}
}

// stop stops a log cleanly.
func stop(t failer, w *world, l *Log) {
	t.Helper()
	stopped := false
	l.Stop(func(err error) {
		if err != nil {
			t.Fatalf("stop: %v", err)
		}
		stopped = true
	})
	w.drain()
	if !stopped {
		t.Fatalf("the stop did not end")
	}
	w.kill()
}
