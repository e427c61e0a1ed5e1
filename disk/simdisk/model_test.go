package simdisk

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// modelFile is a file of the reference model: every content that it ever had.
// states[synced] is durable, those after it may leave traces in a power loss.
type modelFile struct {
	states [][]byte
	synced int
	h      disk.File
}

func (f *modelFile) now() []byte { return f.states[len(f.states)-1] }

// modelChange is one create, removal or rename: what it did to which paths.
type modelChange struct {
	paths []string
	files []*modelFile // parallel to paths, nil: no such file any more
}

func (c modelChange) in(dir string) bool {
	return slices.ContainsFunc(c.paths, func(p string) bool { return parentOf(p) == dir })
}

func (c modelChange) shares(e modelChange) bool {
	return slices.ContainsFunc(c.paths, func(p string) bool { return slices.Contains(e.paths, p) })
}

func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// modelSync is a sync on its way: of a file's state or of a directory's changes.
type modelSync struct {
	token disk.Token
	file  *modelFile
	state int
	dir   string
	upTo  int // changes made before the call
}

// machine drives simdisk and the model side by side.
type machine struct {
	w     *world
	fs    disk.FS
	names map[string]*modelFile // cached
	kept  map[string]*modelFile // durable
	log   []modelChange         // all changes
	done  []bool                // which of them are durable
	syncs []modelSync
	token disk.Token
}

var modelDirs = []string{"", "a", "b"}

func newMachine(t *rapid.T) *machine {
	w := newWorld()
	if rapid.Bool().Draw(t, "real files") {
		w = newRealWorld(t)
	}
	m := &machine{w: w, fs: w.d.View("data-0", w), names: map[string]*modelFile{}, kept: map[string]*modelFile{}}
	for _, dir := range modelDirs[1:] {
		must(t, m.fs.Mkdir(dir))
	}
	m.fs.SyncDir(0, "")
	w.drain()
	return m
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func drawPath(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{"x", "y", "a/x", "a/y", "b/x", "b/y"}).Draw(t, label)
}

// drawFile picks a file that has a name.
func (m *machine) drawFile(t *rapid.T) *modelFile {
	paths := slices.Sorted(maps.Keys(m.names))
	if len(paths) == 0 {
		t.Skip("no files")
	}
	return m.names[rapid.SampledFrom(paths).Draw(t, "file")]
}

func (m *machine) change(paths []string, files []*modelFile) {
	m.log = append(m.log, modelChange{paths, files})
	m.done = append(m.done, false)
	for i, p := range paths {
		if files[i] == nil {
			delete(m.names, p)
		} else {
			m.names[p] = files[i]
		}
	}
}

func (m *machine) Create(t *rapid.T) {
	path := drawPath(t, "path")
	h, err := m.fs.Create(path)
	if m.names[path] != nil {
		wants(t, err, disk.ErrExist)
		return
	}
	must(t, err)
	m.change([]string{path}, []*modelFile{{states: [][]byte{{}}, h: h}})
}

func (m *machine) Remove(t *rapid.T) {
	path := drawPath(t, "path")
	err := m.fs.Remove(path)
	if m.names[path] == nil {
		wants(t, err, disk.ErrNotExist)
		return
	}
	must(t, err)
	m.change([]string{path}, []*modelFile{nil})
}

func (m *machine) Rename(t *rapid.T) {
	from, to := drawPath(t, "from"), drawPath(t, "to")
	err := m.fs.Rename(from, to)
	f := m.names[from]
	if f == nil {
		wants(t, err, disk.ErrNotExist)
		return
	}
	must(t, err)
	if from != to {
		m.change([]string{from, to}, []*modelFile{nil, f})
	}
}

func (m *machine) Write(t *rapid.T) {
	f := m.drawFile(t)
	off := rapid.IntRange(0, 12_000).Draw(t, "off")
	p := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, 5_000).Draw(t, "n"))
	if rapid.Bool().Draw(t, "append") {
		off = len(f.now())
	}
	_, err := f.h.WriteAt(p, int64(off))
	must(t, err)
	next := make([]byte, max(len(f.now()), off+len(p)))
	copy(next, f.now())
	copy(next[off:], p)
	f.states = append(f.states, next)
}

