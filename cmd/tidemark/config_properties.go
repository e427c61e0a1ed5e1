package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// property is one key and value of a .properties file.
type property struct {
	key, value string
	line       int // on which it begins, from 1
}

// parseProperties reads Java's .properties syntax as java.util.Properties does,
// which is what Kafka reads its configuration files with:
//
//	# comment        ! comment
//	key=value        key: value        key value
//	long=one,\
//	     two
//	escaped\ key=tab \t, newline \n, \u00e9
//
// Blanks before a key and around the separator are not part of either; a value
// keeps the blanks at its end. Later keys do not replace earlier ones here. An
// error names its line: the one fault that the syntax knows is a \u without four
// hexadecimal digits.
func parseProperties(text string) ([]property, error) {
	var all []property
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		logical := strings.TrimLeft(lines[i], blanks)
		if logical == "" || logical[0] == '#' || logical[0] == '!' {
			continue
		}
		for continues(logical) {
			logical = logical[:len(logical)-1]
			if i+1 < len(lines) {
				i++
				logical += strings.TrimLeft(lines[i], blanks)
			}
		}
		p, err := parseProperty(logical)
		if err != nil {
			return nil, &lineError{first + 1, err}
		}
		p.line = first + 1
		all = append(all, p)
	}
	return all, nil
}

// blanks are what separates and indents: no line ends.
const blanks = " \t\f"

// lineError is a fault of one line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// continues reports whether a line ends with a backslash that no other escapes.
func continues(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

// parseProperty cuts a logical line at the first separator that is not escaped.
func parseProperty(line string) (property, error) {
	end := 0
	for end < len(line) && !strings.ContainsRune("=:"+blanks, rune(line[end])) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	rest := strings.TrimLeft(line[end:], blanks)
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], blanks)
	}
	key, err := unescape(line[:end])
	if err != nil {
		return property{}, err
	}
	value, err := unescape(rest)
	return property{key: key, value: value}, err
}

// unescape resolves backslashes. One before any other character stands for that
// character.
func unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			units, err := utf16Units(s[i-1:])
			if err != nil {
				return "", err
			}
			b.WriteString(string(utf16.Decode(units)))
			i += 6*len(units) - 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// utf16Units reads the \uXXXX that s begins with and those right behind it:
// only together do two make a character beyond the first 65,536.
func utf16Units(s string) ([]uint16, error) {
	var units []uint16
	for strings.HasPrefix(s, `\u`) {
		digits := s[2:min(6, len(s))]
		n, err := strconv.ParseUint(digits, 16, 16)
		if err != nil || len(digits) < 4 {
			return nil, fmt.Errorf(`\u%s is no character: four hexadecimal digits must follow \u`, digits)
		}
		units = append(units, uint16(n))
		s = s[6:]
	}
	return units, nil
}
