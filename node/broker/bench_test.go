package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node"
)

// bench runs chosen lanes of one broker without a World: posts between them are
// delivered in order, what goes to lanes that are not there, to connections and
// to the clock is recorded, and the test plays the rest of the cluster.
type bench struct {
	t     *testing.T
	cfg   Config
	disk  *simdisk.Disk
	now   time.Duration
	lanes []*benchLane

	mail   []mail // posts on their way
	posted []mail // posts to lanes that are not there
	timers []benchTimer
	serial uint64
	syncs  []benchSync
	// onSync, if set, looks at the disk after every fsync.
	onSync func()

	events []event.Event
	exit   string
	broken bool // the device refuses every write below under
	under  string
	stall  bool // fsyncs do not end
	torn   bool // fsyncs fail
}

type benchLane struct {
	bench   *bench
	lane    node.Lane
	process node.Process
	fs      disk.FS

	conns    node.ConnID // dialled or accepted so far
	dialed   map[node.ConnID]string
	sent     []sentMessage
	released []node.ConnID
	closed   []node.ConnID
}

type mail struct {
	from, to node.Lane
	msg      any
}

type sentMessage struct {
	conn node.ConnID
	m    *node.Message
}

type benchTimer struct {
	lane *benchLane
	id   node.TimerID
	at   time.Duration
}

type benchSync struct {
	lane  *benchLane
	token disk.Token
	at    int64
	sync  simdisk.Sync
}

// exited is how Env.Exit leaves a callback.
type exited struct{}

// testConfig is broker 1 with one controller, 101.
func testConfig(lanes int, pairs ...kafka.Pair) Config {
	props, err := kafka.NewConfig(kafka.BrokerScope, pairs...)
	if err != nil {
		panic(err)
	}
	return Config{ID: 1, Broker: true, ClusterID: kafka.UUID{1, 2, 3}, Voters: []Voter{{101, "c101:9093"}},
		ClientAddr: "b1:9092", DataLanes: lanes, Properties: props, Rules: rules.Current()}
}

func newBench(t *testing.T, cfg Config, d *simdisk.Disk, lanes ...node.Lane) *bench {
	t.Helper()
	b := &bench{t: t, cfg: cfg, disk: d}
	b.start(lanes...)
	return b
}

// newStalledBench is a bench whose fsyncs end when the test says so.
func newStalledBench(t *testing.T, cfg Config, d *simdisk.Disk, lanes ...node.Lane) *bench {
	t.Helper()
	b := &bench{t: t, cfg: cfg, disk: d, stall: true}
	b.start(lanes...)
	return b
}

func (b *bench) start(lanes ...node.Lane) {
	b.t.Helper()
	cfg, d := b.cfg, b.disk
	d.Share(cfg.logDirs())
	for _, lane := range lanes {
		l := &benchLane{bench: b, lane: lane, process: laneProcess(cfg, lane), dialed: map[node.ConnID]string{}}
		if lane != node.Router && lane != node.Lifecycle {
			l.fs = brittleFS{d.View(lane.String(), diskHost{l}), b}
		}
		b.lanes = append(b.lanes, l)
	}
	for _, l := range b.lanes {
		b.call(func() { l.process.Start(l) })
	}
	b.settle()
}

func laneProcess(cfg Config, lane node.Lane) node.Process {
	switch lane {
	case node.Router:
		return newRouter(cfg)
	case node.Lifecycle:
		return newLifecycle(cfg)
	case node.Logs:
		return newLogs(cfg)
	case node.Quorum:
		return newQuorumLane(cfg)
	}
	return newDataLane(cfg, int(lane-node.Data0))
}

func (b *bench) lane(lane node.Lane) *benchLane {
	for _, l := range b.lanes {
		if l.lane == lane {
			return l
		}
	}
	return nil
}

// call runs one callback; Exit ends it early.
func (b *bench) call(f func()) {
	b.t.Helper()
	if b.exit != "" {
		return
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(exited); !ok {
					panic(p)
				}
			}
		}()
		f()
	}()
}

