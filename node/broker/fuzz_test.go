package broker

import (
	"strings"
	"testing"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
)

// quietHost is a lane that nothing happens to.
type quietHost struct{ simdisk.Host }

func (quietHost) Now() int64   { return 0 }
func (quietHost) Charge(int64) {}
func (quietHost) Step()        {}

// FuzzParseIdentity gives any text to what reads meta.properties: an error that names
// the file, or an identity that is written and read as the same one.
func FuzzParseIdentity(f *testing.F) {
	id := identity{Cluster: kafka.UUID{15: 1}, Node: 3, Directory: kafka.UUID{0: 9}}
	for _, seed := range []string{
		string(id.content()), "#\n#Sun Nov 29 12:00:00 UTC 2026\n" + strings.ReplaceAll(string(id.content()), "=", " = "),
		"", "version=0\nbroker.id=1\n", "version=1\nnode.id=-1\n", "no property",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseIdentity(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), identityFile) || id != (identity{}) {
				t.Fatalf("%+v with the error %v", id, err)
			}
			return
		}
		if again, err := parseIdentity(string(id.content())); err != nil || again != id {
			t.Fatalf("%+v is written and read as %+v, %v", id, again, err)
		}
	})
}

// FuzzReadMarker puts any bytes into the marker of a clean stop: it is there, and tells
// the broker's epoch or none.
func FuzzReadMarker(f *testing.F) {
	for _, seed := range []string{`{"version":0,"brokerEpoch":17}`, "", "{}", "null", `{"version":1,"brokerEpoch":17}`, `{"version":0,"brokerEpoch":1e99}`, `{"brokerEpoch":`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		d := simdisk.New()
		if err := d.Load([]simdisk.Content{{Path: markerFile, Bytes: content}}); err != nil {
			t.Fatal(err)
		}
		epoch, there := readMarker(d.View("logs", quietHost{}), "")
		if !there {
			t.Fatal("a marker that is there is not found")
		}
		if text := string(content); epoch != kafka.NoBrokerEpoch && epoch != 0 && !strings.ContainsAny(text, "123456789") {
			t.Fatalf("%q tells broker epoch %d", text, epoch)
		}
	})
}
