// Package edn reads Clojure's extensible data notation, as far as histories use
// it. https://github.com/edn-format/edn describes it; ratios, symbolic values,
// metadata and namespaced maps are Clojure's beyond it and are no values here.
//
//	{:type :ok, :f :send, :value [[:send 3 [14 "x"]]]}   ; a map with a vector
//	#jepsen.history.Op{:index 0, :f :poll}               #_ignored  nil true 7N 1.5
//
// A number that is no whole number of 64 bits keeps its text; there are no floats.
package edn

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a value.
type Kind uint8

// The kinds.
const (
	Nil Kind = iota
	Bool
	Int     // Value.Int
	Number  // any other number: Value.Text
	String  // Value.Text
	Char    // Value.Text
	Keyword // Value.Text without its colon
	Symbol  // Value.Text
	Vector  // Value.Items
	List    // Value.Items
	Set     // Value.Items
	Map     // Value.Items: key, value, key, value ...
)

var kindNames = [...]string{"nil", "a boolean", "a whole number", "a number", "a string", "a character", "a keyword", "a symbol",
	"a vector", "a list", "a set", "a map"}

// String names the kind with its article.
func (k Kind) String() string { return kindNames[k] }

// Value is one value. A tagged one is the value behind the tag.
type Value struct {
	Kind  Kind
	Int   int64 // Int; Bool: 1 for true
	Text  string
	Items []Value
	Line  int // where it begins, from 1
}

// Get is the value of a map under a keyword; ok is false if it has none or v is
// no map.
func (v *Value) Get(keyword string) (value Value, ok bool) {
	if v.Kind != Map {
		return Value{}, false
	}
	for i := 0; i+1 < len(v.Items); i += 2 {
		if k := &v.Items[i]; k.Kind == Keyword && k.Text == keyword {
			return v.Items[i+1], true
		}
	}
	return Value{}, false
}

// Is reports whether v is a keyword.
func (v *Value) Is(keyword string) bool { return v.Kind == Keyword && v.Text == keyword }

// Sequence reports whether v is a vector or a list: histories use either.
func (v *Value) Sequence() bool { return v.Kind == Vector || v.Kind == List }

