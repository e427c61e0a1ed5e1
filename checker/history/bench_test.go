package history_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

// benchLoad is a tenth of what tidemark bench checker generates.
var benchLoad = history.Load{Operations: 100_000, Partitions: 8, Clients: 50}

// written is a history as a file.
func written(b *testing.B, load history.Load) []byte {
	b.Helper()
	var file bytes.Buffer
	w := history.NewWriter(&file, load.Header())
	history.Generate(load, w.Write)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return file.Bytes()
}

// each reads a file and hands out its events.
func each(b *testing.B, file []byte, f func(*event.Event)) {
	r, err := history.NewReader("bench", bytes.NewReader(file))
	if err != nil {
		b.Fatal(err)
	}
	var e event.Event
	for {
		err := r.Next(&e)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		f(&e)
	}
}

func BenchmarkRead(b *testing.B) {
	file := written(b, benchLoad)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		each(b, file, func(*event.Event) {})
	}
}

func BenchmarkFileToVerdict(b *testing.B) {
	for _, illegal := range []bool{false, true} {
		load, name, want := benchLoad, "legal", checker.Pass
		if load.Illegal = illegal; illegal {
			name, want = "illegal", checker.Violation
		}
		b.Run(name, func(b *testing.B) {
			file := written(b, load)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				c := checker.New()
				for _, e := range load.Header().Events() {
					c.Observe(&e)
				}
				each(b, file, c.Observe)
				if r := c.Report(); r.Verdict != want {
					b.Fatal(r.Verdict, r.Unknown)
				}
			}
		})
	}
}
