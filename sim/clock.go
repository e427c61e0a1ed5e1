package sim

import "tidemark/model/kafka"

// Epoch is the wall clock of every node when a run begins: the first instant of
// 2026 in UTC, ms.
const Epoch kafka.Timestamp = 1_767_225_600_000

const (
	nanosPerMilli = 1_000_000
	million       = 1_000_000
)

// clock is a machine's wall clock. It runs at 1 + ppm/10^6 of true time since
// the instant of the last adjustment.
type clock struct {
	at   int64 // instant of the last adjustment, ns
	wall int64 // wall time then, ns since the run began
	ppm  int64
}

// read is the wall time at an instant, ns since the run began. The product is
// split so that it cannot overflow in 292 years.
func (c *clock) read(now int64) int64 {
	d := now - c.at
	return c.wall + d + d/million*c.ppm + d%million*c.ppm/million
}

// millis rounds down, also before the run began.
func (c *clock) millis(now int64) kafka.Timestamp {
	ns := c.read(now)
	ms := ns / nanosPerMilli
	if ns%nanosPerMilli < 0 {
		ms--
	}
	return Epoch + kafka.Timestamp(ms)
}

func (c *clock) jump(now, by int64) {
	c.wall, c.at = c.read(now)+by, now
}

func (c *clock) drift(now, ppm int64) {
	c.wall, c.at, c.ppm = c.read(now), now, ppm
}
