package plan

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// DiskFault is what a disk verb orders. Which fields a kind fills is said at
// each.
type DiskFault struct {
	Kind string // one of the constants below
	// Path is a pattern of paths below the node's disk, such as t-0/*.log; a
	// directory stands for all that is in it, "*" for everything. All but capacity,
	// page-cache and heal.
	Path     string
	From, To int64  // read-error, write-error, lose-writes, misdirect-writes: bytes [From, To) of the file, To 0 for its end
	Op       int    // those and fsync-error, lying-fsync: the n-th operation alone, from 1; 0: all of them
	After    string // fsync-error: keeps, reverts, gone
	Short    bool   // write-error: half of the bytes get in
	Bytes    int64  // capacity, page-cache
	Offset   int64  // rot: the byte, RandomOffset to draw file, byte and bit
	Cached   bool   // rot: in the page cache, not on the medium
}

// RandomOffset is the offset of a rot that is drawn.
const RandomOffset = -1

// The kinds of a DiskFault.
const (
	DiskReadError  = "read-error"
	DiskWriteError = "write-error"
	DiskSyncError  = "fsync-error"
	DiskLyingSync  = "lying-fsync"
	DiskLoseWrites = "lose-writes"
	DiskMisdirect  = "misdirect-writes"
	DiskRot        = "rot"
	DiskCapacity   = "capacity"
	DiskPageCache  = "page-cache"
	DiskHeal       = "heal"
)

// smallestCache is the least page cache, bytes.
const smallestCache = 64 << 10

// diskVerb is one kind of the disk verb.
type diskVerb struct {
	kind        string
	usage, help string // usage goes behind "disk NODE"
	parse       func(a *args, f *DiskFault)
	print       func(f *DiskFault) string
}

var diskVerbs = []diskVerb{
	{DiskReadError, "read-error [PATH] [bytes FROM-TO] [op N]", "reads fail that must go to the device; PATH is a pattern such as t-0/*.log or a directory, all without it; bytes and op choose what part of a file and which operation, from now on, else it is all until disk NODE heal",
		parseOperations, printOperations},
	{DiskWriteError, "write-error [PATH] [bytes FROM-TO] [op N] [short]", "writes and truncations fail; with short, half of the bytes get in", parseWriteError, printWriteError},
	{DiskSyncError, "fsync-error keeps|reverts|gone [PATH] [op N]", "fsync fails and leaves no page dirty, so that the next one succeeds: the page cache keeps the new content and the disk never gets it (ext4, XFS), or everything is as before (btrfs), or the new content is gone at once",
		parseSyncError, printSyncError},
	{DiskLyingSync, "lying-fsync [PATH] [op N]", "fsync says that it is done and nothing is durable until an honest one", parseOperations, printOperations},
	{DiskLoseWrites, "lose-writes [PATH] [bytes FROM-TO] [op N]", "pages that the device says it wrote are not written, which shows once they leave the page cache", parseOperations, printOperations},
	{DiskMisdirect, "misdirect-writes [PATH] [bytes FROM-TO] [op N]", "pages are written over the page before them", parseOperations, printOperations},
	{DiskRot, "rot PATH OFFSET|random [cached]", "a bit of the first such file (or of any, at any place) flips on the medium, where the page cache hides it, or in the page cache", parseRot, printRot},
	{DiskCapacity, "capacity BYTES", "the files cannot grow beyond that much in sum", parseCapacity, printBytes},
	{DiskPageCache, "page-cache BYTES", "the machine's page cache has that size: what does not fit is read from the device again, and too many dirty pages are written back at once; without it everything that was used since the boot stays in memory",
		parsePageCache, printBytes},
	{DiskHeal, "heal", "end what disk verbs began, but not the page cache's size; what is broken stays broken", func(*args, *DiskFault) {}, func(*DiskFault) string { return "" }},
}

