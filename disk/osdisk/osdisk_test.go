package osdisk

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tidemark/disk"
	"tidemark/disk/disktest"
)

func open(t *testing.T, dir string) *Disk {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// lane is a lane's view and the completions that came to it.
type lane struct {
	disk.FS
	done chan disktest.Completion
}

func (d *Disk) lane() lane {
	l := lane{done: make(chan disktest.Completion, 100)}
	l.FS = d.View(func(token disk.Token, err error) { l.done <- disktest.Completion{Token: token, Err: err} })
	return l
}

func (l lane) drain() []disktest.Completion {
	l.FS.(*view).syncs.wg.Wait()
	var got []disktest.Completion
	for len(l.done) > 0 {
		got = append(got, <-l.done)
	}
	return got
}

func create(t *testing.T, fs disk.FS, name, content string) disk.File {
	t.Helper()
	f, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(content), 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestKeepsTheDiskContract(t *testing.T) {
	disktest.Run(t, func(t *testing.T) disktest.Harness {
		l := open(t, t.TempDir()).lane()
		return disktest.Harness{FS: l.FS, Drain: l.drain}
	})
}

func TestSecondNodeOnADirectoryGetsOneClearLineAndTheNextLifeGetsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	_, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), "another node has the log directory "+dir) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("second Open gave %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// The child of the test below: it takes the directory and dies without a word.
func TestMain(m *testing.M) {
	if dir := os.Getenv("OSDISK_TAKE"); dir != "" {
		if _, err := Open(dir); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("taken\n")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLockIsHeldAgainstAnotherProcessAndDropsWhenItIsKilled(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "OSDISK_TAKE="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := io.ReadAll(io.LimitReader(out, 6)); err != nil || string(line) != "taken\n" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another node") {
		t.Errorf("Open gave %v while another process has the directory", err)
	}
	child.Process.Kill()
	child.Wait()
	open(t, dir)
}

func TestNodesDirectoryIsMadeAndTheLockIsNoFileOfIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	l := open(t, dir).lane()
	create(t, l, "log", "")
	if names, err := l.List(""); err != nil || !slices.Equal(names, []string{"log"}) {
		t.Fatalf("the root lists %q: %v", names, err)
	}
}

func TestNamesCannotLeaveTheDirectory(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir).lane()
	if _, err := l.Open("link/secret"); err == nil {
		t.Error("a symbolic link led out of the directory")
	}
	for _, bad := range []string{"/etc/passwd", "..", "../x", "a//b", "./a", ".", "a/", LockName} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.Contains(r, "osdisk: ") {
					t.Errorf("%q panicked with %v", bad, r)
				}
			}()
			l.Open(bad)
		}()
	}
}

