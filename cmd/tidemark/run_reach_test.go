//go:build !js

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// refusing is an address at which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	free, err := freeAddresses("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	return free[0]
}

func TestRunNamesTheBootstrapAddressesThatNobodyAnswersAt(t *testing.T) {
	defer func(p pace) { reachPace = p }(reachPace)
	reachPace.try = 10 * time.Millisecond
	a, b, dir := refusing(t), refusing(t), t.TempDir()
	work := filepath.Join(dir, "work.txt")
	if err := os.WriteFile(work, []byte("cluster brokers=1\nproducer p acks=all\nsleep 2s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, errText := command(t, "run", work, "--bootstrap", a+","+b, "--history", filepath.Join(dir, "h.jsonl"))
	const want = "tidemark: no broker can be reached, clients keep trying: --bootstrap "
	if !strings.HasPrefix(errText, want+a+": connect: connection refused; "+b+": connect: connection refused\n") {
		t.Errorf("said %q", errText)
	}
}

func TestUnreachedAddressesAreToldSparselyAndNoMoreOnceOneAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	quick := pace{try: time.Millisecond, tell: 5}
	tellUnreached(t.Context(), []string{refusing(t), l.Addr().String()}, pace{try: time.Minute, tell: 1}, // would not end if none did
		func(line string) { t.Errorf("said %q though one answers", line) })

	var at []int
	for failed := range 100 {
		if reachPace.tells(failed) {
			at = append(at, failed)
		}
	}
	if want := []int{1, 31, 61, 91}; !slices.Equal(at, want) {
		t.Errorf("of 100 attempts a second apart those at %v are told, want %v", at, want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	tellUnreached(ctx, []string{refusing(t)}, quick, func(string) {
		if told++; told == 3 {
			cancel()
		}
	})
	if told != 3 {
		t.Errorf("told %d times, want 3, and an end", told)
	}
}
