package sim

import (
	"fmt"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
)

// Load puts files on the disk of a node that was not started yet: what an earlier
// life left there, in this world or in the real one.
func (w *World) Load(id kafka.BrokerID, files []simdisk.Content) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	if m.disk == nil || m.life > 0 {
		return fmt.Errorf("node %d has no disk that is new", id)
	}
	if err := m.disk.Load(files); err != nil {
		return fmt.Errorf("the disk of node %d: %w", id, err)
	}
	return nil
}
