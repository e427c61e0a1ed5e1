package main

import "strings"

// row is one package of the design: whether it is core (sans-I/O, builds for
// every platform, deterministic) and what it may import. An import is allowed
// if it is listed, or if a listed tidemark package may import it.
type row struct {
	path    string // below the module; a trailing /* takes all packages there
	core    bool
	imports []string // below the module; "all" for commands
	third   []string // path prefixes of other modules
}

const kmsg = "github.com/twmb/franz-go/pkg/kmsg"

// table is the import table. The first row that matches a package rules it.
var table = []row{
	{path: "model/kafka", core: true},
	{path: "model/record", core: true, imports: []string{"model/kafka"}, third: []string{"github.com/klauspost/compress", "github.com/pierrec/lz4"}},
	{path: "model/event", core: true, imports: []string{"model/kafka"}},
	{path: "model/plan", core: true, imports: []string{"model/kafka"}},
	{path: "model/rules", core: true, imports: []string{"model/kafka"}},
	{path: "model/spec", core: true, imports: []string{"model/kafka", "model/record", "model/event"}},
	{path: "disk", core: true},
	{path: "disk/disktest", imports: []string{"disk"}},
	{path: "disk/faultdisk", core: true, imports: []string{"disk"}},
	{path: "disk/simdisk", core: true, imports: []string{"disk/faultdisk"}},
	{path: "disk/osdisk", imports: []string{"disk"}},
	{path: "node", core: true, imports: []string{"model/*", "disk"}, third: []string{kmsg}},
	{path: "node/storage", core: true, imports: []string{"node", "model/record", "model/rules"}},
	{path: "node/storage/inspect", core: true, imports: []string{"disk", "model/record"}},
	{path: "node/metadata", core: true, imports: []string{"model/*"}},
	{path: "node/quorum", core: true, imports: []string{"node/storage", "node/metadata"}},
	{path: "node/controller", core: true, imports: []string{"node/quorum"}},
	{path: "node/replica", core: true, imports: []string{"node/storage"}},
	{path: "node/client", core: true, imports: []string{"node"}},
	{path: "node/client/clienttest", core: true, imports: []string{"node/client", "disk/simdisk"}},
	{path: "node/broker", core: true, imports: []string{"node/controller", "node/replica", "node/client"}},
	{path: "node/producer", core: true, imports: []string{"node/client"}},
	{path: "node/consumer", core: true, imports: []string{"node/client"}},
	{path: "node/app", core: true, imports: []string{"node/producer", "node/consumer"}},
	{path: "net/wire", core: true, imports: []string{"node"}},
	{path: "net/simnet", core: true},
	{path: "net/tcp", imports: []string{"net/wire", "disk"}},
	{path: "node/live/recording", core: true, imports: []string{"node", "net/wire"}},
	{path: "node/live", imports: []string{"node", "model/plan", "disk/osdisk", "disk/faultdisk", "net/tcp", "node/live/recording"}},
	{path: "sim", core: true, imports: []string{"node", "model/plan", "disk/simdisk", "net/simnet", "net/wire"}},
	{path: "sim/replay", core: true, imports: []string{"node/live/recording", "disk/simdisk"}},
	{path: "checker", core: true, imports: []string{"model/*"}, third: []string{"github.com/anishathalye/porcupine"}},
	{path: "checker/history", core: true, imports: []string{"model/event", "model/kafka"}},
	{path: "checker/history/importtest", imports: []string{"checker", "checker/history"}},
	{path: "checker/history/edn", core: true},
	{path: "checker/history/jepsen", core: true, imports: []string{"checker/history", "checker/history/edn"}},
	{path: "checker/history/verifiable", core: true, imports: []string{"checker/history"}},
	{path: "checker/history/kgoverifier", core: true, imports: []string{"checker/history"}},
	{path: "scenarios", imports: []string{"sim", "node/*", "checker"}},
	{path: "reports", imports: []string{"model/*", "checker"}, third: []string{"gonum.org/v1/plot", "golang.org/x/image/font"}},
	{path: "cmd/*", imports: []string{"all"}, third: []string{"github.com/spf13/cobra", "golang.org/x/tools/go/packages", "github.com/anishathalye/porcupine", kmsg}},
}

// domainOnly are packages that take domain types and never see the protocol's.
var domainOnly = []string{"node/storage", "node/replica", "node/quorum"}

func match(pattern, path string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(path, dir+"/")
	}
	return pattern == path
}

func rowOf(path string) (row, bool) {
	for _, r := range table {
		if match(r.path, path) {
			return r, true
		}
	}
	return row{}, false
}

// mayImport tells whether r may import the tidemark package path.
func mayImport(r row, path string) bool {
	for _, allowed := range r.imports {
		if allowed == "all" || match(allowed, path) {
			return true
		}
		for _, sub := range table {
			if match(allowed, sub.path) && mayImport(sub, path) {
				return true
			}
		}
	}
	return false
}

// mayUse tells whether r may import path of another module.
func mayUse(r row, path string) bool {
	for _, third := range r.third {
		if path == third || strings.HasPrefix(path, third+"/") {
			return true
		}
	}
	for _, sub := range table {
		for _, allowed := range r.imports {
			if match(allowed, sub.path) && mayUse(sub, path) {
				return true
			}
		}
	}
	return false
}
