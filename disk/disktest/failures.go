package disktest

import (
	"errors"

	"tidemark/disk"
)

// failures are the promises about a device that refuses. A disk that cannot be
// told to do so skips them.
var failures = []promise{
	{"a full disk takes what fits and says how much that was", func(t *try) {
		f := t.create("log", "12345")
		t.full(4)
		n, err := f.WriteAt([]byte("abcdefgh"), 3)
		t.wants(err, disk.ErrNoSpace)
		if n != 6 {
			t.Fatalf("%d bytes were written, want 2 over the old ones and 4 more", n)
		}
		t.holds(f, "123abcdef")
		t.write(f, 0, "overwrite")
		t.wants(f.Truncate(20), disk.ErrNoSpace)
		t.holds(f, "overwrite")
	}},
	{"a full disk is no obstacle to making space", func(t *try) {
		f := t.create("log", "12345")
		t.must(t.create("old", "12345").Close())
		t.full(0)
		_, err := t.FS.Create("new")
		t.wants(err, disk.ErrNoSpace)
		t.wants(t.FS.Mkdir("dir"), disk.ErrNoSpace)
		t.must(f.Truncate(2))
		t.write(f, 2, "345")
		t.must(t.FS.Remove("old"))
		t.must(t.FS.Rename("log", "log2"))
		t.write(f, 5, "67890")
		t.finds("log2", "1234567890")
	}},
	{"a write that fails leaves a part of it or nothing, and the handle open", func(t *try) {
		f := t.create("log", "12345")
		t.breaks(Write)
		n, err := f.WriteAt([]byte("abc"), 5)
		t.wants(err, disk.ErrIO)
		t.holds(f, "12345"+"abc"[:n])
		t.write(f, 5, "abc")
		t.holds(f, "12345abc")
	}},
	{"a sync that fails says so with its own token, and so does no other", func(t *try) {
		f, g := t.create("log", "12345"), t.create("other", "12345")
		t.breaks(Sync)
		f.Sync(11)
		done := t.Drain()
		g.Sync(12)
		f.Sync(13)
		done = append(done, t.Drain()...)
		for _, c := range done {
			if failed := errors.Is(c.Err, disk.ErrIO); failed != (c.Token == 11) {
				t.Fatalf("completions are %v, want an error of token 11", done)
			}
		}
		if len(done) != 3 {
			t.Fatalf("three syncs gave %v", done)
		}
	}},
	{"a directory sync that fails says so", func(t *try) {
		t.create("log", "")
		t.breaks(Sync)
		t.FS.SyncDir(t.token(), "")
		t.completes(disk.ErrIO)
	}},
}

// full leaves room for n bytes.
func (t *try) full(n int64) {
	if t.Full == nil {
		t.Skip("this disk cannot be filled")
	}
	t.Full(n)
}

// breaks lets the next operation of a kind fail.
func (t *try) breaks(o Operation) {
	if t.Break == nil {
		t.Skip("this disk cannot be broken")
	}
	t.Break(o)
}
