package checker

import (
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	"tidemark/model/kafka"
)

// offsetStep is one atomic step on a committed offset. A commit within a
// transaction takes two: its record is appended (stage) and waits, and the
// transaction's marker makes it the committed offset, unless a record behind it
// became that before (KIP-98).
type offsetStep struct {
	kind  offsetStepKind
	value kafka.Offset
	id    int // of the staging, for stage and mark
}

type offsetStepKind uint8

const (
	stepCommit offsetStepKind = iota
	stepStage
	stepMark
	stepFetch
)

// offsetState is the register: its value and what is staged behind the record
// that gave it, in order, as " ID ID".
type offsetState struct {
	value  kafka.Offset
	staged string
}

func offsetModel(initial kafka.Offset) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return offsetState{initial, ""} },
		Step: func(state, input, _ any) (bool, any) {
			return input.(offsetStep).step(state.(offsetState))
		},
	}
}

func (in offsetStep) step(s offsetState) (bool, offsetState) {
	switch in.kind {
	case stepCommit:
		return true, offsetState{in.value, ""}
	case stepStage:
		s.staged += " " + strconv.Itoa(in.id) + "."
		return true, s
	case stepMark:
		if _, behind, ok := strings.Cut(s.staged, " "+strconv.Itoa(in.id)+"."); ok {
			return true, offsetState{in.value, behind}
		}
		return true, s // a record behind it was faster
	}
	return s.value == in.value, s
}
