package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tidemark/disk"
)

// pin holds a replica's files open, so that whatever a broker renames, replaces or
// deletes meanwhile, one look at them sees them as they were together. It is the
// Files of that look. A log that grows ends where it ended when it was opened;
// as that was before everything that tells of it was opened, entries for batches
// behind its end are no fault (source.grown).
type pin struct {
	dir   string
	names []string // of the directory
	files map[string]pinned
}

// pinned is a file that a pin holds open, with its size at that time.
type pinned struct {
	File
	size int64
}

// Size implements File.
func (f pinned) Size() (int64, error) { return f.size, nil }

// Close implements File; the pin closes it.
func (pinned) Close() error { return nil }

// pinTries is how often a directory is listed until it is the same before and after
// its files were opened.
const pinTries = 5

// pinReplica opens the files of a replica that are read. The error wraps
// disk.ErrNotExist if there is no such directory, ErrChanging if files go as
// fast as they are opened.
func pinReplica(files Files, dir string) (*pin, error) {
	names, err := files.List(dir)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		p := &pin{dir: dir, names: names, files: make(map[string]pinned, len(names))}
		gone, err := p.open(files)
		if err == nil {
			names, err = files.List(dir)
		}
		switch {
		case err != nil:
		case gone == "" && (try == pinTries || slices.Equal(names, p.names)):
			return p, nil
		case try == pinTries:
			err = fmt.Errorf("%s: %w", gone, errGone)
		}
		p.close()
		if err != nil {
			return nil, err
		}
	}
}

// open opens the files, logs first; gone is one that is not there any more.
func (p *pin) open(files Files) (gone string, err error) {
	for _, wanted := range []func(string) bool{isLog, isBesideLog} {
		for _, name := range p.names {
			if !wanted(name) {
				continue
			}
			path := join(p.dir, name)
			f, err := files.Open(path)
			if errors.Is(err, disk.ErrNotExist) {
				return path, nil
			}
			if err != nil {
				return "", err
			}
			size, err := f.Size()
			if err != nil {
				return "", errors.Join(err, f.Close())
			}
			p.files[path] = pinned{f, size}
		}
	}
	return "", nil
}

func isLog(name string) bool {
	_, ok := parseBase(name, logSuffix)
	return ok
}

// isBesideLog tells whether a file is read that is no log.
func isBesideLog(name string) bool {
	name = strings.TrimSuffix(name, swapSuffix)
	for _, suffix := range []string{indexSuffix, timeSuffix, txnSuffix, snapshotSuffix} {
		if _, ok := parseBase(name, suffix); ok {
			return true
		}
	}
	return name == epochFile || name == idFile || name == quorumFile || strings.HasSuffix(name, checkpointSuffix)
}

// List implements Files.
func (p *pin) List(string) ([]string, error) { return p.names, nil }

// Open implements Files.
func (p *pin) Open(name string) (File, error) {
	f, ok := p.files[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, disk.ErrNotExist)
	}
	return f, nil
}

func (p *pin) close() {
	if p == nil {
		return
	}
	for _, f := range p.files { // unordered: each is only closed
		f.File.Close() // it was only read
	}
}

// same tells whether two pins of a directory hold files of equal names and sizes.
func (p *pin) same(other *pin) bool {
	if p == nil || other == nil || !slices.Equal(p.names, other.names) {
		return false
	}
	for path, f := range p.files { // unordered: all must be equal
		if g, ok := other.files[path]; !ok || f.size != g.size {
			return false
		}
	}
	return true
}

// grown tells whether a log has become longer since it was pinned, and how long.
func (s *source) grown() (size int64, ok bool) {
	f, ok := s.file.(pinned)
	if !ok {
		return s.size, false
	}
	size, err := f.File.Size()
	return size, err == nil && size > s.size
}
