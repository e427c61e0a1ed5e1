package faultdisk_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// naive is a file as a list of sectors, each told by its first byte: what is
// durable, and everything done since, in order. It knows no pages and no cache.
type naive struct {
	d      *faultdisk.Disk
	f      *faultdisk.File
	fault  string
	cached []byte
	kept   []byte // durable
	ops    []naiveOp
	done   int // of ops: settled one way or another
	syncs  []*naiveSync
}

// naiveOp writes data at a sector, or, without data, cuts or grows to size.
type naiveOp struct {
	at, size int
	data     []byte
	grow     bool // it does not cut
}

type naiveSync struct {
	s      faultdisk.Sync
	end    int // ops before the call
	size   int
	failed bool
	lied   bool
	over   bool // settled
}

const perPage = faultdisk.PageSize / faultdisk.SectorSize

func resized(b []byte, size int) []byte {
	next := make([]byte, size)
	copy(next, b)
	return next
}

func applied(b []byte, ops []naiveOp) []byte {
	for _, o := range ops {
		if o.grow {
			b = resized(b, max(len(b), o.size))
			continue
		}
		if o.data == nil {
			b = resized(b, o.size)
			continue
		}
		b = resized(b, max(len(b), o.at+len(o.data)))
		copy(b[o.at:], o.data)
	}
	return b
}

func (m *naive) do(o naiveOp) {
	o.grow = o.data == nil && o.size > len(m.cached)
	m.ops = append(m.ops, o)
	m.cached = applied(m.cached, []naiveOp{o})
}

func (m *naive) Write(t *rapid.T) {
	at := rapid.IntRange(0, 40).Draw(t, "at")
	p := make([]byte, rapid.IntRange(1, 20).Draw(t, "sectors"))
	raw := make([]byte, len(p)*faultdisk.SectorSize)
	for i := range p {
		p[i] = byte(rapid.IntRange(1, 255).Draw(t, "byte"))
		raw[i*faultdisk.SectorSize] = p[i]
	}
	if _, err := m.f.WriteAt(raw, int64(at*faultdisk.SectorSize)); err != nil {
		t.Fatal(err)
	}
	m.do(naiveOp{at: at, data: p})
}

func (m *naive) Truncate(t *rapid.T) {
	size := rapid.IntRange(0, 6).Draw(t, "pages") * perPage
	if err := m.f.Truncate(int64(size * faultdisk.SectorSize)); err != nil {
		t.Fatal(err)
	}
	if size != len(m.cached) {
		m.do(naiveOp{size: size})
	}
}

func (m *naive) Sync(*rapid.T) {
	s, _ := m.f.Sync()
	m.syncs = append(m.syncs, &naiveSync{s: s, end: len(m.ops), size: len(m.cached)})
}

// Order sets the fault of the moment.
func (m *naive) Order(t *rapid.T) {
	m.d.Heal()
	all := faultdisk.Target{Path: "log"}
	m.fault = rapid.SampledFrom([]string{"", "keeps", "reverts", "gone", "lie", "lose", "misdirect"}).Draw(t, "fault")
	switch m.fault {
	case "keeps":
		m.d.FailSyncs(all, faultdisk.Keeps)
	case "reverts":
		m.d.FailSyncs(all, faultdisk.Reverts)
	case "gone":
		m.d.FailSyncs(all, faultdisk.Gone)
	case "lie":
		m.d.LieOnSyncs(all)
	case "lose":
		m.d.LoseWrites(all)
	case "misdirect":
		m.d.MisdirectWrites(all)
	}
}

func (m *naive) Finish(t *rapid.T) {
	open := slices.DeleteFunc(slices.Clone(m.syncs), func(s *naiveSync) bool { return s.lied })
	if len(open) == 0 {
		t.Skip("nothing in flight")
	}
	s := open[rapid.IntRange(0, len(open)-1).Draw(t, "sync")]
	known, err := m.d.Finish(s.s)
	if !known {
		t.Fatal("the sync is not known")
	}
	failed := s.failed
	if m.fault == "lie" && !s.over {
		s.lied = true
	} else {
		for _, e := range m.syncs[:slices.Index(m.syncs, s)+1] {
			if !s.over && !e.over || e == s {
				m.settle(e)
				failed = failed || e.failed
			}
		}
		m.syncs = slices.DeleteFunc(m.syncs, func(e *naiveSync) bool { return e == s || e.lied && e.over })
	}
	if failed != errors.Is(err, disk.ErrIO) {
		t.Fatalf("the sync ended with %v under fault %q", err, m.fault)
	}
}

