// Package importtest holds what every importer of foreign histories promises, for the
// tests of each of them.
package importtest

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

// Read is an importer: it reads text as the file of that name.
type Read func(file, text string) (history.Stream, error)

// All gives the events of a history, those of its header first.
func All(t *testing.T, s history.Stream) []event.Event {
	t.Helper()
	all := s.Header().Events()
	for {
		var e event.Event
		err := s.Next(&e)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

// Refused checks that each text is refused with a message that begins with what is
// wanted: file, line and field.
func Refused(t *testing.T, file string, read Read, texts map[string]string) {
	t.Helper()
	for text, want := range texts {
		_, err := read(file, text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// Fuzz checks, from the example files on, that any text is read or refused in one
// line, and that the checker can judge what is read.
func Fuzz(f *testing.F, read Read, examples ...string) {
	for _, name := range examples {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		events, err := read("f", text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line: %v", err)
			}
			return
		}
		c := checker.New()
		for {
			var e event.Event
			if err := events.Next(&e); err != nil {
				break
			}
			c.Observe(&e)
		}
		c.Report()
	})
}
