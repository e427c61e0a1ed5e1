package broker

import (
	"errors"
	"fmt"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/storage"
)

// logs is Kafka's LogManager without the logs, which the data lanes own: the
// identity of the directory, the clean-shutdown marker, the checkpoint files and
// the replicas that are not (or no longer) meant to be here.
//
//	Start        meta.properties, marker read ──directoryPost──▶ lifecycle
//	first image  marker deleted, checkpoints read, strays renamed ──loadPost──▶ data lanes
//	timers       checkpointPost ──▶ data lanes ──checkpointedPost──▶ file
//	closePost    every data lane closed ──▶ checkpoints, marker ──cleanPost──▶ lifecycle
type logs struct {
	cfg    Config
	env    node.Env
	fs     disk.FS
	timers *node.Timers
	syncs  *node.Syncs

	clean   bool // the marker was there at start
	loaded  bool // the first image came and the data lanes were told to load
	files   map[checkpointFile]*checkpoint
	closing bool
	epoch   kafka.BrokerEpoch // for the marker
	closed  []closedPost      // of the data lanes, as they come
}

func newLogs(cfg Config) *logs { return &logs{cfg: cfg} }

// Start checks or writes the directory's identity and reads the marker.
func (l *logs) Start(env node.Env) {
	l.env, l.fs = env, env.FS()
	l.timers, l.syncs = node.NewTimers(env), node.NewSyncs()
	l.files = map[checkpointFile]*checkpoint{}
	for _, file := range []checkpointFile{recoveryPoints, logStarts, highWatermarks} {
		l.files[file] = &checkpoint{file: storage.NewAtomicFile(l.fs, l.syncs, string(file)), lanes: l.cfg.DataLanes}
	}
	id, err := readIdentity(l.fs)
	switch {
	case errors.Is(err, disk.ErrNotExist):
		l.format()
	case err != nil:
		l.fail(err)
	default:
		if err := id.check(l.cfg); err != nil {
			l.env.Exit(err.Error())
			return
		}
		l.identified(id)
	}
}

// format writes meta.properties into a new directory and goes on once it is
// durable.
func (l *logs) format() {
	id := identity{Cluster: l.cfg.ClusterID, Node: l.cfg.ID, Directory: drawUUID(l.env, "directory")}
	id.write(l.fs, l.syncs, func(err error) {
		if err != nil {
			l.fail(err)
			return
		}
		l.identified(id)
	})
}

func (l *logs) identified(id identity) {
	if !l.cfg.Broker {
		return
	}
	epoch, found := readMarker(l.fs)
	l.clean = found
	l.env.Post(node.Lifecycle, directoryPost{Directory: id.Directory, PreviousEpoch: epoch})
}

// Posted takes the word of another lane.
func (l *logs) Posted(from node.Lane, msg any) {
	switch m := msg.(type) {
	case imagePost:
		if !l.loaded && !l.closing {
			l.load(m.Image)
		}
		l.env.Post(node.Lifecycle, appliedPost{Offset: m.Image.Offset()})
	case checkpointedPost:
		if l.files[m.File].collect(m.Offsets, l.fail) {
			l.ask(m.File)
		}
	case truncatedPost:
		c := l.files[recoveryPoints]
		c.wanted = append(c.wanted, func() { l.env.Post(from, truncationSavedPost(m)) })
		l.ask(recoveryPoints)
	case closePost:
		l.closing, l.epoch = true, m.Epoch
		l.finish()
	case closedPost:
		l.closed = append(l.closed, m)
		l.finish()
	default:
		panic("logs does not take this post")
	}
}

// load is the point of no return of a start: once the marker is gone, a crash
// makes the next start an unclean one.
func (l *logs) load(image *metadata.Image) {
	l.loaded = true
	if err := removeMarker(l.fs); err != nil {
		l.fail(err)
		return
	}
	load := loadPost{Clean: l.clean}
	for _, f := range []struct {
		file checkpointFile
		into *map[kafka.TopicPartition]kafka.Offset
	}{{recoveryPoints, &load.RecoveryPoints}, {logStarts, &load.LogStarts}, {highWatermarks, &load.HighWatermarks}} {
		offsets, err := f.file.read(l.fs)
		if err != nil {
			l.fail(err)
			return
		}
		*f.into = offsets
	}
	if err := l.setStraysAside(image); err != nil {
		l.fail(err)
		return
	}
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, load)
	}
	l.startCheckpoints()
}

// initialDelay is log.initial.task.delay.ms, before the first of the slow tasks.
const initialDelay = 30 * time.Second

func (l *logs) startCheckpoints() {
	props := l.cfg.Properties
	watermarks := props.Millis(kafka.HighWatermarkCheckpointMs)
	l.checkpointEvery(highWatermarks, watermarks, watermarks)
	l.checkpointEvery(recoveryPoints, initialDelay, props.Millis(kafka.FlushOffsetCheckpointMs))
	l.checkpointEvery(logStarts, initialDelay, props.Millis(kafka.FlushStartOffsetCheckpoint))
}

// checkpointEvery writes the file after a first delay and then once per interval.
func (l *logs) checkpointEvery(file checkpointFile, first, interval time.Duration) {
	l.timers.After(first, func() {
		l.ask(file)
		l.checkpointEvery(file, max(interval, time.Millisecond), interval)
	})
}

// ask begins a round of the file, unless one is in work.
func (l *logs) ask(file checkpointFile) {
	if l.closing || !l.files[file].ask() {
		return
	}
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, checkpointPost{File: file})
	}
}

// Fire runs a timer's continuation.
func (l *logs) Fire(timer node.TimerID) { l.timers.Fire(timer) }

// Synced runs the continuation of an fsync.
func (l *logs) Synced(token disk.Token, err error) { l.syncs.Synced(token, err) }

// Receive never comes: nobody dials this lane and it dials nobody.
func (l *logs) Receive(node.ConnID, *node.Message) { panic("logs has no connections") }

// Disconnected never comes either.
func (l *logs) Disconnected(node.ConnID) { panic("logs has no connections") }

func (l *logs) failOn(err error) {
	if err != nil {
		l.fail(err)
	}
}

// fail takes the log directory offline; with its only directory gone the node
// stops, as Kafka does.
func (l *logs) fail(err error) { directoryFailed(l.env, err) }

// directoryFailed says that the log directory is lost and ends the node.
func directoryFailed(env node.Env, err error) {
	e := event.New(event.StorageFailed)
	e.Text = err.Error()
	env.Emit(&e)
	env.Exit(offlineReason(err))
}

func offlineReason(err error) string {
	return fmt.Sprintf("shutdown broker because all log dirs have failed: %v", err)
}
