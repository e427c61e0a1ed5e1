package inspect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// inUse is a directory at which a broker is at work: what was opened stays what it
// was, whatever becomes of its name. Before the step-th operation of the reader, and
// each one after it until all are done, comes one of the broker's changes, or all at
// once.
type inUse struct {
	files   map[string]*inode
	ops     int // of the reader so far
	step    int
	atOnce  bool
	changes []func(*inUse)
	always  func(*inUse) // before every operation
}

type inode struct{ content []byte }

func use(m memory) *inUse {
	u := &inUse{files: map[string]*inode{}}
	for path, content := range m { // unordered: a copy
		u.files[path] = &inode{content}
	}
	return u
}

func (u *inUse) tick() {
	u.ops++
	if u.always != nil {
		u.always(u)
	}
	for u.ops > u.step && len(u.changes) > 0 {
		u.changes[0](u)
		u.changes = u.changes[1:]
		if !u.atOnce {
			return
		}
	}
}

func (u *inUse) memory() memory {
	m := memory{}
	for path, f := range u.files { // unordered: a copy
		m[path] = f.content
	}
	return m
}

func (u *inUse) List(dir string) ([]string, error) {
	u.tick()
	return u.memory().List(dir)
}

func (u *inUse) Open(name string) (File, error) {
	u.tick()
	f, ok := u.files[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, disk.ErrNotExist)
	}
	return inUseFile{u, f}, nil
}

type inUseFile struct {
	u *inUse
	f *inode
}

func (f inUseFile) Size() (int64, error) {
	f.u.tick()
	return int64(len(f.f.content)), nil
}

