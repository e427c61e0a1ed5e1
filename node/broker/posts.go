package broker

import (
	"time"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/replica"
)

// The values that lanes of one node post to each other. Each is immutable once
// it is posted, or handed over whole.

// imagePost is what the quorum lane posts to every other lane when committed
// records changed the metadata: first to router and lifecycle, then to logs
// and the data lanes. Image and Delta are immutable.
type imagePost struct {
	Image *metadata.Image
	Delta *metadata.Delta
}

// appliedPost tells lifecycle that a lane has applied the image up to Offset.
// The first of every lane must be in before the broker asks to be unfenced.
type appliedPost struct {
	Offset kafka.Offset
}

// controllerPost tells lifecycle where the active controller is; "" is unknown.
type controllerPost struct {
	Controller kafka.BrokerID
	Addr       string
	Epoch      kafka.LeaderEpoch
}

// registeredPost tells the lanes that fetch in the broker's name its epoch.
type registeredPost struct {
	Epoch kafka.BrokerEpoch
}

// servePost opens the broker's doors: the router may take requests. Before, the
// metadata may still name this broker leader of what its life before led, and a
// log that lost its end in the crash must not be written to in that epoch.
type servePost struct{}

// directoriesPost tells lifecycle what the log directories say of themselves,
// before anything in them is touched.
type directoriesPost struct {
	Directories []kafka.UUID // those online, in order of log.dirs
	// PreviousEpoch is that of the clean-shutdown markers, NoBrokerEpoch unless
	// every directory has the same.
	PreviousEpoch kafka.BrokerEpoch
}

// loadPost gives a data lane what the log directories hold about its logs; it
// follows the first image and directoriesPost, and the lane's logs are opened after.
type loadPost struct {
	Dirs []loadedDir // in order of log.dirs
}

// loadedDir is one log directory as the logs lane found it.
type loadedDir struct {
	Path           string
	ID             kafka.UUID
	Failed         bool // it is offline, and nothing is known of it
	Clean          bool // there was a clean-shutdown marker
	RecoveryPoints map[kafka.TopicPartition]kafka.Offset
	LogStarts      map[kafka.TopicPartition]kafka.Offset
	HighWatermarks map[kafka.TopicPartition]kafka.Offset
	Cleaned        map[kafka.TopicPartition]kafka.Offset
}

// pointsKnown tells that a log without a recovery point has none yet. Where there are
// lines of logs that were cleaned and none of recovery points, these are lost: no log
// is cleaned before its point is written.
func (d *loadedDir) pointsKnown() bool { return len(d.RecoveryPoints) > 0 || len(d.Cleaned) == 0 }

// checkpointPost asks the data lanes for the entries of one checkpoint file.
type checkpointPost struct {
	File checkpointFile
}

// checkpointedPost is a data lane's answer, sorted by partition.
type checkpointedPost struct {
	File    checkpointFile
	Offsets []partitionOffset
}

// truncatedPost tells the logs lane that a cut moved a recovery point back: the
// file must say so before the replica grows again, or a crash would trust bytes
// that were never synced. Cut numbers the lane's cuts.
type truncatedPost struct {
	Cut uint64
}

// truncationSavedPost lets the fetcher go on.
type truncationSavedPost struct {
	Cut uint64
}

// cleanedPost tells the logs lane that a cleaner's pass ended: its checkpoint is
// to be written.
type cleanedPost struct{}

// partitionOffset is one line of a checkpoint file.
type partitionOffset struct {
	Dir    int // place of the log directory in log.dirs
	TP     kafka.TopicPartition
	Offset kafka.Offset
}

// shutdownPost tells the data lanes that a controlled shutdown began: they stop
// following leaders that no longer need them.
type shutdownPost struct{}

// closePost ends the broker's service: the router hangs up, the data lanes
// flush and close their logs, and the logs lane writes the last checkpoints and
// the marker with Epoch.
type closePost struct {
	Epoch kafka.BrokerEpoch
}

// closedPost tells the logs lane that a data lane closed all its logs, or
// could not.
type closedPost struct {
	RecoveryPoints, LogStarts, HighWatermarks []partitionOffset
	Loaded                                    bool // the lane had opened its logs
}

// cleanPost tells lifecycle that the clean-shutdown marker is on disk.
type cleanPost struct{}

// failedPost tells the logs lane that a data lane met an error of a disk.
type failedPost struct {
	Dir    int // place of the log directory in log.dirs
	Reason string
}

