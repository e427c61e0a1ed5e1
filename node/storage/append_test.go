package storage

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

func TestLeaderStampsOffsetsEpochAndNotesTheEpoch(t *testing.T) {
	_, l := newLog(t)
	lead(t, l, 3, 2)
	done, code, err := l.AppendAsLeader(batch(1000, "a", "b", "c"), 4, 1000)
	if code != kafka.None || err != nil {
		t.Fatalf("%s, %v", code, err)
	}
	got := content(t, l)
	last := got[2]
	want := Appended{First: 2, Last: 4, Batches: []BatchInfo{{2, 5, 4, last.CRC(), len(last)}}}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Fatalf("appended (-want +got):\n%s", diff)
	}
	if last.BaseOffset() != 2 || last.LeaderEpoch() != 4 || l.LogEnd() != 5 {
		t.Fatalf("batch at %d epoch %d, log end %d", last.BaseOffset(), last.LeaderEpoch(), l.LogEnd())
	}
	if diff := cmp.Diff([]EpochEntry{{3, 0}, {4, 2}}, l.Epochs().Entries()); diff != "" {
		t.Fatalf("epochs (-want +got):\n%s", diff)
	}
	audit(t, l)
}

// damaged returns b after a change of one byte.
func damaged(b record.Batch, at int) record.Batch {
	c := bytes.Clone(b)
	c[at] ^= 1
	return c
}

func TestLeaderRefusesABatchInKafkasOrder(t *testing.T) {
	large := batch(1000, string(make([]byte, 400)))
	shifted := batch(1000, "x")
	shifted.SetBaseOffset(1)
	shiftedLarge := record.Batch(bytes.Clone(large))
	shiftedLarge.SetBaseOffset(1)
	for _, c := range []struct {
		name string
		b    record.Batch
		want kafka.ErrorCode
	}{
		{"base offset before size", shiftedLarge, kafka.InvalidRecord},
		{"base offset", shifted, kafka.InvalidRecord},
		{"size before CRC", damaged(large, 200), kafka.MessageTooLarge},
		{"CRC", damaged(batch(1000, "x"), 62), kafka.CorruptMessage},
		{"no batch", record.Batch{1, 2}, kafka.CorruptMessage},
	} {
		_, l := newLog(t)
		cfg := small()
		cfg.MaxMessageBytes = 300
		l.SetConfig(cfg)
		done, code, err := l.AppendAsLeader(c.b, 0, 1000)
		if code != c.want || err != nil || l.LogEnd() != 0 || done.First != kafka.NoOffset {
			t.Errorf("%s: %s, %v, log end %d; want %s", c.name, code, err, l.LogEnd(), c.want)
		}
	}
}