// settle delivers posts and ends fsyncs until nothing is left to do.
func (b *bench) settle() {
	b.t.Helper()
	for b.exit == "" && (len(b.mail) > 0 || len(b.syncs) > 0 && !b.stall) {
		if len(b.mail) > 0 {
			m := b.mail[0]
			b.mail = b.mail[1:]
			if l := b.lane(m.to); l != nil {
				b.call(func() { l.process.Posted(m.from, m.msg) })
			} else {
				b.posted = append(b.posted, m)
			}
			continue
		}
		b.endSync(0)
	}
}

// endSync ends the i-th fsync that is under way.
func (b *bench) endSync(i int) {
	b.t.Helper()
	s := b.syncs[i]
	b.syncs = slices.Delete(b.syncs, i, i+1)
	o := b.disk.Finish(s.sync, s.at)
	if b.torn {
		o.Err = disk.ErrIO
	}
	if !o.Gone {
		b.call(func() { s.lane.process.Synced(s.token, o.Err) })
	}
	if b.onSync != nil {
		b.onSync()
	}
}

// post hands a value to a lane as another lane, or the driver, would.
func (b *bench) post(from, to node.Lane, msg any) {
	b.t.Helper()
	b.mail = append(b.mail, mail{from, to, msg})
	b.settle()
}

