package storage

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/osdisk"
	"tidemark/disk/simdisk"
)

// newWorld is a world on an empty disk that does what it is told.
func newWorld(t failer) *world { return begin(t, false) }

// newFrailWorld is a world on an empty disk that can lose power and be broken.
func newFrailWorld(t failer) *world { return begin(t, true) }

func begin(t failer, frail bool) *world {
	t.Helper()
	w := &world{t: t}
	switch {
	case !onRealFiles():
		w.disk = simdisk.New()
	case frail:
		w.real = newRealDisk(t)
		w.real.open(t)
		b, err := faultdisk.OnFiles(w.real.d.View(func(disk.Token, error) {}))
		if err != nil {
			t.Fatalf("%v", err)
		}
		w.disk = simdisk.Over(b)
	default:
		w.real = newRealDisk(t)
		w.real.open(t)
	}
	w.boot()
	if _, drawn := t.(*rapid.T); !drawn {
		w.leaves = t.Name()
	}
	t.Cleanup(w.end)
	return w
}

// surveyed is a world on an empty disk that can be asked what a crash may leave, which
// real files cannot.
func surveyed(t failer) *world {
	w := &world{t: t, disk: simdisk.New()}
	w.boot()
	return w
}

// loaded is a world on a disk with these files, as a machine finds them that is
// switched on.
func loaded(t failer, files []simdisk.Content) *world {
	t.Helper()
	w := &world{t: t}
	if !onRealFiles() {
		w.disk = simdisk.New()
		if err := w.disk.Load(files); err != nil {
			t.Fatalf("%v", err)
		}
		w.boot()
		return w
	}
	w.real = newRealDisk(t)
	t.Cleanup(w.end)
	for _, f := range files {
		path := filepath.Join(w.real.root, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(path, f.Bytes, 0o644); err != nil {
			t.Fatalf("%v", err)
		}
	}
	w.real.open(t)
	w.boot()
	return w
}

// end notes what is left on the disk, and gives it up.
func (w *world) end() {
	if w.over {
		return
	}
	w.over = true
	w.watch = nil
	if w.disk != nil {
		w.disk.Faults().Heal()
	}
	if w.leaves != "" {
		w.kill()
		var files strings.Builder
		w.list(&files, "")
		left.Lock()
		left.disks[w.leaves] = append(left.disks[w.leaves], files.String())
		left.Unlock()
	}
	if w.real != nil {
		if w.real.d != nil {
			w.real.d.Close()
		}
		os.RemoveAll(w.real.root)
	}
	*w = world{t: w.t, over: true} // the test holds it to its end, among thousands
}

// list writes every file below a directory with its size and CRC, a line for each.
func (w *world) list(all *strings.Builder, dir string) {
	w.t.Helper()
	names, err := w.fs.List(dir)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	for _, name := range names {
		path := strings.TrimPrefix(dir+"/"+name, "/")
		if below, is := strings.CutSuffix(path, "/"); is {
			fmt.Fprintln(all, path)
			w.list(all, below)
			continue
		}
		b, err := ReadFile(w.fs, path)
		if err != nil {
			w.t.Fatalf("%v", err)
		}
		fmt.Fprintf(all, "%s %d bytes crc %08x\n", path, len(b), crc32.ChecksumIEEE(b))
	}
}

// realDisk is real files in place of a world's simulated disk. Operations count as
// there, and the world decides when the end of a sync is delivered.
type realDisk struct {
	root  string
	fsync bool // do it
	d     *osdisk.Disk
	ends  chan realEnd
	came  map[disk.Token]error // ends that came before the world asked for them
}

type realEnd struct {
	token disk.Token
	err   error
}

func newRealDisk(t failer) *realDisk {
	root, err := os.MkdirTemp("", "storage")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &realDisk{root: root, fsync: *fsyncFlag}
}

// worldAt is a world on real files in a directory that stays, and that are really
// synced.
func worldAt(t failer, root string) *world {
	w := &world{t: t, real: &realDisk{root: root, fsync: true}}
	w.real.open(t)
	w.boot()
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
	ends := make(chan realEnd, 1<<12)
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
	if f.w.real.fsync {
		f.FS.SyncDir(t, dir)
		return
	}
	_, f.w.real.came[t] = f.FS.List(dir)
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
	if f.w.real.fsync {
		f.File.Sync(t)
		return
	}
	_, f.w.real.came[t] = f.File.Size()
}
