package main

import (
	"errors"
	"fmt"
	"strings"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

// told is a history whose settings are checked as those of --profile are: a typo in
// one would change the verdict without a word.
type told struct{ history.Stream }

// toldSettings checks the header of a history, and its profile events when they are
// read.
func toldSettings(s history.Stream) (history.Stream, error) {
	for _, p := range s.Header().Profile {
		if err := checkTold(p.Scope, p.Key, p.Value); err != nil {
			file, _ := s.At()
			return nil, &history.Error{File: file, Line: 1, Field: "profile", Err: err}
		}
	}
	return &told{s}, nil
}

// only has a file that was read before pass over other events.
func (t *told) only(seqs map[uint64]bool) {
	if r, own := t.Stream.(*history.Reader); own {
		r.Only(seqs)
	}
}

// Next reads the next event and checks the setting that it tells.
func (t *told) Next(e *event.Event) error {
	err := t.Stream.Next(e)
	if err != nil || e.Kind != event.Profile {
		return err
	}
	fault := func(field string, err error) error {
		file, line := t.At()
		return &history.Error{File: file, Line: line, Field: field, Err: err}
	}
	key, value, ok := strings.Cut(e.Text, "=")
	if err := checker.CheckScope(e.Client); err != nil {
		return fault("client", err)
	}
	if !ok {
		return fault("text", fmt.Errorf("expected key=value, such as cleanup.policy=compact, found %q", e.Text))
	}
	if err := checkTold(e.Client, key, value); err != nil {
		return fault("text", err)
	}
	return nil
}

// checkTold checks a setting. Keys that tidemark does not have are passed over if
// some release of Kafka has them.
func checkTold(scope, key, value string) error {
	err := checker.CheckSetting(scope, key, value)
	if !errors.Is(err, checker.ErrNotModelled) {
		return err
	}
	if decidesNothing(key) {
		return nil
	}
	return fmt.Errorf("%s: %s (tidemark keys lists them), nor one of Kafka", key, checker.ErrNotModelled)
}
