//go:build !js

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
)

// asCommand makes the test binary behave as tidemark.
const asCommand = "TIDEMARK_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// serving is a tidemark serve in a process of its own.
type serving struct {
	t     *testing.T
	cmd   *exec.Cmd
	ready string
	rest  io.Reader
	err   *bufio.Reader // its standard error
}

func startServing(t *testing.T, args ...string) *serving {
	t.Helper()
	s := &serving{t: t, cmd: exec.Command(os.Args[0], append([]string{"serve"}, args...)...)}
	s.cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe() // what is in it outlives the process
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close() })
	s.cmd.Stderr, s.err = to, bufio.NewReader(from)
	err = s.cmd.Start()
	to.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	r := bufio.NewReader(out)
	s.ready, err = r.ReadString('\n')
	s.rest = r
	if err != nil || !strings.HasPrefix(s.ready, "ready: ") {
		s.kill()
		t.Fatalf("serve %v says %q, %v, on stderr %q", args, s.ready, err, s.said())
	}
	return s
}

// said is what the process still says on its standard error, until it is dead.
func (s *serving) said() string {
	text, _ := io.ReadAll(s.err)
	return string(text)
}

// stop is SIGTERM; the process must end well and say nothing more.
func (s *serving) stop() {
	s.t.Helper()
	s.cmd.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(s.rest)
	if err := s.cmd.Wait(); err != nil || len(rest) > 0 {
		s.t.Fatalf("after SIGTERM: %v, printed %q, on stderr %q", err, rest, s.said())
	}
}

// kill is kill -9.
func (s *serving) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestClusterStopsCleanlyOnSIGTERMAndComesBackAsTheSameCluster(t *testing.T) {
	dir := t.TempDir()
	s := startServing(t, "--brokers", "2", "--data", dir, "--listen", "127.0.0.1:0")
	if !strings.HasPrefix(s.ready, "ready: 2 brokers at 127.0.0.1:") || !strings.Contains(s.ready, "data in "+dir) {
		t.Fatalf("ready line %q", s.ready)
	}
	s.stop()
	identity := read(t, dir, "broker-1", "meta.properties")
	for _, node := range []string{"broker-1", "broker-2"} {
		read(t, dir, node, ".kafka_cleanshutdown")
	}
	s = startServing(t, "--brokers", "2", "--data", dir, "--listen", "127.0.0.1:0")
	s.stop()
	if diff := cmp.Diff(identity, read(t, dir, "broker-1", "meta.properties")); diff != "" {
		t.Fatalf("meta.properties changed:\n%s", diff)
	}
}

func TestKilledClusterComesBackAndSaysWhatItWaitsFor(t *testing.T) {
	args := []string{"--data", t.TempDir(), "--listen", "127.0.0.1:0", "--set", "broker.session.timeout.ms=2000"}
	first := startServing(t, args...)
	first.kill()
	again := startServing(t, args...)
	again.stop()
	if got := first.said(); strings.Contains(got, "last life") {
		t.Errorf("a new cluster said %q", got)
	}
	const want = "waiting for the session of the last life of broker 1, which was killed: up to 2.25s"
	if got := again.said(); !strings.HasPrefix(got, want) || strings.Count(got, "waiting") != 1 {
		t.Errorf("said %q, want one line with %q", got, want)
	}
}

func TestClusterInOneProcessHasShortSessionsUnlessAsked(t *testing.T) {
	node := []string{"--node-id", "101", "--roles", "controller", "--voters", "101@h:1", "--data", t.TempDir(), "--cluster-id", testCluster}
	for want, args := range map[time.Duration][]string{
		1200 * time.Millisecond: nil,
		7 * time.Second:         {"--set", "broker.session.timeout.ms=7000"},
		9 * time.Second:         node,
	} {
		if got := planOf(t, args...).nodes[0].cfg.Properties.Millis(kafka.BrokerSessionTimeoutMs); got != want {
			t.Errorf("serve %v: sessions of %v, want %v", args, got, want)
		}
	}
}

func TestOneNodePerProcessIsAClusterToo(t *testing.T) {
	dir, addrs, err := t.TempDir(), []string(nil), error(nil)
	if addrs, err = freeAddresses("127.0.0.1", 2); err != nil {
		t.Fatal(err)
	}
	common := []string{"--voters", "101@" + addrs[0], "--cluster-id", testCluster}
	controller := startServing(t, append(common, "--node-id", "101", "--roles", "controller", "--data", filepath.Join(dir, "c"))...)
	broker := startServing(t, append(common, "--node-id", "1", "--listen", addrs[1], "--data", filepath.Join(dir, "b"))...)
	if want := "ready: broker 1 at " + addrs[1]; !strings.HasPrefix(broker.ready, want) {
		t.Errorf("ready line %q, want %q", broker.ready, want)
	}
	broker.stop()
	controller.stop()
}

