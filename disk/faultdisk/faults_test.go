package faultdisk_test

import (
	"errors"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

var everything = faultdisk.Target{Path: "*"}

// synced makes a file that is durable with its name, and nothing of it in memory.
func synced(t *testing.T, d *faultdisk.Disk, name, content string) *faultdisk.File {
	t.Helper()
	s, _ := write(t, d, name, content).Sync()
	finish(t, d, s, nil)
	finish(t, d, d.SyncDir(""), nil)
	must(t, d.PowerLoss(faultdisk.LoseAll, nil))
	return open(t, d, name)
}

func open(t *testing.T, d *faultdisk.Disk, name string) *faultdisk.File {
	t.Helper()
	f, err := d.Open(name)
	must(t, err)
	return f
}

func reads(t *testing.T, f *faultdisk.File, want string) {
	t.Helper()
	p := make([]byte, len(want))
	if _, err := f.ReadAt(p, 0); err != nil || string(p) != want {
		t.Fatalf("read %q: %v; want %q", p, err, want)
	}
}

func counts(t *testing.T, what string, got faultdisk.Count, fired, effective uint64) {
	t.Helper()
	if (got != faultdisk.Count{Fired: fired, Effective: effective}) {
		t.Errorf("%s is counted as %+v, want fired %d, effective %d", what, got, fired, effective)
	}
}

func TestReadErrorStrikesTheDeviceAndNotThePageCache(t *testing.T) {
	d := newDisk(t)
	f := synced(t, d, "log", strings.Repeat("x", 3*faultdisk.PageSize))
	reads(t, f, "xxx")
	d.FailReads(faultdisk.Target{Path: "log"})
	reads(t, f, "xxx")
	counts(t, "an error that nobody met", d.Stats().ReadError, 1, 0)
	for range 2 {
		if _, err := f.ReadAt(make([]byte, 1), faultdisk.PageSize); !errors.Is(err, disk.ErrIO) || !strings.Contains(err.Error(), `read "log"`) {
			t.Errorf("a cold read gave %v", err)
		}
	}
	if err := f.ReadRegion(make([]byte, 1), faultdisk.PageSize); !errors.Is(err, disk.ErrIO) {
		t.Errorf("a region gave %v", err)
	}
	if n, err := f.WriteAt([]byte("y"), faultdisk.PageSize); n != 0 || !errors.Is(err, disk.ErrIO) {
		t.Errorf("a write into a page that cannot be read gave %d, %v", n, err)
	}
	counts(t, "the error", d.Stats().ReadError, 1, 1)
	d.Heal()
	reads(t, f, strings.Repeat("x", 3*faultdisk.PageSize))
}

func TestTargetChoosesByPatternRangeAndNumber(t *testing.T) {
	d := newDisk(t)
	must(t, d.Mkdir("t-0"))
	must(t, d.Mkdir("t-1"))
	f, other := write(t, d, "t-0/00.log", ""), write(t, d, "t-1/00.log", "")
	try := func(f *faultdisk.File, off int64) bool {
		_, err := f.WriteAt([]byte("x"), off)
		return err != nil
	}
	for _, c := range []struct {
		target faultdisk.Target
		want   [6]bool // f at 0, f at 10, f at 20, other at 10, f at 10, f at 10
	}{
		{everything, [6]bool{true, true, true, true, true, true}},
		{faultdisk.Target{Path: "t-0"}, [6]bool{true, true, true, false, true, true}},
		{faultdisk.Target{Path: "t-0/*.log", From: 10, To: 20}, [6]bool{false, true, false, false, true, true}},
		{faultdisk.Target{Path: "t-0/*.index"}, [6]bool{}},
		{faultdisk.Target{Path: "t-?", From: 10, Op: 3}, [6]bool{false, false, false, true, false, false}},
	} {
		d.FailWrites(c.target, false)
		got := [6]bool{try(f, 0), try(f, 10), try(f, 20), try(other, 10), try(f, 10), try(f, 10)}
		if got != c.want {
			t.Errorf("%+v struck %v, want %v", c.target, got, c.want)
		}
		d.Heal()
	}
	for _, bad := range []faultdisk.Target{{}, {Path: "["}, {Path: "*", From: 5, To: 5}, {Path: "*", From: -1}, {Path: "*", Op: -1}} {
		if bad.Check() == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestShortWriteLetsHalfOfTheBytesInAndFails(t *testing.T) {
	d := newDisk(t)
	f := write(t, d, "log", "old")
	d.FailWrites(everything, true)
	if n, err := f.WriteAt([]byte("123456"), 3); n != 3 || !errors.Is(err, disk.ErrIO) {
		t.Errorf("wrote %d: %v", n, err)
	}
	if err := f.Truncate(1); !errors.Is(err, disk.ErrIO) {
		t.Errorf("the truncation gave %v", err)
	}
	if got := read(t, d, faultdisk.Cached, "log"); got != "old123" {
		t.Errorf("the file holds %q", got)
	}
	counts(t, "the error", d.Stats().WriteError, 1, 1)
}

func TestFullDiskTakesWhatFitsAndNoName(t *testing.T) {
	d := newDisk(t)
	f := write(t, d, "log", "12345")
	write(t, d, "other", "12345")
	d.LimitSpace(13)
	if n, err := f.WriteAt([]byte("abcdef"), 3); n != 5 || !errors.Is(err, disk.ErrNoSpace) {
		t.Errorf("wrote %d: %v", n, err)
	}
	if got := read(t, d, faultdisk.Cached, "log"); got != "123abcde" {
		t.Errorf("the file holds %q", got)
	}
	if _, err := f.WriteAt([]byte("over"), 0); err != nil {
		t.Errorf("overwriting gave %v", err)
	}
	if err := f.Truncate(9); !errors.Is(err, disk.ErrNoSpace) {
		t.Errorf("growing gave %v", err)
	}
	if _, err := d.Create("more"); !errors.Is(err, disk.ErrNoSpace) {
		t.Errorf("a new name gave %v", err)
	}
	counts(t, "the limit", d.Stats().NoSpace, 1, 1)
	must(t, f.Truncate(2))
	if n, err := f.WriteAt([]byte("abcdef"), 2); n != 6 || err != nil {
		t.Errorf("after making space: wrote %d: %v", n, err)
	}
	d.Heal()
	if n, err := f.WriteAt(make([]byte, 100), 0); n != 100 || err != nil {
		t.Errorf("after the heal: wrote %d: %v", n, err)
	}
}

// What the file held, what a failed append of a page after it makes of it at
// once, and what the next sync and a power loss leave.
func TestFailedSyncHasThreeAftermathsAndTheNextSyncSucceeds(t *testing.T) {
	old, lost := strings.Repeat("o", faultdisk.PageSize), strings.Repeat("n", faultdisk.PageSize)
	zeros := strings.Repeat("\x00", faultdisk.PageSize)
	for _, c := range []struct {
		name          string
		after         faultdisk.Aftermath
		cached, later string
	}{
		{"keeps", faultdisk.Keeps, old + lost, old + zeros},
		{"reverts", faultdisk.Reverts, old, old},
		{"gone", faultdisk.Gone, old + zeros, old + zeros},
	} {
		d := newDisk(t)
		f := synced(t, d, "log", old)
		d.FailSyncs(faultdisk.Target{Path: "log", Op: 1}, c.after)
		_, err := f.WriteAt([]byte(lost), faultdisk.PageSize)
		must(t, err)
		s, _ := f.Sync()
		finish(t, d, s, disk.ErrIO)
		if got := read(t, d, faultdisk.Cached, "log"); got != c.cached {
			t.Errorf("%s: readers see %d bytes, the second page %.3q", c.name, len(got), got[min(len(got), faultdisk.PageSize):])
		}
		s, dirty := f.Sync()
		finish(t, d, s, nil)
		if dirty != 0 {
			t.Errorf("%s: the next sync found %d dirty bytes", c.name, dirty)
		}
		must(t, d.PowerLoss(faultdisk.LoseNone, nil))
		if got := read(t, d, faultdisk.Cached, "log"); got != c.later {
			t.Errorf("%s: the power loss left %d bytes, the second page %.3q", c.name, len(got), got[min(len(got), faultdisk.PageSize):])
		}
		counts(t, c.name, d.Stats().SyncError, 1, 1)
	}
}

func TestEvictionShowsWhatAFailedSyncLost(t *testing.T) {
	d := newDisk(t)
	d.SetPageCache(0)
	f := synced(t, d, "log", "old")
	d.FailSyncs(everything, faultdisk.Keeps)
	write(t, d, "log", "new")
	s, _ := f.Sync()
	finish(t, d, s, disk.ErrIO)
	d.Heal()
	reads(t, f, "new")
	big := write(t, d, "big", strings.Repeat("x", 20*faultdisk.PageSize))
	reads(t, big, strings.Repeat("x", 20*faultdisk.PageSize))
	reads(t, f, "old")
}

func TestWriteBackThatFailsIsToldByTheNextSync(t *testing.T) {
	d := newDisk(t)
	d.SetPageCache(0)
	d.FailSyncs(faultdisk.Target{Path: "log", Op: 1}, faultdisk.Keeps)
	f := write(t, d, "log", strings.Repeat("x", 5*faultdisk.PageSize))
	if forced := d.Forced(); forced != 5*faultdisk.PageSize {
		t.Fatalf("%d bytes were written back", forced)
	}
	s, dirty := f.Sync()
	finish(t, d, s, disk.ErrIO)
	if dirty != 0 {
		t.Errorf("the sync found %d dirty bytes", dirty)
	}
	s, _ = f.Sync()
	finish(t, d, s, nil)
}

func TestForcedWriteBackIsDurable(t *testing.T) {
	d := newDisk(t)
	d.SetPageCache(0)
	write(t, d, "log", strings.Repeat("x", 3*faultdisk.PageSize))
	finish(t, d, d.SyncDir(""), nil)
	if got := read(t, d, faultdisk.Durable, "log"); got != "" {
		t.Fatalf("three of sixteen pages were written back")
	}
	write(t, d, "log", strings.Repeat("y", 4*faultdisk.PageSize))
	must(t, d.PowerLoss(faultdisk.LoseAll, nil))
	if got := read(t, d, faultdisk.Cached, "log"); got != strings.Repeat("y", 4*faultdisk.PageSize) {
		t.Errorf("four of sixteen pages were not written back: %d bytes", len(got))
	}
}

func TestLyingSyncIsFoundOutByAPowerLossAndMendedByAnHonestOne(t *testing.T) {
	for _, honest := range []bool{false, true} {
		d := newDisk(t)
		f := synced(t, d, "log", "old")
		d.LieOnSyncs(everything)
		write(t, d, "log", "new")
		write(t, d, "name", "")
		s, _ := f.Sync()
		finish(t, d, s, nil)
		finish(t, d, d.SyncDir(""), nil)
		if got := read(t, d, faultdisk.Durable, "log"); got != "old" {
			t.Fatalf("%q is durable", got)
		}
		d.Heal()
		want, effective := "old", uint64(1)
		if honest {
			s, _ := f.Sync()
			finish(t, d, s, nil)
			finish(t, d, d.SyncDir(""), nil)
			want, effective = "new", 0
		}
		must(t, d.PowerLoss(faultdisk.LoseAll, nil))
		if got := read(t, d, faultdisk.Cached, "log"); got != want {
			t.Errorf("honest %v: the power loss left %q", honest, got)
		}
		if _, err := d.Open("name"); (err == nil) != honest {
			t.Errorf("honest %v: the name gave %v", honest, err)
		}
		counts(t, "the lie", d.Stats().LyingSync, 1, effective)
	}
}

func TestALieAboutANameAloneCountsWhenTheNameIsLost(t *testing.T) {
	d := newDisk(t)
	d.LieOnSyncs(everything)
	write(t, d, "log", "")
	finish(t, d, d.SyncDir(""), nil)
	must(t, d.PowerLoss(faultdisk.LoseAll, nil))
	counts(t, "the lie", d.Stats().LyingSync, 1, 1)
}

func TestALieThatNothingWasLostByIsNotEffective(t *testing.T) {
	d := newDisk(t)
	f := synced(t, d, "log", "old")
	d.LieOnSyncs(everything)
	write(t, d, "log", "lie")
	s, _ := f.Sync()
	finish(t, d, s, nil)
	write(t, d, "log", "new")
	must(t, d.PowerLoss(faultdisk.LoseAll, nil))
	counts(t, "a lie about bytes that were written again", d.Stats().LyingSync, 1, 0)
}

func TestLostWriteShowsAfterTheReboot(t *testing.T) {
	d := newDisk(t)
	f := synced(t, d, "log", "old")
	d.LoseWrites(faultdisk.Target{Path: "log"})
	write(t, d, "log", "new!")
	s, _ := f.Sync()
	finish(t, d, s, nil)
	reads(t, f, "new!")
	counts(t, "a lost write that the cache hides", d.Stats().LostWrite, 1, 0)
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	reads(t, open(t, d, "log"), "old\x00")
	counts(t, "the lost write", d.Stats().LostWrite, 1, 1)
}

func TestMisdirectedWriteHitsThePageBefore(t *testing.T) {
	old := strings.Repeat("a", faultdisk.PageSize) + strings.Repeat("b", faultdisk.PageSize)
	d := newDisk(t)
	f := synced(t, d, "log", old)
	reads(t, f, old)
	d.MisdirectWrites(faultdisk.Target{Path: "log"})
	_, err := f.WriteAt([]byte(strings.Repeat("N", faultdisk.SectorSize)), faultdisk.PageSize)
	must(t, err)
	s, _ := f.Sync()
	finish(t, d, s, nil)
	reads(t, f, old[:faultdisk.PageSize]+strings.Repeat("N", faultdisk.SectorSize)+old[faultdisk.PageSize+faultdisk.SectorSize:])
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	counts(t, "a misdirected write that the cache hid", d.Stats().Misdirected, 1, 0)
	f = open(t, d, "log")
	reads(t, f, strings.Repeat("N", faultdisk.SectorSize)+old[faultdisk.SectorSize:])
	counts(t, "the misdirected write", d.Stats().Misdirected, 1, 1)
}

func TestRotOnTheMediumHidesBehindThePageCacheAndHealsWhenOverwritten(t *testing.T) {
	d := newDisk(t)
	f := synced(t, d, "log", "old")
	reads(t, f, "old")
	if hit, err := d.Rot(faultdisk.Durable, "log", 1, 0); !hit || err != nil {
		t.Fatal(hit, err)
	}
	reads(t, f, "old")
	counts(t, "hidden rot", d.Stats().Rot, 1, 0)
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	if got := read(t, d, faultdisk.Cached, "log"); got != "omd" {
		t.Fatalf("an audit sees %q", got)
	}
	counts(t, "rot that only an audit saw", d.Stats().Rot, 1, 0)
	reads(t, open(t, d, "log"), "omd")
	counts(t, "rot", d.Stats().Rot, 1, 1)

	if hit, _ := d.Rot(faultdisk.Durable, "log", 2, 0); !hit {
		t.Fatal("missed")
	}
	s, _ := write(t, d, "log", "new").Sync()
	finish(t, d, s, nil)
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	reads(t, open(t, d, "log"), "new")
	counts(t, "rot that was overwritten", d.Stats().Rot, 2, 1)
	for _, off := range []int64{3, -1} {
		if hit, _ := d.Rot(faultdisk.Durable, "log", off, 0); hit {
			t.Errorf("byte %d rotted, of three", off)
		}
	}
	if hit, _ := d.Rot(faultdisk.Durable, "gone", 0, 0); hit {
		t.Error("a file that is not there rotted")
	}
}

func TestRotInThePageCacheGoesWithThePage(t *testing.T) {
	d := newDisk(t)
	f := synced(t, d, "log", "old")
	if hit, _ := d.Rot(faultdisk.Cached, "log", 0, 0); hit {
		t.Fatal("a page that is not in memory rotted there")
	}
	reads(t, f, "old")
	if hit, err := d.Rot(faultdisk.Cached, "log", 0, 0); !hit || err != nil {
		t.Fatal(hit, err)
	}
	counts(t, "rot that nobody read", d.Stats().Rot, 2, 0)
	reads(t, f, "nld")
	counts(t, "rot", d.Stats().Rot, 2, 1)
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	reads(t, open(t, d, "log"), "old")
}

func TestDirectorySyncThatFailsLeavesItsNamesPending(t *testing.T) {
	d := newDisk(t)
	write(t, d, "log", "")
	d.FailSyncs(faultdisk.Target{Path: "*", Op: 1}, faultdisk.Keeps)
	finish(t, d, d.SyncDir(""), disk.ErrIO)
	if got := d.Paths(faultdisk.Durable); len(got) != 0 {
		t.Fatalf("%q is durable", got)
	}
	finish(t, d, d.SyncDir(""), nil)
	if got := d.Paths(faultdisk.Durable); len(got) != 1 {
		t.Fatalf("%q is durable", got)
	}
}

func TestMisdirectedWriteOverAPageOfTheSameSyncIsHiddenByTheCacheToo(t *testing.T) {
	first, second := strings.Repeat("1", faultdisk.PageSize), strings.Repeat("2", faultdisk.PageSize)
	d := newDisk(t)
	f := synced(t, d, "log", strings.Repeat("o", 2*faultdisk.PageSize))
	d.MisdirectWrites(faultdisk.Target{Path: "log", Op: 2})
	_, err := f.WriteAt([]byte(first+second), 0)
	must(t, err)
	s, _ := f.Sync()
	finish(t, d, s, nil)
	reads(t, f, first+second)
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	reads(t, open(t, d, "log"), second+strings.Repeat("o", faultdisk.PageSize))
}
