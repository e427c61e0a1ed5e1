//go:build unix

package tcp

import "syscall"

// writeSome writes until the socket is full and returns the rest.
func writeSome(fd uintptr, p []byte) ([]byte, error) {
	for len(p) > 0 {
		n, err := syscall.Write(int(fd), p)
		p = p[max(n, 0):]
		switch err {
		case nil, syscall.EINTR:
		case syscall.EAGAIN:
			return p, nil
		default:
			return p, err
		}
	}
	return p, nil
}
