package disktest

import (
	"io"

	"tidemark/disk"
)

// reads checks what a region gives now.
func (t *try) reads(r disk.Region, want string) {
	t.Helper()
	p := make([]byte, r.N)
	t.must(r.Read(p))
	if string(p) != want {
		t.Fatalf("the region reads %s, want %s", brief(string(p)), brief(want))
	}
}

// regions are the promises about bytes that are read later.
var regions = []promise{
	{"a region reads the bytes of the moment it is read", func(t *try) {
		f := t.create("log", "0123456789")
		r := f.Region(2, 5)
		t.reads(r, "23456")
		t.write(f, 4, "XX")
		t.reads(r, "23XX6")
		r.Release()
	}},
	{"the zero region is empty and can be released", func(t *try) {
		var r disk.Region
		t.reads(r, "")
		r.Release()
	}},
	{"a region of a file that is too short fails until the file has grown back", func(t *try) {
		f := t.create("log", "0123456789")
		r := f.Region(5, 5)
		t.must(f.Truncate(9))
		t.wants(r.Read(make([]byte, 5)), io.ErrUnexpectedEOF)
		t.write(f, 9, "Z")
		t.reads(r, "5678Z")
		r.Release()
	}},
	{"a region that never was inside the file is told only when read", func(t *try) {
		f := t.create("log", "0123456789")
		r := f.Region(8, 5)
		t.wants(r.Read(make([]byte, 5)), io.ErrUnexpectedEOF)
		r.Release()
	}},
	{"regions hold a file open that was removed and closed", func(t *try) {
		f := t.create("log", "0123456789")
		r, q := f.Region(0, 4), f.Region(4, 4)
		t.must(t.FS.Remove("log"))
		t.must(f.Close())
		t.reads(r, "0123")
		r.Release()
		t.reads(q, "4567")
		q.Release()
		t.wants(q.Read(make([]byte, 4)), disk.ErrClosed)
	}},
	{"a retained region outlives one release", func(t *try) {
		f := t.create("log", "0123456789")
		r := f.Region(0, 4)
		r.Src.Retain()
		t.must(f.Close())
		r.Release()
		t.reads(r, "0123")
		r.Release()
	}},
	{"a region of a closed file cannot be read", func(t *try) {
		f := t.create("log", "0123456789")
		t.must(f.Close())
		r := f.Region(0, 4)
		t.wants(r.Read(make([]byte, 4)), disk.ErrClosed)
		r.Release()
	}},
}
