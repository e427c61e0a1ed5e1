package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// scanner walks over one line of JSON. The first fault sticks: after it every
// method does nothing, so callers look at err when they are done.
//
// It knows nothing of events. It exists because encoding/json, which decides by
// reflection what to do with every byte, takes several times as long as the
// whole checker; the two are compared in tests.
type scanner struct {
	line  []byte
	at    int
	field string // the key whose value is read
	err   error
}

var errTruncated = errors.New("the line ends within its JSON: was the file cut off?")

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// failWant tells what was expected in place of the value at hand.
func (s *scanner) failWant(want string) {
	if s.err != nil {
		return
	}
	if s.at >= len(s.line) {
		s.err = errTruncated
		return
	}
	found := s.line[s.at:]
	if end := s.endOfToken(); end > s.at {
		found = s.line[s.at:end]
	}
	const shown = 40
	if len(found) > shown {
		found = append(append([]byte(nil), found[:shown]...), "..."...)
	}
	s.err = fmt.Errorf("expected %s, found %s", want, found)
}

// endOfToken is where the number, word or string at hand ends, for messages.
func (s *scanner) endOfToken() int {
	i := s.at
	if s.line[i] == '"' {
		for i++; i < len(s.line) && s.line[i] != '"'; i++ {
		}
		return min(i+1, len(s.line))
	}
	for i < len(s.line) && s.line[i] != ',' && s.line[i] != '}' && s.line[i] != ']' {
		i++
	}
	return i
}

func (s *scanner) blanks() { s.next() }

// next is the next byte that is no blank, 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.line) {
		c := s.line[s.at]
		if c > ' ' || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
		s.at++
	}
	return 0
}

// take consumes c if it comes next.
func (s *scanner) take(c byte) bool {
	if s.err != nil || s.next() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) expect(c byte, what string) {
	if !s.take(c) {
		s.failWant(what)
	}
}

// open begins an object or array.
func (s *scanner) open(c byte, what string) { s.expect(c, what) }

// more reports whether another member of an object or array comes; first tells
// whether it would be the first.
func (s *scanner) more(first bool, closing byte) bool {
	if s.err != nil || s.take(closing) {
		return false
	}
	if !first && !s.take(',') {
		s.failWant("a comma or " + string(closing))
	}
	return s.err == nil
}

// key reads a member's key and its colon.
func (s *scanner) key() []byte {
	k := s.text("a key in quotes")
	if s.err == nil && (s.at < len(s.line) && s.line[s.at] == ':') {
		s.at++
		return k
	}
	s.expect(':', "a colon")
	return k
}

// null consumes a null: the field keeps the value that it has when it is left out.
func (s *scanner) null() bool {
	if s.err != nil || s.next() != 'n' {
		return false
	}
	return s.word("null")
}

func (s *scanner) word(w string) bool {
	if len(s.line)-s.at >= len(w) && string(s.line[s.at:s.at+len(w)]) == w {
		s.at += len(w)
		return true
	}
	return false
}

func (s *scanner) bool() bool {
	switch s.next() {
	case 't':
		if s.word("true") {
			return true
		}
	case 'f':
		if s.word("false") {
			return false
		}
	}
	s.failWant("true or false")
	return false
}

// int reads a whole number from low to high.
func (s *scanner) int(low, high int64) int64 {
	c := s.next()
	start := s.at
	negative := c == '-'
	if negative {
		s.at++
	}
	magnitude, ok := s.digits()
	limit := uint64(1)<<63 - 1
	if negative {
		limit++
	}
	v := int64(magnitude)
	if negative {
		v = -v
	}
	if !ok || magnitude > limit || v < low || v > high {
		s.at = start
		s.failWant(fmt.Sprintf("a whole number from %d to %d", low, high))
		return 0
	}
	return v
}

// uint reads a whole number that is not negative.
func (s *scanner) uint() uint64 {
	s.blanks()
	start := s.at
	v, ok := s.digits()
	if !ok {
		s.at = start
		s.failWant("a whole number from 0 to 18446744073709551615")
	}
	return v
}

// digits reads a number's digits; a fraction, an exponent or a leading zero is
// no whole number.
func (s *scanner) digits() (v uint64, ok bool) {
	if s.err != nil {
		return 0, false
	}
	start := s.at
	for s.at < len(s.line) {
		d := s.line[s.at] - '0'
		if d > 9 {
			break
		}
		if v > (1<<64-1)/10 || v*10 > 1<<64-1-uint64(d) {
			return 0, false
		}
		v = v*10 + uint64(d)
		s.at++
	}
	n := s.at - start
	if n == 0 || n > 1 && s.line[start] == '0' {
		return 0, false
	}
	return v, s.at >= len(s.line) || delimits(s.line[s.at])
}

