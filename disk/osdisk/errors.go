package osdisk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"tidemark/disk"
)

// known are the errors that the contract has a name for.
var known = []struct{ os, disk error }{
	{fs.ErrNotExist, disk.ErrNotExist},
	{fs.ErrExist, disk.ErrExist},
	{os.ErrClosed, disk.ErrClosed},
	{syscall.ENOSPC, disk.ErrNoSpace},
	{syscall.EDQUOT, disk.ErrNoSpace},
	{syscall.EIO, disk.ErrIO},
}

// cause is an operating system's error in the contract's words. One that the
// contract has no name for (permissions, too many open files) keeps its own.
func cause(err error) error {
	for _, k := range known {
		if errors.Is(err, k.os) {
			return k.disk
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// wrap adds the operation and the path; nil stays nil.
func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, name, cause(err))
}
