package tcp

import (
	"net"
	"syscall"
)

// prompt writes to a socket what it takes without waiting. It belongs to one
// connection, which writes one thing at a time.
type prompt struct {
	raw  syscall.RawConn
	rest []byte // not written yet
	err  error
	once func(fd uintptr) bool // made once, not for each write
}

// newPrompt returns nil for a connection that has no socket; it is written in
// another way.
func newPrompt(nc net.Conn) *prompt {
	s, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	p := &prompt{raw: raw}
	p.once = func(fd uintptr) bool {
		p.rest, p.err = writeSome(fd, p.rest)
		return true // never wait
	}
	return p
}

// write returns what the socket did not take.
func (p *prompt) write(b []byte) (rest []byte, err error) {
	p.rest, p.err = b, nil
	err = p.raw.Write(p.once)
	if err == nil {
		err = p.err
	}
	rest, p.rest = p.rest, nil
	return rest, err
}
