package disktest

import "tidemark/disk"

// names are the promises about files and directories by name.
var names = []promise{
	{"a created file is empty and can be opened by name", func(t *try) {
		f := t.create("log", "")
		t.holds(f, "")
		t.write(f, 0, "abc")
		t.finds("log", "abc")
	}},
	{"creating a name that is taken fails and changes nothing", func(t *try) {
		t.create("log", "abc")
		_, err := t.FS.Create("log")
		t.wants(err, disk.ErrExist)
		t.must(t.FS.Mkdir("dir"))
		_, err = t.FS.Create("dir")
		t.wants(err, disk.ErrExist)
		t.wants(t.FS.Mkdir("log"), disk.ErrExist)
		t.wants(t.FS.Mkdir("dir"), disk.ErrExist)
		t.finds("log", "abc")
	}},
	{"a missing name is told as such by every operation", func(t *try) {
		_, err := t.FS.Open("gone")
		t.wants(err, disk.ErrNotExist)
		_, err = t.FS.Create("gone/log")
		t.wants(err, disk.ErrNotExist)
		_, err = t.FS.List("gone")
		t.wants(err, disk.ErrNotExist)
		t.wants(t.FS.Remove("gone"), disk.ErrNotExist)
		t.wants(t.FS.Mkdir("gone/dir"), disk.ErrNotExist)
		t.wants(t.FS.Rename("gone", "log"), disk.ErrNotExist)
		t.create("log", "")
		t.wants(t.FS.Rename("log", "gone/log"), disk.ErrNotExist)
	}},
	{"a rename moves the file under its handles", func(t *try) {
		f := t.create("log.tmp", "abc")
		t.must(t.FS.Rename("log.tmp", "log"))
		t.write(f, 3, "def")
		t.finds("log", "abcdef")
		t.lists("", "log")
	}},
	{"a rename replaces the target, whose handles keep the old file", func(t *try) {
		old := t.create("log", "old")
		t.create("log.tmp", "new")
		t.must(t.FS.Rename("log.tmp", "log"))
		t.finds("log", "new")
		t.holds(old, "old")
		t.lists("", "log")
	}},
	{"a rename replaces no directory", func(t *try) {
		t.must(t.FS.Mkdir("dir"))
		t.must(t.FS.Mkdir("t-0"))
		t.create("t-0/log", "abc")
		t.create("log", "def")
		for _, r := range [][2]string{{"log", "t-0"}, {"dir", "log"}, {"dir", "t-0"}, {"t-0", "t-0/sub"}} {
			if t.FS.Rename(r[0], r[1]) == nil {
				t.Fatalf("%q was renamed to %q", r[0], r[1])
			}
		}
		t.lists("", "dir/", "log", "t-0/")
		t.finds("t-0/log", "abc")
	}},
	{"a rename onto itself changes nothing", func(t *try) {
		t.create("log", "abc")
		t.must(t.FS.Rename("log", "log"))
		t.finds("log", "abc")
	}},
	{"a directory is renamed with all that is in it", func(t *try) {
		t.must(t.FS.Mkdir("t-0"))
		f := t.create("t-0/log", "abc")
		t.must(t.FS.Rename("t-0", "t-0-delete"))
		t.write(f, 3, "def")
		t.finds("t-0-delete/log", "abcdef")
		_, err := t.FS.Open("t-0/log")
		t.wants(err, disk.ErrNotExist)
	}},
	{"a rename goes from one directory to another", func(t *try) {
		t.must(t.FS.Mkdir("a"))
		t.must(t.FS.Mkdir("b"))
		t.create("a/log", "abc")
		t.must(t.FS.Rename("a/log", "b/old"))
		t.lists("a")
		t.finds("b/old", "abc")
	}},
	{"a removed file stays readable through its handles", func(t *try) {
		f := t.create("log", "abc")
		t.must(t.FS.Remove("log"))
		t.lists("")
		t.write(f, 3, "def")
		t.holds(f, "abcdef")
		t.create("log", "new")
		t.holds(f, "abcdef")
		t.finds("log", "new")
		t.must(f.Close())
	}},
	{"only an empty directory can be removed", func(t *try) {
		t.must(t.FS.Mkdir("dir"))
		t.create("dir/log", "")
		if t.FS.Remove("dir") == nil {
			t.Fatal("a directory with a file in it was removed")
		}
		t.must(t.FS.Remove("dir/log"))
		t.must(t.FS.Remove("dir"))
		t.lists("")
	}},
	{"a listing is sorted and marks directories", func(t *try) {
		t.create("b", "")
		t.create("a", "")
		t.must(t.FS.Mkdir("c"))
		t.create("c-", "")
		t.must(t.FS.Mkdir("c/e"))
		t.create("c/d", "")
		t.lists("", "a", "b", "c-", "c/")
		t.lists("c", "d", "e/")
	}},
	{"a directory is no file and a file no directory", func(t *try) {
		t.must(t.FS.Mkdir("dir"))
		t.create("log", "")
		if _, err := t.FS.Open("dir"); err == nil {
			t.Fatal("a directory was opened as a file")
		}
		if _, err := t.FS.List("log"); err == nil {
			t.Fatal("a file was listed as a directory")
		}
		if _, err := t.FS.Create("log/x"); err == nil {
			t.Fatal("a file was created inside a file")
		}
	}},
}
