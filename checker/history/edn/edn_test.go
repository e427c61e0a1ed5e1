package edn_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker/history/edn"
)

// all writes every value of a text.
func all(text string) ([]string, error) {
	d := edn.NewDecoder(text)
	var out []string
	for {
		v, err := d.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, v.String())
	}
}

func TestValuesOfEveryKindAreRead(t *testing.T) {
	got, err := all(`{:type :ok, :value [[:send 3 [14 "x\n\u00e9"]]]} ; a comment
(nil true false) #{a/b -7 +7 7N 1.5e3 2M} #jepsen.history.Op{:index 0} #_{:dropped [1]} \newline #inst "2026-01-01" [#_1 2,,3]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{:type :ok :value [[:send 3 [14 "x` + "\n" + `é"]]]}`, `(nil true false)`, `#{a/b -7 7 7 1.5e3 2M}`, `{:index 0}`, `\newline`, `"2026-01-01"`, `[2 3]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMapsAreLookedUpByKeyword(t *testing.T) {
	v, err := edn.NewDecoder(`{:a 1, "b" 2, :c [3]}`).Next()
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := v.Get("c"); !ok || c.Kind != edn.Vector || c.Items[0].Int != 3 {
		t.Errorf(":c is %v, %v", c, ok)
	}
	if _, ok := v.Get("b"); ok {
		t.Error(`"b" is no keyword`)
	}
}

func TestFaultsNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"[1\n2":                   "line 1: the text ends within a value",
		"1\n}":                    "line 2: expected a value, found }",
		"{:a 1 :b}":               "line 1: expected pairs of key and value",
		"\n\"\\q\"":               `line 2: expected an escape such as \n, found \q`,
		`"\u12"`:                  `line 1: expected four hexadecimal digits`,
		"12x":                     "line 1: expected a number, found 12x",
		": a":                     "line 1: expected a name behind the colon",
		strings.Repeat("[", 5000): "line 1: expected values nested at most",
	} {
		if _, err := all(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzDecoder: whatever is read prints as text that reads back the same.
func FuzzDecoder(f *testing.F) {
	f.Add(`{:type :ok, :value [[:poll {0 [[1 2] [3 "x"]]}]]} #_1 #{a 1.5} \c`)
	f.Add(`#jepsen.history.Op{:index 0, :time 1N, :process :nemesis, :error [:x nil]}`)
	f.Fuzz(func(t *testing.T, text string) {
		once, err := all(text)
		if err != nil {
			return
		}
		again, err := all(strings.Join(once, " "))
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, once, err)
		}
		if diff := cmp.Diff(once, again); diff != "" {
			t.Fatalf("%q:\n%s", text, diff)
		}
	})
}
