package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"tidemark/model/event"
)

// judgesAll asks a test process to print what it says of all histories.
const judgesAll = "TIDEMARK_JUDGE_ALL"

// allReports judges clean and spoilt histories and writes all reports as JSON.
func allReports(t testing.TB) []byte {
	var out bytes.Buffer
	write := json.NewEncoder(&out)
	for _, h := range cleanHistories(t) {
		for _, events := range [][]event.Event{h.events, h.wrecked()} {
			if err := write.Encode(Check(events)); err != nil {
				t.Fatal(err)
			}
		}
		faults := plantedFaults()
		for k := range faults {
			for i := range h.events {
				if spoilt := faults[k].plant(h, i); spoilt != nil {
					if err := write.Encode(Check(spoilt)); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
		}
	}
	return out.Bytes()
}

// wrecked is wrong all over, so that rules have many findings to put in order.
func (h *clean) wrecked() []event.Event {
	all := h.copied()
	for i := range all {
		e := &all[i]
		switch {
		case e.Kind == event.PollOK && i > len(all)/3:
			e.Records = slices.DeleteFunc(e.Records, func(r event.Record) bool { return r.Attempt%3 == 0 })
			for k := range e.Records {
				if e.Records[k].Attempt%5 == 0 {
					e.Records[k].Hash++
				}
			}
		case e.Kind == event.SendOK && e.Attempt%7 == 0:
			e.Offset++
		case e.Kind == event.CommitOK && e.Attempt%4 == 0, e.Kind == event.FetchCommittedOK && e.Attempt%3 == 0:
			e.Offset += 2
		case e.Kind == event.TxnEndOK && e.Attempt%2 == 0:
			e.Text = "abort"
		case e.Kind == event.Revoked && i%2 == 0:
			e.Client = "nobody"
		}
	}
	return all
}

// Reports hold nothing that differs from run to run: no time of the day, no
// order of a map, nothing of who ran when.
func TestReportsAreTheSameBytesInEveryProcess(t *testing.T) {
	if os.Getenv(judgesAll) != "" {
		fmt.Printf("%s", allReports(t))
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, processors := range []string{"1", "2"} {
		c := exec.Command(program, "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), judgesAll+"=1", "GOMAXPROCS="+processors)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("GOMAXPROCS=%s: %v\n%s", processors, err, out)
		}
		out, _, _ = bytes.Cut(out, []byte("PASS\n"))
		if len(out) < 100_000 {
			t.Fatalf("only %d bytes of reports: %s", len(out), out)
		}
		if first == nil {
			first = out
		} else if !bytes.Equal(first, out) {
			t.Error("two processes judge the same histories with other bytes")
		}
	}
}
