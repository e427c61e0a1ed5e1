package apache

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/net/interop/kgohistory"
)

// wire is the network of one client, which can be cut for good: the process of that
// client is dead then, as far as anybody else can tell.
type wire struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.cut {
		conn.Close()
		err = net.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	w.conns = append(w.conns, conn)
	return conn, nil
}

func (w *wire) cutOff() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	for _, c := range w.conns {
		c.Close()
	}
}

// member is a consumer of a group at work, whose deeds are recorded.
type member struct {
	wire   wire
	end    context.CancelFunc
	ended  chan struct{}
	client *kgohistory.Client
	close  func()
}

// options of every member; sessions are short, so that one who died is missed soon.
func (m *member) options(address, group string, more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{kgo.SeedBrokers(address), kgo.ConsumerGroup(group), kgo.ConsumeTopics("in"), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(3 * time.Second), kgo.HeartbeatInterval(200 * time.Millisecond), kgo.Dialer(m.wire.dial),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(200 * time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, more...)
}

// work calls turn again and again until the member leaves or dies.
func (m *member) work(turn func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	m.end, m.ended = cancel, make(chan struct{})
	go func() {
		defer close(m.ended)
		for ctx.Err() == nil {
			turn(ctx)
		}
	}()
}

// reads is a member that commits what it was given.
func reads(t *testing.T, rec *kgohistory.Recorder, name, address, group string, more ...kgo.Opt) *member {
	t.Helper()
	m := &member{}
	var err error
	if m.client, err = rec.NewGroupClient(name, m.options(address, group, more...)...); err != nil {
		t.Fatal(err)
	}
	m.close = m.client.Close
	m.work(func(ctx context.Context) {
		brief, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		if fetches := m.client.PollRecords(brief, 20); fetches.NumRecords() > 0 {
			m.client.CommitUncommittedOffsets(ctx) // what is refused is given to another member
		}
	})
	t.Cleanup(m.leave)
	return m
}

// transforms is a member that copies each record to topic out within transactions,
// every fourth of which it aborts; stuck, if any, ends it in the middle of one.
func transforms(t *testing.T, rec *kgohistory.Recorder, name, address, id string, stuck <-chan struct{}) *member {
	t.Helper()
	m := &member{}
	s, err := rec.NewTransact(name, m.options(address, "transformers", kgo.TransactionalID(id), kgo.TransactionTimeout(10*time.Second),
		kgo.Balancers(kgo.CooperativeStickyBalancer()))...)
	if err != nil {
		t.Fatal(err)
	}
	m.client, m.close = s.Client, s.Close
	turn := 0
	m.work(func(ctx context.Context) {
		brief, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		if err := s.Begin(); err != nil {
			time.Sleep(100 * time.Millisecond)
			return
		}
		fetches := s.PollRecords(brief, 20)
		fetches.EachRecord(func(r *kgo.Record) {
			s.Produce(kgohistory.MadeFrom(ctx, r), &kgo.Record{Topic: "out", Key: r.Key, Value: append([]byte("out of "), r.Value...)}, nil)
		})
		select {
		case <-stuck:
			s.Flush(ctx)
			m.wire.cutOff()
			<-ctx.Done()
			return
		default:
		}
		turn++
		try := kgo.TransactionEndTry(turn%4 != 0)
		if _, err := s.End(context.WithoutCancel(ctx), try); err != nil && !errors.Is(err, context.Canceled) {
			time.Sleep(100 * time.Millisecond)
		}
	})
	t.Cleanup(m.leave)
	return m
}

// leave ends a member in good order.
func (m *member) leave() {
	if m.end == nil {
		return
	}
	m.end()
	<-m.ended
	m.close()
	m.end = nil
}

// die takes the network from a member, as kill -9 does.
func (m *member) die() {
	m.client.Crashed()
	m.wire.cutOff()
	m.end()
	m.end = nil
	go m.close() // waits for what will never be answered
}