func (f inUseFile) ReadAt(p []byte, off int64) (int, error) {
	f.u.tick()
	n := copy(p, f.f.content[min(off, int64(len(f.f.content))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (inUseFile) Close() error { return nil }

// What a broker does to a file.

func renamed(from, to string) func(*inUse) {
	return func(u *inUse) {
		u.files[to] = u.files[from]
		delete(u.files, from)
	}
}

func removed(path string) func(*inUse) { return func(u *inUse) { delete(u.files, path) } }

// written makes or replaces a file, as a rename does.
func written(path string, content []byte) func(*inUse) {
	return func(u *inUse) { u.files[path] = &inode{content} }
}

// edited changes a file in place.
func edited(path string, edit func([]byte) []byte) func(*inUse) {
	return func(u *inUse) { u.files[path].content = edit(bytes.Clone(u.files[path].content)) }
}

// movedAway renames a directory.
func movedAway(from, to string) func(*inUse) {
	return func(u *inUse) {
		for _, path := range slices.Sorted(maps.Keys(u.files)) {
			if rest, ok := strings.CutPrefix(path, from+"/"); ok {
				renamed(path, to+"/"+rest)(u)
			}
		}
	}
}

// batchesOf is a history of n batches of three records, of a producer whose id is
// the topic's own, so that no batch is like another's.
func batchesOf(next kafka.Offset, n int, id kafka.ProducerID) *history {
	h := &history{next: next}
	for range n {
		h.data(id, 3, false)
	}
	return h
}

// running is a directory of a broker that runs: some replicas of Kafka's, and t-0 of
// one segment.
func running(t testing.TB, replicas ...string) memory {
	m := load(t, kafkaDir)
	for path := range m { // unordered: each is looked at alone
		if replica, _, ok := strings.Cut(path, "/"); ok && !slices.Contains(replicas, replica) || path == markerFile {
			delete(m, path)
		}
	}
	maps.Copy(m, batchesOf(0, 3, kafka.NoProducerID).files())
	return m.with(zero+txnSuffix, remove)
}

const (
	table = "table-0/00000000000000000000"
	zero  = "t-0/00000000000000000000"
	nine  = "t-0/00000000000000000009"
)

// timeEntry is an entry of a .timeindex: timestamp 1000, which all batches here have.
func timeEntry(relative byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0, 0, relative} }

// brokerWork is what a running broker does to its directory, change by change; after
// the last one everything is sound again, and before it a kill is.
func brokerWork(t testing.TB) map[string][]func(*inUse) {
	appended := batchesOf(9, 3, kafka.NoProducerID).log
	aborting := &history{next: 9}
	aborting.data(7, 3, true)
	aborting.end(7, record.Abort)
	aborting.aborted(7, 9, 12, 13)
	compacted := batchesOf(3, 2, kafka.NoProducerID)
	snapshot := load(t, kafkaDir)["bootstrap.checkpoint"]
	later := record.NoProducer()
	later.BaseOffset, later.LeaderEpoch = 9, 4
	b := record.NewBuilder(later)
	b.Append(1000, nil, []byte("v"), nil)
	newEpoch := b.Build()
	recreated := batchesOf(0, 1, kafka.NoProducerID).files()

	retention := []func(*inUse){removed("table-0/00000000000000000327.snapshot")}
	for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix} {
		retention = append(retention, renamed(table+suffix, table+suffix+".deleted"))
	}
	swap := []func(*inUse){
		written(zero+".log.cleaned", compacted.log), written(zero+".index.cleaned", nil), written(zero+".timeindex.cleaned", timeEntry(8)),
		renamed(zero+".log.cleaned", zero+".log.swap"), renamed(zero+".index.cleaned", zero+".index.swap"), renamed(zero+".timeindex.cleaned", zero+".timeindex.swap"),
	}
	for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix} {
		swap = append(swap, renamed(zero+suffix, zero+suffix+".deleted"))
	}
	for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix} {
		swap = append(swap, renamed(zero+suffix+".swap", zero+suffix))
	}
	for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix} {
		swap = append(swap, removed(zero+suffix+".deleted"))
	}
	preallocated := func(entry int) func([]byte) []byte {
		return func(b []byte) []byte { return append(b, make([]byte, 100*entry)...) }
	}
	roll := []func(*inUse){
		edited(zero+".log", add(appended...)),
		written("t-0/00000000000000000018.snapshot", nil),
		edited("t-0/00000000000000000018.snapshot", add(0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0)),
		written("t-0/00000000000000000018.log", nil),
		written("t-0/00000000000000000018.index", make([]byte, 800)), written("t-0/00000000000000000018.timeindex", make([]byte, 1200)),
		edited("t-0/00000000000000000018.log", add(batchesOf(18, 2, kafka.NoProducerID).log...)),
		edited("t-0/00000000000000000018.index", put(0, 0, 0, 0, 5, 0, 0, 0, byte(len(appended)/3))),
		edited("t-0/00000000000000000018.timeindex", put(0, timeEntry(2)...)),
	}
	return map[string][]func(*inUse){
		"retention deletes a segment": retention,
		"the cleaner swaps a segment": swap,
		"the active segment is rolled": append([]func(*inUse){
			edited(zero+".index", preallocated(8)), edited(zero+".timeindex", preallocated(12)),
			edited(zero+".index", func(b []byte) []byte { return b[:0] }), edited(zero+".timeindex", cut(1200)),
		}, roll...),
		"batches are appended, piece by piece, and checkpoints are behind and ahead": {
			edited(zero+".index", preallocated(8)),
			edited(zero+".log", add(appended[:70]...)), edited(zero+".log", add(appended[70:]...)),
			edited(zero+".index", put(0, 0, 0, 0, 11, 0, 0, 0, byte(len(appended)))),
			written(hwFile, []byte("0\n1\nt 0 18\n")), written(recoverFile, []byte("0\n1\nt 0 18\n")),
			edited(zero+".log", add(batchesOf(18, 1, kafka.NoProducerID).log...)),
			written(recoverFile, []byte("0\n1\nt 0 21\n")),
		},
		"a transaction is aborted": {
			edited(zero+".log", add(aborting.log...)), written(zero+".txnindex", aborting.txns),
		},
		"a leader of a new epoch appends": {
			written(epochFile+".tmp", nil), written("t-0/"+epochFile, []byte("0\n2\n0 0\n4 9\n")), edited(zero+".log", add(newEpoch...)),
			written(recoverFile, []byte("0\n1\nt 0 10\n")),
		},
		"a follower truncates": {
			edited(zero+".log", cut(len(appended)/3)), edited(zero+".timeindex", func(b []byte) []byte { return b }),
		},
		"a topic is deleted": {
			movedAway("mixed-0", "mixed-0.0123456789abcdef0123456789abcdef-delete"),
			written(hwFile, []byte("0\n1\npayments 0 279\n")), written(recoverFile, []byte("0\n1\npayments 0 279\n")),
			movedAway("mixed-0.0123456789abcdef0123456789abcdef-delete", "nowhere"),
		},
		"a topic is deleted and created anew": {
			movedAway("mixed-0", "mixed-0.0123456789abcdef0123456789abcdef-delete"),
			movedAway("mixed-0.0123456789abcdef0123456789abcdef-delete", "nowhere-else"),
			written("mixed-0/00000000000000000000.log", nil), written("mixed-0/00000000000000000000.index", nil),
			written("mixed-0/00000000000000000000.timeindex", nil), written("mixed-0/"+idFile, recreated["t-0/"+idFile]),
			written("mixed-0/"+epochFile, recreated["t-0/"+epochFile]),
			edited("mixed-0/00000000000000000000.log", add(recreated[zero+".log"]...)),
			written(hwFile, []byte("0\n1\nmixed 0 3\n")), written(recoverFile, []byte("0\n1\nmixed 0 3\n")),
		},
		"the metadata log has a later snapshot": {
			written("__cluster_metadata-0/00000000000000000050-0000000001.checkpoint.part", snapshot),
			renamed("__cluster_metadata-0/00000000000000000050-0000000001.checkpoint.part", "__cluster_metadata-0/00000000000000000050-0000000001.checkpoint"),
			renamed("__cluster_metadata-0/00000000000000000050-0000000001.checkpoint", "__cluster_metadata-0/00000000000000000050-0000000001.checkpoint.deleted"),
			removed("__cluster_metadata-0/00000000000000000050-0000000001.checkpoint.deleted"),
		},
	}
}

