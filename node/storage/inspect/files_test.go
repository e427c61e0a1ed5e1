package inspect

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tidemark/disk"
)

// memory is a directory tree in memory, by path.
type memory map[string][]byte

type memoryFile struct{ *bytes.Reader }

func (f memoryFile) Size() (int64, error) { return f.Reader.Size(), nil }

func (memoryFile) Close() error { return nil }

func (m memory) Open(name string) (File, error) {
	content, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", name, disk.ErrNotExist)
	}
	return memoryFile{bytes.NewReader(content)}, nil
}

func (m memory) List(dir string) (names []string, err error) {
	for _, path := range slices.Sorted(maps.Keys(m)) {
		rest := path
		if dir != "" {
			var ok bool
			if rest, ok = strings.CutPrefix(path, dir+"/"); !ok {
				continue
			}
		}
		name, _, deeper := strings.Cut(rest, "/")
		if deeper {
			name += "/"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, fmt.Errorf("list %s: %w", dir, disk.ErrNotExist)
	}
	return names, nil
}

// with is a copy in which one file was edited; nil removes it.
func (m memory) with(path string, edit func(old []byte) []byte) memory {
	c := maps.Clone(m)
	c[path] = edit(bytes.Clone(c[path]))
	if c[path] == nil {
		delete(c, path)
	}
	return c
}

// kafkaDir is a log directory of Apache Kafka 4.1.2 after a clean stop.
const kafkaDir = "testdata/kafka-4.1"

func load(t testing.TB, root string) memory {
	t.Helper()
	m := memory{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		m[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Edits of files.

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 1 << (at % 8); return b }
}

func put(at int, with ...byte) func([]byte) []byte {
	return func(b []byte) []byte { copy(b[at:], with); return b }
}

func cut(n int) func([]byte) []byte {
	return func(b []byte) []byte { return b[:len(b)-n] }
}

func add(with ...byte) func([]byte) []byte {
	return func(b []byte) []byte { return append(b, with...) }
}

func replace(old, new string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

func remove([]byte) []byte { return nil }
