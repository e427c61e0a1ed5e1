package interop

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tidemark is the binary under test: TIDEMARK_BINARY, else built from this tree.
var tidemark = os.Getenv("TIDEMARK_BINARY")

func TestMain(m *testing.M) {
	if tidemark != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "interop-")
	if err != nil {
		panic(err)
	}
	tidemark = filepath.Join(dir, "tidemark")
	build := exec.Command("go", "build", "-o", tidemark, "./cmd/tidemark")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building tidemark: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// startWithin is how long a process may take to say that it is ready; it gives up
// itself a little earlier.
const startWithin = 70 * time.Second

// process is one running tidemark serve.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	ready string // its line
	rest  *sync.WaitGroup
	err   bytes.Buffer
	ended bool
}

// serve starts tidemark serve and waits for its ready line.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(tidemark, append([]string{"serve"}, args...)...), rest: new(sync.WaitGroup)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	line := make(chan string, 1)
	p.rest.Go(func() {
		r := bufio.NewReader(out)
		first, _ := r.ReadString('\n')
		line <- first
		for {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
		}
	})
	select {
	case p.ready = <-line:
	case <-time.After(startWithin):
	}
	if !strings.HasPrefix(p.ready, "ready: ") {
		p.kill()
		t.Fatalf("tidemark serve %s said %q, on stderr %q", strings.Join(args, " "), p.ready, p.err.String())
	}
	return p
}

// wait waits for the end of the process.
func (p *process) wait() error {
	p.rest.Wait()
	p.ended = true
	return p.cmd.Wait()
}

// kill is kill -9.
func (p *process) kill() {
	if !p.ended {
		p.cmd.Process.Kill()
		p.wait()
	}
}

// stop is SIGTERM, after which the process must end with status 0.
func (p *process) stop() {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.wait(); err != nil {
		p.t.Fatalf("after SIGTERM: %v, stderr %q", err, p.err.String())
	}
}

// bootstrap are the brokers' addresses, out of the ready line.
func (p *process) bootstrap() []string {
	_, after, _ := strings.Cut(p.ready, " at ")
	list, _, _ := strings.Cut(after, ", data in ")
	return strings.Split(list, ",")
}

// lastPort lies below the ports that the kernel lends to dialling sockets: a client
// that tries a dead broker again and again would be lent the broker's own at last.
var lastPort = 10_000 + os.Getpid()*31%20_000

// free are addresses on loopback that nobody listens at, and that a node can have
// again after its death.
func free(t *testing.T, n int) []string {
	t.Helper()
	var all []string
	for range 100 + n {
		lastPort++
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", lastPort)); err == nil {
			l.Close()
			all = append(all, l.Addr().String())
		}
		if len(all) == n {
			return all
		}
	}
	t.Fatal("no port is free")
	return nil
}
