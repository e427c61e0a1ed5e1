//go:build !linux

package tcp

import "net"

// more tells whether bytes may wait in a socket: nobody knows here.
func more(net.Conn) bool { return true }
