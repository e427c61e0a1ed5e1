// Package disktest is the conformance suite of the disk contract. Whatever
// implements disk.FS runs it from a test of its own:
//
//	func TestKeepsTheDiskContract(t *testing.T) {
//		disktest.Run(t, func(t *testing.T) disktest.Harness { ... })
//	}
//
// The storage engine is tried on one disk and lives on another; the suite is
// what makes that a proof. It asks only what the contract promises, so both an
// adversarial disk and a polite one pass.
package disktest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"tidemark/disk"
)

// Completion is one Synced(token, error).
type Completion struct {
	Token disk.Token
	Err   error
}

// Harness is one empty disk under test.
type Harness struct {
	// FS is a lane's view of the disk.
	FS disk.FS
	// Drain waits until every sync that was asked has completed, and returns the
	// completions since the last call in their order.
	Drain func() []Completion
	// Crash cuts the power, loses everything that was not synced, and returns
	// the view of the next life. It is nil where that cannot be done.
	Crash func() disk.FS
	// Full leaves room for n bytes more, files counted by their sizes. It is nil
	// where that cannot be done.
	Full func(n int64)
	// Break lets the next operation of a kind fail with disk.ErrIO, and no other. It
	// is nil where that cannot be done.
	Break func(Operation)
}

// Operation is a kind of operation that can be made to fail.
type Operation uint8

const (
	// Write is File.WriteAt.
	Write Operation = iota
	// Sync is File.Sync or FS.SyncDir.
	Sync
)

// Run tries every promise of the contract on disks of its own.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	groups := [][]promise{names, contents, regions, syncs, failures}
	for _, p := range slices.Concat(groups...) {
		t.Run(p.text, func(t *testing.T) {
			p.try(&try{T: t, Harness: fresh(t)})
		})
	}
	for _, p := range crashes {
		t.Run(p.text, func(t *testing.T) {
			h := fresh(t)
			if h.Crash == nil {
				t.Skip("this disk cannot lose power")
			}
			p.try(&try{T: t, Harness: h})
		})
	}
}

// promise is one sentence of the contract and the story that tries it.
type promise struct {
	text string
	try  func(t *try)
}

// try is a running story: the steps fail the test instead of returning errors.
type try struct {
	*testing.T
	Harness
	last disk.Token
}

func (t *try) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func (t *try) wants(err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

func (t *try) create(name, content string) disk.File {
	t.Helper()
	f, err := t.FS.Create(name)
	t.must(err)
	t.write(f, 0, content)
	return f
}

func (t *try) open(name string) disk.File {
	t.Helper()
	f, err := t.FS.Open(name)
	t.must(err)
	return f
}

func (t *try) write(f disk.File, off int64, content string) {
	t.Helper()
	n, err := f.WriteAt([]byte(content), off)
	t.must(err)
	if n != len(content) {
		t.Fatalf("wrote %d bytes of %d without an error", n, len(content))
	}
}

// content reads a whole open file.
func (t *try) content(f disk.File) string {
	t.Helper()
	size, err := f.Size()
	t.must(err)
	p := make([]byte, size)
	if n, err := f.ReadAt(p, 0); int64(n) != size || err != nil && err != io.EOF {
		t.Fatalf("read %d of %d bytes: %v", n, size, err)
	}
	return string(p)
}

// holds checks an open file.
func (t *try) holds(f disk.File, want string) {
	t.Helper()
	if got := t.content(f); got != want {
		t.Fatalf("the file holds %s, want %s", brief(got), brief(want))
	}
}

// finds checks the file that a name leads to.
func (t *try) finds(name, want string) {
	t.Helper()
	f := t.open(name)
	t.holds(f, want)
	t.must(f.Close())
}

func (t *try) lists(dir string, want ...string) {
	t.Helper()
	got, err := t.FS.List(dir)
	t.must(err)
	if !slices.Equal(got, want) {
		t.Fatalf("%q lists %q, want %q", dir, got, want)
	}
}

func (t *try) token() disk.Token {
	t.last++
	return t.last
}

// sync syncs a file and waits for it.
func (t *try) sync(f disk.File) {
	t.Helper()
	f.Sync(t.token())
	t.completes(nil)
}

// syncDir syncs a directory and waits for it.
func (t *try) syncDir(dir string) {
	t.Helper()
	t.FS.SyncDir(t.token(), dir)
	t.completes(nil)
}

// completes waits and checks that exactly the last token came back.
func (t *try) completes(want error) {
	t.Helper()
	done := t.Drain()
	if len(done) != 1 || done[0].Token != t.last {
		t.Fatalf("completions are %v, want token %d once", done, t.last)
	}
	t.wants(done[0].Err, want)
}

// crash cuts the power; everything open is dead after it.
func (t *try) crash() {
	t.FS = t.Crash()
}

// brief shows a content in one line.
func brief(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%d bytes %.40q ... %q", len(s), s, s[len(s)-40:])
	}
	return strconv.Quote(s)
}