// offlinePost tells lifecycle and the data lanes that a log directory failed.
type offlinePost struct {
	Dir int // place in log.dirs
	ID  kafka.UUID
}

// assignPost tells lifecycle in which log directory a replica lies, where the
// metadata says otherwise.
type assignPost struct {
	TopicID   kafka.UUID
	Partition int32
	Directory kafka.UUID
}

// alterPost gives a leader's ISR proposal to lifecycle.
type alterPost struct {
	Proposal *replica.Proposal
}

// alteredPost is the controller's word on it.
type alteredPost struct {
	Proposal *replica.Proposal
	Answer   replica.ISRAnswer
}

// forwardPost asks lifecycle to put a client's request before the controller.
type forwardPost struct {
	ID      workID
	Request *node.Message
}

// forwardedPost is the controller's answer; nil if it could not be had in time.
type forwardedPost struct {
	ID       workID
	Response *node.Message
}

// allocatePost asks lifecycle for a block of producer ids.
type allocatePost struct{}

// allocatedPost is the controller's answer: producer ids from First on, Count of
// them, 0 if there is no answer or an error in it.
type allocatedPost struct {
	First kafka.ProducerID
	Count int32
}

// workID names a request in the router, unique in its life.
type workID uint64

// producePost is a data lane's share of a Produce request.
type producePost struct {
	ID       workID
	Acks     int16
	Deadline time.Duration // node clock, for acks=-1
	Parts    []producePart
}

// producePart is one partition of it. Index is its place in the request.
type producePart struct {
	Index int
	TP    kafka.TopicPartition
	Batch []byte
}

// producedPost answers a producePost once, for all its partitions.
type producedPost struct {
	ID      workID
	Results []produceResult
}

type produceResult struct {
	Index         int
	Code          kafka.ErrorCode
	Base          kafka.Offset
	LogAppendTime kafka.Timestamp
	LogStart      kafka.Offset
}

// fetchPost is a data lane's share of a Fetch. The first read of a request
// moves follower state and may leave a watch behind, the second ends the watch.
type fetchPost struct {
	ID       workID
	Again    bool
	MaxBytes int // of the lane's whole share; the first batch always fits
	// MinBytes and Watch: if the share reads less than MinBytes and Watch is
	// set, the lane reports what changes until it is asked again or told to stop.
	MinBytes int
	Watch    bool
	Parts    []fetchPart
}

type fetchPart struct {
	Index   int
	TP      kafka.TopicPartition
	Request replica.FetchRequest
}

// fetchedPost answers a fetchPost. Who takes it releases the regions.
type fetchedPost struct {
	ID      workID
	Again   bool
	Results []fetchResult
}

type fetchResult struct {
	Index int
	replica.FetchResult
}

// fetchGrownPost reports what a parked fetch could read on this lane now.
// Ready asks for the second read whatever the bytes.
type fetchGrownPost struct {
	ID    workID
	Bytes int
	Ready bool
}

// fetchStopPost ends the watch of a fetch that was answered or is gone.
type fetchStopPost struct {
	ID workID
}

// lookupPost is a data lane's share of a ListOffsets or OffsetForLeaderEpoch
// request; exactly one of the slices is set.
type lookupPost struct {
	ID      workID
	Offsets []offsetPart
	Epochs  []epochPart
}

type offsetPart struct {
	Index   int
	TP      kafka.TopicPartition
	Request replica.ListOffsetRequest
}

type epochPart struct {
	Index          int
	TP             kafka.TopicPartition
	Current, Epoch kafka.LeaderEpoch
}

// deletePost is a data lane's share of a DeleteRecords request.
type deletePost struct {
	ID       workID
	Deadline time.Duration // node clock
	Parts    []deletePart
}

type deletePart struct {
	Index  int
	TP     kafka.TopicPartition
	Offset kafka.Offset // the new log start, -1: the high watermark
}

// deletedPost answers a deletePost once, for all its partitions.
type deletedPost struct {
	ID      workID
	Results []deleteResult
}

type deleteResult struct {
	Index int
	Code  kafka.ErrorCode
	Low   kafka.Offset // the least log start of the replicas, -1 with an error
}

// lookedUpPost answers a lookupPost.
type lookedUpPost struct {
	ID      workID
	Offsets []offsetResult
	Epochs  []epochResult
}

type offsetResult struct {
	Index int
	Code  kafka.ErrorCode
	replica.ListOffsetResult
}

type epochResult struct {
	Index int
	Code  kafka.ErrorCode
	End   replica.EpochEnd
}
