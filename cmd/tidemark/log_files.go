package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tidemark/disk"
	"tidemark/node/storage/inspect"
)

// osFiles are the files of the machine, to be read. Symbolic links stand for what they
// lead to, as for Kafka.
type osFiles struct{}

// List implements inspect.Files.
func (osFiles) List(dir string) ([]string, error) {
	dir = filepath.FromSlash(dir)
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, known(err)
	}
	names := make([]string, 0, len(all))
	for _, e := range all {
		name, isDir := e.Name(), e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			if isDir, err = followed(dir, name); err != nil {
				return nil, err
			}
		}
		if isDir {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// followed tells whether a symbolic link leads to a directory. One that leads nowhere, or
// to a directory that the way to it comes through, is refused: what lies behind the one
// is not checked, and behind the other there is no end.
func followed(dir, name string) (isDir bool, err error) {
	path := filepath.Join(dir, name)
	target, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return false, nil // it went meanwhile
		}
		return false, fmt.Errorf("%s is a symbolic link that leads nowhere: remove it, or put back what it led to", path)
	}
	if err != nil || !target.IsDir() {
		return false, err
	}
	above, err := filepath.Abs(dir)
	for err == nil {
		var at fs.FileInfo
		if at, err = os.Stat(above); err == nil && os.SameFile(at, target) {
			return false, fmt.Errorf("%s is a symbolic link to a directory that it lies in, %s: remove it", path, above)
		}
		parent := filepath.Dir(above)
		if parent == above {
			return true, err
		}
		above = parent
	}
	return false, err
}

// Open implements inspect.Files. Only a regular file is opened: the end of a pipe may
// never come.
func (osFiles) Open(name string) (inspect.File, error) {
	name = filepath.FromSlash(name)
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: remove it", name)
	}
	if err != nil {
		return nil, known(err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, known(err)
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

// Size implements inspect.File.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// known is an error in the words of package disk.
func known(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notThere{err}
	}
	return err
}

// notThere is the machine's error for what is not there.
type notThere struct{ error }

// Is makes it package disk's too.
func (e notThere) Is(target error) bool { return target == disk.ErrNotExist }

// Unwrap returns the machine's.
func (e notThere) Unwrap() error { return e.error }
