package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/node"
)

func drawStep(t *rapid.T) Step {
	s := Step{Kind: StepKind(rapid.IntRange(1, len(shapes)-1).Draw(t, "kind"))}
	for _, f := range shapes[s.Kind].fields {
		switch f[0] {
		case 'u', 'h':
			s.Numbers = append(s.Numbers, rapid.Uint64().Draw(t, f))
		case 's':
			s.Strings = append(s.Strings, rapid.String().Draw(t, f))
		case 'e':
			s.Fault = Fault{rapid.Uint64Range(0, 9).Draw(t, "fault"), rapid.String().Draw(t, f)}
		}
	}
	return s
}

func TestStepIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawStep(t)
		b := appendStep(nil, &want)
		var got Step
		n, ok := parseStep(append(b, 1, 2, 3), &got)
		if !ok || n != len(b) {
			t.Fatalf("%d of %d bytes, %v", n, len(b), ok)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if _, ok := parseStep(b[:len(b)-1], &got); ok {
			t.Fatal("a step without its last byte was read")
		}
	})
}

func TestErrorKeepsItsWordsAndWhatItIs(t *testing.T) {
	odd := errors.New("too many open files")
	for _, err := range []error{disk.ErrNotExist, disk.ErrExist, disk.ErrClosed, disk.ErrNoSpace, disk.ErrIO, odd} {
		wrapped := fmt.Errorf("open \"a\": %w", err)
		got := FaultOf(wrapped).Err()
		if got.Error() != wrapped.Error() || errors.Is(got, err) != (err != odd) {
			t.Errorf("%v became %v", wrapped, got)
		}
	}
	if FaultOf(nil).Err() != nil || FaultOf(io.EOF).Err() != io.EOF {
		t.Error("nil and io.EOF must come back as they are")
	}
}

func TestChunksAreReadAsTheyWereWrittenAndATornOneIsKnown(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	want := []Chunk{{Kind: NodeChunk, Data: []byte("config")}, {Kind: PathChunk, Node: 300, Name: "a/", Number: 1 << 40},
		{Kind: LaneChunk, Node: 1, Lane: node.Data(3), Data: []byte{0, 1}}, {Kind: EndChunk, Node: 1, Name: "controlled shutdown"}}
	for _, c := range want {
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	for end := len(magic); end <= file.Len(); end++ {
		r, err := NewReader(bytes.NewReader(file.Bytes()[:end]))
		if err != nil {
			t.Fatal(err)
		}
		var got []Chunk
		for err == nil {
			var c Chunk
			if c, err = r.Next(); err == nil {
				got = append(got, c)
			}
		}
		if diff := cmp.Diff(want[:len(got)], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if err != io.EOF && err != ErrCut || end == file.Len() && (err != io.EOF || len(got) != len(want)) {
			t.Fatalf("%d bytes: %d chunks, then %v", end, len(got), err)
		}
	}
}

func TestCallbackOfAnyBytesIsReadOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		if len(data) > 4 {
			copy(data, []byte{0, 0, 0, byte(len(data) - 4)})
			data[4] = byte(rapid.SampledFrom([]InputKind{Start, Receive, Posted, Fire, Synced, Disconnected, 99}).Draw(t, "kind"))
		}
		c, _, err := NextCallback(data)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		if err == nil && (c.Kind < Start || c.Kind > Disconnected) {
			t.Fatalf("a callback of kind %d", c.Kind)
		}
	})
}
