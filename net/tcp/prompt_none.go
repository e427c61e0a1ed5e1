//go:build !unix

package tcp

// writeSome leaves everything to the goroutine that may wait.
func writeSome(_ uintptr, p []byte) ([]byte, error) { return p, nil }
