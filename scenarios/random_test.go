package scenarios

import (
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

func TestRandomPlanIsAScenarioFileThatReadsBackAsItself(t *testing.T) {
	verbs, disks := map[plan.Verb]int{}, map[string]int{}
	for seed := range uint64(500) {
		p := Random(seed)
		text := p.String()
		again, err := plan.Parse(p.Name+".txt", text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if again.String() != text {
			t.Fatalf("seed %d: printed, read and printed differs:\n%s\n%s", seed, text, again)
		}
		if Random(seed).String() != text {
			t.Fatalf("seed %d gives two plans", seed)
		}
		for i := range p.Steps {
			verbs[p.Steps[i].Verb]++
			disks[p.Steps[i].Disk.Kind]++
		}
	}
	for _, v := range []plan.Verb{plan.VerbKill, plan.VerbPower, plan.VerbStop, plan.VerbPause, plan.VerbCrash, plan.VerbCut,
		plan.VerbHold, plan.VerbReset, plan.VerbHalfOpen, plan.VerbStall, plan.VerbClock, plan.VerbElect} {
		if verbs[v] < 10 {
			t.Errorf("500 plans hold the fault %s %d times", v, verbs[v])
		}
	}
	for _, kind := range diskFaults {
		if disks[kind] < 10 {
			t.Errorf("500 plans hold the fault %s of a disk %d times", kind, disks[kind])
		}
	}
}

func TestRandomPlansCoverClustersOfOneToFiveBrokers(t *testing.T) {
	sizes, settings := map[int]int{}, map[string]int{}
	for seed := range uint64(500) {
		p := Random(seed)
		sizes[p.Cluster.Brokers]++
		for _, s := range p.Settings {
			settings[s.Key]++
		}
		for i := range p.Steps {
			for _, s := range p.Steps[i].Settings {
				settings[s.Key+"="+s.Value]++
			}
		}
	}
	for n := 1; n <= 5; n++ {
		if sizes[n] < 10 {
			t.Errorf("%d of 500 plans have %d brokers", sizes[n], n)
		}
	}
	for _, key := range []string{kafka.MinInsyncReplicas, kafka.ReplicaLagTimeMaxMs, kafka.UncleanLeaderElection,
		"acks=all", "acks=1", "acks=0", "linger.ms=0", "delivery.timeout.ms=15000"} {
		if settings[key] < 5 {
			t.Errorf("500 plans set %s %d times", key, settings[key])
		}
	}
}

// TestEveryFaultOfARandomPlanIsMendedBeforeTheLastRead plays the timed steps
// without a cluster: nothing may be down, paused or armed to crash when the
// plan begins to mend.
func TestEveryFaultOfARandomPlanIsMendedBeforeTheLastRead(t *testing.T) {
	for seed := range uint64(1000) {
		p := Random(seed)
		broken, disks := map[kafka.BrokerID]plan.Verb{}, map[kafka.BrokerID]plan.DiskFault{}
		healsAll, releasesAll := false, false
		for i := range p.Steps {
			s := &p.Steps[i]
			if s.At >= mendAt {
				t.Errorf("seed %d: %s comes after the mending", seed, s)
			}
			switch s.Verb {
			case plan.VerbKill, plan.VerbPower, plan.VerbStop, plan.VerbPause:
				broken[s.Node] = s.Verb
			case plan.VerbCrash:
				broken[s.Node] = plan.VerbCrash
			case plan.VerbWipe:
				broken[s.Node] = s.Verb
			case plan.VerbDisk:
				if s.Disk.Kind == plan.DiskHeal {
					delete(disks, s.Node)
				} else {
					disks[s.Node] = s.Disk
				}
			case plan.VerbStart:
				if broken[s.Node] == plan.VerbCrash || broken[s.Node] == plan.VerbPause {
					t.Errorf("seed %d: %s does not end what a %s began", seed, s, broken[s.Node])
				}
				delete(broken, s.Node)
			case plan.VerbResume:
				if broken[s.Node] == plan.VerbPause {
					delete(broken, s.Node)
				}
			case plan.VerbHeal:
				healsAll = healsAll || s.Everywhere()
			case plan.VerbRelease:
				releasesAll = releasesAll || s.Everywhere()
			}
		}
		if len(broken)+len(disks) > 0 || !healsAll || !releasesAll {
			t.Errorf("seed %d: not mended: %v, disks %v, heal %v, release %v\n%s", seed, broken, disks, healsAll, releasesAll, p)
		}
		if last := p.Steps[len(p.Steps)-1]; last.Verb != plan.VerbVerify {
			t.Errorf("seed %d ends with %s, not with a read of everything", seed, &last)
		}
	}
}

func TestStoryIsFoundByIDAndByNameInAnyCase(t *testing.T) {
	for _, word := range []string{"R1", "r1", "hw-truncation"} {
		if s, ok := Find(word); !ok || s.ID != "R1" {
			t.Errorf("%s: %v %v", word, s.ID, ok)
		}
	}
	if _, ok := Find("no-such-story"); ok {
		t.Error("found a story that does not exist")
	}
}

func TestEveryStoryHasANameOfItsOwnATitleAndAVerdict(t *testing.T) {
	var names []string
	for _, s := range Stories() {
		if s.Name == "" || s.Title == "" {
			t.Errorf("%s: name %q, title %q", s.ID, s.Name, s.Title)
		}
		names = append(names, strings.ToLower(s.Name), strings.ToLower(s.ID))
		if _, ok := s.Plan.Expected("", ""); !ok {
			t.Errorf("%s declares no verdict under current rules", s.ID)
		}
	}
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n {
		t.Errorf("two stories answer to one word: %v", names)
	}
}
