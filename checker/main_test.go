package checker

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the garbage collector come seldom: the tests judge thousands of
// histories, each of them garbage when it is judged.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