func parseDisk(a *args, s *Step) {
	s.Node = a.node("the node")
	var kinds []string
	for _, v := range diskVerbs {
		kinds = append(kinds, v.kind)
	}
	kind := a.choice("the fault", kinds...)
	for _, v := range diskVerbs {
		if a.err == nil && v.kind == kind {
			s.Disk.Kind = kind
			v.parse(a, &s.Disk)
			if a.err != nil {
				a.err = fmt.Errorf("%w; disk NODE %s", a.err, v.usage)
			}
		}
	}
}

func printDisk(s *Step) string {
	for _, v := range diskVerbs {
		if v.kind == s.Disk.Kind {
			return fmt.Sprintf("%d %s", s.Node, s.Disk)
		}
	}
	panic(fmt.Sprintf("plan: %q is no fault of a disk", s.Disk.Kind))
}

// String prints the fault as it stands behind "disk NODE".
func (f DiskFault) String() string {
	for _, v := range diskVerbs {
		if v.kind == f.Kind {
			return strings.TrimRight(f.Kind+" "+v.print(&f), " ")
		}
	}
	return f.Kind
}

// parseOperations reads [PATH] [bytes FROM-TO] [op N].
func parseOperations(a *args, f *DiskFault) {
	f.Path = "*"
	if a.more() && !a.is("bytes") && !a.is("op") && !a.is("short") {
		f.Path = pattern(a)
	}
	if f.Kind != DiskSyncError && f.Kind != DiskLyingSync && a.take("bytes") {
		span := a.next("the bytes")
		low, high, ok := strings.Cut(span, "-")
		var err, err2 error
		f.From, err = strconv.ParseInt(low, 10, 64)
		f.To, err2 = strconv.ParseInt(high, 10, 64)
		if a.err == nil && (!ok || err != nil || err2 != nil || f.From < 0 || f.To <= f.From) {
			a.failf("%q is no span of bytes such as 0-4096", span)
		}
	}
	if a.take("op") {
		f.Op = int(a.integer("the operation", 1, 1_000_000))
	}
}

func pattern(a *args) string {
	p := a.next("the path")
	if _, err := path.Match(p, ""); a.err == nil && (err != nil || strings.HasPrefix(p, "/")) {
		a.failf("%q is no pattern of paths below the node's disk such as t-0/*.log", p)
	}
	return p
}

func printOperations(f *DiskFault) string {
	out := quote(f.Path)
	if f.To > 0 {
		out += fmt.Sprintf(" bytes %d-%d", f.From, f.To)
	}
	if f.Op > 0 {
		out += fmt.Sprintf(" op %d", f.Op)
	}
	return out
}

func parseWriteError(a *args, f *DiskFault) {
	parseOperations(a, f)
	f.Short = a.take("short")
}

func printWriteError(f *DiskFault) string {
	out := printOperations(f)
	if f.Short {
		out += " short"
	}
	return out
}

func parseSyncError(a *args, f *DiskFault) {
	f.After = a.choice("what becomes of the pages", "keeps", "reverts", "gone")
	parseOperations(a, f)
}

func printSyncError(f *DiskFault) string { return f.After + " " + printOperations(f) }

func parseRot(a *args, f *DiskFault) {
	f.Path, f.Offset = pattern(a), RandomOffset
	if !a.take("random") {
		f.Offset = a.integer("the offset", 0, 1<<40)
	}
	f.Cached = a.take("cached")
}

func printRot(f *DiskFault) string {
	out := quote(f.Path) + " random"
	if f.Offset != RandomOffset {
		out = fmt.Sprintf("%s %d", quote(f.Path), f.Offset)
	}
	if f.Cached {
		out += " cached"
	}
	return out
}

func parseCapacity(a *args, f *DiskFault) { f.Bytes = a.integer("the capacity", 1, 1<<50) }

func parsePageCache(a *args, f *DiskFault) { f.Bytes = a.integer("the size", smallestCache, 1<<50) }

func printBytes(f *DiskFault) string { return strconv.FormatInt(f.Bytes, 10) }
