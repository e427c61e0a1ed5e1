package tcp

import "testing"

func TestOneThatGivesUpInTheInstantOfItsTurnGivesBackWhatItGot(t *testing.T) {
	first, second := &waiter{part: 5, whole: 5, granted: make(chan struct{})}, &waiter{part: 5, whole: 5, granted: make(chan struct{})}
	b := budget{waiters: []*waiter{first, second}}
	b.give(5)
	b.leave(first)
	select {
	case <-second.granted:
	default:
		t.Fatalf("the next in line waits, %d bytes are free", b.free)
	}
	if b.free != 0 || len(b.waiters) != 0 {
		t.Errorf("%d bytes are free, %d wait", b.free, len(b.waiters))
	}
}
