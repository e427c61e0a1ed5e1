//go:build unix

package tcp

import "syscall"

// attempt writes what the socket takes without waiting and returns the rest.
func attempt(c syscall.RawConn, p []byte) (rest []byte, err error) {
	outer := c.Write(func(fd uintptr) bool {
		for len(p) > 0 && err == nil {
			var n int
			n, err = syscall.Write(int(fd), p)
			p = p[max(n, 0):]
			if err == syscall.EINTR {
				err = nil
			}
		}
		return true // never wait
	})
	switch {
	case outer != nil:
		return p, outer
	case err == syscall.EAGAIN:
		return p, nil
	}
	return p, err
}
