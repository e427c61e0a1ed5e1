package node

import (
	"strconv"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Lane names one lane of a node.
type Lane uint8

// The lanes of a broker or controller. A client has the lane App alone.
const (
	// Router takes client connections, splits and joins requests.
	Router Lane = iota
	// Lifecycle keeps the channels to the controller; it has no file system.
	Lifecycle
	// Quorum keeps the metadata log; on a controller the controller runs here.
	Quorum
	// Logs is Kafka's LogManager: checkpoints, clean marker, stray directories.
	Logs
	// App is the one lane of a client.
	App
	// Data0 is the first data lane; partitions lie on data lanes by hash.
	Data0
)

// Data returns the i-th data lane, i from 0.
func Data(i int) Lane { return Data0 + Lane(i) }

var laneNames = [...]string{"router", "lifecycle", "quorum", "logs", "app"}

// String writes a lane as scenario files do: router, data-0.
func (l Lane) String() string {
	if l == Outside {
		return "outside"
	}
	if l < Data0 {
		return laneNames[l]
	}
	return "data-" + strconv.Itoa(int(l-Data0))
}

// ConnID names a connection within one lane and one process life, from 1. The
// accepting side learns of a connection with its first Receive.
type ConnID uint64

// TimerID names a timer within one lane and one process life, from 1.
type TimerID uint64

// Process is one lane's state machine. The driver calls it with one input at a
// time, never re-entrantly. Env may be kept but used only inside these calls.
type Process interface {
	// Start is the first call of a life. What the disk holds is all that is
	// left of the life before.
	Start(env Env)
	// Receive delivers a request (on an accepted connection) or a response (on
	// a dialled one). The next request of the connection comes only after Send
	// or Release. The receiver owns m, but for the record bytes of a Produce
	// request: their memory is used again after Send or Release, so whoever
	// keeps them longer copies them.
	Receive(conn ConnID, m *Message)
	// Posted delivers what another lane of this node posted, FIFO per pair of
	// lanes. The value is immutable or handed over.
	Posted(from Lane, msg any)
	// Fire reports that a timer is due. A cancelled timer never fires.
	Fire(timer TimerID)
	// Synced reports the end of a File.Sync or FS.SyncDir.
	Synced(token disk.Token, err error)
	// Disconnected reports that a connection is gone: refused, reset, closed by
	// the peer, or of a dead peer. No call for the connection follows. A
	// connection that this lane closed itself is not reported.
	Disconnected(conn ConnID)
}

// Env is what a lane may do, inside a callback only.
type Env interface {
	// Node is this node's id.
	Node() kafka.BrokerID
	// Now is the node's monotonic clock, sampled once per callback.
	Now() time.Duration
	// Wall is the node's wall clock in ms since the Unix epoch, sampled once
	// per callback; it may drift and jump.
	Wall() kafka.Timestamp
	// SetTimer asks for Fire after d (0 or less: as soon as possible, after
	// this callback).
	SetTimer(d time.Duration) TimerID
	// CancelTimer takes a timer back; one that fired or was cancelled is ignored.
	CancelTimer(TimerID)
	// Dial opens a connection to host:port. It never blocks and never fails
	// here: messages may be sent at once, failure is Disconnected.
	Dial(addr string) ConnID
	// Send queues a message. On an accepted connection it is the answer to the
	// request in work. After Send the body and bytes may be read, never
	// written. Sending on a connection that is gone does nothing.
	Send(conn ConnID, m *Message)
	// Release ends the request in work without an answer (acks=0).
	Release(conn ConnID)
	// Close closes a connection, after what was sent on it.
	Close(conn ConnID)
	// Post hands a value to another lane of this node. It never blocks or fails.
	Post(to Lane, msg any)
	// FS is this lane's view of the node's file system; nil in Lifecycle.
	FS() disk.FS
	// Rand draws the next 64 bits of the stream that this site of this lane's
	// life owns; a new site moves no other.
	Rand(site string) uint64
	// Emit adds an event to the trace; the driver copies it and fills in
	// sequence number, instant and node.
	Emit(e *event.Event)
	// Exit ends the process at once, as if killed, and names the reason: what
	// Kafka does with Exit.halt, for a disk that is gone or metadata that
	// cannot be applied.
	Exit(reason string)
}

// Listeners of a node, by which a dialled address finds its lane.
const (
	// ClientListener is Kafka's inter-broker and client listener; its
	// connections go to Router (on a client node, nobody listens).
	ClientListener = "PLAINTEXT"
	// ControllerListener is the listener of the controllers; its connections
	// go to Quorum.
	ControllerListener = "CONTROLLER"
)

// Spec describes one node's life to a driver.
type Spec struct {
	ID    kafka.BrokerID
	Lanes []LaneSpec // Start is called in this order
	// Listen maps host:port to the lane that accepts there.
	Listen []ListenSpec
	// LogDirs are directories in the root in which lanes own names as they do in
	// the root itself.
	LogDirs []string
}

// LaneSpec is one lane of a Spec.
type LaneSpec struct {
	Lane    Lane
	Process Process
	// Disk tells whether the lane has a file system.
	Disk bool
}

// ListenSpec is one address of a Spec.
type ListenSpec struct {
	Addr string // host:port
	Lane Lane
}

// Outside is the sender of a post that comes from the driver, not from a lane:
// a plan's step to a client, a Stop to a broker's Lifecycle.
const Outside Lane = 255

// Stop is the post by which a driver asks a broker's Lifecycle, or a client's
// App, for a controlled shutdown: SIGTERM.
type Stop struct{}
