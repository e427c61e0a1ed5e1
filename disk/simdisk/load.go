package simdisk

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// Content is a file that a disk holds before its node first boots.
type Content struct {
	Path  string // below the root, separated by slashes; missing directories are made
	Bytes []byte
}

// Load puts files on a new disk, as a machine finds them that is switched on:
// durable, and not in the page cache. It costs nothing. An error names a path that
// cannot be.
func (d *Disk) Load(files []Content) error {
	last := faultdisk.Root
	for _, f := range files {
		dir, name := faultdisk.Root, f.Path
		for {
			first, rest, below := strings.Cut(name, "/")
			entry, found := d.entry(dir, first)
			if first == "" || found && !(below && entry.Dir) {
				return fmt.Errorf("load %q: %w", f.Path, disk.ErrExist)
			}
			if !found {
				last++
				entry = faultdisk.Entry{Name: first, Inode: last, Dir: below}
				if err := d.base.Link(dir, entry); err != nil {
					return err
				}
			}
			if dir, name = entry.Inode, rest; !below {
				break
			}
		}
		if err := d.base.WriteAt(dir, f.Bytes, 0); err != nil {
			return err
		}
	}
	d.fd = faultdisk.New(d.base)
	return nil
}

// entry looks a name up in a directory.
func (d *Disk) entry(dir faultdisk.Inode, name string) (faultdisk.Entry, bool) {
	names := d.base.List(dir)
	k, ok := slices.BinarySearchFunc(names, name, byName)
	if !ok {
		return faultdisk.Entry{}, false
	}
	return names[k], true
}
