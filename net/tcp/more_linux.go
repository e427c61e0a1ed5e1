package tcp

import (
	"net"
	"syscall"
	"unsafe"
)

// more tells whether bytes wait in a socket.
func more(nc net.Conn) bool {
	s, ok := nc.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return true
	}
	waiting := int32(0)
	raw.Control(func(fd uintptr) {
		syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&waiting)))
	})
	return waiting > 0
}
