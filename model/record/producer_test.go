package record

import "testing"

func TestABatchThatGetsItsProducerLateIsTheOneBuiltWithIt(t *testing.T) {
	options := NoProducer()
	options.ProducerID, options.ProducerEpoch, options.BaseSequence = 1<<40, 7, 1<<31-1
	build := func(o BuilderOptions) Batch {
		w := NewBuilder(o)
		w.Append(5, []byte("k"), []byte("v"), nil)
		w.Append(6, nil, nil, nil)
		return w.Build()
	}
	b := build(NoProducer())
	b.SetProducer(1<<40, 7, 1<<31-1)
	if want := build(options); string(b) != string(want) || b.Check() != nil {
		t.Errorf("got %x, want %x: %v", b, want, b.Check())
	}
	if b.LastSequence() != 0 {
		t.Errorf("the record after the largest sequence has %d, want 0", b.LastSequence())
	}
}
