package broker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/storage"
)

// logs is Kafka's LogManager without the logs, which the data lanes own: the
// identity of each log directory, the clean-shutdown markers, the checkpoint
// files, the replicas that are not (or no longer) meant to be here, and which
// directories are online.
//
//	Start        meta.properties, markers read ──directoriesPost──▶ lifecycle
//	first image, and every meta.properties durable
//	             markers deleted, checkpoints read, strays renamed ──loadPost──▶ data lanes
//	timers       checkpointPost ──▶ data lanes ──checkpointedPost──▶ files
//	a disk error from here or a data lane ──offlinePost──▶ lifecycle, data lanes
//	closePost    every data lane closed ──▶ checkpoints, markers ──cleanPost──▶ lifecycle
type logs struct {
	cfg    Config
	env    node.Env
	fs     disk.FS
	timers *node.Timers
	syncs  *node.Syncs

	dirs    []*logDir       // log.dirs in order, then the root if it is none of them
	unnamed int             // directories whose identity is not known yet
	first   *metadata.Image // nil before it comes
	loaded  bool            // the data lanes are told to load
	rounds  map[checkpointFile]*round
	closing bool
	epoch   kafka.BrokerEpoch // for the markers
	closed  []closedPost      // of the data lanes, as they come
}

func newLogs(cfg Config) *logs { return &logs{cfg: cfg} }

// Start checks or writes the identity of each directory and reads the markers.
func (l *logs) Start(env node.Env) {
	l.env, l.fs = env, env.FS()
	l.timers, l.syncs = node.NewTimers(env), node.NewSyncs()
	l.rounds = map[checkpointFile]*round{}
	for _, file := range checkpointFiles {
		l.rounds[file] = &round{lanes: l.cfg.DataLanes}
	}
	for _, path := range l.cfg.logDirs() {
		l.dirs = append(l.dirs, l.newDir(path, true))
	}
	if l.dirs[0].path != "" {
		l.dirs = append(l.dirs, l.newDir("", false))
	}
	l.unnamed = len(l.dirs)
	for _, dir := range l.dirs {
		if !l.identify(dir) {
			return
		}
	}
}

func (l *logs) newDir(path string, holdsLogs bool) *logDir {
	dir := &logDir{path: path, logs: holdsLogs, epoch: kafka.NoBrokerEpoch, files: map[checkpointFile]*storage.AtomicFile{}}
	for _, file := range checkpointFiles {
		dir.files[file] = storage.NewAtomicFile(l.fs, l.syncs, within(path, string(file)))
	}
	return dir
}

// identify reads a directory's meta.properties, or writes it into a new one and
// goes on once it is durable. It reports whether the node may live on.
func (l *logs) identify(dir *logDir) bool {
	err := makeDir(l.fs, dir.path)
	var id identity
	if err == nil {
		id, err = readIdentity(l.fs, dir.path)
	}
	switch {
	case errors.Is(err, disk.ErrNotExist):
		l.format(dir)
	case err != nil:
		l.fail(dir, err)
		l.named()
	default:
		if err := id.check(l.cfg); err != nil {
			l.env.Exit(err.Error())
			return false
		}
		l.identified(dir, id)
	}
	return true
}

func (l *logs) format(dir *logDir) {
	id := identity{Cluster: l.cfg.ClusterID, Node: l.cfg.ID, Directory: drawUUID(l.env, "directory")}
	written := func(err error) {
		if err != nil {
			l.fail(dir, err)
			l.named()
			return
		}
		l.identified(dir, id)
	}
	id.write(l.fs, l.syncs, dir.path, func(err error) {
		if err != nil || dir.path == "" {
			written(err)
			return
		}
		l.fs.SyncDir(l.syncs.Token(written), "") // the directory's own name
	})
}

func (l *logs) identified(dir *logDir, id identity) {
	dir.id = id.Directory
	if l.cfg.Broker && dir.logs {
		dir.epoch, dir.clean = readMarker(l.fs, dir.path)
	}
	l.named()
}

// named counts a directory whose identity is known, or never will be; with the
// last one lifecycle may register, and the logs may be loaded. The stop before was
// clean, for the controller, only if every directory is here and they all tell the
// same epoch.
func (l *logs) named() {
	if l.unnamed--; l.unnamed > 0 || !l.cfg.Broker {
		return
	}
	post := directoriesPost{PreviousEpoch: l.dirs[0].epoch}
	for _, dir := range l.dirs {
		if dir.logs && dir.epoch != post.PreviousEpoch {
			post.PreviousEpoch = kafka.NoBrokerEpoch
		}
		if dir.logs && !dir.failed {
			post.Directories = append(post.Directories, dir.id)
		}
	}
	l.env.Post(node.Lifecycle, post)
	l.load()
}

