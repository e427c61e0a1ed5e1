package apache

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// jars is the directory with Kafka's jars, tidemark the binary under test.
var (
	jars     = os.Getenv("TIDEMARK_KAFKA_JARS")
	tidemark = os.Getenv("TIDEMARK_BINARY")
)

func TestMain(m *testing.M) {
	if jars == "" || tidemark == "" {
		fmt.Println("conformance with Apache Kafka: run make conformance, which gives these tests Kafka's jars and a tidemark")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Bounds of what a test waits for, on however slow a machine.
const (
	startWithin = 3 * time.Minute
	toolWithin  = 5 * time.Minute
	within      = 10 * time.Minute
)

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// java is a command that runs a class of Kafka's, small and quick to start.
func java(ctx context.Context, heap, class string, args ...string) *exec.Cmd {
	here, _ := os.Getwd()
	all := []string{"-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dlog4j2.configurationFile=" + filepath.Join(here, "log4j2.yaml"), "-cp", jars + "/*", class}
	cmd := exec.CommandContext(ctx, "java", append(all, args...)...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// tool runs one of Kafka's tools, whose main class has one of the given names, and
// returns what it prints and how it ends.
func tool(t *testing.T, classes []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), toolWithin)
	defer cancel()
	for _, class := range classes {
		out, err := java(ctx, "256m", class, args...).CombinedOutput()
		if !bytes.Contains(out, []byte("ClassNotFoundException")) {
			return string(out), err
		}
	}
	t.Fatalf("none of %s is in %s", strings.Join(classes, ", "), jars)
	return "", nil
}

// dumper names Kafka's own reader of log directories; it moved in 4.3.
var dumper = []string{"kafka.tools.DumpLogSegments", "org.apache.kafka.tools.DumpLogSegments"}

// dumpLogSegments runs it, on files that it can read.
func dumpLogSegments(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tool(t, dumper, args...)
	if err != nil {
		t.Fatalf("DumpLogSegments %s: %v\n%s", strings.Join(args, " "), err, tail(out))
	}
	return out
}

// broker is one KRaft node of Apache Kafka, broker and controller in one.
type broker struct {
	t       *testing.T
	dir     string // its log directory
	address string
	voter   string // the controller's address
	more    string // settings
	dynamic bool   // quorum: its voters are in the metadata log (KIP-853), else in the settings
	cmd     *exec.Cmd
	out     bytes.Buffer
	ended   chan struct{} // closed when no process runs
}

// newBroker gives a broker with node.id 1 its addresses; nothing runs yet.
func newBroker(t *testing.T, dir string) *broker {
	all := free(t, 2)
	return &broker{t: t, dir: dir, address: all[0], voter: all[1]}
}

// settings keep one node's cluster small and its cleaner eager.
const settings = `process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=3000
group.consumer.min.heartbeat.interval.ms=100
group.consumer.heartbeat.interval.ms=200
log.cleaner.backoff.ms=200
metadata.log.max.record.bytes.between.snapshots=3000
`

func (b *broker) properties() string {
	quorum := "controller.quorum.voters=1@" + b.voter
	if b.dynamic {
		quorum = "controller.quorum.bootstrap.servers=" + b.voter
	}
	text := settings + b.more + fmt.Sprintf("log.dirs=%s\n%s\nlisteners=PLAINTEXT://%s,CONTROLLER://%s\nadvertised.listeners=PLAINTEXT://%s\n",
		b.dir, quorum, b.address, b.voter, b.address)
	name := filepath.Join(b.t.TempDir(), "server.properties")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return name
}

// clusterID is the one that directories are formatted for here.
const clusterID = "dGlkZW1hcmstY29uZm9ybQ"

// format prepares a new directory.
func (b *broker) format() {
	b.t.Helper()
	args := []string{"format", "-t", clusterID, "-c", b.properties()}
	if b.dynamic {
		args = append(args, "--standalone")
	}
	out, err := tool(b.t, []string{"kafka.tools.StorageTool", "org.apache.kafka.tools.StorageTool"}, args...)
	if err != nil {
		b.t.Fatalf("StorageTool: %v\n%s", err, out)
	}
}

// start runs the broker and waits until it answers for the cluster.
func (b *broker) start() {
	b.t.Helper()
	b.out.Reset()
	b.cmd = java(context.Background(), "512m", "kafka.Kafka", b.properties())
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.out
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.ended = make(chan struct{})
	go func() {
		b.cmd.Wait()
		close(b.ended)
	}()
	b.t.Cleanup(b.kill)
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	c := client(b.t, b.address)
	for {
		req := kmsg.NewPtrMetadataRequest()
		if res, err := req.RequestWith(ctx, c); err == nil && len(res.Brokers) == 1 {
			return
		}
		select {
		case <-b.ended:
			b.t.Fatalf("Kafka did not start on %s:\n%s", b.dir, tail(b.out.String()))
		case <-ctx.Done():
			b.kill()
			b.t.Fatalf("Kafka does not come to serve on %s:\n%s", b.dir, tail(b.out.String()))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stop is a controlled shutdown.
func (b *broker) stop() {
	b.t.Helper()
	b.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-b.ended:
	case <-time.After(toolWithin):
		b.kill()
		b.t.Fatalf("Kafka does not stop:\n%s", tail(b.out.String()))
	}
}

// kill is kill -9.
func (b *broker) kill() {
	b.cmd.Process.Kill()
	<-b.ended
}

func tail(s string) string { return s[max(0, len(s)-8000):] }

// free are addresses on loopback that nobody listens at.
func free(t *testing.T, n int) []string {
	t.Helper()
	var all []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}