// Whatever a broker does between two operations of the reader, or in each of them,
// its directory is sound.
func TestADirectoryInUseIsSoundWheneverTheBrokerChangesIt(t *testing.T) {
	work := brokerWork(t)
	for _, name := range slices.Sorted(maps.Keys(work)) {
		t.Run(name, func(t *testing.T) {
			var replica []string
			switch {
			case strings.Contains(name, "retention"):
				replica = []string{"table-0"}
			case strings.Contains(name, "topic"):
				replica = []string{"mixed-0"}
			case strings.Contains(name, "metadata"):
				replica = []string{"__cluster_metadata-0"}
			}
			before := running(t, replica...)
			after := use(before)
			for _, change := range work[name] {
				change(after)
			}
			if _, err := Verify(after.memory(), "", Options{}); err != nil {
				t.Fatalf("when all is done: %v", err)
			}
			for _, atOnce := range []bool{false, true} {
				for step, done := 0, false; !done; step++ {
					u := use(before)
					u.step, u.atOnce, u.changes = step, atOnce, work[name]
					if _, err := Verify(u, "", Options{}); err != nil {
						t.Fatalf("from operation %d on, at once %v: %v", step, atOnce, err)
					}
					done = u.ops <= step
				}
			}
		})
	}
}

// Each state that a broker leaves between two changes is that of one that was
// killed: the next start mends it.
func TestABrokerMayBeKilledBetweenAnyTwoChanges(t *testing.T) {
	work := brokerWork(t)
	for _, name := range slices.Sorted(maps.Keys(work)) {
		if name == "a topic is deleted and created anew" || name == "a follower truncates" {
			continue // a checkpoint may speak of the deleted one, or of what was truncated
		}
		u := use(running(t, "table-0", "mixed-0", "__cluster_metadata-0"))
		for i, change := range work[name] {
			change(u)
			if _, err := Verify(u.memory(), "", Options{}); err != nil {
				t.Errorf("%s, after change %d: %v", name, i+1, err)
			}
		}
	}
}

// busy appends to t-0, and now and then makes a segment of it, before every
// operation of the reader.
func busy() func(*inUse) {
	next := kafka.Offset(9)
	active := zero
	return func(u *inUse) {
		if next%120 == 9 {
			active = "t-0/" + segmentName(next, "")
			written(active+".log", nil)(u)
			written(active+".index", make([]byte, 80))(u)
			written(active+".timeindex", append(timeEntry(2), make([]byte, 120)...))(u)
		}
		h := batchesOf(next, 1, kafka.NoProducerID)
		next = h.next
		edited(active+".log", add(h.log...))(u)
	}
}