// String writes the value as EDN.
func (v *Value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *Value) write(b *strings.Builder) {
	switch v.Kind {
	case Nil:
		b.WriteString("nil")
	case Bool:
		b.WriteString(strconv.FormatBool(v.Int == 1))
	case Int:
		b.WriteString(strconv.FormatInt(v.Int, 10))
	case String:
		writeText(b, v.Text)
	case Char:
		b.WriteString(`\` + v.Text)
	case Keyword:
		b.WriteString(":" + v.Text)
	case Number, Symbol:
		b.WriteString(v.Text)
	default:
		brackets := [...]string{Vector: "[]", List: "()", Set: "#{}", Map: "{}"}[v.Kind]
		b.WriteString(brackets[:len(brackets)-1])
		for i := range v.Items {
			if i > 0 {
				b.WriteByte(' ')
			}
			v.Items[i].write(b)
		}
		b.WriteByte(brackets[len(brackets)-1])
	}
}

func writeText(b *strings.Builder, s string) {
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
}

// Error is a fault of the text and where it is.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap gives the fault itself.
func (e *Error) Unwrap() error { return e.Err }

// Decoder reads one value after the other.
type Decoder struct {
	in   string
	at   int
	line int
}

// NewDecoder returns a decoder of text.
func NewDecoder(text string) *Decoder { return &Decoder{in: text, line: 1} }

// deepest bounds nesting: the reader calls itself.
const deepest = 1000

// Next reads the next value; the error at the end is io.EOF, any other an *Error.
func (d *Decoder) Next() (Value, error) {
	if err := d.space(0); err != nil {
		return Value{}, err
	}
	if d.at == len(d.in) {
		return Value{}, io.EOF
	}
	return d.value(0)
}

func (d *Decoder) fault(format string, args ...any) error {
	return &Error{d.line, fmt.Errorf(format, args...)}
}

// space passes over what separates: blanks, commas, comments, discarded values.
func (d *Decoder) space(depth int) error {
	for d.at < len(d.in) {
		switch c := d.in[d.at]; {
		case c == '\n':
			d.line++
			d.at++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == ',':
			d.at++
		case c == ';':
			for d.at < len(d.in) && d.in[d.at] != '\n' {
				d.at++
			}
		case strings.HasPrefix(d.in[d.at:], "#_"):
			d.at += 2
			if _, err := d.value(depth + 1); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

var errCutOff = errors.New("the text ends within a value: was the file cut off?")

func (d *Decoder) value(depth int) (Value, error) {
	if depth > deepest {
		return Value{}, d.fault("expected values nested at most %d deep", deepest)
	}
	if err := d.space(depth); err != nil {
		return Value{}, err
	}
	if d.at == len(d.in) {
		return Value{}, &Error{d.line, errCutOff}
	}
	v := Value{Line: d.line}
	switch c := d.in[d.at]; {
	case c == '{':
		return d.items(v, Map, 1, '}', depth)
	case c == '[':
		return d.items(v, Vector, 1, ']', depth)
	case c == '(':
		return d.items(v, List, 1, ')', depth)
	case strings.HasPrefix(d.in[d.at:], "#{"):
		return d.items(v, Set, 2, '}', depth)
	case c == '#':
		d.at++
		if d.word() == "" {
			return v, d.fault("expected a tag behind #")
		}
		return d.value(depth + 1)
	case c == '"':
		return d.text(v)
	case c == '\\':
		return d.char(v)
	case c == '}' || c == ']' || c == ')':
		return v, d.fault("expected a value, found %c", c)
	}
	return d.atom(v)
}

// items reads a collection whose opening has n bytes.
func (d *Decoder) items(v Value, kind Kind, n int, closing byte, depth int) (Value, error) {
	v.Kind = kind
	d.at += n
	for {
		if err := d.space(depth); err != nil {
			return v, err
		}
		if d.at == len(d.in) {
			return v, &Error{v.Line, errCutOff}
		}
		if d.in[d.at] == closing {
			d.at++
			break
		}
		item, err := d.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
	}
	if kind == Map && len(v.Items)%2 != 0 {
		return v, &Error{v.Line, errors.New("expected pairs of key and value, found a map with a key that has none")}
	}
	return v, nil
}

// word takes what stands up to the next delimiter.
func (d *Decoder) word() string {
	start := d.at
	for d.at < len(d.in) && !strings.ContainsRune(" \t\r\n\f,;\"()[]{}", rune(d.in[d.at])) {
		d.at++
	}
	return d.in[start:d.at]
}

func (d *Decoder) atom(v Value) (Value, error) {
	w := d.word()
	switch {
	case w == "nil":
	case w == "true" || w == "false":
		v.Kind = Bool
		if w == "true" {
			v.Int = 1
		}
	case w[0] == ':':
		v.Kind, v.Text = Keyword, w[1:]
		if v.Text == "" {
			return v, d.fault("expected a name behind the colon of a keyword")
		}
	case w[0] >= '0' && w[0] <= '9' || len(w) > 1 && (w[0] == '-' || w[0] == '+') && w[1] >= '0' && w[1] <= '9':
		return d.number(v, w)
	default:
		v.Kind, v.Text = Symbol, w
	}
	return v, nil
}

func (d *Decoder) number(v Value, w string) (Value, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(w, "N"), 10, 64)
	if err == nil {
		v.Kind, v.Int = Int, n
		return v, nil
	}
	for _, c := range strings.TrimLeft(w, "+-") {
		if !strings.ContainsRune("0123456789.eE+-MN", c) {
			return v, d.fault("expected a number, found %s", w)
		}
	}
	v.Kind, v.Text = Number, w
	return v, nil
}

var escapes = map[byte]string{'t': "\t", 'r': "\r", 'n': "\n", '\\': `\`, '"': `"`, 'b': "\b", 'f': "\f"}

func (d *Decoder) text(v Value) (Value, error) {
	v.Kind = String
	var b strings.Builder
	for d.at++; d.at < len(d.in); d.at++ {
		switch c := d.in[d.at]; c {
		case '"':
			d.at++
			v.Text = b.String()
			return v, nil
		case '\\':
			if err := d.escape(&b); err != nil {
				return v, err
			}
		case '\n':
			d.line++
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return v, &Error{v.Line, errCutOff}
}

// escape reads the escape at hand and leaves its last byte at hand.
func (d *Decoder) escape(b *strings.Builder) error {
	d.at++
	if d.at == len(d.in) {
		return &Error{d.line, errCutOff}
	}
	if d.in[d.at] != 'u' {
		s, ok := escapes[d.in[d.at]]
		if !ok {
			return d.fault(`expected an escape such as \n, found \%c`, d.in[d.at])
		}
		b.WriteString(s)
		return nil
	}
	digits := d.in[d.at+1 : min(d.at+5, len(d.in))]
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil || len(digits) < 4 {
		return d.fault(`expected four hexadecimal digits behind \u, found %q`, digits)
	}
	b.WriteRune(rune(n))
	d.at += 4
	return nil
}

func (d *Decoder) char(v Value) (Value, error) {
	v.Kind = Char
	d.at++
	if d.at == len(d.in) {
		return v, &Error{d.line, errCutOff}
	}
	_, n := utf8.DecodeRuneInString(d.in[d.at:])
	start := d.at
	d.at += n
	d.word()
	v.Text = d.in[start:d.at]
	return v, nil
}
