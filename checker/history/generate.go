package history

import (
	"strconv"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Load is the size of a generated history.
type Load struct {
	Operations int // sends and polls, 100 or more
	Partitions int // of the topic "orders", 1 or more
	Clients    int // 3 or more: a fifth reads, the others write
	// Illegal: late in the history, a record is acknowledged before another one
	// is sent that lies below it.
	Illegal bool
}

// Header is the profile of generated histories.
func (l Load) Header() Header {
	return Header{Source: "generated", Clock: BySeq, Profile: []Setting{
		{ClusterScope, "min.insync.replicas", "2"}, {ClusterScope, "default.replication.factor", "3"}}}
}

// Generate makes a history of a cluster that keeps its promises (but for
// Illegal), the same for the same load, and hands out its events in order.
// Producers have one send in flight each; some consumers read on, and in the end
// every partition is read from its start. An event's lists are good until emit
// returns.
func Generate(l Load, emit func(*event.Event)) {
	g := &generator{emit: emit, state: 1, logs: make([]genLog, l.Partitions)}
	readers := max(1, l.Clients/5)
	for i := range l.Clients - readers {
		g.producers = append(g.producers, genProducer{name: "producer-" + strconv.Itoa(i+1), id: uint64(1001 + i)})
	}
	for i := range readers {
		g.readers = append(g.readers, genReader{name: "consumer-" + strconv.Itoa(i+1)})
	}
	for p := range g.logs {
		g.logs[p] = genLog{hole: -1, reader: p % readers}
	}
	// A record is read twice, in polls of pollRecords.
	g.left = l.Operations * pollRecords / (pollRecords + 2)
	cheat := g.left / 10
	for g.left > 0 || g.open > 0 {
		if l.Illegal && g.left < cheat {
			l.Illegal, g.cheat = false, true
		}
		g.step()
	}
	for p := range g.logs {
		g.readOn(int32(p), 1)
		g.audit(int32(p))
	}
}

// pollRecords is how many records a poll of a generated history returns.
const pollRecords = 100

type generator struct {
	emit      func(*event.Event)
	at        event.Event // the event at hand
	state     uint64
	seq       uint64
	left      int // sends to come
	open      int // producers with a send in flight
	cheat     bool
	producers []genProducer
	readers   []genReader
	logs      []genLog
	records   []event.Record
}

type genProducer struct {
	name      string
	id        uint64
	sends     uint64
	stage     int // 0 idle, 1 in flight, 2 appended
	partition int32
	offset    int
	invoked   uint64
	cheats    bool // the log has a hole below its record
}

type genReader struct {
	name string
	ops  uint64
}

type genLog struct {
	attempts []uint64 // by offset; 0 in the hole
	position int      // of the consumer that reads on
	reader   int
	hole     int    // offset that a later send takes, -1 for none
	after    uint64 // event behind which that send begins; 0: not known yet
}

// draw is a number below n (splitmix64).
func (g *generator) draw(n int) int {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 1 % uint64(n))
}

// event begins the next event.
func (g *generator) event(k event.Kind, client string, partition int32) *event.Event {
	e := &g.at
	*e = event.New(k)
	g.seq++
	e.Seq, e.At = g.seq, int64(g.seq)*1000
	e.Client, e.Topic, e.Partition = client, "orders", partition
	return e
}

// step moves one producer on.
func (g *generator) step() {
	p := &g.producers[g.draw(len(g.producers))]
	switch p.stage {
	case 0:
		if g.left == 0 {
			return
		}
		g.left--
		g.open++
		p.sends++
		p.partition, p.stage = int32(g.draw(len(g.logs))), 1
		e := g.send(event.SendInvoke, p)
		p.invoked = e.Seq
		g.emit(e)
	case 1:
		g.append(p)
		p.stage = 2
	case 2:
		e := g.send(event.SendOK, p)
		e.Offset = kafka.Offset(p.offset)
		g.emit(e)
		if p.cheats {
			g.logs[p.partition].after, p.cheats = e.Seq, false
		}
		p.stage = 0
		g.open--
		g.readOn(p.partition, pollRecords)
	}
}

func (g *generator) send(k event.Kind, p *genProducer) *event.Event {
	e := g.event(k, p.name, p.partition)
	e.Attempt, e.Acks = p.id<<32|p.sends, -1
	e.Text = p.name + "-" + strconv.FormatUint(p.sends, 10)
	e.Hash = event.HashValue([]byte(e.Text))
	return e
}

// append gives a send its place in the log.
func (g *generator) append(p *genProducer) {
	log := &g.logs[p.partition]
	if log.hole >= 0 && log.after > 0 && p.invoked > log.after {
		p.offset, log.hole = log.hole, -1
		log.attempts[p.offset] = p.id<<32 | p.sends
		return
	}
	if g.cheat {
		g.cheat, p.cheats, log.hole, log.after = false, true, len(log.attempts), 0
		log.attempts = append(log.attempts, 0)
	}
	p.offset = len(log.attempts)
	log.attempts = append(log.attempts, p.id<<32|p.sends)
}

// end is how far a log can be read.
func (log *genLog) end() int {
	if log.hole >= 0 {
		return log.hole
	}
	return len(log.attempts)
}

// readOn lets the partition's consumer poll if at least `least` records wait.
func (g *generator) readOn(partition int32, least int) {
	log := &g.logs[partition]
	for log.end()-log.position >= least && log.end() > log.position {
		log.position = g.poll(&g.readers[log.reader], partition, log.position)
	}
}

// audit reads a partition from its start to its end, with the next consumer.
func (g *generator) audit(partition int32) {
	log := &g.logs[partition]
	r := &g.readers[(log.reader+1)%len(g.readers)]
	if len(g.readers) == 1 {
		r = &genReader{name: "auditor"}
	}
	e := g.event(event.PositionReset, r.name, partition)
	e.End, e.Text = 0, "assign"
	g.emit(e)
	for at := 0; at < log.end(); {
		at = g.poll(r, partition, at)
	}
}

// poll returns the position after it.
func (g *generator) poll(r *genReader, partition int32, from int) int {
	log := &g.logs[partition]
	end := min(from+pollRecords, log.end())
	g.records = g.records[:0]
	for o := from; o < end; o++ {
		attempt := log.attempts[o]
		p := &g.producers[attempt>>32-1001]
		g.records = append(g.records, event.Record{Offset: kafka.Offset(o), Epoch: 0, Attempt: attempt,
			Hash: event.HashValue([]byte(p.name + "-" + strconv.FormatUint(attempt&0xffffffff, 10)))})
	}
	e := g.event(event.PollOK, r.name, partition)
	e.Offset, e.End, e.HighWatermark, e.Records = kafka.Offset(from), kafka.Offset(end), kafka.Offset(log.end()), g.records
	e.Drained = end == log.end()
	g.emit(e)
	return end
}
