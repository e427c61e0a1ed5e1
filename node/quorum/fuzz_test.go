package quorum

import (
	"testing"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
)

// quietHost is a lane that nothing happens to.
type quietHost struct{ simdisk.Host }

func (quietHost) Now() int64   { return 0 }
func (quietHost) Charge(int64) {}
func (quietHost) Step()        {}

// FuzzReadState gives any bytes to what reads quorum-state, Kafka's and ours: an error
// with the path, or a state that is written and read as the same one.
func FuzzReadState(f *testing.F) {
	for _, seed := range []string{
		`{"clusterId":"","leaderId":2,"leaderEpoch":7,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}`,
		`{"leaderId":-1,"leaderEpoch":7,"votedId":3,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}`,
		"", "{}", "null", `{"leaderEpoch":99999999999,"data_version":0}`, `{"data_version":0}{`,
	} {
		f.Add([]byte(seed))
	}
	read := func(t *testing.T, content []byte) (electionState, error) {
		d := simdisk.New()
		if err := d.Load([]simdisk.Content{{Path: "meta/" + stateFile, Bytes: content}}); err != nil {
			t.Fatal(err)
		}
		return readState(d.View("quorum", quietHost{}), "meta")
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := read(t, content)
		if err != nil {
			if s != (electionState{}) {
				t.Fatalf("%+v with the error %v", s, err)
			}
			return
		}
		again, err := read(t, encodeState(s, []kafka.BrokerID{1, 2, 3}))
		if err != nil || again != s {
			t.Fatalf("%+v is written and read as %+v, %v", s, again, err)
		}
	})
}
