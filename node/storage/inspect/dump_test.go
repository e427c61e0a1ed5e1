package inspect

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDumpPrintsWhatKafkasToolPrints compares with what kafka-dump-log of 4.1.2 said
// of the directory, but for its words on empty files, gaps and snapshots.
func TestDumpPrintsWhatKafkasToolPrints(t *testing.T) {
	m := load(t, kafkaDir)
	golden, err := os.ReadFile("testdata/kafka-4.1.dump")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, l := range strings.Split(strings.TrimSuffix(string(golden), "\n"), "\n") {
		name, file := strings.CutPrefix(l, "Dumping ")
		if strings.HasPrefix(l, "Non-consecutive") || strings.Contains(l, " is followed by ") || strings.HasSuffix(l, " is empty.") ||
			l == "KRaft bootstrap snapshot" || strings.HasPrefix(l, "Log starting offset") {
			continue
		}
		want = append(want, l)
		if !file {
			continue
		}
		got = append(got, l)
		metadata := path.Dir(name) == "__cluster_metadata-0" || name == "bootstrap.checkpoint"
		err := Dump(m, name, DumpOptions{DeepIteration: true, PrintData: metadata, Metadata: metadata}, func(e Entry) error {
			got = append(got, strings.TrimRight(e.Text(), " "))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, got); d != "" || len(want) < 1000 {
		t.Errorf("%d lines:\n%s", len(want), d)
	}
}

func TestEveryFileOfALogDirectoryIsDumpedAsJSONToo(t *testing.T) {
	m := load(t, kafkaDir)
	kinds := map[string]int{}
	for name := range m { // unordered: each is looked at alone
		err := Dump(m, name, DumpOptions{PrintData: true, Metadata: strings.Contains(name, "__cluster")}, func(e Entry) error {
			var fields map[string]any
			if err := json.Unmarshal([]byte(e.JSON(name)), &fields); err != nil {
				t.Fatalf("%s: %v", e.JSON(name), err)
			}
			if len(fields) != len(e.Fields)+2 || fields["file"] != name || fields["kind"] != e.Kind {
				t.Errorf("%s has not the fields of %+v", e.JSON(name), e)
			}
			kinds[e.Kind]++
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, kind := range []string{"batch", "record", "offsetIndex", "timeIndex", "abortedTxn", "producer", "epoch", "offset", "property"} {
		if kinds[kind] == 0 {
			t.Errorf("no entry of kind %s: %v", kind, kinds)
		}
	}
}

// Bytes that are no text, and batches that are damaged, are told and not hidden.
func TestDamageIsDumpedAsSuch(t *testing.T) {
	const name = "mixed-0/00000000000000000000.log"
	m := load(t, kafkaDir).with(name, flip(1000))
	var valid []any
	if err := Dump(m, name, DumpOptions{DeepIteration: true}, func(e Entry) error {
		if e.Kind == "batch" {
			valid = append(valid, e.Fields[len(e.Fields)-1].Value)
		}
		return nil
	}); err != nil || len(valid) != 15 || valid[0] != false || valid[1] != true {
		t.Errorf("%v %v", valid, err)
	}
	got := Entry{"record", []Field{{"key", Bytes("\xff\x00")}, {"payload", Bytes("é")}}}
	if j, want := got.JSON("f"), `{"file":"f","kind":"record","keyBase64":"/wA=","payload":"é"}`; j != want {
		t.Errorf("%s, want %s", j, want)
	}
	if err := Dump(m, "nothing.txt", DumpOptions{}, nil); err == nil {
		t.Error("a file that is not there was dumped")
	}
}

// A metadata record of a later release is not judged, one of a known type that does
// not decode is a fault.
func TestMetadataRecordsOfLaterReleasesAreNotJudged(t *testing.T) {
	for _, c := range []struct {
		value []byte
		want  string
	}{
		{[]byte{1, 200, 1, 0, 9, 9}, ""},
		{[]byte{1, 20, 7, 9, 9}, ""},
		{[]byte{1, 20, 0, 0}, ""},
		{[]byte{1, 20, 0}, "the body of the metadata record NO_OP_RECORD version 0 is not well formed"},
		{[]byte{1, 2, 0, 9, 'x'}, "the body of the metadata record TOPIC_RECORD version 0 is not well formed"},
		{[]byte{0, 20, 0, 0}, "metadata record of frame version 0, want 1"},
	} {
		got := ""
		if err := decodable(recordOf(c.value)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.value, got, c.want)
		}
	}
}
