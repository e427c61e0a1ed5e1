package controller

import (
	"time"

	"tidemark/model/kafka"
)

// liveness is what only the active controller knows of brokers: when each was
// last heard, what metadata it has, and where its controlled shutdown began.
type liveness struct {
	timeout  time.Duration
	sessions []session // the longest silent first
	reports  []report  // one per broker that sent a heartbeat
}

// session belongs to one life of a broker, so that the heartbeats of an older
// life keep a newer one out and nothing else.
type session struct {
	id    kafka.BrokerID
	epoch kafka.BrokerEpoch
	last  time.Duration // node clock of the last heartbeat
}

// report is what a broker's heartbeats said.
type report struct {
	id             kafka.BrokerID
	metadataOffset kafka.Offset // that it has applied
	// shutdownOffset is the log's end when its controlled shutdown began; NoOffset: it did not.
	shutdownOffset kafka.Offset
}

func newLiveness(timeout time.Duration) liveness { return liveness{timeout: timeout} }

// touch begins or renews a session.
func (l *liveness) touch(id kafka.BrokerID, epoch kafka.BrokerEpoch, now time.Duration) {
	l.drop(id, epoch)
	l.sessions = append(l.sessions, session{id, epoch, now})
}

func (l *liveness) drop(id kafka.BrokerID, epoch kafka.BrokerEpoch) {
	for i, s := range l.sessions {
		if s.id == id && s.epoch == epoch {
			l.sessions = append(l.sessions[:i], l.sessions[i+1:]...)
			return
		}
	}
}

// valid reports whether a life was heard within the time-out.
func (l *liveness) valid(id kafka.BrokerID, epoch kafka.BrokerEpoch, now time.Duration) bool {
	for _, s := range l.sessions {
		if s.id == id && s.epoch == epoch {
			return !l.expired(s, now)
		}
	}
	return false
}

func (l *liveness) expired(s session, now time.Duration) bool { return now-s.last > l.timeout }

// takeExpired removes the session that is silent for longest, if its time is over.
func (l *liveness) takeExpired(now time.Duration) (session, bool) {
	if len(l.sessions) == 0 || !l.expired(l.sessions[0], now) {
		return session{}, false
	}
	s := l.sessions[0]
	l.sessions = l.sessions[1:]
	return s, true
}

// of gives a broker's report, a new one if there is none.
func (l *liveness) of(id kafka.BrokerID) *report {
	for i := range l.reports {
		if l.reports[i].id == id {
			return &l.reports[i]
		}
	}
	l.reports = append(l.reports, report{id, kafka.NoOffset, kafka.NoOffset})
	return &l.reports[len(l.reports)-1]
}

// forget drops a broker's report: it was fenced or began another life.
func (l *liveness) forget(id kafka.BrokerID) { *l.of(id) = report{id, kafka.NoOffset, kafka.NoOffset} }
