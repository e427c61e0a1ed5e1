package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

func TestModuleKeepsTheImportTableAndTheCoreIsDeterministic(t *testing.T) {
	faults, err := lint(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

// planted are faults, each with the package that gets it and what must be said.
var planted = []struct{ pkg, code, want string }{
	{"model/kafka", `import _ "os"`, "may not import os"},
	{"model/kafka", `import _ "math/rand/v2"`, "may not import math/rand/v2"},
	{"model/kafka", `import _ "sync/atomic"`, "may not import sync/atomic"},
	{"model/kafka", `import _ "tidemark/disk"`, "model/kafka may not import disk"},
	{"net/simnet", `import _ "github.com/twmb/franz-go/pkg/kmsg"`, "may not use github.com/twmb"},
	{"node/storage", `import _ "github.com/twmb/franz-go/pkg/kmsg"`, "takes domain types"},
	{"node", `func p() { go func() {}() }`, "a goroutine"},
	{"node", `func p() { select {} }`, "a select"},
	{"node", `type p chan int`, "a channel"},
	{"node", `func p() { defer func() {}() }`, "a defer in node code"},
	{"node", `func p() { recover() }`, "a recover outside sim"},
	{"node", `func p(m map[int]int) { for range m { println() } }`, "a loop over a map"},
	{"node", `var p = 0.5`, "a float"},
	{"node", `func p(x float64) {}`, "a float"},
	{"node", `import t "time"
func p() { _ = t.Now() }`, "time.Now in a core package"},
	{"node", `import "sort"
func p(s []int) { sort.Slice(s, nil) }`, "sort.Slice in a core package"},
	{"node", `import "maps"
func p(m map[int]int) { for range maps.Keys(m) { println() } }`, "maps.Keys in a core package"},
}

// Faults are planted one file a package and fault, all in one run: loading the
// module is what takes the time.
func TestPlantedFaultIsReportedWithItsLine(t *testing.T) {
	overlay := map[string][]byte{}
	for i, p := range planted {
		parts := strings.Split(p.pkg, "/")
		code := strings.ReplaceAll(p.code, "func p", "func planted"+string(rune('A'+i)))
		code = strings.ReplaceAll(code, "type p", "type planted"+string(rune('A'+i)))
		code = strings.ReplaceAll(code, "var p", "var planted"+string(rune('A'+i)))
		name, _ := filepath.Abs(filepath.Join(root, p.pkg, "planted_"+string(rune('a'+i))+".go"))
		overlay[name] = []byte("package " + parts[len(parts)-1] + "\n" + code + "\n")
	}
	faults, err := lint(root, overlay)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range planted {
		file := p.pkg + "/planted_" + string(rune('a'+i)) + ".go:"
		if !anyHas(faults, file, p.want) {
			t.Errorf("%s in %s: no line %s ... %s", p.code, p.pkg, file, p.want)
		}
	}
}

func TestExcusedAndSortedLoopsOverMapsPass(t *testing.T) {
	name, _ := filepath.Abs(filepath.Join(root, "node", "planted.go"))
	faults, err := lint(root, map[string][]byte{name: []byte(`package node

import ("maps"; "slices")

func planted(m map[int]int) (n int) {
	// unordered: only counts
	for range m {
		n++
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		n += k
	}
	return n
}
`)})
	if err != nil {
		t.Fatal(err)
	}
	if anyHas(faults, "node/planted.go:", "") {
		t.Fatal(faults)
	}
}

func anyHas(faults []string, file, text string) bool {
	for _, f := range faults {
		if strings.HasPrefix(f, file) && strings.Contains(f, text) {
			return true
		}
	}
	return false
}