func (m *naive) settle(s *naiveSync) {
	if s.over {
		return
	}
	s.over = true
	seg := m.ops[m.done:s.end]
	m.done = s.end
	switch m.fault {
	case "":
		m.kept = resized(applied(m.kept, seg), s.size)
	case "keeps":
		s.failed = true
		m.kept = resized(cut(m.kept, seg), s.size)
	case "gone":
		s.failed = true
		m.kept = resized(cut(m.kept, seg), s.size)
		m.cached = resized(applied(m.kept, m.ops[m.done:]), len(m.cached))
	case "reverts":
		s.failed = true
		for _, e := range m.syncs {
			if e.s > s.s && !e.over {
				e.size = m.without(m.ops[m.done:e.end], e.size)
			}
		}
		newer := m.ops[m.done:]
		m.cached = resized(applied(m.kept, newer), m.without(newer, len(m.cached)))
	case "lose":
		m.kept = resized(cut(m.kept, seg), s.size)
	case "misdirect":
		m.misdirect(s, seg)
	}
}

// without is the size of a version that is reverted to what is durable, but for
// the operations that came after.
func (m *naive) without(newer []naiveOp, size int) int {
	switch {
	case len(newer) == 0:
		return len(m.kept)
	case slices.ContainsFunc(newer, func(o naiveOp) bool { return o.data == nil && !o.grow }):
		return size
	}
	return max(size, len(m.kept))
}

// cut is what truncations leave.
func cut(b []byte, ops []naiveOp) []byte {
	for _, o := range ops {
		if o.data == nil && o.size < len(b) {
			b = b[:o.size]
		}
	}
	return b
}

func (m *naive) misdirect(s *naiveSync, seg []naiveOp) {
	dirty := map[int]byte{}
	for _, o := range seg {
		for i, v := range o.data {
			dirty[o.at+i] = v
		}
		for at := range dirty {
			if o.data == nil && at >= o.size {
				delete(dirty, at)
			}
		}
	}
	m.kept = cut(m.kept, seg)
	for at := range s.size {
		if v, ok := dirty[at]; ok && at >= perPage {
			m.kept = resized(m.kept, max(len(m.kept), at-perPage+1))
			m.kept[at-perPage] = v
		}
	}
	m.kept = resized(m.kept, s.size)
}

func (m *naive) Rot(t *rapid.T) {
	at := rapid.IntRange(0, 60).Draw(t, "sector")
	hit, err := m.d.Rot(faultdisk.Durable, "log", int64(at*faultdisk.SectorSize), 3)
	if err != nil {
		t.Fatal(err)
	}
	if there := at < len(m.kept) && at < len(m.cached); there != hit {
		t.Fatalf("rot at sector %d of %d: %v", at, len(m.kept), hit)
	}
	if hit {
		m.kept = slices.Clone(m.kept)
		m.kept[at] ^= 1 << 3
	}
}

func (m *naive) PowerLoss(t *rapid.T) {
	if rapid.Bool().Draw(t, "lose nothing") {
		m.kept = resized(applied(m.kept, m.ops[m.done:]), len(m.cached))
		m.power(t, faultdisk.LoseNone)
	} else {
		m.power(t, faultdisk.LoseAll)
	}
}

func (m *naive) power(t *rapid.T, l faultdisk.Loss) {
	if err := m.d.PowerLoss(l, nil); err != nil {
		t.Fatal(err)
	}
	m.cached, m.ops, m.done, m.syncs = m.kept, nil, 0, nil
	f, err := m.d.Open("log")
	if err != nil {
		t.Fatal(err)
	}
	m.f = f
	// All of it is in memory again, which hides what happens to the medium.
	if n, err := f.ReadAt(make([]byte, len(m.cached)*faultdisk.SectorSize), 0); err != nil {
		t.Fatal(n, err)
	}
}

func (m *naive) Check(t *rapid.T) {
	for side, want := range map[faultdisk.Side][]byte{faultdisk.Cached: m.cached, faultdisk.Durable: m.kept} {
		p, err := m.d.ReadFile(side, "log")
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for at := 0; at < len(p); at += faultdisk.SectorSize {
			got = append(got, p[at])
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("fault %q, side %d: %s", m.fault, side, difference(got, want))
		}
	}
}

func difference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("sector %d holds %d, want %d (%d sectors, want %d)", i, got[i], want[i], len(got), len(want))
		}
	}
	return fmt.Sprintf("%d sectors, want %d", len(got), len(want))
}

func TestEveryFaultOfSyncsAndOfTheDeviceDoesWhatANaiveFileSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &naive{d: newDisk(t)}
		f, err := m.d.Create("log")
		if err != nil {
			t.Fatal(err)
		}
		m.f = f
		if _, err := m.d.Finish(m.d.SyncDir("")); err != nil {
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.Check, "write": m.Write, "write more": m.Write, "truncate": m.Truncate, "sync": m.Sync, "finish": m.Finish,
			"finish more": m.Finish, "order": m.Order, "rot": m.Rot, "power loss": m.PowerLoss,
		})
	})
}