// advance moves the clock, firing the timers on the way.
func (b *bench) advance(d time.Duration) {
	b.t.Helper()
	end := b.now + d
	for b.exit == "" {
		next := -1
		for i, timer := range b.timers {
			if timer.at <= end && (next < 0 || timer.at < b.timers[next].at) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		timer := b.timers[next]
		b.timers = slices.Delete(b.timers, next, next+1)
		b.now = max(b.now, timer.at)
		b.call(func() { timer.lane.process.Fire(timer.id) })
		b.settle()
	}
	b.now = end
}

// request delivers a client's request to a lane on connection conn.
func (b *bench) request(lane node.Lane, conn node.ConnID, req kmsg.Request) {
	b.t.Helper()
	b.serial++
	l := b.lane(lane)
	b.call(func() {
		l.process.Receive(conn, &node.Message{CorrelationID: int32(b.serial), ClientID: "test", Request: req})
	})
	b.settle()
}

// answer delivers a peer's answer to the request sent last on a connection.
func (b *bench) answer(lane node.Lane, res kmsg.Response) {
	b.t.Helper()
	l := b.lane(lane)
	last := l.sent[len(l.sent)-1]
	b.answerTo(l, last, res)
}

func (b *bench) answerTo(l *benchLane, request sentMessage, res kmsg.Response) {
	b.t.Helper()
	if res.Key() != request.m.Request.Key() {
		b.t.Fatalf("answer of key %d to a request of key %d", res.Key(), request.m.Request.Key())
	}
	reply := request.m.Reply(res)
	b.call(func() { l.process.Receive(request.conn, reply) })
	b.settle()
}

// disconnect reports the loss of a connection.
func (b *bench) disconnect(lane node.Lane, conn node.ConnID) {
	b.t.Helper()
	l := b.lane(lane)
	b.call(func() { l.process.Disconnected(conn) })
	b.settle()
}

// take returns the last message that a lane sent, with its body as T, and fails
// without one.
func take[T any](b *bench, lane node.Lane) (T, sentMessage) {
	b.t.Helper()
	l := b.lane(lane)
	if len(l.sent) == 0 {
		b.t.Fatalf("%v sent nothing", lane)
	}
	last := l.sent[len(l.sent)-1]
	var body any = last.m.Response
	if last.m.Request != nil {
		body = last.m.Request
	}
	v, ok := body.(T)
	if !ok {
		b.t.Fatalf("%v sent a %T last", lane, body)
	}
	return v, last
}

// sentCount is how many messages a lane sent so far.
func (b *bench) sentCount(lane node.Lane) int { return len(b.lane(lane).sent) }

// saw lists the events of a kind so far.
func (b *bench) saw(kind event.Kind) []event.Event {
	var found []event.Event
	for _, e := range b.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// postedTo lists the posts to a lane that is not there, as T.
func postedTo[T any](b *bench, lane node.Lane) []T {
	var found []T
	for _, m := range b.posted {
		if v, ok := m.msg.(T); ok && m.to == lane {
			found = append(found, v)
		}
	}
	return found
}

// file is a whole file as readers see it.
func (b *bench) file(name string) string {
	b.t.Helper()
	content, err := b.disk.ReadFile(cachedSide, name)
	if err != nil {
		return ""
	}
	return string(content)
}

func (l *benchLane) Node() kafka.BrokerID { return l.bench.cfg.ID }
func (l *benchLane) Now() time.Duration   { return l.bench.now }
func (l *benchLane) Wall() kafka.Timestamp {
	return 1_700_000_000_000 + kafka.Timestamp(l.bench.now.Milliseconds())
}
func (l *benchLane) FS() disk.FS         { return l.fs }
func (l *benchLane) Emit(e *event.Event) { l.bench.events = append(l.bench.events, *e) }
func (l *benchLane) Post(to node.Lane, msg any) {
	l.bench.mail = append(l.bench.mail, mail{l.lane, to, msg})
}

func (l *benchLane) SetTimer(d time.Duration) node.TimerID {
	l.bench.serial++
	id := node.TimerID(l.bench.serial)
	l.bench.timers = append(l.bench.timers, benchTimer{l, id, l.bench.now + max(d, 0)})
	return id
}

func (l *benchLane) CancelTimer(id node.TimerID) {
	l.bench.timers = slices.DeleteFunc(l.bench.timers, func(t benchTimer) bool { return t.lane == l && t.id == id })
}

func (l *benchLane) Dial(addr string) node.ConnID {
	l.conns++
	conn := 1000 + l.conns
	l.dialed[conn] = addr
	return conn
}

func (l *benchLane) Send(conn node.ConnID, m *node.Message) {
	l.sent = append(l.sent, sentMessage{conn, m})
}
func (l *benchLane) Release(conn node.ConnID) { l.released = append(l.released, conn) }
func (l *benchLane) Close(conn node.ConnID)   { l.closed = append(l.closed, conn) }

// Rand draws from a counter, so that ids differ and runs are equal.
func (l *benchLane) Rand(string) uint64 {
	l.bench.serial++
	return l.bench.serial * 0x9e3779b97f4a7c15
}

func (l *benchLane) Exit(reason string) {
	l.bench.exit = reason
	panic(exited{})
}

// nanos is the clock as the disk wants it.
func (l *benchLane) nanos() int64 { return int64(l.bench.now) }

// diskHost is the simdisk.Host of a lane: no operation takes time.
type diskHost struct{ l *benchLane }

func (h diskHost) Now() int64   { return h.l.nanos() }
func (h diskHost) Charge(int64) {}
func (h diskHost) Step()        {}
func (h diskHost) Complete(t disk.Token, at int64, s simdisk.Sync) {
	h.l.bench.syncs = append(h.l.bench.syncs, benchSync{h.l, t, at, s})
}

func (e mail) String() string { return fmt.Sprintf("%v→%v %T", e.from, e.to, e.msg) }

// brittleFS is a view whose device may break.
type brittleFS struct {
	disk.FS
	b *bench
}

func (fs brittleFS) Open(name string) (disk.File, error) {
	f, err := fs.FS.Open(name)
	return fs.brittle(name, f, err)
}

func (fs brittleFS) Create(name string) (disk.File, error) {
	f, err := fs.FS.Create(name)
	return fs.brittle(name, f, err)
}

func (fs brittleFS) brittle(name string, f disk.File, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	return brittleFile{f, name, fs.b}, nil
}

type brittleFile struct {
	disk.File
	name string
	b    *bench
}

func (f brittleFile) WriteAt(p []byte, off int64) (int, error) {
	if f.b.broken && strings.HasPrefix(f.name, f.b.under) {
		return 0, disk.ErrIO
	}
	return f.File.WriteAt(p, off)
}
