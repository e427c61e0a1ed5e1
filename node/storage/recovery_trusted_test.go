package storage

import (
	"slices"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// ofEpochs is a flushed log of several segments and epochs.
func ofEpochs(t *testing.T) (*world, *Log) {
	w, l := newLog(t)
	s := &story{w: w, l: l, lines: [][]record.Batch{nil}}
	for epoch := range kafka.LeaderEpoch(4) {
		s.lead(epoch, 6)
	}
	l.Flush(nil)
	w.drain()
	return w, l
}

// A segment that retention deleted may come back without an index. That start walks it,
// and must not take its batches for the log's last ones.
func TestASegmentThatIsWalkedForItsIndexesLeavesTheOthersTheirEpochs(t *testing.T) {
	w, l := ofEpochs(t)
	epochs := l.Epochs().Entries()
	if err := l.RaiseLogStart(l.segments[1].base); err != nil {
		t.Fatal(err)
	}
	retain(t, l, 1)
	w.drain()
	w.kill()
	path := dir + "/00000000000000000000.log"
	if err := w.fs.Rename(path+deletedSuffix, path); err != nil {
		t.Fatal(err)
	}
	l, _ = w.open(false, l.LogEnd(), 0)
	if got := l.Epochs().Entries(); !slices.Equal(got, epochs) {
		t.Errorf("epochs are %v, want %v", got, epochs)
	}
	audit(t, l)
}

// Of a first segment without batches, which a cleaner leaves, no walk tells of
// producers. The snapshots behind it do not count then, and the batches must be read.
func TestACleanStartThatWalksAnEmptySegmentKnowsItsProducers(t *testing.T) {
	w, l := ofEpochs(t)
	stop(t, w, l)
	w.kill()
	path := dir + "/00000000000000000000"
	f, err := w.fs.Open(path + logSuffix)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		err = w.fs.Remove(path + indexSuffix)
	}
	if err != nil {
		t.Fatal(err)
	}
	l, _ = w.open(true, l.LogEnd(), 0)
	audit(t, l)
	retryLast(t, l)
}