// A controller that was told to stop together with its brokers is gone before it gave
// them leave.
func TestStopThatWaitsForAControllerSaysSoAndASecondSignalEndsIt(t *testing.T) {
	dir, addrs, err := t.TempDir(), []string(nil), error(nil)
	if addrs, err = freeAddresses("127.0.0.1", 2); err != nil {
		t.Fatal(err)
	}
	common := []string{"--voters", "101@" + addrs[0], "--cluster-id", testCluster}
	controller := startServing(t, append(common, "--node-id", "101", "--roles", "controller", "--data", filepath.Join(dir, "c"))...)
	broker := startServing(t, append(common, "--node-id", "1", "--listen", addrs[1], "--data", filepath.Join(dir, "b"))...)
	controller.kill()
	broker.cmd.Process.Signal(syscall.SIGTERM)
	const want = "stopping broker 1: the controller has up to 5m0s to give leave, then the logs are closed; a second signal ends this at once\n"
	for said := ""; said != want; {
		if said, err = broker.err.ReadString('\n'); err != nil {
			t.Fatalf("the broker ended without a word on what it waits for: %v", err)
		}
	}
	broker.cmd.Process.Signal(syscall.SIGTERM)
	if more := broker.said(); more != "a second signal: broker 1 ended at once, with no clean end of the logs\n" {
		t.Errorf("said %q more", more)
	}
	if err := broker.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b", cleanMarker)); err == nil {
		t.Error("a stop that was cut short left the mark of a clean one")
	}
}

const testCluster = "MkU3OEVBNTcwNTJENDM2Qg"

// line wants a command line to fail with status 2 and one line.
func line(t *testing.T, want string, args ...string) {
	t.Helper()
	status, out, errText := command(t, append([]string{"serve"}, args...)...)
	if status != exitUsage || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, want) || out != "" {
		t.Errorf("serve %v: status %d, printed %q, said\n%swant status 2 and one line with\n%s", args, status, out, errText, want)
	}
}

func TestBadUsageOfServeIsOneLineAndStatus2(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		`found "x"`:                             {"x"},
		"--brokers is 0: 1 to 100 are possible": {"--brokers", "0"},
		"--listen is \"9092\": write HOST:PORT": {"--listen", "9092"},
		"4 ports from there on end above 65535": {"--listen", "127.0.0.1:65534", "--brokers", "3"},
		"--advertise is \"h:p\"":                {"--advertise", "h:p"},
		"exclude each other":                    {"--brokers", "3", "--node-id", "1"},
		"--voters is for one node":              {"--voters", "101@127.0.0.1:9990"},
		"one node needs the controllers":        {"--node-id", "1", "--data", dir},
		`"101" is no voter`:                     {"--node-id", "1", "--data", dir, "--voters", "101"},
		`--roles is "king"`:                     {"--node-id", "1", "--data", dir, "--roles", "king"},
		"controller 7 is not among --voters":    {"--node-id", "7", "--roles", "controller", "--data", dir, "--voters", "101@127.0.0.1:9990"},
		"needs a directory that outlives it":    {"--node-id", "1", "--voters", "101@127.0.0.1:9990"},
		"is new: say which cluster it is for":   {"--node-id", "1", "--voters", "101@127.0.0.1:9990", "--data", dir},
		`--cluster-id is "short"`:               {"--cluster-id", "short"},
		"min.insync.replicas: 0 is not a valid": {"--set", "min.insync.replicas=0"},
		"--set acks=all":                        {"--set", "acks=all"},
		"nosuch=1":                              {"--rules", "nosuch=1"},
		"--config: open /nosuch":                {"--config", "/nosuch"},
		"--lanes is 9: 1 to 8 data lanes":       {"--node-id", "1", "--voters", "101@127.0.0.1:9990", "--data", dir, "--lanes", "9"},
	} {
		line(t, strings.ReplaceAll(want, "--set acks=all", "acks: not a broker configuration key"), args...)
	}
}

func TestPortInUseIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	line(t, fmt.Sprintf("controller 7: listen at %s: bind: address already in use: stop what listens there", l.Addr()), "--node-id", "7",
		"--roles", "controller", "--voters", "7@"+l.Addr().String(), "--data", t.TempDir(), "--cluster-id", testCluster)
}

func TestSecondProcessOnADirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := startServing(t, "--data", dir, "--listen", "127.0.0.1:0")
	line(t, "has the log directory "+dir, "--data", dir, "--listen", "127.0.0.1:0")
	s.stop()
}

// belongs makes a log directory of a node of the test cluster.
func belongs(t *testing.T, dir, node string) {
	t.Helper()
	text := "version=1\ncluster.id=" + testCluster + "\nnode.id=" + node + "\ndirectory.id=" + testCluster + "\n"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "meta.properties"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryOfAnotherClusterOrNodeIsRefused(t *testing.T) {
	dir := t.TempDir()
	belongs(t, filepath.Join(dir, "broker-1"), "1")
	line(t, "broker-1/meta.properties: cluster.id is "+testCluster+", not AAAAAAAAAAAAAAAAAAAAAQ: give", "--data", dir, "--listen", "127.0.0.1:0",
		"--cluster-id", "AAAAAAAAAAAAAAAAAAAAAQ")
	line(t, "broker 2: "+dir+"/broker-1/meta.properties: node.id is 1, not 2: give", "--node-id", "2", "--voters", "101@127.0.0.1:1",
		"--data", filepath.Join(dir, "broker-1"))
}

func TestDirectoryOfOneNodeIsNotTakenForTheOneOfAll(t *testing.T) {
	dir := t.TempDir()
	belongs(t, dir, "1")
	line(t, dir+" is the directory of one node", "--data", dir, "--listen", "127.0.0.1:0")
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("the directory holds %v now, error %v", names, err)
	}
}

// planOf is what a command line of serve comes to.
func planOf(t *testing.T, args ...string) servePlan {
	t.Helper()
	var f serveFlags
	cmd := serveCommand(&f)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	p, err := f.plan(cmd.Flags().Changed, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestServerPropertiesSayWhatFlagsSay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "server.properties")
	text := `node.id=3
process.roles=broker,controller
controller.quorum.voters=3@localhost:9093
listeners=PLAINTEXT://:9192,CONTROLLER://localhost:9093
advertised.listeners=PLAINTEXT://example.org:9292
log.dirs=` + dir + `/logs
min.insync.replicas=2
num.network.threads=3
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	n := planOf(t, "--config", file, "--cluster-id", testCluster).nodes[0].cfg
	flags := planOf(t, "--node-id", "3", "--roles", "broker,controller", "--voters", "3@localhost:9093", "--listen", "127.0.0.1:9192",
		"--advertise", "example.org:9292", "--data", dir+"/logs", "--set", "min.insync.replicas=2", "--cluster-id", testCluster).nodes[0].cfg
	for _, c := range [][2]any{{n.ID, flags.ID}, {n.Broker, flags.Broker}, {n.Controller, flags.Controller}, {n.Voters, flags.Voters},
		{n.ClientAddr, flags.ClientAddr}, {n.Advertised, flags.Advertised}, {n.ControllerAddr, flags.ControllerAddr},
		{n.Properties.Pairs(), flags.Properties.Pairs()}} {
		if diff := cmp.Diff(c[1], c[0]); diff != "" {
			t.Errorf("(-flags +file):\n%s", diff)
		}
	}
	if got := planOf(t, "--config", file, "--cluster-id", testCluster, "--node-id", "4", "--set", "min.insync.replicas=1", "--voters", "4@h:1"); got.nodes[0].cfg.ID != 4 ||
		got.nodes[0].cfg.Properties.Int(kafka.MinInsyncReplicas) != 1 {
		t.Errorf("flags do not win over the file: %+v", got.nodes[0].cfg)
	}
}

func TestBrokersTakeConsecutivePortsAndAdvertisedOnes(t *testing.T) {
	p := planOf(t, "--brokers", "3", "--listen", "0.0.0.0:9092", "--advertise", "example.org:443")
	var got []string
	for _, n := range p.nodes {
		got = append(got, fmt.Sprintf("%v: %s%s told %s", n, n.cfg.ControllerAddr, n.cfg.ClientAddr, n.cfg.Advertised))
	}
	want := []string{"controller 101: 127.0.0.1:9095 told ", "broker 1: 0.0.0.0:9092 told example.org:443",
		"broker 2: 0.0.0.0:9093 told example.org:444", "broker 3: 0.0.0.0:9094 told example.org:445"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}
