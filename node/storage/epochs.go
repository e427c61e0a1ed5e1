package storage

import (
	"slices"
	"strconv"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// epochFileName is the checkpoint of the epoch cache.
const epochFileName = "leader-epoch-checkpoint"

// EpochEntry says at which offset a leader epoch began.
type EpochEntry struct {
	Epoch kafka.LeaderEpoch
	Start kafka.Offset
}

// EpochCache is the history of leader epochs of a log (KIP-101): epochs and
// starts both ascend. By it two replicas find the offset where their logs part.
type EpochCache struct {
	entries []EpochEntry
}

// Latest is the last epoch that began in this log.
func (c *EpochCache) Latest() (kafka.LeaderEpoch, bool) {
	if len(c.entries) == 0 {
		return kafka.NoEpoch, false
	}
	return c.entries[len(c.entries)-1].Epoch, true
}

// Entries returns a copy of the history, oldest first.
func (c *EpochCache) Entries() []EpochEntry { return slices.Clone(c.entries) }

// EpochAt is the epoch of the record at offset o, if the cache knows it.
func (c *EpochCache) EpochAt(o kafka.Offset) (kafka.LeaderEpoch, bool) {
	for i := len(c.entries) - 1; i >= 0; i-- {
		if c.entries[i].Start <= o {
			return c.entries[i].Epoch, true
		}
	}
	return kafka.NoEpoch, false
}

// EndOffsetFor answers where epoch e ends in a log with the given end: the
// largest known epoch not above e, and the start of the next larger one. For
// the latest epoch that is the log end; an epoch below the first known one
// comes back itself with the first start. Not ok: the log cannot tell, because e
// is NoEpoch or above all it knows.
func (c *EpochCache) EndOffsetFor(e kafka.LeaderEpoch, logEnd kafka.Offset) (found kafka.LeaderEpoch, end kafka.Offset, ok bool) {
	latest, any := c.Latest()
	switch {
	case e == kafka.NoEpoch || !any || e > latest:
		return kafka.NoEpoch, kafka.NoOffset, false
	case e == latest:
		return e, logEnd, true
	}
	higher := 0
	for c.entries[higher].Epoch <= e {
		higher++
	}
	if higher == 0 {
		return e, c.entries[0].Start, true
	}
	return c.entries[higher-1].Epoch, c.entries[higher].Start, true
}

// assign notes that e begins at start, unless it did so already; entries that
// this contradicts, of the same or a later epoch or offset, go. It reports
// whether the cache changed.
func (c *EpochCache) assign(e kafka.LeaderEpoch, start kafka.Offset) bool {
	if e < 0 || start < 0 {
		panic("storage: leader epoch " + strconv.Itoa(int(e)) + " assigned at offset " + strconv.FormatInt(int64(start), 10))
	}
	if n := len(c.entries); n > 0 && c.entries[n-1].Epoch == e && c.entries[n-1].Start <= start {
		return false
	}
	n := len(c.entries)
	for n > 0 && (c.entries[n-1].Epoch >= e || c.entries[n-1].Start >= start) {
		n--
	}
	c.entries = append(c.entries[:n], EpochEntry{e, start})
	return true
}

// trimEnd drops the epochs that begin at o or later: the log ends at o.
func (c *EpochCache) trimEnd(o kafka.Offset) bool {
	n := len(c.entries)
	for n > 0 && c.entries[n-1].Start >= o {
		n--
	}
	changed := n < len(c.entries)
	c.entries = c.entries[:n]
	return changed
}

// trimAbove drops the epochs after e: a record of e is the last one.
func (c *EpochCache) trimAbove(e kafka.LeaderEpoch) {
	n := len(c.entries)
	for n > 0 && c.entries[n-1].Epoch > e {
		n--
	}
	c.entries = c.entries[:n]
}

// trimStart makes the history begin at o: the epoch of o now starts there, the
// ones before go.
func (c *EpochCache) trimStart(o kafka.Offset) bool {
	n := 0
	for n < len(c.entries) && c.entries[n].Start <= o {
		n++
	}
	if n == 0 || n == 1 && c.entries[0].Start == o {
		return false
	}
	c.entries = c.entries[n-1:]
	c.entries[0].Start = o
	return true
}

// prepend adds older entries; the first known one goes if it is of the same epoch
// as the last of them.
func (c *EpochCache) prepend(older []EpochEntry) {
	n := len(older)
	if n == 0 {
		return
	}
	if len(c.entries) > 0 && c.entries[0].Epoch <= older[n-1].Epoch {
		c.entries = c.entries[1:]
	}
	c.entries = append(older, c.entries...)
}

func (c *EpochCache) clear() bool {
	changed := len(c.entries) > 0
	c.entries = c.entries[:0]
	return changed
}

// lines are the entries of the checkpoint file.
func (c *EpochCache) lines() []string {
	lines := make([]string, len(c.entries))
	for i, e := range c.entries {
		lines[i] = strconv.Itoa(int(e.Epoch)) + " " + strconv.FormatInt(int64(e.Start), 10)
	}
	return lines
}

// readEpochs reads the checkpoint file of a log's directory.
func readEpochs(fs disk.FS, path string) (*EpochCache, error) {
	lines, err := ReadCheckpoint(fs, path)
	if err != nil {
		return nil, err
	}
	c := &EpochCache{}
	for i, l := range lines {
		epoch, start, _ := strings.Cut(l, " ")
		e, errE := strconv.ParseInt(epoch, 10, 32)
		o, errO := strconv.ParseInt(start, 10, 64)
		if errE != nil || errO != nil || e < 0 || o < 0 {
			return nil, badLine(path, i, l, "epoch offset")
		}
		c.assign(kafka.LeaderEpoch(e), kafka.Offset(o))
	}
	return c, nil
}
