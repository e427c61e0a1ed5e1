package interop

import (
	"strings"
	"testing"
	"time"

	kafka "github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func TestLibrdkafkaReadsBackWhatItWroteWithEveryCodec(t *testing.T) {
	data := t.TempDir()
	p := serve(t, "--brokers", "3", "--data", data, "--listen", "127.0.0.1:0")
	ctx := deadline(t)
	for _, codec := range codecs {
		topic := topicOf("librdkafka", codec)
		createTopic(ctx, t, p.bootstrap(), topic, partitions)
		start := time.Now()
		produceLibrdkafka(t, p.bootstrap(), topic, codec, hasIdempotence(ctx, t, p.bootstrap()))
		produced := time.Since(start)
		consumeLibrdkafka(t, p.bootstrap(), topic, count(t))
		t.Logf("%s: %d records produced in %v, consumed in %v", codec, count(t), produced, time.Since(start)-produced)
		wantCodec(t, data, topic, codec)
	}
	p.stop()
}

func produceLibrdkafka(t *testing.T, bootstrap []string, topic, codec string, idempotent bool) {
	t.Helper()
	config := kafka.ConfigMap{
		"bootstrap.servers": strings.Join(bootstrap, ","), "acks": "all", "enable.idempotence": idempotent,
		"max.in.flight.requests.per.connection": 5, "compression.type": codec, "linger.ms": 5,
	}
	if !idempotent {
		config["max.in.flight.requests.per.connection"] = 1 // else retries disturb the order
	}
	if codec == "gzip" {
		config["compression.level"] = 1 // its default level takes the client ten times as long
	}
	producer, err := kafka.NewProducer(&config)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	n, failed := count(t), 0
	reports := make(chan kafka.Event, 1000)
	go func() {
		for i := range n {
			m := &kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: int32(i % partitions)}, Value: value(i)}
			for {
				err := producer.Produce(m, reports)
				if err == nil {
					break
				}
				if e, ok := err.(kafka.Error); !ok || e.Code() != kafka.ErrQueueFull {
					t.Errorf("%s: record %d: %v", topic, i, err)
					break
				}
				producer.Flush(100)
			}
		}
	}()
	for range n {
		m := (<-reports).(*kafka.Message)
		if m.TopicPartition.Error != nil {
			if failed++; failed == 1 {
				t.Errorf("%s: %v", topic, m.TopicPartition.Error)
			}
		}
	}
	if failed > 0 {
		t.Fatalf("%s: %d records failed", topic, failed)
	}
}

func consumeLibrdkafka(t *testing.T, bootstrap []string, topic string, n int) {
	t.Helper()
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": strings.Join(bootstrap, ","), "group.id": "interop", "enable.auto.commit": false,
		"enable.partition.eof": true, "check.crcs": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	var parts []kafka.TopicPartition
	for i := range int32(partitions) {
		parts = append(parts, kafka.TopicPartition{Topic: &topic, Partition: i, Offset: kafka.OffsetBeginning})
	}
	if err := consumer.Assign(parts); err != nil {
		t.Fatal(err)
	}
	s, ends := newSeen(t), 0
	for limit := time.Now().Add(within); ends < partitions; {
		switch e := consumer.Poll(100).(type) {
		case *kafka.Message:
			s.take(e.TopicPartition.Partition, int64(e.TopicPartition.Offset), e.Value)
		case kafka.PartitionEOF:
			ends++
		case kafka.Error:
			t.Logf("%s: librdkafka says %v", topic, e)
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: %d records after %v", topic, s.n, within)
		}
	}
	if s.n != n {
		t.Fatalf("%s: %d records to the end, want %d", topic, s.n, n)
	}
}
