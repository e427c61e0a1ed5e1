package live

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"tidemark/disk"
	"tidemark/node/live/recording"
)

// Recorder writes the recording of any number of nodes.
type Recorder struct {
	mu    sync.Mutex
	out   *recording.Writer
	lives int
	err   error
}

// NewRecorder begins a recording. Each chunk is one Write to out, so that what
// was written is whole whenever the process is killed.
func NewRecorder(out io.Writer) (*Recorder, error) {
	w, err := recording.NewWriter(out)
	if err != nil {
		return nil, err
	}
	return &Recorder{out: w}, nil
}

// Err is the first error of writing. Nodes go on without being recorded then.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) write(c recording.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.out.Write(c)
	}
}

// begin opens a node's life.
func (r *Recorder) begin(config []byte) (life int) {
	r.mu.Lock()
	life = r.lives
	r.lives++
	r.mu.Unlock()
	r.write(recording.Chunk{Kind: recording.NodeChunk, Node: life, Data: config})
	return life
}

// recordBoot writes what the node has before it starts: its configuration and
// its directory.
func (n *Node) recordBoot(config []byte) error {
	n.life = n.record.begin(config)
	if n.disk != nil {
		fs := n.disk.View(func(disk.Token, error) {})
		if err := n.recordDir(fs, ""); err != nil {
			return fmt.Errorf("record the log directory: %w", err)
		}
	}
	return n.record.Err()
}

// recordEnd closes the life in the recording.
func (n *Node) recordEnd() {
	if n.record == nil {
		return
	}
	c := recording.Chunk{Kind: recording.EndChunk, Node: n.life}
	if n.reason != Killed {
		c.Name = n.reason
	}
	n.record.write(c)
}

// recordDir writes a directory and everything below it.
func (n *Node) recordDir(fs disk.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := name
		if dir != "" {
			path = dir + "/" + name
		}
		sub, isDir := strings.CutSuffix(path, "/")
		if isDir {
			n.record.write(recording.Chunk{Kind: recording.PathChunk, Node: n.life, Name: path})
			err = n.recordDir(fs, sub)
		} else {
			err = n.recordFile(fs, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partBytes is how much of a file goes into one chunk.
const partBytes = 64 << 10

// recordFile writes a file, but no part that is zeros: index files are mostly
// such.
func (n *Node) recordFile(fs disk.FS, path string) error {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	n.record.write(recording.Chunk{Kind: recording.PathChunk, Node: n.life, Name: path, Number: size})
	buf := make([]byte, partBytes)
	for off := int64(0); off < size; off += partBytes {
		part := buf[:min(partBytes, size-off)]
		if _, err := f.ReadAt(part, off); err != nil {
			return err
		}
		if !zeros(part) {
			n.record.write(recording.Chunk{Kind: recording.BytesChunk, Node: n.life, Name: path, Number: off, Data: part})
		}
	}
	return nil
}

func zeros(p []byte) bool {
	for _, c := range p {
		if c != 0 {
			return false
		}
	}
	return true
}

// begin records the input of a callback that is about to run.
func (l *lane) begin(kind recording.InputKind, in input) {
	if l.tape == nil {
		return
	}
	r := recording.Input{Kind: kind, Now: l.now, Wall: l.wall, Frame: in.frame, Message: in.message, From: in.from,
		Value: in.value, Timer: in.timer, Token: in.token, Fault: recording.FaultOf(in.err)}
	if in.peer != nil {
		r.Conn = in.peer.id
	}
	l.tape.Begin(r)
}

// tapeBytes is how much a lane records before it writes even though it is busy.
const tapeBytes = 64 << 10

// finish closes the callback in the recording.
func (l *lane) finish() {
	if l.tape != nil {
		l.tape.End(false)
		l.writeTape(tapeBytes)
	}
}

// writeTape writes what was recorded, if it is more than so many bytes.
func (l *lane) writeTape(over int) {
	if l.tape == nil || len(l.tape.Recorded()) <= over {
		return
	}
	l.n.record.write(recording.Chunk{Kind: recording.LaneChunk, Node: l.n.life, Lane: l.id, Data: l.tape.Recorded()})
	l.tape.Taken()
}

// stopTape ends the lane's recording, in the middle of a callback if death came
// there.
func (l *lane) stopTape() {
	if l.tape != nil {
		l.tape.End(true)
		l.writeTape(0)
	}
}