// delimits reports whether a number may end before c.
func delimits(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// text reads a string. The bytes are good until the line is.
func (s *scanner) text(what string) []byte {
	if s.next() != '"' || s.err != nil {
		s.failWant(what)
		return nil
	}
	rest := s.line[s.at+1:]
	for i, c := range rest {
		if !odd[c] {
			continue
		}
		if c != '"' {
			return s.escaped(what)
		}
		s.at += i + 2
		return rest[:i]
	}
	s.fail(errTruncated)
	return nil
}

// odd are the bytes that do not stand for themselves in a string.
var odd = func() (odd [256]bool) {
	for c := range odd {
		odd[c] = c < ' ' || c >= 0x80 || c == '"' || c == '\\'
	}
	return odd
}()

// escaped reads a string that is not plain ASCII as encoding/json does.
func (s *scanner) escaped(what string) []byte {
	end := s.at + 1
	for end < len(s.line) && s.line[end] != '"' {
		if s.line[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s.line) {
		s.fail(errTruncated)
		return nil
	}
	var text string
	if json.Unmarshal(s.line[s.at:end+1], &text) != nil {
		s.failWant(what)
		return nil
	}
	s.at = end + 1
	return []byte(text)
}

// hash reads up to 16 hexadecimal digits in quotes.
func (s *scanner) hash() uint64 {
	if s.next() == '"' && s.err == nil {
		v, n := uint64(0), 0
		for i, c := range s.line[s.at+1:] {
			d := hexDigit[c]
			if d > 15 || i > 16 {
				n = i
				break
			}
			v = v<<4 | uint64(d)
		}
		if end := s.at + 1 + n; n > 0 && n <= 16 && s.line[end] == '"' {
			s.at = end + 1
			return v
		}
	}
	return s.oddHash()
}

// number reads a whole number behind a prefix, if both are there.
func (s *scanner) number(prefix string, v *uint64) (ok bool) {
	if !s.word(prefix) {
		return false
	}
	*v, ok = s.digits()
	return ok
}

// digest reads a hash of 1 to 16 digits behind a prefix that ends with its quote,
// if both are there.
func (s *scanner) digest(prefix string, v *uint64) bool {
	if !s.word(prefix) {
		return false
	}
	h, n := uint64(0), 0
	for _, c := range s.line[s.at:] {
		d := hexDigit[c]
		if d > 15 || n > 16 {
			break
		}
		h, n = h<<4|uint64(d), n+1
	}
	if end := s.at + n; n == 0 || n > 16 || end >= len(s.line) || s.line[end] != '"' {
		return false
	}
	s.at += n + 1
	*v = h
	return true
}

// numberIfAny and digestIfAny are the same for what may be left out: false is a
// prefix with anything else behind it.
func (s *scanner) numberIfAny(prefix string, v *uint64) bool {
	start := s.at
	return s.number(prefix, v) || s.at == start
}

func (s *scanner) digestIfAny(prefix string, v *uint64) bool {
	start := s.at
	return s.digest(prefix, v) || s.at == start
}

// oddHash reads a hash with leading zeros or escapes, or fails.
func (s *scanner) oddHash() uint64 {
	const want = "a hash: up to 16 hexadecimal digits in quotes"
	start := s.at
	digits := s.text(want)
	v, err := strconv.ParseUint(string(digits), 16, 64)
	if err != nil && s.err == nil {
		s.at = start
		s.failWant(want)
	}
	return v
}

// hexDigit is what a byte stands for, above 15 for no digit.
var hexDigit = func() (values [256]uint8) {
	for c := range values {
		values[c] = 255
	}
	for i, c := range "0123456789abcdef" {
		values[c] = uint8(i)
	}
	for i, c := range "ABCDEF" {
		values[c] = uint8(10 + i)
	}
	return values
}()

// value passes over a value of any type and returns its bytes.
func (s *scanner) value() []byte {
	s.blanks()
	start, depth := s.at, 0
	for s.err == nil {
		switch c := s.next(); c {
		case 0:
			s.fail(errTruncated)
		case '"':
			s.text("a string")
		case '{', '[':
			depth++
			s.at++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				s.failWant("a value")
				break
			}
			s.at++
		case ',', ':':
			if depth == 0 {
				s.failWant("a value")
				break
			}
			s.at++
			continue
		default:
			for s.at < len(s.line) && !delimits(s.line[s.at]) && s.line[s.at] != ':' {
				s.at++
			}
		}
		if depth == 0 {
			break
		}
	}
	if s.err == nil && !json.Valid(s.line[start:s.at]) {
		s.at = start
		s.failWant("JSON")
	}
	return s.line[start:s.at]
}
