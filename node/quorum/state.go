package quorum

import (
	"encoding/json"
	"errors"
	"fmt"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// stateFile is what survives of a node's part in elections.
const stateFile = "quorum-state"

// stateVersion is the data_version of the file for a static voter set
// (kraft.version 0).
const stateVersion = 0

// electionState is who leads or was voted for in an epoch. It is on disk
// before the node acts on it, so that no node votes twice in an epoch or leads an
// epoch twice.
type electionState struct {
	epoch  kafka.LeaderEpoch
	leader kafka.BrokerID // NoBroker: not known
	voted  kafka.BrokerID // NoBroker: nobody
}

// unattached is an epoch in which nothing is known yet.
func unattached(epoch kafka.LeaderEpoch) electionState {
	return electionState{epoch: epoch, leader: kafka.NoBroker, voted: kafka.NoBroker}
}

// stateJSON is the file, with Kafka's field names in Kafka's order.
type stateJSON struct {
	ClusterID     string      `json:"clusterId"`
	LeaderID      int32       `json:"leaderId"`
	LeaderEpoch   int32       `json:"leaderEpoch"`
	VotedID       int32       `json:"votedId"`
	AppliedOffset int64       `json:"appliedOffset"`
	CurrentVoters []voterJSON `json:"currentVoters"`
	DataVersion   int16       `json:"data_version"`
}

type voterJSON struct {
	VoterID int32 `json:"voterId"`
}

// stateFields are the names that the file must have, as in Kafka. Without one of
// them its value would be taken for 0, and a node could vote twice in an epoch.
var stateFields = []string{"clusterId", "leaderId", "leaderEpoch", "votedId", "appliedOffset", "currentVoters"}

// missingField names the first of the fields that is not there, "" if all are.
func missingField(b []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) == nil {
		for _, name := range stateFields {
			if _, ok := fields[name]; !ok {
				return name
			}
		}
	}
	return ""
}

// encodeState writes the file's content.
func encodeState(s electionState, voters []kafka.BrokerID) []byte {
	j := stateJSON{LeaderID: int32(s.leader), LeaderEpoch: int32(s.epoch), VotedID: int32(s.voted),
		CurrentVoters: []voterJSON{}, DataVersion: stateVersion}
	for _, id := range voters {
		j.CurrentVoters = append(j.CurrentVoters, voterJSON{int32(id)})
	}
	b, err := json.Marshal(j)
	if err != nil {
		panic("quorum-state cannot be encoded: " + err.Error())
	}
	return b
}

// readState reads the file in dir; a node without one knows nothing, epoch 0.
func readState(fs disk.FS, dir string) (electionState, error) {
	path := dir + "/" + stateFile
	b, err := storage.ReadFile(fs, path)
	if errors.Is(err, disk.ErrNotExist) {
		return unattached(0), nil
	}
	if err != nil {
		return electionState{}, fmt.Errorf("read %s: %w", path, err)
	}
	j := stateJSON{DataVersion: -1}
	if err := json.Unmarshal(b, &j); err != nil {
		return electionState{}, fmt.Errorf("%s is not what a node writes there: %w", path, err)
	}
	if j.DataVersion != stateVersion {
		return electionState{}, fmt.Errorf("%s has data_version %d (-1: none): only %d can be read", path, j.DataVersion, stateVersion)
	}
	if name := missingField(b); name != "" {
		return electionState{}, fmt.Errorf("%s has no field %q", path, name)
	}
	return electionState{kafka.LeaderEpoch(j.LeaderEpoch), kafka.BrokerID(j.LeaderID), kafka.BrokerID(j.VotedID)}, nil
}
