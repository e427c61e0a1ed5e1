package scenarios

import (
	"testing"

	"tidemark/model/plan"
)

func TestRandomPlanIsAScenarioFileThatReadsBackAsItself(t *testing.T) {
	verbs := map[plan.Verb]int{}
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
		}
	}
	for _, v := range []plan.Verb{plan.VerbKill, plan.VerbPower, plan.VerbPause, plan.VerbCrash, plan.VerbCut,
		plan.VerbHold, plan.VerbReset, plan.VerbStall} {
		if verbs[v] < 10 {
			t.Errorf("500 plans hold the fault %s %d times", v, verbs[v])
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

func TestEveryStoryHasNameTitleAndVerdict(t *testing.T) {
	for _, s := range Stories() {
		if s.Name == "" || s.Title == "" {
			t.Errorf("%s: name %q, title %q", s.ID, s.Name, s.Title)
		}
		if _, ok := s.Plan.Expected(""); !ok {
			t.Errorf("%s declares no verdict under current rules", s.ID)
		}
	}
}