func TestLeaderRefusesRecordsThatAClientMustNotSend(t *testing.T) {
	now := kafka.Timestamp(1_000_000_000)
	options := func(change func(*record.BuilderOptions)) record.Batch {
		o := record.NoProducer()
		change(&o)
		b := record.NewBuilder(o)
		b.Append(now, nil, []byte("x"), nil)
		return b.Build()
	}
	claiming := func(c record.Codec) record.Batch {
		b := batch(now, "x")
		b[22] |= byte(c)
		b.SetMaxTimestamp(now+1, record.CreateTime) // renews the CRC
		return b
	}
	cut := batch(now, "x", "y")
	cut[60] = 1 // count
	cut.SetMaxTimestamp(now+2, record.CreateTime)
	cfg := DefaultConfig()
	cfg.TimestampBeforeMaxMs = 500
	stamped, compacted := cfg, cfg
	stamped.TimestampType = record.LogAppendTime
	compacted.Compacted = true
	for _, c := range []struct {
		name    string
		cfg     Config
		b       record.Batch
		want    kafka.ErrorCode
		invalid []int32
	}{
		{"control batch", cfg, options(func(o *record.BuilderOptions) { o.Control = true }), kafka.InvalidRecord, nil},
		{"producer without sequence", cfg, options(func(o *record.BuilderOptions) { o.ProducerID = 5 }), kafka.InvalidRecord, nil},
		{"count differs from offsets", cfg, cut, kafka.InvalidRecord, nil},
		{"no zstd frame", cfg, claiming(record.Zstd), kafka.InvalidRecord, nil},
		{"no codec of Kafka's", cfg, claiming(5), kafka.UnsupportedCompressionType, nil},
		{"no key in a compacted topic", compacted, batch(now, "x"), kafka.InvalidRecord, []int32{0}},
		{"too old", cfg, batch(now-501, "old", "just right"), kafka.InvalidTimestamp, []int32{0}},
		{"too new", cfg, batch(now+3600_000, "just right", "new"), kafka.InvalidTimestamp, []int32{1}},
		{"client marks LogAppendTime", stamped, options(func(o *record.BuilderOptions) { o.TimestampType = record.LogAppendTime }), kafka.InvalidTimestamp, []int32{0}},
		{"timestamp code before key code", compacted, batch(now-501, "x"), kafka.InvalidRecord, []int32{0}},
	} {
		_, l := newLog(t)
		l.SetConfig(c.cfg)
		done, code, err := l.AppendAsLeader(c.b, 0, now)
		var invalid []int32
		for _, r := range done.Invalid {
			invalid = append(invalid, r.Index)
		}
		if diff := cmp.Diff(c.invalid, invalid); code != c.want || err != nil || diff != "" || l.LogEnd() != 0 {
			t.Errorf("%s: %s, %v, invalid %v, log end %d; want %s", c.name, code, err, done.Invalid, l.LogEnd(), c.want)
		}
	}
}

func TestOneTimestampOutOfRangeDecidesTheCode(t *testing.T) {
	_, l := newLog(t)
	cfg := DefaultConfig()
	cfg.Compacted, cfg.TimestampBeforeMaxMs = true, 10
	l.SetConfig(cfg)
	b := record.NewBuilder(record.NoProducer())
	b.Append(1000, nil, []byte("no key"), nil)
	b.Append(1, []byte("k"), []byte("too old"), nil)
	done, code, _ := l.AppendAsLeader(b.Build(), 0, 1000)
	if code != kafka.InvalidTimestamp || len(done.Invalid) != 2 {
		t.Fatalf("%s, %v", code, done.Invalid)
	}
}

func TestLogAppendTimeIsTheLeadersClock(t *testing.T) {
	_, l := newLog(t)
	cfg := small()
	cfg.TimestampType = record.LogAppendTime
	l.SetConfig(cfg)
	if _, code, err := l.AppendAsLeader(batch(5, "x"), 0, 777); code != kafka.None || err != nil {
		t.Fatalf("%s, %v", code, err)
	}
	b := content(t, l)[0]
	if b.TimestampType() != record.LogAppendTime || b.MaxTimestamp() != 777 {
		t.Fatalf("%s %d", b.TimestampType(), b.MaxTimestamp())
	}
}

func TestABatchLargerThanASegmentIsRefused(t *testing.T) {
	_, l := newLog(t)
	_, code, err := l.AppendAsLeader(batch(1000, string(make([]byte, 500))), 0, 1000)
	if code != kafka.RecordListTooLarge || err != nil || l.LogEnd() != 0 {
		t.Fatalf("%s, %v, log end %d", code, err, l.LogEnd())
	}
	lead(t, l, 0, 1)
	audit(t, l)
}

