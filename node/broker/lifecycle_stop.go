package broker

import (
	"tidemark/model/kafka"
	"tidemark/node"
)

// cleanExit is the reason of an exit that the driver asked for.
const cleanExit = "controlled shutdown"

// stop is SIGTERM: a running broker first asks the controller to move its
// leaderships, and waits at most five minutes for that.
func (l *lifecycle) stop() {
	was := l.state
	l.state = l.state.afterStop()
	switch {
	case l.state == was:
	case l.state == pendingShutdown:
		for _, lane := range l.cfg.dataLanes() {
			l.env.Post(lane, shutdownPost{})
		}
		l.timers.After(MaxShutdownWait, func() {
			if l.state == pendingShutdown {
				l.state = shuttingDown
				l.close()
			}
		})
		l.communicateNow()
	default:
		l.close()
	}
}

// close ends the broker's service. The order that makes the marker true: the
// data lanes flush, then logs writes the checkpoints, then the marker.
func (l *lifecycle) close() {
	l.timers.Cancel(l.next)
	l.heartbeats.close()
	l.alter.channel.close()
	l.forward.close()
	l.env.Post(node.Router, closePost{Epoch: l.epoch})
	for _, lane := range l.cfg.dataLanes() {
		l.env.Post(lane, closePost{Epoch: l.epoch})
	}
	l.env.Post(node.Logs, closePost{Epoch: l.epoch})
}

// exit ends the process after a clean stop. On a combined node the controller
// goes last.
func (l *lifecycle) exit() {
	if l.cfg.Controller {
		l.env.Post(node.Quorum, node.Stop{})
		return
	}
	l.env.Exit(cleanExit)
}

// drawUUID makes a random id (version 4 bits are set, as Java's UUIDs have).
func drawUUID(env node.Env, site string) kafka.UUID {
	var id kafka.UUID
	for i := 0; i < len(id); i += 8 {
		bits := env.Rand(site)
		for j := range 8 {
			id[i+j] = byte(bits >> (8 * j))
		}
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
