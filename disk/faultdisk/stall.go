package faultdisk

// stall is a device that does not answer for a while.
type stall struct {
	until int64 // ns
	hit   bool  // it delayed an operation
}

// Stall makes everything that touches the device wait until the given instant,
// ns. The longest stall wins; a reboot does not end it.
func (d *Disk) Stall(until int64) {
	d.stats.Stall.Fired++
	d.stall.hit = d.stall.hit && until <= d.stall.until
	d.stall.until = max(d.stall.until, until)
}

// Delay is how long an operation that touches the device at instant now has to
// wait, ns. The driver charges it, or waits.
func (d *Disk) Delay(now int64) int64 {
	rest := d.stall.until - now
	if rest <= 0 {
		return 0
	}
	if !d.stall.hit {
		d.stall.hit = true
		d.stats.Stall.Effective++
	}
	return rest
}
