package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// JSONFault says in JSON's words why text, which is no more than one line, could
// not be read by encoding/json, whose own words are Go's. The field is the key
// whose value is wrong, "" if it is none's; whole tells what was expected of the
// text, such as "a header line".
func JSONFault(text []byte, whole string, err error) (field string, fault error) {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		want := jsonWord(t.Type)
		if t.Field == "" {
			want = whole
		}
		return t.Field, fmt.Errorf("expected %s, found %s", want, foundWord(t.Value))
	}
	begins := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	if begins && errors.Is(json.NewDecoder(bytes.NewReader(text)).Decode(new(any)), io.ErrUnexpectedEOF) {
		return "", errTruncated
	}
	return "", fmt.Errorf("expected %s, found what is no JSON object: %w", whole, err)
}

// jsonWord is what JSON calls the values that a Go type takes.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonWord(t.Elem())
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	}
}

// foundWord is encoding/json's word for a value, "number 1.5" or "array", as ours.
func foundWord(value string) string {
	word, rest, literal := strings.Cut(value, " ")
	switch {
	case literal:
		return rest
	case word == "bool":
		return "true or false"
	case word == "array":
		return "a list"
	case word == "object":
		return "an object"
	case word == "string":
		return "a text"
	}
	return "a " + word
}