func TestDirectoryReplacesNoEmptyDirectory(t *testing.T) {
	l := open(t, t.TempDir()).lane()
	for _, dir := range []string{"t-0", "t-0-stray"} {
		if err := l.Mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Rename("t-0", "t-0-stray"); err == nil {
		t.Fatal("an empty directory was replaced")
	}
}

func TestErrorsNameTheOperationAndThePathInOneLine(t *testing.T) {
	l := open(t, t.TempDir()).lane()
	_, err := l.Open("t-0/00000000000000000000.log")
	if want := `open "t-0/00000000000000000000.log": no such file or directory`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := l.Mkdir("dir"); err != nil {
		t.Fatal(err)
	}
	_, err = l.Open("dir")
	if want := `open "dir": is a directory`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	err = l.Rename("gone", "log")
	if want := `rename "gone" to "log": no such file or directory`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestFullDeviceIsToldAsNoSpace(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no device that is always full here")
	}
	d := open(t, t.TempDir())
	d.adopt(full)
	f := &file{v: &view{d: d}, name: "log", f: full}
	if n, err := f.WriteAt([]byte("abc"), 0); n != 0 || !errors.Is(err, disk.ErrNoSpace) {
		t.Fatalf("wrote %d bytes: %v", n, err)
	}
}

func TestAfterCloseEveryHandleViewAndRegionIsDead(t *testing.T) {
	d := open(t, t.TempDir())
	l := d.lane()
	f := create(t, l, "log", "abc")
	r := f.Region(0, 3)
	d.Close()
	_, openErr := l.Open("log")
	_, listErr := l.List("")
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, writeErr := f.WriteAt([]byte("x"), 0)
	for what, err := range map[string]error{"open": openErr, "list": listErr, "read": readErr, "write": writeErr,
		"region": r.Read(make([]byte, 3)), "rename": l.Rename("log", "x"), "truncate": f.Truncate(0)} {
		if !errors.Is(err, disk.ErrClosed) {
			t.Errorf("%s gave %v", what, err)
		}
	}
	f.Sync(1)
	l.SyncDir(2, "")
	r.Release()
	if done := l.drain(); len(done) != 0 {
		t.Errorf("the dead were told of %v", done)
	}
}

func TestRegionsAreReadWhileTheLaneWritesAndCloses(t *testing.T) {
	l := open(t, t.TempDir()).lane()
	f := create(t, l, "log", strings.Repeat("a", 1000))
	var readers sync.WaitGroup
	for range 4 {
		r := f.Region(0, 1000)
		readers.Go(func() {
			defer r.Release()
			p := make([]byte, r.N)
			for range 100 {
				if err := r.Read(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range int64(100) {
		if _, err := f.WriteAt([]byte("b"), i); err != nil {
			t.Fatal(err)
		}
		f.Sync(disk.Token(i))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
	if done := l.drain(); len(done) != 100 {
		t.Errorf("%d of 100 syncs completed", len(done))
	}
	if n := len(l.FS.(*view).d.open); n != 0 {
		t.Errorf("%d files are still open", n)
	}
}

func TestSyncThatHangsHoldsUpNeitherTheLaneNorItsOtherSyncs(t *testing.T) {
	l := open(t, t.TempDir()).lane()
	release := make(chan struct{})
	l.FS.(*view).syncs.ask(job{token: 1, sync: func() error { <-release; return nil }})
	f := create(t, l, "log", "abc")
	f.Sync(2)
	if c := <-l.done; c.Token != 2 || c.Err != nil {
		t.Errorf("first completion is %v", c)
	}
	close(release)
	if c := <-l.done; c.Token != 1 {
		t.Errorf("second completion is %v", c)
	}
}

func TestSyncsOfADirectoryThatHaveNotBegunAreOneAndHoldOneDescriptor(t *testing.T) {
	d := open(t, t.TempDir())
	l := d.lane()
	for _, dir := range []string{"a", "b"} {
		if err := l.Mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	release := make(chan struct{})
	for i := range disk.Token(workers) {
		l.FS.(*view).syncs.ask(job{token: i, sync: func() error { <-release; return nil }})
	}
	for i := range disk.Token(40) {
		l.SyncDir(100+i, "a")
		l.SyncDir(200+i, "b")
	}
	if n := len(d.open); n != 2 {
		t.Errorf("%d descriptors wait, want one for each directory", n)
	}
	if err := l.Rename("a", "c"); err != nil {
		t.Fatal(err)
	}
	if err := l.Mkdir("a"); err != nil {
		t.Fatal(err)
	}
	l.SyncDir(300, "a")
	if n := len(d.open); n != 3 {
		t.Errorf("%d descriptors wait, want another one for the new directory of an old name", n)
	}
	close(release)
	seen := map[disk.Token]bool{}
	for _, c := range l.drain() {
		if c.Err != nil || seen[c.Token] {
			t.Errorf("sync %d ended with %v, or twice", c.Token, c.Err)
		}
		seen[c.Token] = true
	}
	if len(seen) != workers+81 {
		t.Errorf("%d syncs completed, want every one of %d", len(seen), workers+81)
	}
}

func BenchmarkAppendAndSync(b *testing.B) {
	d, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	l := d.lane()
	f, err := l.Create("log")
	if err != nil {
		b.Fatal(err)
	}
	p := make([]byte, 16<<10)
	b.SetBytes(int64(len(p)))
	for i := range b.N {
		f.WriteAt(p, int64(i%1000)*int64(len(p)))
		f.Sync(disk.Token(i))
		<-l.done
	}
}

func BenchmarkAppend(b *testing.B) {
	d, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	f, err := d.lane().Create("log")
	if err != nil {
		b.Fatal(err)
	}
	p := make([]byte, 16<<10)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for i := range b.N {
		f.WriteAt(p, int64(i%10_000)*int64(len(p)))
	}
}
