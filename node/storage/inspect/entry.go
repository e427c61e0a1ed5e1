package inspect

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Entry is one line of a dump: what one entry of a file holds.
type Entry struct {
	// Kind is batch, record, offsetIndex, timeIndex, abortedTxn, producer, epoch,
	// offset or property.
	Kind   string
	Fields []Field // in the order, and with the names, of Kafka's own tool
}

// Field is a named value: int64, bool, string, []string, Optional, Bytes or JSON.
type Field struct {
	Name  string
	Value any
}

// Optional is a number that may be missing: Kafka's OptionalLong.
type Optional struct {
	Value   int64
	Present bool
}

// Bytes are of a record's key or value.
type Bytes []byte

// JSON is text that is JSON already.
type JSON string

// Text writes the entry as Kafka's tool does.
func (e Entry) Text() string {
	var b strings.Builder
	if e.Kind == "record" {
		b.WriteByte('|')
	}
	for i, f := range e.Fields {
		if i > 0 || b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Name)
		if !strings.HasPrefix(f.Name, "Snapshot") && !strings.HasPrefix(f.Name, "KRaft") { // Kafka writes no colon behind these
			b.WriteByte(':')
		}
		b.WriteByte(' ')
		b.WriteString(f.text())
	}
	return b.String()
}

func (f Field) text() string {
	switch v := f.Value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return "[" + strings.Join(v, ",") + "]"
	case Optional:
		if !v.Present {
			return "OptionalLong.empty"
		}
		return "OptionalLong[" + strconv.FormatInt(v.Value, 10) + "]"
	case Bytes:
		return string([]rune(string(v))) // what is no UTF-8 becomes U+FFFD, byte by byte
	case JSON:
		return string(v)
	}
	return f.Value.(string)
}

// JSON writes the entry as one object, with the file that it is of.
func (e Entry) JSON(file string) string {
	var b strings.Builder
	b.WriteString(`{"file":` + quote(file) + `,"kind":` + quote(e.Kind))
	for _, f := range e.Fields {
		b.WriteByte(',')
		b.WriteString(f.json())
	}
	b.WriteByte('}')
	return b.String()
}

// json is the member of the object. Bytes that are no text are written as base64,
// under a name that says so.
func (f Field) json() string {
	name := quote(f.Name) + ":"
	switch v := f.Value.(type) {
	case string:
		return name + quote(v)
	case []string:
		all := make([]string, len(v))
		for i, s := range v {
			all[i] = quote(s)
		}
		return name + "[" + strings.Join(all, ",") + "]"
	case Optional:
		if !v.Present {
			return name + "null"
		}
		return name + strconv.FormatInt(v.Value, 10)
	case Bytes:
		if !utf8.Valid(v) {
			return quote(f.Name+"Base64") + ":" + quote(base64.StdEncoding.EncodeToString(v))
		}
		return name + quote(string(v))
	}
	return name + f.text()
}
