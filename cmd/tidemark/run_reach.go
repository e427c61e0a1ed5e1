//go:build !js

package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// pace is how often the bootstrap addresses are tried.
type pace struct {
	try  time.Duration // between two attempts, and how long each may take
	tell int           // attempts between two lines about their failure
}

// reachPace leaves a cluster that starts at the same moment a second.
var reachPace = pace{try: time.Second, tell: 30}

// tells reports whether an attempt that fails after so many others is told of.
func (p pace) tells(failed int) bool { return failed > 0 && (failed-1)%p.tell == 0 }

// tellUnreached tries the bootstrap addresses until one accepts a connection, and
// tells of them while none does: Kafka's clients go on for minutes in that case, and
// a wrong port looks like a slow cluster.
func tellUnreached(ctx context.Context, bootstrap []string, p pace, tell func(line string)) {
	for failed := 0; ; failed++ {
		var faults []string
		for _, addr := range bootstrap {
			d := net.Dialer{Timeout: p.try}
			c, err := d.DialContext(ctx, "tcp", addr)
			if err == nil {
				c.Close()
				return
			}
			faults = append(faults, fmt.Sprintf("%s: %v", addr, inner(err)))
		}
		if p.tells(failed) && ctx.Err() == nil {
			tell(fmt.Sprintf("no broker can be reached, clients keep trying: --bootstrap %s", strings.Join(faults, "; ")))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(p.try):
		}
	}
}
