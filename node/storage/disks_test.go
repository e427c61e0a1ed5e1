package storage

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Every test of the engine runs twice: on simulated disks, and in a second process on
// real files. Then what the two left on their disks is compared, byte for byte.
//
//	go test ─┬─▶ tests on simdisk ──────────────────────────▶ files ─┐
//	         └─▶ this binary again, -disk=osdisk ──▶ tests ──▶ files ─┴─▶ equal?
//
// A test asks for a world. What it gets, newWorld and newFrailWorld tell:
//
//	              simulated          real
//	newWorld      simdisk            osdisk
//	newFrailWorld simdisk            faultdisk over osdisk: power losses and faults,
//	                                 and in the directory is what is durable
//
// Enumerations of crashes take every crash on simulated disks, and a sample of them on
// real files. Tests that draw with rapid draw anew in each process.
var (
	diskFlag  = flag.String("disk", "", "run on simdisk or on osdisk only, and compare nothing")
	leftFlag  = flag.String("disk.left", "", "write down in this file what is left on disks")
	fsyncFlag = flag.Bool("disk.fsync", false, "have real files really synced in all tests")
)

func onRealFiles() bool { return *diskFlag == "osdisk" }

// sampled tells whether the n-th crash of an enumeration is taken on real files.
func sampled(n int) bool { return n%37 == 1 }

// skipped tells whether this process leaves the n-th crash out.
func skipped(n int) bool { return onRealFiles() && !sampled(n) }

func TestMain(m *testing.M) {
	flag.Parse()
	if *diskFlag != "" || os.Getenv(childRoot) != "" || !onlyTests() {
		code := m.Run()
		if err := writeLeft(*leftFlag); err != nil {
			fmt.Println(err)
			code = 1
		}
		os.Exit(code)
	}
	second, err := startOnRealFiles()
	if err != nil {
		fmt.Println("start the tests on real files:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.Exit(max(code, second.end()))
}

// onlyTests tells that this is neither a benchmark nor fuzzing nor a list.
func onlyTests() bool {
	for _, name := range []string{"test.bench", "test.fuzz", "test.list", "test.fuzzworker"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			return false
		}
	}
	return true
}

// secondRun is this binary on real files.
type secondRun struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	dir  string
	left string
}

func startOnRealFiles() (*secondRun, error) {
	dir, err := os.MkdirTemp("", "storage")
	if err != nil {
		return nil, err
	}
	r := &secondRun{dir: dir, left: filepath.Join(dir, "left")}
	args := []string{"-disk=osdisk", "-disk.left=" + r.left, "-rapid.checks=20"} // unless the caller wants so many
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.testlogfile") && !strings.Contains(a, "profile") && !strings.HasPrefix(a, "-test.gocoverdir") {
			args = append(args, a)
		}
	}
	r.cmd = exec.Command(os.Args[0], args...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	return r, r.cmd.Start()
}

// end waits for the second run, compares, and returns the exit status.
func (r *secondRun) end() int {
	err := r.cmd.Wait()
	defer os.RemoveAll(r.dir)
	if err != nil || testing.Verbose() {
		for line := range strings.Lines(r.out.String()) {
			fmt.Print("osdisk: ", line)
		}
	}
	if err != nil {
		fmt.Println("FAIL: the tests on real files:", err)
		return 1
	}
	onReal, err := readLeft(r.left)
	if err != nil {
		fmt.Println("FAIL: the tests on real files:", err)
		return 1
	}
	return compareLeft(onReal)
}

// left is what is left on the disks of each test, or of each crash of one: of a disk
// the path, size and CRC of each file.
var left = struct {
	sync.Mutex
	disks map[string][]string
}{disks: map[string][]string{}}

func writeLeft(path string) error {
	if path == "" {
		return nil
	}
	b, err := json.Marshal(left.disks)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

func readLeft(path string) (disks map[string][]string, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &disks)
	}
	return disks, err
}

// compareLeft tells where the second run left something else. A test that walks a map
// makes its disks in any order.
func compareLeft(onReal map[string][]string) (code int) {
	disks, files := 0, 0
	for _, test := range slices.Sorted(maps.Keys(onReal)) {
		want, got := left.disks[test], onReal[test]
		slices.Sort(want)
		slices.Sort(got)
		disks += len(got)
		for i, d := range got {
			files += strings.Count(d, "\n")
			if len(want) != len(got) || want[i] != d {
				fmt.Printf("FAIL: %s left on %d simulated disks\n%sand on %d real ones\n%s", test, len(want), strings.Join(want, "-\n"), len(got), strings.Join(got, "-\n"))
				code = 1
				break
			}
		}
	}
	if testing.Verbose() {
		fmt.Printf("%d disks of %d tests and crashes, %d files and directories: equal on simulated disks and real ones\n", disks, len(onReal), files)
	}
	return code
}
