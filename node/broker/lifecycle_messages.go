package broker

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/node"
)

// Versions that a broker uses towards its controller (Kafka 4.1).
const (
	registrationVersion   = 4
	heartbeatVersion      = 1
	alterPartitionVersion = 3
	envelopeVersion       = 0
	allocateVersion       = 0
	assignVersion         = 0
)

// registration builds BrokerRegistration (KIP-631). Broker and controller
// compare incarnation ids to tell a restart from a retry.
func (l *lifecycle) registration() kmsg.Request {
	r := kmsg.NewPtrBrokerRegistrationRequest()
	r.Version = registrationVersion
	r.BrokerID = int32(l.cfg.ID)
	r.ClusterID = l.cfg.ClusterID.String()
	r.IncarnationID = l.incarnation
	listener := kmsg.NewBrokerRegistrationRequestListener()
	listener.Name = node.ClientListener
	listener.Host, listener.Port = splitAddr(l.cfg.advertised())
	r.Listeners = append(r.Listeners, listener)
	for _, f := range supportedFeatures {
		feature := kmsg.NewBrokerRegistrationRequestFeature()
		feature.Name, feature.MinSupportedVersion, feature.MaxSupportedVersion = f.Name, f.Min, f.Max
		r.Features = append(r.Features, feature)
	}
	for _, id := range l.directories.Directories {
		r.LogDirs = append(r.LogDirs, id)
	}
	r.PreviousBrokerEpoch = int64(l.directories.PreviousEpoch)
	return r
}

// heartbeat builds BrokerHeartbeat from what is true now.
func (l *lifecycle) heartbeat() kmsg.Request {
	r := kmsg.NewPtrBrokerHeartbeatRequest()
	r.Version = heartbeatVersion
	r.BrokerID = int32(l.cfg.ID)
	r.BrokerEpoch = int64(l.epoch)
	r.CurrentMetadataOffset = int64(l.metadataOffset())
	r.WantFence = l.state == starting || !l.ready()
	r.WantShutdown = l.state == pendingShutdown
	for _, id := range l.offline {
		r.OfflineLogDirs = append(r.OfflineLogDirs, id)
	}
	return r
}

// splitAddr takes host:port apart; a port that is no number is 0.
func splitAddr(addr string) (host string, port uint16) {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return addr, 0
	}
	n, err := strconv.ParseUint(addr[i+1:], 10, 16)
	if err != nil {
		return addr[:i], 0
	}
	return addr[:i], uint16(n)
}

// joinAddr puts host and port together for Env.Dial.
func joinAddr(host string, port uint16) string {
	return host + ":" + itoa(int64(port))
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// loopback is the client address inside envelopes: the port does not tell
// lanes where a connection comes from, and only authorisers would ask.
var loopback = []byte{127, 0, 0, 1}

// featureRange is a feature and the levels that this code can run (KIP-584).
type featureRange struct {
	Name     string
	Min, Max int16
}

// supportedFeatures are those of Kafka 4.1, by name.
var supportedFeatures = []featureRange{
	{"eligible.leader.replicas.version", 0, 1},
	{"group.version", 0, 1},
	{"kraft.version", 0, 1},
	{"metadata.version", 7, 27},
	{"transaction.version", 0, 2},
}
