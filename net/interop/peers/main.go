// Command peers is what tidemark bench serve is measured beside: it runs
// franz-go's kfake, and it drives any broker with franz-go's client.
//
//	peers kfake [DIR]                 one broker, in memory or with its data in DIR
//	peers kgo SECONDS NAME=ADDR...    produce to and consume from each in turn
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	err := errors.New("usage: peers kfake [DIR] | peers kgo SECONDS NAME=ADDR...")
	switch {
	case len(os.Args) >= 2 && os.Args[1] == "kfake":
		err = serveKfake(os.Args[2:])
	case len(os.Args) >= 4 && os.Args[1] == "kgo":
		err = drive(os.Args[2], os.Args[3:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// serveKfake runs until SIGTERM; its first line of output is its address.
func serveKfake(dir []string) error {
	opts := []kfake.Opt{kfake.NumBrokers(1)}
	if len(dir) > 0 {
		opts = append(opts, kfake.DataDir(dir[0]))
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println(c.ListenAddrs()[0])
	done := make(chan os.Signal, 1)
	signal.Notify(done, os.Interrupt, syscall.SIGTERM)
	<-done
	return nil
}

// drive measures every broker with every size of record.
func drive(seconds string, targets []string) error {
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return err
	}
	fmt.Printf("%-16s %8s %7s %12s %9s %12s %9s\n", "franz-go", "replicas", "record", "in/s", "MB/s in", "out/s", "MB/s out")
	for _, size := range []int{100, 1024} {
		for _, t := range targets {
			name, addr, _ := strings.Cut(t, "=")
			for _, replicas := range []int16{1, 3} {
				if err := measure(name, addr, replicas, size, time.Duration(n*float64(time.Second))); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// measure prints one row; none for a broker that cannot have so many replicas.
func measure(name, addr string, replicas int16, size int, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+10*d)
	defer cancel()
	topic := fmt.Sprintf("kgo-%d-%d", size, replicas)
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(5*time.Millisecond), kgo.MaxBufferedRecords(50_000))
	if err != nil {
		return err
	}
	defer c.Close()
	admin := kadm.NewClient(c)
	if brokers, err := admin.ListBrokers(ctx); err != nil || len(brokers) < int(replicas) {
		return err
	}
	if _, err := admin.CreateTopic(ctx, 1, replicas, nil, topic); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return err
	}
	if err := awaitLeader(ctx, admin, topic); err != nil {
		return err
	}
	// A fresh cluster has no producer ids at hand and sends the first client away.
	if err := c.ProduceSync(ctx, &kgo.Record{Value: make([]byte, size)}).FirstErr(); err != nil {
		return err
	}
	in, err := produce(ctx, c, size, d)
	if err != nil {
		return err
	}
	out, err := consume(ctx, addr, topic, d)
	if err != nil {
		return err
	}
	fmt.Printf("%-16s %8d %7d %12.0f %9.1f %12.0f %9.1f\n", name, replicas, size, in, in*float64(size)/1e6, out, out*float64(size)/1e6)
	return nil
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

// produce returns the records acknowledged in a second.
func produce(ctx context.Context, c *kgo.Client, size int, d time.Duration) (float64, error) {
	value := make([]byte, size)
	var acked, failed atomic.Int64
	start := time.Now()
	for time.Since(start) < d {
		c.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
			} else {
				acked.Add(1)
			}
		})
	}
	if err := c.Flush(ctx); err != nil {
		return 0, err
	}
	if n := failed.Load(); n > 0 {
		return 0, fmt.Errorf("%d records failed", n)
	}
	return float64(acked.Load()) / time.Since(start).Seconds(), nil
}

// consume returns the records that come in a second, from the start of the topic
// to its end at most.
func consume(ctx context.Context, addr, topic string, d time.Duration) (float64, error) {
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	ends, err := kadm.NewClient(c).ListEndOffsets(ctx, topic)
	if err != nil {
		return 0, err
	}
	end, _ := ends.Lookup(topic, 0)
	start, n, next := time.Time{}, 0, int64(0)
	for next < end.Offset && (start.IsZero() || time.Since(start) < d) {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return 0, err
		}
		if start.IsZero() {
			start = time.Now() // without the time that it takes to connect
			continue
		}
		fetches.EachRecord(func(r *kgo.Record) {
			n++
			next = r.Offset + 1
		})
	}
	return float64(n) / time.Since(start).Seconds(), nil
}
