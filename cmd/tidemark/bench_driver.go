//go:build !js

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client"
)

// The versions that the driver speaks: topics by name, so that a frame can be
// made before anything is known of a topic.
const (
	driveProduce  = 9
	driveFetch    = 12
	driveMetadata = 12
	driveCreate   = 5
)

// driver is one connection that is told what to send.
type driver struct {
	conn  net.Conn
	in    *bufio.Reader
	frame []byte // the response read last

	offset int64 // that is fetched next
}

func dialDriver(addr string) (*driver, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(10 * time.Minute))
	return &driver{conn: conn, in: bufio.NewReaderSize(conn, 1<<20)}, nil
}

var formatter = kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench"))

func encode(r kmsg.Request, version int16) []byte {
	r.SetVersion(version)
	return formatter.AppendRequest(nil, r, 0)
}

// receive reads one response into res.
func (d *driver) receive(res kmsg.Response, version int16) error {
	var size [4]byte
	if _, err := io.ReadFull(d.in, size[:]); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if cap(d.frame) < n {
		d.frame = make([]byte, n)
	}
	d.frame = d.frame[:n]
	if _, err := io.ReadFull(d.in, d.frame); err != nil {
		return err
	}
	res.SetVersion(version)
	body := d.frame[4:]
	if res.IsFlexible() {
		body = body[1:] // no tags in the header
	}
	return res.ReadFrom(body)
}

// ask sends one request and waits for its response.
func (d *driver) ask(r kmsg.Request, version int16, res kmsg.Response) error {
	if _, err := d.conn.Write(encode(r, version)); err != nil {
		return err
	}
	return d.receive(res, version)
}

// leaderOf creates a topic of one partition and finds its leader.
func leaderOf(t target, topic string) (string, error) {
	d, err := dialDriver(t.addr)
	if err != nil {
		return "", err
	}
	defer d.conn.Close()
	create := kmsg.NewPtrCreateTopicsRequest()
	asked := kmsg.NewCreateTopicsRequestTopic()
	asked.Topic, asked.NumPartitions, asked.ReplicationFactor = topic, 1, int16(t.replicas)
	create.Topics, create.TimeoutMillis = append(create.Topics, asked), 10_000
	created := kmsg.NewPtrCreateTopicsResponse()
	if err := d.ask(create, driveCreate, created); err != nil {
		return "", err
	}
	if code := kafka.ErrorCode(created.Topics[0].ErrorCode); code != kafka.None && code != kafka.TopicAlreadyExists {
		return "", fmt.Errorf("create topic %s: %v", topic, code)
	}
	for range 200 {
		m := kmsg.NewPtrMetadataRequest()
		named := kmsg.NewMetadataRequestTopic()
		named.Topic = &topic
		m.Topics = append(m.Topics, named)
		res := kmsg.NewPtrMetadataResponse()
		if err := d.ask(m, driveMetadata, res); err != nil {
			return "", err
		}
		if addr, ok := leaderIn(res, t.replicas); ok {
			return addr, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "", fmt.Errorf("topic %s gets no leader", topic)
}

func leaderIn(res *kmsg.MetadataResponse, replicas int) (string, bool) {
	if len(res.Topics) != 1 || res.Topics[0].ErrorCode != 0 || len(res.Topics[0].Partitions) != 1 || len(res.Topics[0].Partitions[0].ISR) < replicas {
		return "", false
	}
	for _, b := range res.Brokers {
		if b.NodeID == res.Topics[0].Partitions[0].Leader {
			return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))), true
		}
	}
	return "", false
}

// produceFrame is a Produce of one batch of n records to partition 0.
func produceFrame(topic string, recordBytes, n int) (frame []byte, batchBytes int) {
	w := record.NewBuilder(record.NoProducer())
	value := make([]byte, recordBytes)
	for i := range value {
		value[i] = byte('a' + i%26)
	}
	now := kafka.Timestamp(time.Now().UnixMilli())
	for range n {
		w.Append(now, nil, value, nil)
	}
	r := kmsg.NewPtrProduceRequest()
	r.Acks, r.TimeoutMillis = -1, 30_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	p := kmsg.NewProduceRequestTopicPartition()
	p.Records = w.Build()
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	return encode(r, driveProduce), len(p.Records)
}

