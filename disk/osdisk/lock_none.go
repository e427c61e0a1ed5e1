//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package osdisk

import (
	"errors"
	"os"
)

// lockFile refuses: without a lock two nodes could write one log.
func lockFile(string) (*os.File, error) {
	return nil, errors.New("real log directories need flock, which this platform does not have: use the simulated disk")
}
