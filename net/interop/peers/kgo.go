package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// rounds is in how many slices a measurement is cut. The brokers take turns, and a
// figure is the median of its slices.
const rounds = 9

// drive measures every broker with every size of record.
func drive(seconds string, targets []string) error {
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	fmt.Printf("%-16s %8s %7s %12s %9s %12s %9s %9s %9s\n", "franz-go", "replicas", "record", "in/s", "MB/s in", "out/s", "MB/s out", "s/GB in", "s/GB out")
	for _, size := range []int{100, 1024} {
		var all []*contestant
		for _, t := range targets {
			for _, replicas := range []int16{1, 3} {
				c, err := newContestant(t, replicas, size)
				if err != nil {
					return err
				}
				if c != nil {
					defer c.client.Close()
					all = append(all, c)
				}
			}
		}
		if err := contest(all, time.Duration(n*float64(time.Second))/rounds); err != nil {
			return err
		}
		for _, c := range all {
			c.print()
		}
	}
	return nil
}

// contestant is one broker under one load.
type contestant struct {
	name, addr string
	pid        string // of its process; "" if it is not known
	replicas   int16
	size       int // of a record, bytes
	topic      string
	client     *kgo.Client

	in, out       []float64 // records in a second, by slice
	inCPU, outCPU gauge
}

// gauge relates a process's processor time to the records that it served with it.
type gauge struct {
	used    time.Duration
	records int
}

// perGigabyte is processor seconds, as text.
func (g gauge) perGigabyte(size int) string {
	if g.used <= 0 || g.records == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", g.used.Seconds()/(float64(g.records)*float64(size)/1e9))
}

// newContestant connects and creates a topic; nil for a broker that cannot have so
// many replicas.
func newContestant(target string, replicas int16, size int) (*contestant, error) {
	name, rest, _ := strings.Cut(target, "=")
	addr, pid, _ := strings.Cut(rest, ",")
	c := &contestant{name: name, addr: addr, pid: pid, replicas: replicas, size: size, topic: fmt.Sprintf("kgo-%d-%d", size, replicas)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	c.client, err = kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(c.topic), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(5*time.Millisecond), kgo.MaxBufferedRecords(50_000))
	if err != nil {
		return nil, err
	}
	admin := kadm.NewClient(c.client)
	brokers, err := admin.ListBrokers(ctx)
	if err == nil && len(brokers) < int(replicas) {
		c.client.Close()
		return nil, nil
	}
	if err == nil {
		_, err = admin.CreateTopic(ctx, 1, replicas, nil, c.topic)
	}
	if err == nil || errors.Is(err, kerr.TopicAlreadyExists) {
		err = awaitLeader(ctx, admin, c.topic)
	}
	if err == nil {
		// A fresh cluster has no producer ids at hand and sends the first client away.
		err = c.client.ProduceSync(ctx, &kgo.Record{Value: make([]byte, size)}).FirstErr()
	}
	if err != nil {
		c.client.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// awaitLeader waits until the brokers know of the topic: the client would wait far
// longer between two looks.
func awaitLeader(ctx context.Context, admin *kadm.Client, topic string) error {
	for {
		topics, err := admin.ListTopics(ctx, topic)
		if err != nil {
			return err
		}
		if t := topics[topic]; t.Err == nil && len(t.Partitions) == 1 && t.Partitions[0].Leader >= 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// contest measures all, slice by slice in turn; the first slice of each warms up.
func contest(all []*contestant, slice time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+10*rounds*time.Duration(len(all))*slice)
	defer cancel()
	for _, step := range []func(*contestant, context.Context, time.Duration) error{(*contestant).produce, (*contestant).consume} {
		for round := range rounds + 1 {
			// Nobody always comes after the same one, whose bytes are still on their
			// way to the disk.
			for _, i := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(all)) {
				if err := step(all[i], ctx, slice); err != nil {
					return fmt.Errorf("%s: %w", all[i].name, err)
				}
			}
		}
	}
	return nil
}

// print prints the row of the contestant.
func (c *contestant) print() {
	in, out := median(c.in[1:]), median(c.out[1:])
	fmt.Printf("%-16s %8d %7d %12.0f %9.1f %12.0f %9.1f %9s %9s\n", c.name, c.replicas, c.size, in, in*float64(c.size)/1e6,
		out, out*float64(c.size)/1e6, c.inCPU.perGigabyte(c.size), c.outCPU.perGigabyte(c.size))
}

func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

// produce is one slice of producing.
func (c *contestant) produce(ctx context.Context, d time.Duration) error {
	value := make([]byte, c.size)
	var acked, failed atomic.Int64
	before, start := processorTime(c.pid), time.Now()
	for time.Since(start) < d {
		c.client.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
			} else {
				acked.Add(1)
			}
		})
	}
	if err := c.client.Flush(ctx); err != nil {
		return err
	}
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d records failed", n)
	}
	n := int(acked.Load())
	c.in = append(c.in, float64(n)/time.Since(start).Seconds())
	c.inCPU.used += processorTime(c.pid) - before
	c.inCPU.records += n
	return nil
}

// consume is one slice of consuming, from the start of the topic to its end at most.
func (c *contestant) consume(ctx context.Context, d time.Duration) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.addr), kgo.ConsumeTopics(c.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, c.topic)
	if err != nil {
		return err
	}
	end, _ := ends.Lookup(c.topic, 0)
	// Without the time that it takes to connect.
	if err := client.PollFetches(ctx).Err(); err != nil {
		return err
	}
	before, start, n, next := processorTime(c.pid), time.Now(), 0, int64(0)
	for next < end.Offset && time.Since(start) < d {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			n++
			next = r.Offset + 1
		})
	}
	c.out = append(c.out, float64(n)/time.Since(start).Seconds())
	c.outCPU.used += processorTime(c.pid) - before
	c.outCPU.records += n
	return nil
}
