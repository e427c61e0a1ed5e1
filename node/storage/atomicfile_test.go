package storage

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/disk"
	"tidemark/model/kafka"
)

const path = "replication-offset-checkpoint"

// put makes a file with the given content.
func put(t *testing.T, fs disk.FS, path, content string) {
	t.Helper()
	f, err := fs.Create(path)
	if err == nil {
		_, err = f.WriteAt([]byte(content), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestACheckpointIsOldOrNewAfterAnyCrash(t *testing.T) {
	older, newer := CheckpointContent([]string{"orders 0 7"}), CheckpointContent([]string{"orders 0 9", "orders 1 4"})
	for n, more := 1, true; more; n++ {
		for _, d := range deaths(8) {
			w := d.on(t)
			var told []string
			note := func(what string) func(error) {
				return func(err error) { told = append(told, fmt.Sprint(what, err)) }
			}
			w.crashAt = n
			more = w.until(func() {
				f := NewAtomicFile(w.fs, w.syncs, path)
				f.Write(older, note("old"))
				w.drain()
				f.Write(newer, note("new"))
				w.drain()
			})
			d.end(w)
			got, err := ReadFile(w.fs, path)
			switch {
			case len(told) == 0 && errors.Is(err, disk.ErrNotExist):
			case err != nil:
				t.Fatalf("crash before operation %d, %s: %v", n, d.name, err)
			case len(told) < 2 && string(got) == string(older):
			case string(got) == string(newer):
			default:
				t.Fatalf("crash before operation %d, %s: after %v the file is %q", n, d.name, told, got)
			}
			w.end()
		}
	}
}

func TestWritesToOneFileQueueAndTheNewestOfThoseThatWaitIsWritten(t *testing.T) {
	w := newWorld(t)
	f := NewAtomicFile(w.fs, w.syncs, path)
	var told []string
	for _, content := range []string{"a", "b", "c"} {
		f.Write([]byte(content), func(err error) {
			now, _ := ReadFile(w.fs, path)
			told = append(told, fmt.Sprintf("%s: file %s, %v", content, now, err))
		})
	}
	before := w.steps
	w.drain()
	want := []string{"a: file a, <nil>", "b: file c, <nil>", "c: file c, <nil>"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Fatalf("told (-want +got):\n%s", diff)
	}
	if w.steps == before {
		t.Fatal("no operation ran")
	}
}

func TestAWriteThatFailsTellsWhy(t *testing.T) {
	w := newWorld(t)
	f := NewAtomicFile(w.fs, w.syncs, "missing/"+path)
	var got error
	f.Write(nil, func(err error) { got = err })
	w.drain()
	if !errors.Is(got, disk.ErrNotExist) {
		t.Fatalf("told %v", got)
	}
	f = NewAtomicFile(w.fs, w.syncs, path)
	w.fail = disk.ErrIO
	f.Write(nil, func(err error) { got = err })
	w.drain()
	if !errors.Is(got, disk.ErrIO) {
		t.Fatalf("told %v", got)
	}
}

func TestACheckpointOfNoBytesOrOneLineHasNoEntries(t *testing.T) {
	for _, content := range []string{"", "0", "0\n", "0\n0\n"} {
		w := newWorld(t)
		put(t, w.fs, path, content)
		if lines, err := ReadCheckpoint(w.fs, path); err != nil || len(lines) > 0 {
			t.Errorf("%q: %v, %v", content, lines, err)
		}
	}
	if lines, err := ReadCheckpoint(newWorld(t).fs, path); err != nil || len(lines) > 0 {
		t.Errorf("missing: %v, %v", lines, err)
	}
}

func TestAMalformedCheckpointNamesFileAndLine(t *testing.T) {
	for content, want := range map[string]string{
		"1\n0\n":                  `malformed file: ` + path + ` line 1 is "1", want version 0`,
		"0\n2\norders 0 7\n":      `malformed file: ` + path + ` line 2 is "2", but 1 entries follow`,
		"0\n1\norders zero 7\n":   `malformed file: ` + path + ` line 3 is "orders zero 7", want "topic partition offset"`,
		"0\n2\na 0 1\norders 0\n": `malformed file: ` + path + ` line 4 is "orders 0", want "topic partition offset"`,
	} {
		w := newWorld(t)
		put(t, w.fs, path, content)
		_, err := ReadOffsetCheckpoint(w.fs, path)
		if !errors.Is(err, ErrMalformed) || err.Error() != want {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
}

func TestOffsetCheckpointsRoundTrip(t *testing.T) {
	w := newWorld(t)
	want := []OffsetEntry{
		{kafka.TopicPartition{Topic: "a-b", Partition: 3}, 1 << 40},
		{kafka.TopicPartition{Topic: "orders", Partition: 0}, 0},
	}
	f := NewAtomicFile(w.fs, w.syncs, path)
	f.Write(CheckpointContent(OffsetLines(want)), nil)
	w.drain()
	got, err := ReadOffsetCheckpoint(w.fs, path)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("entries (-want +got), error %v:\n%s", err, diff)
	}
	names, _ := w.fs.List("")
	if !slices.Equal(names, []string{path}) {
		t.Fatalf("files %v", names)
	}
}
