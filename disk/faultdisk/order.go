package faultdisk

import (
	"fmt"
	"math"
	"path"
	"slices"
)

// kind tells ordered faults apart.
type kind uint8

const (
	readError kind = iota
	writeError
	syncError
	lyingSync
	noSpace
	lostWrite
	misdirected
	rot
	kinds // how many there are
)

// Target chooses the operations that a fault strikes.
type Target struct {
	// Path is a path or a pattern as of package path ("t-0/*.log"), tried at the
	// time of the operation. A directory stands for all that is in it, so that "*"
	// stands for everything.
	Path string
	// From and To bound the bytes of the file that the operation must touch,
	// [From, To); To 0 is the end. A sync touches all of them.
	From, To int64
	// Op is the number of the only matching operation that is struck, from 1; 0 is
	// every one until Heal.
	Op int
}

// Check returns one line if the target can match nothing.
func (t Target) Check() error {
	if _, err := path.Match(t.Path, ""); err != nil || t.Path == "" {
		return fmt.Errorf("%q is no pattern of paths such as t-0/*.log", t.Path)
	}
	if t.From < 0 || t.To != 0 && t.To <= t.From || t.Op < 0 {
		return fmt.Errorf("bytes %d to %d, operation %d: no operation can match", t.From, t.To, t.Op)
	}
	return nil
}

// order is a fault as it was ordered. Faults of the device outlive the node: a
// reboot ends none of them.
type order struct {
	kind   kind
	target Target
	after  Aftermath // of a sync error
	short  bool      // of a write error
	seen   int       // matching operations so far
	hit    bool      // counted as effective
}

// order notes a fault. It panics on a target that Check refuses.
func (d *Disk) order(o order) *order {
	if err := o.target.Check(); err != nil {
		panic("faultdisk: " + err.Error())
	}
	d.stats.of(o.kind).Fired++
	d.orders = append(d.orders, &o)
	return &o
}

// Heal ends every fault that was ordered, the limit of space among them. What
// they have done to the bytes stays.
func (d *Disk) Heal() {
	d.orders = nil
	d.capacity = 0
}

// strikes returns the fault that strikes an operation on n bytes of a file from
// off on, nil if none does. It counts the operation.
func (d *Disk) strikes(k kind, f *inode, off, n int64) *order {
	for _, o := range d.orders {
		if o.kind != k || !o.target.touches(off, n) || !d.matches(o.target.Path, f) {
			continue
		}
		if o.seen++; o.target.Op == 0 || o.target.Op == o.seen {
			return o
		}
	}
	return nil
}

// hit counts an order as effective, once.
func (d *Disk) hit(o *order) {
	if !o.hit {
		o.hit = true
		d.stats.of(o.kind).Effective++
	}
}

func (t Target) touches(off, n int64) bool {
	end := t.To
	if end == 0 {
		end = math.MaxInt64
	}
	return off < end && t.From < off+min(n, math.MaxInt64-off)
}

// matches reports whether a pattern stands for a file, or for a directory above
// it. A file without a name is matched by "*" alone.
func (d *Disk) matches(pattern string, f *inode) bool {
	if pattern == allPaths {
		return true
	}
	name, ok := pathOf(d.root, f)
	return ok && Matches(pattern, name)
}

// allPaths is the pattern of all paths.
const allPaths = "*"

// Matches reports whether a pattern stands for a path or for a directory above
// it.
func Matches(pattern, name string) bool {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		if ok, _ := path.Match(pattern, name[:i]); ok {
			return true
		}
	}
	return false
}

// pathOf finds the path of a file or a directory below dir.
func pathOf(dir, f *inode) (string, bool) {
	if dir == f {
		return "", true
	}
	for _, name := range sortedNames(dir) {
		n := dir.entries[name]
		if n == f {
			return name, true
		}
		if n.dir {
			if rest, ok := pathOf(n, f); ok {
				return name + "/" + rest, true
			}
		}
	}
	return "", false
}

// name is the path of a file for an error.
func (d *Disk) name(f *inode) string {
	name, _ := pathOf(d.root, f)
	return name
}

// Files lists the files that a pattern stands for and that are not empty,
// sorted.
func (d *Disk) Files(pattern string) []string {
	return slices.DeleteFunc(d.Paths(Cached), func(name string) bool {
		if name[len(name)-1] == '/' || !Matches(pattern, name) {
			return true
		}
		return d.lookup(name).size == 0
	})
}