// restless appends before every operation of the reader: batches with entries in the
// indexes, under a new leader epoch each, transactions that are aborted.
func restless() func(*inUse) {
	h := batchesOf(9, 0, kafka.NoProducerID)
	epochs, entries := []byte{}, 0
	return func(u *inUse) {
		if entries == 0 {
			u.files[zero+indexSuffix].content = make([]byte, 8<<10)
			u.files[zero+timeSuffix].content = append(timeEntry(2), make([]byte, 12<<10)...)
		}
		at, first := len(u.files[zero+logSuffix].content), h.next
		o := record.NoProducer()
		o.BaseOffset, o.LeaderEpoch, o.ProducerID, o.ProducerEpoch, o.Transactional = h.next, kafka.LeaderEpoch(entries+1), 7, 0, true
		o.BaseSequence = 0
		b := record.NewBuilder(o)
		b.Append(kafka.Timestamp(2000+entries), nil, []byte("v"), nil)
		batch := b.Build()
		o.BaseOffset, o.Control, o.BaseSequence = h.next+1, true, record.NoSequence
		m := record.NewBuilder(o)
		m.Append(1000, []byte{0, 0, 0, byte(record.Abort)}, []byte{0, 0, 0, 0, 0, 5}, nil)
		epochs = fmt.Appendf(epochs, "%d %d\n", entries+1, h.next)
		written("t-0/"+epochFile, fmt.Appendf(nil, "0\n%d\n0 0\n%s", entries+2, epochs))(u)
		edited(zero+logSuffix, add(append(batch, m.Build()...)...))(u)
		index := binary.BigEndian.AppendUint32(nil, uint32(h.next))
		edited(zero+indexSuffix, put(8*entries, binary.BigEndian.AppendUint32(index, uint32(at))...))(u)
		stamp := binary.BigEndian.AppendUint64(nil, uint64(2000+entries))
		edited(zero+timeSuffix, put(12*(entries+1), binary.BigEndian.AppendUint32(stamp, uint32(h.next))...))(u)
		h.next += 2
		h.aborted(7, int64(first), int64(first)+1, int64(first)+2)
		if entries == 0 {
			written(zero+txnSuffix, nil)(u)
		}
		u.files[zero+txnSuffix].content = h.txns
		entries++
	}
}

// One look is enough at a log that only grows, however fast: what tells of batches
// behind the end that it had is not held against it.
func TestALogThatGrowsAllTheTimeIsSoundAtTheFirstLook(t *testing.T) {
	u := use(running(t))
	u.always = restless()
	sum, err := Verify(u, "", Options{Again: func(int) { t.Error("it was looked at again") }})
	noted := slices.ContainsFunc(sum.Notes, func(n Note) bool { return strings.HasPrefix(n.File, "t-0") })
	if err != nil || noted || sum.Batches < 5 {
		t.Errorf("%+v %v", sum, err)
	}
}

// A byte that is wrong is found beside a broker that never rests, in a replica that
// it works at and in one that it leaves alone.
func TestAFaultIsFoundInADirectoryThatNeverRests(t *testing.T) {
	for _, c := range []struct {
		path string
		edit func([]byte) []byte
		want string
	}{
		{zero + ".log", flip(70), ": byte 0: the batch of offsets 0 to 2 has CRC "},
		{zero + ".timeindex", put(7, 1), ": byte 0: the entry holds timestamp "},
		{"t-0/leader-epoch-checkpoint", replace("0 0", "0 x"), ": byte 4: the line is "},
		{"t-0/partition.metadata", replace("version: 0", "version: 7"), ": byte 0: want two lines"},
		{"mixed-0/00000000000000000000.index", put(7, 1), ": byte 0: the entry for offset "},
		{"payments-0/00000000000000000000.txnindex", put(9, 77), ": byte 2: producer id is 77, the abort marker at offset "},
		{"meta.properties", replace("version=1", "version=9"), ": version is \"9\", want 0 or 1"},
		{recoverFile, replace("mixed 0 300", "mixed x 300"), ": the line is "},
		{"payments-0/00000000000000000000.log", put(8, 0, 9, 0, 1), ": byte 8: length is 589825, but the next batch begins "},
	} {
		u := use(running(t, "mixed-0", "payments-0").with(c.path, c.edit))
		u.always = busy()
		_, err := Verify(u, "", Options{})
		var fault *Fault
		if !errors.As(err, &fault) || fault.File != c.path || !strings.Contains(fault.Error(), c.want) {
			t.Errorf("%s: want %q, Verify says: %v", c.path, c.want, err)
		}
	}
}

