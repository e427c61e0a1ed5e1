package sim

import (
	"strings"
	"testing"
	"time"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/model/plan"
	"tidemark/node"
)

// writer appends a page to its log every second, syncs it and reads it back, and
// says what came of it.
func writer() *script {
	var f disk.File
	off := int64(0)
	return &script{
		start: func(env node.Env) {
			var err error
			if f, err = env.FS().Open("log"); err != nil {
				f, _ = env.FS().Create("log")
				env.FS().SyncDir(0, "")
			}
			env.SetTimer(time.Second)
		},
		fire: func(env node.Env, _ node.TimerID) {
			n, err := f.WriteAt(make([]byte, faultdisk.PageSize), off)
			say(env, "wrote %d: %v", n, err)
			_, err = f.ReadAt(make([]byte, 10), 0)
			say(env, "read: %v", err)
			f.Sync(1)
			off += int64(n)
			env.SetTimer(time.Second)
		},
		synced: func(env node.Env, _ disk.Token, err error) { say(env, "synced: %v", err) },
	}
}

func TestDiskFaultStrikesTheNodeAndIsTracedAndCounted(t *testing.T) {
	power := func(s *stage) { s.must(s.Power(2, faultdisk.LoseAll)); s.must(s.Start(2)) }
	for _, c := range []struct {
		fault   string
		kind    FaultKind
		between func(*stage) // before the next operations
		says    string
	}{
		{"write-error log", FaultWriteError, nil, "wrote 0: write \"log\": input/output error"},
		{"write-error * short", FaultWriteError, nil, "wrote 2048: write"},
		{"fsync-error gone * op 1", FaultSyncError, nil, "synced: sync \"log\": input/output error"},
		{"capacity 5000", FaultCapacity, nil, "wrote 904: write \"log\": no space left on device"},
		{"read-error log", FaultReadError, power, "read: read \"log\": input/output error"},
		{"lying-fsync *", FaultLyingSync, func(s *stage) { s.run(2 * time.Second); power(s) }, "synced: <nil>"},
		{"lose-writes *", FaultLoseWrites, nil, "synced: <nil>"},
		{"rot log 5 cached", FaultRot, nil, "read: <nil>"},
	} {
		p, err := plan.Parse("test", "disk 2 "+c.fault)
		if err != nil {
			t.Fatal(err)
		}
		s := newStage(t, Options{})
		s.add(2, "", on(node.Data0, writer()))
		s.run(1500 * time.Millisecond)
		before := len(s.said())
		s.must(s.BreakDisk(2, p.Steps[0].Disk))
		if c.between != nil {
			c.between(s)
		}
		s.run(1500 * time.Millisecond)
		if said := strings.Join(s.said()[before:], "\n"); !strings.Contains(said, c.says) {
			t.Errorf("%s: the node says\n%s\nnot %s", c.fault, said, c.says)
		}
		want := FaultCount{1, 1}
		if c.kind == FaultLoseWrites {
			want.Effective = 0 // the page cache hides it
		}
		if got := s.Stats().Faults[c.kind]; got != want {
			t.Errorf("%s: counted %+v, want %+v", c.fault, got, want)
		}
		if all := strings.Join(s.lines, "\n"); !strings.Contains(all, "fault disk 2 "+c.fault) {
			t.Errorf("%s is not in the trace:\n%s", c.fault, all)
		}
	}
}

func TestDrawnRotIsTheSameForOneSeedAndSaysWhereItIs(t *testing.T) {
	rot := func(seed uint64, path string) string {
		s := newStage(t, Options{Seed: seed})
		s.add(2, "", on(node.Data0, writer()))
		s.run(3500 * time.Millisecond)
		s.must(s.BreakDisk(2, plan.DiskFault{Kind: plan.DiskRot, Path: path, Offset: plan.RandomOffset}))
		return s.lines[len(s.lines)-1]
	}
	first := rot(1, "*")
	if !strings.Contains(first, "fault disk 2 rot * random: bit ") || !strings.HasSuffix(first, " of log") {
		t.Errorf("the trace says %q", first)
	}
	if again := rot(1, "*"); again != first {
		t.Errorf("the same seed gave %q and %q", first, again)
	}
	if other := rot(2, "*"); other == first {
		t.Errorf("two seeds gave %q", other)
	}
	if none := rot(1, "t-0"); !strings.HasSuffix(none, "there is no such file with a byte in it") {
		t.Errorf("the trace says %q", none)
	}
}

func TestHealEndsWhatWasOrderedAndAClientHasNoDisk(t *testing.T) {
	s := newStage(t, Options{})
	s.add(2, "", on(node.Data0, writer()))
	s.AddNode(NodeConfig{ID: 1001, Name: "c", Boot: func(BootInfo) node.Spec { return node.Spec{ID: 1001} }})
	s.must(s.BreakDisk(2, plan.DiskFault{Kind: plan.DiskWriteError, Path: "*"}))
	s.must(s.BreakDisk(2, plan.DiskFault{Kind: plan.DiskHeal}))
	s.run(1500 * time.Millisecond)
	if said := strings.Join(s.said(), "\n"); !strings.Contains(said, "wrote 4096: <nil>") {
		t.Errorf("the node says\n%s", said)
	}
	if err := s.BreakDisk(1001, plan.DiskFault{Kind: plan.DiskHeal}); err == nil || err.Error() != "node c has no disk to break" {
		t.Errorf("a client's disk gave %v", err)
	}
	if err := s.BreakDisk(7, plan.DiskFault{Kind: plan.DiskHeal}); err == nil {
		t.Error("a node that is not there has a disk")
	}
}

func TestFailIsAVerbOfPlans(t *testing.T) {
	s, _, err := stagedRun(t, "fail brokerheartbeat 1 -> 101\nfail fetch response 2 -> 1 number 3\ndisk 1 capacity 100\nsleep 1s\n")
	s.must(err)
	s.has("1 fault fail brokerheartbeat 1 -> 101 number 1", "2 fault fail fetch response 2 -> 1 number 3", "1 fault disk 1 capacity 100")
	if f := s.Stats().Faults[FaultFail]; f.Fired != 2 {
		t.Errorf("counted %+v", f)
	}
}