func TestFollowerKeepsTheValidPrefix(t *testing.T) {
	a, b, c := replica(0, 1, 1000, "a", "b"), replica(2, 1, 1000, "c"), replica(3, 2, 1000, "d")
	join := func(batches ...record.Batch) (out []byte) {
		for _, x := range batches {
			out = append(out, x...)
		}
		return out
	}
	for _, k := range []struct {
		name    string
		records []byte
		epoch   kafka.LeaderEpoch
		end     kafka.Offset
		err     error
	}{
		{"all", join(a, b, c), 2, 4, nil},
		{"cut inside the last batch", join(a, b, c[:len(c)-1]), 2, 3, nil},
		{"cut inside the first batch", a[:30], 2, 0, nil},
		{"batches above the leader epoch of the request", join(a, b, c), 1, 3, nil},
		{"damaged batch", join(a, damaged(b, 63), c), 2, 2, record.ErrCorrupt},
		{"no batch at all", join(a, make(record.Batch, 100)), 2, 2, record.ErrCorrupt},
		{"a gap that compaction left", join(a, replica(7, 2, 1000, "x")), 2, 8, nil},
		{"offsets that fall", join(a, replica(1, 1, 1000, "x")), 2, 0, ErrUnexpectedOffset},
	} {
		_, l := newLog(t)
		done, err := l.AppendAsFollower(k.records, k.epoch)
		if l.LogEnd() != k.end || !errors.Is(err, k.err) || (err != nil) != (k.err != nil) {
			t.Errorf("%s: log end %d, %v; want %d, %v", k.name, l.LogEnd(), err, k.end, k.err)
		}
		if k.end > 0 && done.Last != k.end-1 || k.end == 0 && done.Last != kafka.NoOffset {
			t.Errorf("%s: appended up to %d", k.name, done.Last)
		}
		if l.Failed() != nil {
			t.Errorf("%s: the log failed: %v", k.name, l.Failed())
		}
		audit(t, l)
	}
}

func TestFollowerRefusesRecordsBelowItsLogEnd(t *testing.T) {
	_, l := newLog(t)
	if err := l.TruncateFullyAndStartAt(5); err != nil {
		t.Fatal(err)
	}
	_, err := l.AppendAsFollower(replica(3, 1, 1000, "3", "4", "5"), 1)
	var unexpected *UnexpectedOffsetError
	if !errors.As(err, &unexpected) || *unexpected != (UnexpectedOffsetError{3, 5, 5}) || l.LogEnd() != 5 {
		t.Fatalf("log end %d, %v", l.LogEnd(), err)
	}
}

func TestRaftLeaderAppendsItsOwnOffsetsAndControlRecords(t *testing.T) {
	_, l := newLog(t)
	change := record.LeaderChange{Leader: 1, Voters: []record.Voter{{ID: 1}}}
	done, err := l.AppendAsRaftLeader(change.Batch(0, 3, 1000), 3)
	if err != nil || done.Last != 0 || l.LastEpoch() != 3 {
		t.Fatalf("last %d, epoch %d, %v", done.Last, l.LastEpoch(), err)
	}
	if _, err := l.AppendAsRaftLeader(replica(1, 3, 1000, "x", "y"), 3); err != nil || l.LogEnd() != 3 {
		t.Fatalf("log end %d, %v", l.LogEnd(), err)
	}
	audit(t, l)
}

func TestRollBySizeTimeAndFullIndex(t *testing.T) {
	one := len(batch(1000, "value at 0"))
	for _, c := range []struct {
		name   string
		change func(*Config)
		ts     func(i int) kafka.Timestamp
		bases  []kafka.Offset
	}{
		{"size", func(c *Config) { c.SegmentBytes = int32(3 * one) }, nil, []kafka.Offset{0, 3, 6, 9}},
		{"time since the first batch", func(c *Config) { c.SegmentMs = 20 },
			func(i int) kafka.Timestamp { return 1000 + 10*kafka.Timestamp(i) }, []kafka.Offset{0, 3, 6, 9}},
		{"full offset index", func(c *Config) { c.SegmentIndexBytes, c.IndexIntervalBytes = 4*offsetEntrySize+4, 0 }, nil, []kafka.Offset{0, 5}},
		{"full time index", func(c *Config) { c.SegmentIndexBytes, c.IndexIntervalBytes = 3*timeEntrySize, 0 },
			func(i int) kafka.Timestamp { return 1000 + kafka.Timestamp(i) }, []kafka.Offset{0, 3, 6, 9}},
	} {
		_, l := newLog(t)
		cfg := DefaultConfig()
		c.change(&cfg)
		l.SetConfig(cfg)
		for i := range 10 {
			ts := kafka.Timestamp(1000)
			if c.ts != nil {
				ts = c.ts(i)
			}
			if _, code, err := l.AppendAsLeader(batch(ts, "value at 0"), 0, 1000); code != kafka.None || err != nil {
				t.Fatalf("%s: %s, %v", c.name, code, err)
			}
		}
		var bases []kafka.Offset
		for _, s := range l.segments {
			bases = append(bases, s.base)
		}
		if diff := cmp.Diff(c.bases, bases); diff != "" {
			t.Errorf("%s: segments (-want +got):\n%s", c.name, diff)
		}
		audit(t, l)
	}
}

