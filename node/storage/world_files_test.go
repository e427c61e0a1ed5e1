package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/osdisk"
)

// realDisk is real files in place of a world's simulated disk. Operations count as
// there, and the world decides when the end of a sync is delivered.
type realDisk struct {
	root string
	d    *osdisk.Disk
	ends chan realEnd
	came map[disk.Token]error // ends that came before the world asked for them
}

type realEnd struct {
	token disk.Token
	err   error
}

// newRealWorld is a world whose disk is a directory.
func newRealWorld(t failer, root string) *world {
	w := &world{t: t, real: &realDisk{root: root}}
	w.real.open(t)
	w.boot()
	return w
}

// anyWorld is a world on a simulated disk, or now and then on files below root, which
// it removes again.
func anyWorld(t *rapid.T, root string) *world {
	if rapid.IntRange(0, 9).Draw(t, "disk") > 0 {
		return newWorld(t)
	}
	dir, err := os.MkdirTemp(root, "")
	if err != nil {
		t.Fatal(err)
	}
	w := newRealWorld(t, dir)
	t.Cleanup(func() {
		w.real.d.Close()
		os.RemoveAll(dir)
	})
	return w
}

func (r *realDisk) open(t failer) {
	var err error
	if r.d, err = osdisk.Open(r.root); err != nil {
		t.Fatalf("%v", err)
	}
}

// view is the disk of the next life.
func (r *realDisk) view(w *world) disk.FS {
	ends := make(chan realEnd, 1<<14)
	r.ends, r.came = ends, map[disk.Token]error{}
	return realFS{r.d.View(func(t disk.Token, err error) { ends <- realEnd{t, err} }), w}
}

// kill ends the life; what the kernel has stays.
func (r *realDisk) kill(t failer) {
	if err := r.d.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	r.open(t)
}

// wait returns how a sync ended.
func (r *realDisk) wait(token disk.Token) error {
	for {
		if err, ok := r.came[token]; ok {
			delete(r.came, token)
			return err
		}
		end := <-r.ends
		r.came[end.token] = end.err
	}
}

// realFS counts the operations of a view.
type realFS struct {
	disk.FS
	w *world
}

type realFile struct {
	disk.File
	w *world
}

func (f realFS) file(file disk.File, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	return realFile{file, f.w}, nil
}

func (f realFS) Open(name string) (disk.File, error)   { f.w.Step(); return f.file(f.FS.Open(name)) }
func (f realFS) Create(name string) (disk.File, error) { f.w.Step(); return f.file(f.FS.Create(name)) }
func (f realFS) Rename(from, to string) error          { f.w.Step(); return f.FS.Rename(from, to) }
func (f realFS) Remove(name string) error              { f.w.Step(); return f.FS.Remove(name) }
func (f realFS) Mkdir(name string) error               { f.w.Step(); return f.FS.Mkdir(name) }
func (f realFS) List(dir string) ([]string, error)     { f.w.Step(); return f.FS.List(dir) }
func (f realFS) SyncDir(t disk.Token, dir string) {
	f.w.Step()
	f.w.dues = append(f.w.dues, due{token: t})
	f.FS.SyncDir(t, dir)
}

func (f realFile) ReadAt(p []byte, off int64) (int, error) { f.w.Step(); return f.File.ReadAt(p, off) }
func (f realFile) WriteAt(p []byte, off int64) (int, error) {
	f.w.Step()
	return f.File.WriteAt(p, off)
}
func (f realFile) Truncate(size int64) error { f.w.Step(); return f.File.Truncate(size) }
func (f realFile) Size() (int64, error)      { f.w.Step(); return f.File.Size() }
func (f realFile) Close() error              { f.w.Step(); return f.File.Close() }
func (f realFile) Sync(t disk.Token) {
	f.w.Step()
	f.w.dues = append(f.w.dues, due{token: t})
	f.File.Sync(t)
}

// dump is every file of a world's disk, for comparison.
func (w *world) dump() string {
	w.t.Helper()
	var out strings.Builder
	names, err := w.fs.List(dir)
	if err != nil && !errors.Is(err, disk.ErrNotExist) {
		w.t.Fatalf("%v", err)
	}
	for _, n := range names {
		content, err := ReadFile(w.fs, dir+"/"+n)
		if err != nil {
			w.t.Fatalf("%v", err)
		}
		fmt.Fprintf(&out, "%s %x\n", n, content)
	}
	return out.String()
}

// A kill leaves the page cache, so on real files a life must end as on simulated ones:
// the same files, byte for byte, and the next start makes the same of them.
func TestAfterAKillRealFilesAreAsSimulatedOnes(t *testing.T) {
	for name, tell := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, more := 1+len(name)%5, true; more; n += 11 {
				var dumps [2]string
				for i, w := range []*world{newWorld(t), newRealWorld(t, filepath.Join(t.TempDir(), fmt.Sprint(n)))} {
					s := tellOn(w, tell, n)
					more = s.crashed
					w.kill()
					dumps[i] = w.dump()
					l, rec := w.open(false, s.lowered, s.start)
					s.judge(t, fmt.Sprintf("crash before operation %d", n), l, rec)
					w.drain()
					dumps[i] += w.dump()
					if w.real != nil {
						w.real.d.Close()
					}
				}
				if dumps[0] != dumps[1] {
					t.Fatalf("crash before operation %d: simulated files\n%s\nreal ones\n%s", n, dumps[0], dumps[1])
				}
			}
		})
	}
}