func (m *machine) Truncate(t *rapid.T) {
	f := m.drawFile(t)
	size := rapid.IntRange(0, 12_000).Draw(t, "size")
	must(t, f.h.Truncate(int64(size)))
	next := make([]byte, size)
	copy(next, f.now())
	f.states = append(f.states, next)
}

func (m *machine) Sync(t *rapid.T) {
	f := m.drawFile(t)
	m.token++
	f.h.Sync(m.token)
	m.syncs = append(m.syncs, modelSync{token: m.token, file: f, state: len(f.states) - 1})
}

func (m *machine) SyncDir(t *rapid.T) {
	dir := rapid.SampledFrom(modelDirs).Draw(t, "dir")
	m.token++
	m.fs.SyncDir(m.token, dir)
	m.syncs = append(m.syncs, modelSync{token: m.token, dir: dir, upTo: len(m.log)})
}

// Finish finishes some sync, whichever was asked first.
func (m *machine) Finish(t *rapid.T) {
	if len(m.syncs) == 0 {
		t.Skip("nothing in flight")
	}
	i := rapid.IntRange(0, len(m.syncs)-1).Draw(t, "sync")
	s := m.syncs[i]
	m.syncs = slices.Delete(m.syncs, i, i+1)
	k := slices.IndexFunc(m.w.dues, func(e due) bool { return e.token == s.token })
	o := m.w.d.Finish(m.w.dues[k].sync, m.w.now)
	m.w.dues = slices.Delete(m.w.dues, k, k+1)
	if o.Gone || o.Again != 0 {
		t.Fatalf("outcome %+v", o)
	}
	must(t, o.Err)
	if s.file != nil {
		s.file.synced = max(s.file.synced, s.state)
		return
	}
	m.commit(s)
}

// Forget is the death of the one who asked before the call took place.
func (m *machine) Forget(t *rapid.T) {
	if len(m.syncs) == 0 {
		t.Skip("nothing in flight")
	}
	m.w.dues = slices.DeleteFunc(m.w.dues, func(e due) bool { return e.token == m.syncs[len(m.syncs)-1].token })
	m.syncs = m.syncs[:len(m.syncs)-1]
}

// commit makes the changes of a directory durable, and what they depend on.
func (m *machine) commit(s modelSync) {
	take := make([]bool, len(m.log))
	for i := range s.upTo {
		take[i] = !m.done[i] && m.log[i].in(s.dir)
	}
	for again := true; again; {
		again = false
		for i, c := range m.log {
			for j := range i {
				if take[i] && !take[j] && !m.done[j] && c.shares(m.log[j]) {
					take[j], again = true, true
				}
			}
		}
	}
	for i, c := range m.log {
		if !take[i] {
			continue
		}
		m.done[i] = true
		for k, p := range c.paths {
			if c.files[k] == nil {
				delete(m.kept, p)
			} else {
				m.kept[p] = c.files[k]
			}
		}
	}
}

func wants(t rapid.TB, err, want error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want.Error()) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// Check compares what readers see, and what would survive LoseAll.
func (m *machine) Check(t *rapid.T) {
	m.compare(t, faultdisk.Cached, m.names, func(f *modelFile) []byte { return f.now() })
	m.compare(t, faultdisk.Durable, m.kept, func(f *modelFile) []byte { return f.states[f.synced] })
}

func (m *machine) compare(t *rapid.T, s Side, want map[string]*modelFile, content func(*modelFile) []byte) {
	t.Helper()
	paths := append(slices.Collect(maps.Keys(want)), "a/", "b/")
	slices.Sort(paths)
	if got := m.w.d.Paths(s); !slices.Equal(got, paths) {
		t.Fatalf("side %d has the paths %q, want %q", s, got, paths)
	}
	for path, f := range want {
		got, err := m.w.d.ReadFile(s, path)
		must(t, err)
		if !bytes.Equal(got, content(f)) {
			t.Fatalf("side %d of %q: %s", s, path, firstDifference(got, content(f)))
		}
	}
}

func firstDifference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%d bytes, want %d; byte %d is %d, want %d", len(got), len(want), i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}