func TestAFetchedSetIsSpreadOverSegmentsAsSingleBatchesAre(t *testing.T) {
	_, leader := newLog(t)
	lead(t, leader, 1, 40)
	_, single := newLog(t)
	_, whole := newLog(t)
	var set []byte
	for _, b := range content(t, leader) {
		if _, err := single.AppendAsFollower(b, 1); err != nil {
			t.Fatal(err)
		}
		set = append(set, b...)
	}
	if _, err := whole.AppendAsFollower(set, 1); err != nil {
		t.Fatal(err)
	}
	for i, s := range single.segments {
		o := whole.segments[i]
		if s.base != o.base || s.size != o.size || !bytes.Equal(s.index.data, o.index.data) || !bytes.Equal(s.times.data, o.times.data) {
			t.Fatalf("segment %d: %d bytes at %d batch by batch, %d bytes at %d as a set", i, s.size, s.base, o.size, o.base)
		}
	}
	audit(t, whole)
}

func TestFlushMessagesMakesAFlushDue(t *testing.T) {
	w, l := newLog(t)
	cfg := small()
	cfg.FlushMessages = 2
	l.SetConfig(cfg)
	first, _, _ := l.AppendAsLeader(batch(1000, "a"), 0, 1000)
	second, _, _ := l.AppendAsLeader(batch(1000, "b"), 0, 1000)
	l.Flush(nil)
	w.drain()
	third, _, _ := l.AppendAsLeader(batch(1000, "c"), 0, 1000)
	if first.FlushDue || !second.FlushDue || third.FlushDue {
		t.Fatalf("flush due: %t %t %t", first.FlushDue, second.FlushDue, third.FlushDue)
	}
}

func TestALogThatFailedAppendsNothing(t *testing.T) {
	w, l := newLog(t)
	lead(t, l, 0, 1)
	var told error
	l.Flush(func(err error) { told = err })
	w.fail = disk.ErrIO
	w.drain()
	w.fail = nil
	if !errors.Is(told, disk.ErrIO) || !errors.Is(l.Failed(), disk.ErrIO) || l.RecoveryPoint() != 0 {
		t.Fatalf("flush told %v, log %v, recovery point %d", told, l.Failed(), l.RecoveryPoint())
	}
	_, code, err := l.AppendAsLeader(batch(1000, "x"), 0, 1000)
	if code != kafka.KafkaStorageError || !errors.Is(err, disk.ErrIO) {
		t.Fatalf("leader append: %s, %v", code, err)
	}
	if _, err := l.AppendAsFollower(replica(1, 0, 1000, "x"), 0); !errors.Is(err, disk.ErrIO) {
		t.Fatalf("follower append: %v", err)
	}
	if err := errors.Join(l.TruncateTo(0), l.RaiseLogStart(1), l.AssignEpoch(9, 1)); !errors.Is(err, disk.ErrIO) || l.LogEnd() != 1 {
		t.Fatalf("truncate and others: %v, log end %d", err, l.LogEnd())
	}
	l.Flush(func(err error) { told = err })
	w.drain()
	if l.RecoveryPoint() != 0 || !errors.Is(told, disk.ErrIO) {
		t.Fatalf("a later flush moved the recovery point to %d: %v", l.RecoveryPoint(), told)
	}
}
