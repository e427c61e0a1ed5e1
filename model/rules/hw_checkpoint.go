package rules

// hwCheckpoint=loadedOnly
//
// The high watermarks of all replicas lie in one file per directory, which is
// written anew every 5 s. A broker that restarted while a partition had no leader
// once set up no replica for it, so the next write of the file left it out. If the
// broker then died again, it came back with a high watermark of 0, and under the
// truncation rule of that time (truncate=toHW) threw its whole log away. If it was
// elected next, everything was gone (KAFKA-1647, 0.8.2; story D6). Today followers
// are set up without a leader too, and the file is a hint at best.
var hwCheckpointLoadedOnly = Variant{
	Switch:  "hwCheckpoint",
	Value:   "loadedOnly",
	Current: "allAssigned",
	Summary: "a replica without a leader is not set up, so its high watermark drops out of the checkpoint",
	History: "Kafka before 0.8.2 (2015); KAFKA-1647",
	Stories: "D6",
	Apply:   func(r *Rules) { r.Replica.HostLeaderless = false },
}