// produced reads one response to a Produce.
func (d *driver) produced(res *kmsg.ProduceResponse) error {
	res.Topics = res.Topics[:0]
	if err := d.receive(res, driveProduce); err != nil {
		return err
	}
	if code := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); code != kafka.None {
		return &refusedProduce{code}
	}
	return nil
}

// refusedProduce is an answer with an error code.
type refusedProduce struct{ code kafka.ErrorCode }

func (r *refusedProduce) Error() string { return fmt.Sprintf("produce: %v", r.code) }

// settle sends the frame until it is taken: the broker that metadata names as the
// leader of a new topic may hear of that last.
func (d *driver) settle(frame []byte) error {
	for tries := 0; ; tries++ {
		if _, err := d.conn.Write(frame); err != nil {
			return err
		}
		err := d.produced(kmsg.NewPtrProduceResponse())
		var refused *refusedProduce
		if !errors.As(err, &refused) || !client.NeedsMetadata(refused.code) || tries == 200 {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// inFlight is how many requests are under way at a time: what a producer does by
// default.
const inFlight = 5

// produce sends the frame for a time and returns how often it was acknowledged, all
// in all and in a second.
func (d *driver) produce(frame []byte, duration time.Duration) (n int, rate float64, err error) {
	slots := make(chan struct{}, inFlight)
	failed := make(chan error, 1)
	start := time.Now()
	go func() {
		for time.Since(start) < duration {
			slots <- struct{}{}
			if _, err := d.conn.Write(frame); err != nil {
				failed <- err
				return
			}
		}
		close(slots)
	}()
	res := kmsg.NewPtrProduceResponse()
	for range slots {
		if err := d.produced(res); err != nil {
			return 0, 0, err
		}
		n++
	}
	select {
	case err = <-failed:
	default:
	}
	return n, float64(n) / time.Since(start).Seconds(), err
}

// latencies are how long single requests take, one after another.
func (d *driver) latencies(frame []byte, duration time.Duration) ([]time.Duration, error) {
	var all []time.Duration
	res := kmsg.NewPtrProduceResponse()
	for start := time.Now(); time.Since(start) < duration; {
		sent := time.Now()
		if _, err := d.conn.Write(frame); err != nil {
			return nil, err
		}
		if err := d.produced(res); err != nil {
			return nil, err
		}
		all = append(all, time.Since(sent))
	}
	return all, nil
}

// fetch reads the partition on from where it stopped, from its start again after its
// end, for a time, and returns the bytes of records that came, all in all and in a second.
func (d *driver) fetch(topic string, duration time.Duration) (total int, rate float64, err error) {
	start := time.Now()
	for time.Since(start) < duration {
		r := kmsg.NewPtrFetchRequest()
		r.ReplicaID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.SessionEpoch = -1, 0, 1, 1<<20, -1
		t := kmsg.NewFetchRequestTopic()
		t.Topic = topic
		p := kmsg.NewFetchRequestTopicPartition()
		p.FetchOffset, p.PartitionMaxBytes = d.offset, 1<<20
		t.Partitions = append(t.Partitions, p)
		r.Topics = append(r.Topics, t)
		res := kmsg.NewPtrFetchResponse()
		if err := d.ask(r, driveFetch, res); err != nil {
			return 0, 0, err
		}
		part := &res.Topics[0].Partitions[0]
		if code := kafka.ErrorCode(part.ErrorCode); code != kafka.None {
			return 0, 0, fmt.Errorf("fetch at %d: %v", d.offset, code)
		}
		total += len(part.RecordBatches)
		if next := nextOffset(part.RecordBatches); next > d.offset {
			d.offset = next
		} else {
			d.offset = 0
		}
	}
	return total, float64(total) / time.Since(start).Seconds(), nil
}

// nextOffset is the offset after the last whole batch, 0 if there is none.
func nextOffset(buf []byte) int64 {
	next := int64(0)
	for {
		b, rest, err := record.Next(buf)
		if err != nil {
			return next
		}
		next, buf = int64(b.NextOffset()), rest
	}
}
