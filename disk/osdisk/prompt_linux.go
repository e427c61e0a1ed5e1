//go:build linux && (amd64 || arm64)

package osdisk

import (
	"syscall"
	"unsafe"
)

// nowait is RWF_NOWAIT of preadv2: fail where the read would wait for the device.
const nowait = 8

// ReadPrompt fills p from off if all of it is in the page cache. It never waits for the
// device; false means that nothing is known.
func (f *file) ReadPrompt(p []byte, off int64) bool {
	if len(p) == 0 {
		return true
	}
	raw, err := f.f.SyscallConn()
	if err != nil {
		return false
	}
	read := uintptr(0)
	part := syscall.Iovec{Base: &p[0], Len: uint64(len(p))}
	err = raw.Control(func(fd uintptr) {
		n, _, errno := syscall.Syscall6(preadv2, fd, uintptr(unsafe.Pointer(&part)), 1, uintptr(off), 0, nowait)
		if errno == 0 {
			read = n
		}
	})
	return err == nil && read == uintptr(len(p))
}