// reopen starts the next life of the model from the durable side.
func (m *machine) reopen(t *rapid.T, names map[string]*modelFile) {
	m.names, m.kept = names, maps.Clone(names)
	m.log, m.done, m.syncs = nil, nil, nil
	for path, f := range names {
		h, err := m.fs.Open(path)
		must(t, err)
		f.h = h
	}
}

func (m *machine) PowerLossOfAll(t *rapid.T) {
	m.fs = m.w.power(faultdisk.LoseAll, 0)
	for _, f := range m.kept {
		f.states, f.synced = [][]byte{f.states[f.synced]}, 0
	}
	m.reopen(t, m.kept)
}

func (m *machine) PowerLossOfNothing(t *rapid.T) {
	m.fs = m.w.power(faultdisk.LoseNone, 0)
	for _, f := range m.names {
		f.states, f.synced = [][]byte{f.now()}, 0
	}
	m.reopen(t, m.names)
}

func (m *machine) PowerLoss(t *rapid.T) {
	m.fs = m.w.power(faultdisk.LoseRandom, rapid.Uint64().Draw(t, "seed"))
	found := map[string]*modelFile{}
	for _, path := range m.w.d.Paths(faultdisk.Cached) {
		if strings.HasSuffix(path, "/") {
			continue
		}
		got, err := m.w.d.ReadFile(faultdisk.Cached, path)
		must(t, err)
		if !slices.ContainsFunc(m.candidates(path), func(f *modelFile) bool { return f != nil && f.mayBe(got) }) {
			t.Fatalf("%q holds %d bytes that no file there can have left", path, len(got))
		}
		found[path] = &modelFile{states: [][]byte{got}}
	}
	for _, path := range []string{"x", "y", "a/x", "a/y", "b/x", "b/y"} {
		if found[path] == nil && !slices.Contains(m.candidates(path), nil) {
			t.Fatalf("%q is lost, although it was synced and not removed since", path)
		}
	}
	m.reopen(t, found)
}

// candidates lists what a path may lead to: the durable file and every one since.
func (m *machine) candidates(path string) []*modelFile {
	all := []*modelFile{m.kept[path]}
	for i, c := range m.log {
		for k, p := range c.paths {
			if p == path && !m.done[i] {
				all = append(all, c.files[k])
			}
		}
	}
	return all
}

// mayBe says that a power loss can leave these bytes of the file: each sector as
// it was in some state since the last sync, or, where truncations cut through
// sectors, each byte.
func (f *modelFile) mayBe(got []byte) bool {
	states := f.states[f.synced:]
	smallest, largest, unit := len(states[0]), len(states[0]), faultdisk.SectorSize
	for i, s := range states {
		if i > 0 && len(s) < len(states[i-1]) {
			unit = 1
		}
		smallest, largest = min(smallest, len(s)), max(largest, len(s))
	}
	if len(got) < smallest || len(got) > largest {
		return false
	}
	for from := 0; from < len(got); from += unit {
		to := min(from+unit, len(got))
		same := func(s []byte) bool { return bytes.Equal(got[from:to], window(s, from, to)) }
		if !slices.ContainsFunc(states, same) {
			return false
		}
	}
	return true
}

// window is bytes [from, to) of s, zeros past its end.
func window(s []byte, from, to int) []byte {
	if to <= len(s) {
		return s[from:to]
	}
	w := make([]byte, to-from)
	if from < len(s) {
		copy(w, s[from:])
	}
	return w
}

func TestBehavesAsNamesWithBytesAndKeepsWhatWasSynced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"":               m.Check,
			"create":         m.Create,
			"remove":         m.Remove,
			"rename":         m.Rename,
			"write":          m.Write,
			"write more":     m.Write,
			"truncate":       m.Truncate,
			"sync":           m.Sync,
			"sync directory": m.SyncDir,
			"finish":         m.Finish,
			"finish more":    m.Finish,
			"forget a sync":  m.Forget,
			"power loss":     m.PowerLoss,
			"lose all":       m.PowerLossOfAll,
			"lose nothing":   m.PowerLossOfNothing,
		})
	})
}
