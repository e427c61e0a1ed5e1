package rules

// localCleanCheck=epochMatch
//
// The clean-shutdown marker says that the logs beside it are whole. A broker
// removes it before it opens them, and does not sync the directory; a power loss
// soon after brings the marker back beside logs that went on. The controller is
// not deceived (the epoch in the marker is not the registered one, KIP-966), but
// the broker's LogManager looks at the marker's existence alone and skips recovery
// (story D8). No release compares the epochs; this is what it would do.
var localCleanCheckEpochMatch = Variant{
	Switch:  "localCleanCheck",
	Value:   "epochMatch",
	Current: "exists",
	Summary: "a clean-shutdown marker counts only if its broker epoch is the one last registered",
	History: "no release of Kafka: a remedy for what the current rule leaves open",
	Stories: "D8",
	Apply: func(r *Rules) {
		// A broker that registered again before it saw the first image finds its
		// new epoch there, and recovers for nothing: slow, and safe.
		r.Storage.TrustMarker = func(m MarkerFound) bool { return m.Epoch == m.Registered }
	},
}

// markerUnlinkSync=dirSync
//
// The other remedy for story D8: the removal of the marker is durable before the
// first log is opened.
var markerUnlinkSyncDirSync = Variant{
	Switch:  "markerUnlinkSync",
	Value:   "dirSync",
	Current: "off",
	Summary: "the removal of the clean-shutdown marker is synced before any log is opened",
	History: "no release of Kafka: a remedy for what the current rule leaves open",
	Stories: "D8",
	Apply:   func(r *Rules) { r.Storage.SyncMarkerRemoval = true },
}
