package broker

import (
	"slices"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// logDir is one of the directories of log.dirs (KIP-112, KIP-858), with an
// identity, a marker and checkpoint files of its own. One whose disk fails is
// offline until the process starts again; the others go on.
//
//	log.dirs unset         log.dirs=d0,d1
//	/ meta.properties      / meta.properties, __cluster_metadata-0/
//	  *-checkpoint         d0/ meta.properties, *-checkpoint, orders-0/
//	  orders-0/            d1/ meta.properties, *-checkpoint, orders-1/
//	  __cluster_meta…/
//
// The metadata log stays in the node's root directory, as with a
// metadata.log.dir of its own.
type logDir struct {
	path   string // "" is the node's root directory
	logs   bool   // it is one of log.dirs; else it holds the metadata log alone
	id     kafka.UUID
	clean  bool              // the marker was there at start
	epoch  kafka.BrokerEpoch // in the marker
	failed bool
	files  map[checkpointFile]*storage.AtomicFile
}

// within is a name in a log directory.
func within(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// logDirs are the paths of log.dirs in their order; one "" if it is not set.
func (c Config) logDirs() []string {
	return strings.Split(c.Properties.Text(kafka.LogDirs), ",")
}

// makeDir makes a log directory below the root if it is not there.
func makeDir(fs disk.FS, path string) error {
	if path == "" {
		return nil
	}
	names, err := fs.List("")
	if err != nil || slices.Contains(names, path+"/") {
		return err
	}
	return fs.Mkdir(path)
}
