//go:build !js

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// serveRounds is in how many slices each measurement is cut. The brokers take turns,
// and a figure is the median of its slices: what disturbs the machine for a while
// disturbs all of them alike.
const serveRounds = 9

// contestant is one broker under one workload.
type contestant struct {
	target
	workload
	topic         string
	driver        *driver
	single, frame []byte // requests of one record and of a batch
	batchBytes    int

	produced, fetched    []float64 // in a second, by slice: batches, bytes
	times                []time.Duration
	produceCPU, fetchCPU gauge
}

// gauge relates a process's processor time to the bytes that it served with it.
type gauge struct {
	used  time.Duration
	bytes float64
}

// perGigabyte is in processor seconds; 0 if the process is not known.
func (g gauge) perGigabyte() float64 {
	if g.used <= 0 || g.bytes <= 0 {
		return 0
	}
	return g.used.Seconds() / (g.bytes / 1e9)
}

// newContestant prepares a topic and warms the broker up.
func newContestant(t target, w workload, topic string, warmUp time.Duration) (*contestant, error) {
	c := &contestant{target: t, workload: w, topic: topic}
	addr, err := leaderOf(t, topic)
	if err != nil {
		return nil, err
	}
	if c.driver, err = dialDriver(addr); err != nil {
		return nil, err
	}
	c.single, _ = produceFrame(topic, w.recordBytes, 1)
	c.frame, c.batchBytes = produceFrame(topic, w.recordBytes, w.records)
	if err = c.driver.settle(c.single); err == nil {
		_, _, err = c.driver.produce(c.frame, warmUp)
	}
	if err != nil {
		c.driver.conn.Close()
		return nil, err
	}
	return c, nil
}

// produceSlice is one slice of producing.
func (c *contestant) produceSlice(d time.Duration) error {
	before := processorTimeOf(c.pid)
	n, rate, err := c.driver.produce(c.frame, d)
	c.produced = append(c.produced, rate)
	c.produceCPU.used += processorTimeOf(c.pid) - before
	c.produceCPU.bytes += float64(n * c.batchBytes)
	return err
}

// fetchSlice is one slice of fetching.
func (c *contestant) fetchSlice(d time.Duration) error {
	before := processorTimeOf(c.pid)
	n, rate, err := c.driver.fetch(c.topic, d)
	c.fetched = append(c.fetched, rate)
	c.fetchCPU.used += processorTimeOf(c.pid) - before
	c.fetchCPU.bytes += float64(n)
	return err
}

// latencySlice is one slice of requests that are alone in flight.
func (c *contestant) latencySlice(d time.Duration) error {
	times, err := c.driver.latencies(c.single, d/2)
	c.times = append(c.times, times...)
	return err
}

// row is what the slices come to.
func (c *contestant) row() serveRow {
	batches := middle(c.produced)
	slices.Sort(c.times)
	return serveRow{Broker: c.name, Replicas: c.replicas, RecordBytes: c.recordBytes, BatchBytes: c.batchBytes,
		RecordsPerSecond: batches * float64(c.records), ProducedMBs: batches * float64(c.batchBytes) / 1e6, FetchedMBs: middle(c.fetched) / 1e6,
		LatencyMicros: micros(c.times[len(c.times)/2]), LatencyP99Micros: micros(c.times[len(c.times)*99/100]),
		ProduceCPU: c.produceCPU.perGigabyte(), FetchCPU: c.fetchCPU.perGigabyte()}
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// serveOrder is the order of a round, another in each: nobody always comes after the
// same one, whose bytes are still on their way to the disk.
func serveOrder(round, n int) []int { return rand.New(rand.NewPCG(1, uint64(round))).Perm(n) }

// middle is the median.
func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// contest measures one workload of every target: first producing, then fetching,
// then latency, slice by slice in turn.
func contest(targets []target, w workload, topic string, duration time.Duration, stopped func() error) ([]serveRow, error) {
	var all []*contestant
	defer func() {
		for _, c := range all {
			c.driver.conn.Close()
		}
	}()
	slice := duration / serveRounds
	for _, t := range targets {
		c, err := newContestant(t, w, fmt.Sprintf("%s-%d", topic, t.replicas), slice)
		if err != nil {
			return nil, t.blame(err)
		}
		all = append(all, c)
	}
	for _, step := range []func(*contestant, time.Duration) error{(*contestant).produceSlice, (*contestant).fetchSlice, (*contestant).latencySlice} {
		for round := range serveRounds {
			if err := stopped(); err != nil {
				return nil, err
			}
			for _, i := range serveOrder(round, len(all)) {
				if err := step(all[i], slice); err != nil {
					return nil, all[i].blame(err)
				}
			}
		}
	}
	rows := make([]serveRow, len(all))
	for i, c := range all {
		rows[i] = c.row()
	}
	return rows, nil
}