// A directory that is another one with every look is told of as such, soon.
func TestADirectoryThatNeverHoldsStillIsToldOf(t *testing.T) {
	u := use(running(t))
	name := nine + ".log"
	u.always = func(u *inUse) { // the segment has another name every time
		delete(u.files, name)
		name = "t-0/" + segmentName(kafka.Offset(9+u.ops), logSuffix)
		u.files[name] = &inode{}
	}
	pauses := 0
	_, err := Verify(u, "", Options{Again: func(int) { pauses++ }})
	if !errors.Is(err, ErrChanging) || !strings.HasPrefix(err.Error(), "t-0: changes while it is read") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Verify says %v", err)
	}
	if pauses != tries-1 {
		t.Errorf("%d pauses", pauses)
	}
}

// Verify of one replica and of its directory alone copes as well.
func TestAReplicaThatGoesWhileItIsReadIsNoFault(t *testing.T) {
	retention := brokerWork(t)["retention deletes a segment"]
	for step := range 40 {
		u := use(running(t, "table-0"))
		u.step, u.changes = step, retention
		if _, err := VerifyReplica(u, "", "table-0", Options{}); err != nil {
			t.Errorf("from operation %d on: %v", step, err)
		}
		u = use(running(t, "table-0"))
		u.step, u.changes = step, retention
		if _, err := Verify(u, "table-0", Options{}); err != nil {
			t.Errorf("from operation %d on: %v", step, err)
		}
	}
	if _, err := VerifyReplica(use(running(t)), "", "nothing-0", Options{}); !errors.Is(err, disk.ErrNotExist) {
		t.Errorf("a replica that was never there: %v", err)
	}
}

// A dump of files that a broker works at ends where they end.
func TestADumpFollowsAFileThatIsWritten(t *testing.T) {
	appended := batchesOf(9, 3, kafka.NoProducerID).log
	work := map[string][]func(*inUse){
		zero + ".log":       {edited(zero+".log", add(appended[:70]...)), edited(zero+".log", add(appended[70:]...))},
		zero + ".timeindex": {edited(zero+".timeindex", add(make([]byte, 600000)...)), edited(zero+".timeindex", cut(600000))},
		"t-0/00000000000000000009.snapshot": {written("t-0/00000000000000000009.snapshot", nil), func(*inUse) {},
			edited("t-0/00000000000000000009.snapshot", add(0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0))},
	}
	for _, path := range slices.Sorted(maps.Keys(work)) {
		for step := range 30 {
			u := use(running(t))
			u.step, u.changes = step, work[path]
			err := Dump(u, path, DumpOptions{DeepIteration: true}, func(Entry) error { return nil })
			if err != nil && !errors.Is(err, disk.ErrNotExist) {
				t.Errorf("%s from operation %d on: %v", path, step, err)
			}
		}
	}
}

// A topic that is deleted and created anew between the looks at two of its partitions
// has one topic id at any time.
func TestTopicIDsOfDifferentMomentsAreNotCompared(t *testing.T) {
	m := running(t)
	for path, content := range batchesOf(0, 3, kafka.NoProducerID).files() { // unordered: a copy
		m[strings.Replace(path, "t-0/", "t-1/", 1)] = content
	}
	for step, done := 0, false; !done; step++ {
		u := use(m)
		u.step, u.atOnce = step, true
		for _, replica := range []string{"t-0/", "t-1/"} {
			u.changes = append(u.changes, written(replica+idFile, []byte("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg")))
		}
		if _, err := Verify(u, "", Options{}); err != nil {
			t.Fatalf("at operation %d: %v", step, err)
		}
		done = u.ops <= step
	}
	_, err := Verify(m.with("t-1/"+idFile, replace("AAAAAQ", "AAAAAg")), "", Options{})
	says(t, err, "that of another partition of t is ")
}

// The cleaner puts a log in place before its indexes: until those have their names,
// they are what tells of it.
func TestTheIndexesOfASegmentThatIsBeingSwappedInAreRead(t *testing.T) {
	h := &history{}
	h.data(1, 3, true)
	h.end(1, record.Abort)
	h.aborted(1, 0, 3, 4)
	h.data(2, 3, false)
	m := h.files()
	for _, suffix := range []string{indexSuffix, timeSuffix, txnSuffix} {
		m[zero+suffix+swapSuffix] = m[zero+suffix]
		delete(m, zero+suffix)
	}
	sum, err := Verify(m, "", Options{})
	if err != nil || sum.IndexEntries != 2 {
		t.Errorf("%+v %v", sum, err)
	}
}
