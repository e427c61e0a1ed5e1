package scenarios

import (
	"math/rand/v2"
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// diskFaultPercent is how many of the plans break a disk.
const diskFaultPercent = 40

// brokenDisk says whose disk breaks, and when.
type brokenDisk struct {
	id      kafka.BrokerID
	logs    string // a pattern of segments that the broker has
	at, end time.Duration
}

// brokenDisks are the ways in which a disk breaks, each as often as it stands
// here. The first five can be mended; the others leave bytes that only an empty disk
// mends.
var brokenDisks = []func(g *generator, d brokenDisk){
	(*generator).unwritable, (*generator).unreadable, (*generator).fullDisk, (*generator).failedSync, (*generator).lyingSync,
	(*generator).rottenLog, (*generator).lostWrites, (*generator).misdirectedWrites,
	(*generator).rottenLog, (*generator).lostWrites, (*generator).misdirectedWrites,
}

// mendable is how many of brokenDisks leave enough on the disk. The others want
// two more replicas of everything, one of which may be behind.
const mendable = 5

// breakDisk adds, to some plans, a disk that breaks. It draws from a stream of
// its own.
func (g *generator) breakDisk(seed uint64) {
	g.pcg = rand.NewPCG(seed, 0x6469736b)
	if !g.chance(diskFaultPercent) {
		return
	}
	kind := g.n(len(brokenDisks))
	if slices.ContainsFunc(g.topics, func(t plan.Step) bool { return len(t.Assignment[0]) < 3 }) {
		kind %= mendable
	}
	t := pick(g, g.topics...)
	d := brokenDisk{id: pick(g, pick(g, t.Assignment...)...), logs: t.Topic + "-*/*.log", at: g.between(faultsFrom, faultsUntil)}
	d.end = d.at + g.between(6*time.Second, mendAt-faultsUntil-time.Second)
	if kind >= mendable {
		d.end = mendAt - 2*time.Second // the disk is replaced then
	}
	if g.reserve(d.id, d.at, d.end+time.Second) {
		brokenDisks[kind](g, d)
	}
}

func (g *generator) disk(t time.Duration, id kafka.BrokerID, f plan.DiskFault) {
	g.at(t, plan.Step{Verb: plan.VerbDisk, Node: id, Disk: f})
}

// mended ends a disk's faults and starts a broker that they have stopped.
func (g *generator) mended(id kafka.BrokerID, end time.Duration) {
	g.disk(end, id, plan.DiskFault{Kind: plan.DiskHeal})
	g.at(end+time.Millisecond, plan.Step{Verb: plan.VerbStart, Node: id})
}

func (g *generator) unwritable(d brokenDisk) {
	g.disk(d.at, d.id, plan.DiskFault{Kind: plan.DiskWriteError, Path: pick(g, d.logs, "*"), Op: pick(g, 0, 0, 1+g.n(10)), Short: g.chance(50)})
	g.mended(d.id, d.end)
}

// unreadable lets a start fail that has nothing in memory.
func (g *generator) unreadable(d brokenDisk) {
	g.at(d.at, plan.Step{Verb: plan.VerbPower, Node: d.id, Lose: "none"})
	g.disk(d.at+time.Millisecond, d.id, plan.DiskFault{Kind: plan.DiskReadError, Path: pick(g, d.logs, "*"), Op: pick(g, 0, 1)})
	g.at(d.at+time.Second, plan.Step{Verb: plan.VerbStart, Node: d.id})
	g.mended(d.id, d.end)
}

func (g *generator) fullDisk(d brokenDisk) {
	g.disk(d.at, d.id, plan.DiskFault{Kind: plan.DiskCapacity, Bytes: int64(pick(g, 1_000, 1_000, 20_000))})
	g.mended(d.id, d.end)
}

func (g *generator) failedSync(d brokenDisk) {
	g.disk(d.at, d.id, plan.DiskFault{Kind: plan.DiskSyncError, Path: "*", After: pick(g, "keeps", "reverts", "gone"), Op: pick(g, 0, 1+g.n(3))})
	g.mended(d.id, d.end)
}

// lyingSync ends with what shows the lie.
func (g *generator) lyingSync(d brokenDisk) {
	g.disk(d.at, d.id, plan.DiskFault{Kind: plan.DiskLyingSync, Path: "*"})
	g.at(d.end-time.Millisecond, plan.Step{Verb: plan.VerbPower, Node: d.id, Lose: "all"})
	g.mended(d.id, d.end)
}

// rottenLog flips a bit while the machine is off, for the recovery to find.
func (g *generator) rottenLog(d brokenDisk) {
	g.at(d.at, plan.Step{Verb: plan.VerbPower, Node: d.id, Lose: "none"})
	g.disk(d.at+time.Millisecond, d.id, plan.DiskFault{Kind: plan.DiskRot, Path: d.logs, Offset: plan.RandomOffset})
	g.at(d.at+g.between(time.Second, 3*time.Second), plan.Step{Verb: plan.VerbStart, Node: d.id})
	g.replaced(d.id, d.end)
}

func (g *generator) lostWrites(d brokenDisk) { g.unnoticed(d, plan.DiskLoseWrites) }

func (g *generator) misdirectedWrites(d brokenDisk) { g.unnoticed(d, plan.DiskMisdirect) }

// stopWithin is how long a controlled shutdown takes at most, nearly always.
const stopWithin = 5 * time.Second

// unnoticed breaks the writes of a clean stop and cuts the power while the broker
// is down, so that its next start meets what the disk has.
func (g *generator) unnoticed(d brokenDisk, kind string) {
	g.disk(d.at, d.id, plan.DiskFault{Kind: kind, Path: d.logs})
	g.at(d.at+time.Millisecond, plan.Step{Verb: plan.VerbStop, Node: d.id})
	off := d.at + stopWithin
	g.at(off, plan.Step{Verb: plan.VerbPower, Node: d.id, Lose: "none"})
	g.at(off+time.Second, plan.Step{Verb: plan.VerbStart, Node: d.id})
	g.replaced(d.id, d.end)
}

// replaced gives a broker an empty disk, as an operator would who has found bytes
// that do not match their checksum.
func (g *generator) replaced(id kafka.BrokerID, end time.Duration) {
	g.diskReplaced = true
	g.disk(end, id, plan.DiskFault{Kind: plan.DiskHeal})
	g.at(end+time.Millisecond, plan.Step{Verb: plan.VerbWipe, Node: id})
	g.at(end+2*time.Millisecond, plan.Step{Verb: plan.VerbStart, Node: id})
}
