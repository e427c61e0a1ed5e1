package disktest

import (
	"cmp"
	"slices"

	"tidemark/disk"
)

// syncs are the promises about completions.
var syncs = []promise{
	{"every sync completes once with its token", func(t *try) {
		t.must(t.FS.Mkdir("dir"))
		f, g := t.create("f", "abc"), t.create("dir/g", "def")
		f.Sync(11)
		g.Sync(12)
		t.FS.SyncDir(13, "")
		f.Sync(14)
		t.FS.SyncDir(15, "dir")
		done := t.Drain()
		slices.SortFunc(done, func(a, b Completion) int { return cmp.Compare(a.Token, b.Token) })
		if len(done) != 5 {
			t.Fatalf("5 syncs gave the completions %v", done)
		}
		for i, c := range done {
			if c.Token != disk.Token(11+i) || c.Err != nil {
				t.Fatalf("completion %d is %v", i, c)
			}
		}
		if again := t.Drain(); len(again) != 0 {
			t.Fatalf("more completions came: %v", again)
		}
	}},
	{"a sync changes nothing that readers see", func(t *try) {
		f := t.create("log", pattern(10_000))
		f.Sync(t.token())
		t.write(f, 100, "while the sync is on its way")
		want := pattern(10_000)[:100] + "while the sync is on its way" + pattern(10_000)[128:]
		t.holds(f, want)
		t.completes(nil)
		t.holds(f, want)
	}},
	{"a sync of a file that is closed and removed meanwhile completes", func(t *try) {
		f := t.create("log", "abc")
		f.Sync(t.token())
		t.must(f.Close())
		t.must(t.FS.Remove("log"))
		t.completes(nil)
	}},
	{"a sync of a missing directory completes with an error", func(t *try) {
		t.FS.SyncDir(t.token(), "gone")
		t.completes(disk.ErrNotExist)
	}},
}

// crashes are the promises about what a power loss leaves.
var crashes = []promise{
	{"what was synced with its name survives", func(t *try) {
		t.must(t.FS.Mkdir("t-0"))
		f := t.create("t-0/log", pattern(10_000))
		t.syncDir("")
		t.syncDir("t-0")
		t.sync(f)
		t.crash()
		t.finds("t-0/log", pattern(10_000))
	}},
	{"a sync covers the writes before the call, over those of an earlier one", func(t *try) {
		f := t.create("log", pattern(10_000))
		t.syncDir("")
		f.Sync(21)
		t.write(f, 0, "second")
		t.write(f, 10_000, "tail")
		f.Sync(22)
		t.Drain()
		t.crash()
		t.finds("log", "second"+pattern(10_000)[6:]+"tail")
	}},
	{"a synced truncation survives", func(t *try) {
		f := t.create("log", pattern(10_000))
		t.syncDir("")
		t.sync(f)
		t.must(f.Truncate(700))
		t.write(f, 9_000, "end")
		t.sync(f)
		t.crash()
		t.finds("log", pattern(700)+zeros(8_300)+"end")
	}},
	{"a synced rename survives, and the old target is gone", func(t *try) {
		t.sync(t.create("log", "old"))
		t.syncDir("")
		t.sync(t.create("log.tmp", "new"))
		t.must(t.FS.Rename("log.tmp", "log"))
		t.syncDir("")
		t.crash()
		t.lists("", "log")
		t.finds("log", "new")
	}},
	{"a rename that was not synced leaves the old or the new file whole", func(t *try) {
		t.sync(t.create("log", "old"))
		t.syncDir("")
		t.sync(t.create("log.tmp", "new"))
		t.must(t.FS.Rename("log.tmp", "log"))
		t.crash()
		f := t.open("log")
		if got := t.content(f); got != "old" && got != "new" {
			t.Fatalf("the file holds %s", brief(got))
		}
	}},
	{"a synced removal survives", func(t *try) {
		t.must(t.FS.Mkdir("dir"))
		t.create("dir/log", "")
		t.syncDir("")
		t.syncDir("dir")
		t.must(t.FS.Remove("dir/log"))
		t.must(t.FS.Remove("dir"))
		t.syncDir("")
		t.crash()
		t.lists("")
	}},
	{"the dead cannot be used and the next life can", func(t *try) {
		f := t.create("log", "abc")
		t.syncDir("")
		r := f.Region(0, 3)
		old := t.FS
		t.crash()
		_, err := f.WriteAt([]byte("x"), 0)
		t.wants(err, disk.ErrClosed)
		_, err = old.Open("log")
		t.wants(err, disk.ErrClosed)
		t.wants(r.Read(make([]byte, 3)), disk.ErrClosed)
		r.Release()
		t.write(t.open("log"), 0, "new")
		t.finds("log", "new")
	}},
}
