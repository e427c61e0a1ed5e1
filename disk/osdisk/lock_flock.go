//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package osdisk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockFile takes the lock, which ends with the file's descriptor.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the log directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another node has the log directory %s: stop it or choose another directory", filepath.Dir(path))
		}
		return nil, fmt.Errorf("lock the log directory: flock %s: %w", path, err)
	}
	return f, nil
}
