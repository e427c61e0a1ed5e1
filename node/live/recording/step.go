package recording

import (
	"encoding/binary"
	"fmt"
	"strings"

	"tidemark/node"
)

// StepKind is which use of Env or FS a step is.
type StepKind uint8

// The steps, in the order of node.Env, disk.FS and disk.File.
const (
	StepSetTimer StepKind = iota + 1
	StepCancelTimer
	StepDial
	StepSend
	StepRelease
	StepClose
	StepPost
	StepRand
	StepEmit
	StepExit
	StepOpen
	StepCreate
	StepRename
	StepRemove
	StepMkdir
	StepList
	StepSyncDir
	StepReadAt
	StepWriteAt
	StepTruncate
	StepSize
	StepSync
	StepRegion
	StepCloseFile
)

// shape says how a step is written: its name, and its fields with a letter each
// for their type: u number, s string, h digest, e error.
type shape struct {
	name   string
	fields []string // "u conn"
}

var shapes = [...]shape{
	StepSetTimer:    {"SetTimer", []string{"u timer", "u ns"}},
	StepCancelTimer: {"CancelTimer", []string{"u timer"}},
	StepDial:        {"Dial", []string{"s address", "u connection"}},
	StepSend:        {"Send", []string{"u connection", "u key", "u version", "u correlation", "u bytes", "h digest"}},
	StepRelease:     {"Release", []string{"u connection"}},
	StepClose:       {"Close", []string{"u connection"}},
	StepPost:        {"Post", []string{"u lane", "s type"}},
	StepRand:        {"Rand", []string{"s site", "h value"}},
	StepEmit:        {"Emit", []string{"u kind", "h digest"}},
	StepExit:        {"Exit", []string{"s reason"}},
	StepOpen:        {"Open", []string{"s name", "e error"}},
	StepCreate:      {"Create", []string{"s name", "e error"}},
	StepRename:      {"Rename", []string{"s from", "s to", "e error"}},
	StepRemove:      {"Remove", []string{"s name", "e error"}},
	StepMkdir:       {"Mkdir", []string{"s name", "e error"}},
	StepList:        {"List", []string{"s directory", "s names", "e error"}},
	StepSyncDir:     {"SyncDir", []string{"u token", "s directory"}},
	StepReadAt:      {"ReadAt", []string{"u file", "u offset", "u bytes", "u read", "h digest", "e error"}},
	StepWriteAt:     {"WriteAt", []string{"u file", "u offset", "u bytes", "h digest", "u written", "e error"}},
	StepTruncate:    {"Truncate", []string{"u file", "u size", "e error"}},
	StepSize:        {"Size", []string{"u file", "u size", "e error"}},
	StepSync:        {"Sync", []string{"u file", "u token"}},
	StepRegion:      {"Region", []string{"u file", "u offset", "u bytes", "h digest", "e error"}},
	StepCloseFile:   {"Close", []string{"u file", "e error"}},
}

// Step is one use of Env or FS, with its answer. Which fields it has is in shapes.
type Step struct {
	Kind    StepKind
	Numbers []uint64 // u and h, in order
	Strings []string // s, in order
	Fault   Fault
}

// Number is the i-th number or digest, 0 if there is none.
func (s *Step) Number(i int) uint64 {
	if i < len(s.Numbers) {
		return s.Numbers[i]
	}
	return 0
}

// appendStep writes a step.
func appendStep(b []byte, s *Step) []byte {
	b = append(b, byte(s.Kind))
	n, t := 0, 0
	for _, f := range shapes[s.Kind].fields {
		switch f[0] {
		case 'u':
			b = binary.AppendUvarint(b, s.Numbers[n])
			n++
		case 'h':
			b = binary.BigEndian.AppendUint64(b, s.Numbers[n])
			n++
		case 's':
			b = appendString(b, s.Strings[t])
			t++
		case 'e':
			b = binary.AppendUvarint(b, s.Fault.Kind)
			b = appendString(b, s.Fault.Text)
		}
	}
	return b
}

// parseStep reads the step at the start of b and returns its length in bytes;
// false if there is none.
func parseStep(b []byte, s *Step) (int, bool) {
	d := decoder{b: b}
	*s = Step{Kind: StepKind(d.byte()), Numbers: s.Numbers[:0], Strings: s.Strings[:0]}
	if s.Kind == 0 || int(s.Kind) >= len(shapes) {
		return 0, false
	}
	for _, f := range shapes[s.Kind].fields {
		switch f[0] {
		case 'u':
			s.Numbers = append(s.Numbers, d.uint())
		case 'h':
			s.Numbers = append(s.Numbers, d.word())
		case 's':
			s.Strings = append(s.Strings, d.string())
		case 'e':
			s.Fault = Fault{Kind: d.uint(), Text: d.string()}
		}
	}
	return len(b) - len(d.b), !d.short
}

// String writes a step in one line.
func (s *Step) String() string {
	if s.Kind == 0 || int(s.Kind) >= len(shapes) {
		return "nothing that can be read"
	}
	var out strings.Builder
	out.WriteString(shapes[s.Kind].name)
	n, t := 0, 0
	for _, f := range shapes[s.Kind].fields {
		name := f[2:]
		switch {
		case f[0] == 'h':
			fmt.Fprintf(&out, " %s=%016x", name, s.Numbers[n])
			n++
		case f == "u lane":
			fmt.Fprintf(&out, " %s=%v", name, node.Lane(s.Numbers[n]))
			n++
		case f[0] == 'u':
			fmt.Fprintf(&out, " %s=%d", name, s.Numbers[n])
			n++
		case f[0] == 's':
			fmt.Fprintf(&out, " %s=%q", name, s.Strings[t])
			t++
		case s.Fault.Kind != 0:
			fmt.Fprintf(&out, " %s=%q", name, s.Fault.Text)
		}
	}
	return out.String()
}