// Posted takes the word of another lane.
func (l *logs) Posted(from node.Lane, msg any) {
	switch m := msg.(type) {
	case imagePost:
		if l.first == nil {
			l.first = m.Image
			l.load()
		}
		l.env.Post(node.Lifecycle, appliedPost{Offset: m.Image.Offset()})
	case checkpointedPost:
		if l.collect(m) {
			l.ask(m.File)
		}
	case truncatedPost:
		r := l.rounds[recoveryPoints]
		r.wanted = append(r.wanted, func() { l.env.Post(from, truncationSavedPost(m)) })
		l.ask(recoveryPoints)
	case cleanedPost:
		l.ask(cleanedOffsets)
	case failedPost:
		l.takeOffline(l.dirs[m.Dir], m.Reason)
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

// live lists the directories that hold logs and are online.
func (l *logs) live() []*logDir {
	return slices.DeleteFunc(slices.Clone(l.dirs), func(d *logDir) bool { return !d.logs || d.failed })
}

// load is the point of no return of a start: once a marker is gone, a crash
// makes the next start an unclean one. It waits for the first image and for the
// id of every directory, whichever is later. A new directory's may be still on its
// way to a slow disk when the metadata is there, and data lanes that did not know
// it would tell the controller of replicas in a directory that nobody has.
func (l *logs) load() {
	if l.first == nil || l.unnamed > 0 || l.loaded || l.closing {
		return
	}
	l.loaded = true
	registered := kafka.NoBrokerEpoch
	if b, ok := l.first.Broker(l.cfg.ID); ok {
		registered = b.Epoch
	}
	for _, dir := range l.live() {
		dir.clean = dir.clean && l.cfg.Rules.Storage.TrustMarker(rules.MarkerFound{Epoch: dir.epoch, Registered: registered})
	}
	l.removeMarkers(l.loadDirs)
}

func (l *logs) loadDirs() {
	load := loadPost{Dirs: make([]loadedDir, len(l.cfg.logDirs()))}
	for i := range load.Dirs {
		dir := l.dirs[i]
		load.Dirs[i].Path, load.Dirs[i].ID = dir.path, dir.id
		if dir.failed {
			load.Dirs[i].Failed = true
		} else if err := l.loadDir(dir, l.first, &load.Dirs[i]); err != nil {
			load.Dirs[i].Failed = true
			l.fail(dir, err)
		}
	}
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, load)
	}
	l.startCheckpoints()
}

func (l *logs) loadDir(dir *logDir, image *metadata.Image, into *loadedDir) error {
	into.Clean = dir.clean
	for _, f := range []struct {
		file checkpointFile
		into *map[kafka.TopicPartition]kafka.Offset
	}{{recoveryPoints, &into.RecoveryPoints}, {logStarts, &into.LogStarts}, {highWatermarks, &into.HighWatermarks}, {cleanedOffsets, &into.Cleaned}} {
		offsets, err := f.file.read(l.fs, dir.path)
		if err != nil {
			return err
		}
		*f.into = offsets
	}
	return l.setStraysAside(dir, image)
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

// Fire runs a timer's continuation.
func (l *logs) Fire(timer node.TimerID) { l.timers.Fire(timer) }

// Synced runs the continuation of an fsync.
func (l *logs) Synced(token disk.Token, err error) { l.syncs.Synced(token, err) }

// Receive never comes: nobody dials this lane and it dials nobody.
func (l *logs) Receive(node.ConnID, *node.Message) { panic("logs has no connections") }

// Disconnected never comes either.
func (l *logs) Disconnected(node.ConnID) { panic("logs has no connections") }

// fail takes a directory offline after an error of its disk.
func (l *logs) fail(dir *logDir, err error) {
	if !dir.failed {
		storageFailed(l.env, kafka.TopicPartition{}, err)
		l.takeOffline(dir, err.Error())
	}
}

// takeOffline tells the node that a directory failed. A node stops, as in Kafka,
// once it has none left or the one with the metadata log is gone.
func (l *logs) takeOffline(dir *logDir, reason string) {
	if dir.failed {
		return
	}
	dir.failed = true
	if len(l.live()) == 0 || !dir.logs {
		l.env.Exit(offlineReason(reason))
		return
	}
	post := offlinePost{Dir: slices.Index(l.dirs, dir), ID: dir.id}
	if !dir.id.IsZero() { // else the controller never heard of it
		l.env.Post(node.Lifecycle, post)
	}
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, post)
	}
}

// storageFailed says in the trace that a disk refused.
func storageFailed(env node.Env, tp kafka.TopicPartition, err error) {
	e := event.New(event.StorageFailed)
	e.Topic, e.Partition, e.Text = tp.Topic, tp.Partition, err.Error()
	env.Emit(&e)
}

// directoryFailed ends a node whose metadata log is lost.
func directoryFailed(env node.Env, err error) {
	storageFailed(env, kafka.TopicPartition{}, err)
	env.Exit(offlineReason(err.Error()))
}

func offlineReason(why string) string {
	return fmt.Sprintf("shutdown broker because all log dirs have failed: %s", why)
}
