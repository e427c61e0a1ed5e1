package broker

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// A fetch session (KIP-227) remembers the partitions of a client's fetch, so
// that a request names only what changed and an answer only what is new.
//
//	epoch −1  full, no session (closes the named one)
//	epoch  0  full, a new session is wanted (closes the named one)
//	epoch  n  incremental; must be the one expected: 1, 2 ... wraps to 1
//
// No state of the replication is lost with a session: the next full request
// says everything again.
type fetchSession struct {
	id       int32
	epoch    int32 // that the next request must have
	byID     bool  // requests name topics by id
	follower bool
	created  time.Duration
	lastUsed time.Duration
	parts    []*sessionPart // the order in which answers fill up
}

// sessionPart is one partition of a session: what was asked last and what was
// told last.
type sessionPart struct {
	topic     string     // "" in versions with ids
	id        kafka.UUID // zero in versions without
	partition int32

	leaderEpoch, lastEpoch kafka.LeaderEpoch
	offset, logStart       kafka.Offset
	maxBytes               int

	toldHW, toldStart kafka.Offset
}

func (p *sessionPart) same(o *sessionPart) bool {
	return p.topic == o.topic && p.id == o.id && p.partition == o.partition
}

// fetchContext says how a request is answered: the partitions it is for, and
// the session, nil for a full request (one may be granted with the answer).
type fetchContext struct {
	parts   []*sessionPart
	session *fetchSession
	epoch   int32 // of the request; -1: no session wanted
}

// sessionEviction is how long a session must rest, and how long it is safe
// from larger ones after its creation.
const sessionEviction = 2 * time.Minute

// Session epochs with a meaning of their own.
const (
	noSessionEpoch  = -1
	newSessionEpoch = 0
)

// sessionCache holds at most slots sessions.
type sessionCache struct {
	slots    int
	sessions map[int32]*fetchSession
}

func newSessionCache(slots int) *sessionCache {
	return &sessionCache{slots: slots, sessions: map[int32]*fetchSession{}}
}

// open finds what a request is for, and takes over what it changes.
func (c *sessionCache) open(req *kmsg.FetchRequest, now time.Duration) (fetchContext, kafka.ErrorCode) {
	named := requestParts(req)
	if req.SessionEpoch == noSessionEpoch || req.SessionEpoch == newSessionEpoch || req.Version < 7 {
		delete(c.sessions, req.SessionID)
		return fetchContext{parts: named, epoch: req.SessionEpoch}, kafka.None
	}
	s := c.sessions[req.SessionID]
	switch {
	case s == nil:
		return fetchContext{}, kafka.FetchSessionIDNotFound
	case s.epoch != req.SessionEpoch:
		return fetchContext{}, kafka.InvalidFetchSessionEpoch
	case s.byID != (req.Version >= fetchTopicIDs):
		return fetchContext{}, kafka.FetchSessionTopicIDError
	}
	s.update(named, req.ForgottenTopics)
	if len(s.parts) == 0 {
		delete(c.sessions, s.id)
		return fetchContext{epoch: noSessionEpoch}, kafka.None
	}
	s.lastUsed, s.epoch = now, nextSessionEpoch(s.epoch)
	return fetchContext{parts: slices.Clone(s.parts), session: s, epoch: req.SessionEpoch}, kafka.None
}

func nextSessionEpoch(e int32) int32 {
	if e == maxSessionEpoch {
		return 1
	}
	return e + 1
}

func requestParts(req *kmsg.FetchRequest) []*sessionPart {
	var parts []*sessionPart
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			parts = append(parts, &sessionPart{topic: t.Topic, id: t.TopicID, partition: p.Partition,
				leaderEpoch: kafka.LeaderEpoch(p.CurrentLeaderEpoch), lastEpoch: kafka.LeaderEpoch(p.LastFetchedEpoch),
				offset: kafka.Offset(p.FetchOffset), logStart: kafka.Offset(p.LogStartOffset), maxBytes: int(p.PartitionMaxBytes),
				toldHW: kafka.NoOffset, toldStart: kafka.NoOffset})
		}
	}
	return parts
}

// update adds new partitions at the end, changes known ones in place and drops
// the forgotten.
func (s *fetchSession) update(named []*sessionPart, forgotten []kmsg.FetchRequestForgottenTopic) {
	for _, p := range named {
		i := slices.IndexFunc(s.parts, p.same)
		if i < 0 {
			s.parts = append(s.parts, p)
			continue
		}
		p.toldHW, p.toldStart = s.parts[i].toldHW, s.parts[i].toldStart
		s.parts[i] = p
	}
	for _, t := range forgotten {
		for _, n := range t.Partitions {
			gone := &sessionPart{topic: t.Topic, id: t.TopicID, partition: n}
			s.parts = slices.DeleteFunc(s.parts, gone.same)
		}
	}
}

// answer decides which partitions the answer tells of, and under which session
// id: 0 for none.
func (c *sessionCache) answer(f fetchContext, req *kmsg.FetchRequest, results []fetchResult, env node.Env) (int32, []bool, kafka.ErrorCode) {
	told := make([]bool, len(results))
	if f.session == nil {
		for i := range told {
			told[i] = true
		}
		return c.grant(f, req, results, env), told, kafka.None
	}
	if f.session.epoch != nextSessionEpoch(f.epoch) { // another connection went on with it
		return 0, told, kafka.InvalidFetchSessionEpoch
	}
	for i, p := range f.parts {
		told[i] = p.tell(&results[i])
		if results[i].Slice.Bytes > 0 {
			f.session.moveToEnd(p)
		}
	}
	return f.session.id, told, kafka.None
}

// tell takes a result as told and reports whether there is anything to tell.
// After an error or a divergence the next good result is told again.
func (p *sessionPart) tell(r *fetchResult) bool {
	news := r.Slice.Bytes > 0 || r.HighWatermark != p.toldHW || r.LogStart != p.toldStart
	p.toldHW, p.toldStart = r.HighWatermark, r.LogStart
	if r.Code != kafka.None || r.Diverging.Epoch != kafka.NoEpoch {
		p.toldHW = kafka.NoOffset
		return true
	}
	return news
}

// moveToEnd lets the others have the first bytes of the next answer.
func (s *fetchSession) moveToEnd(p *sessionPart) {
	if i := slices.IndexFunc(s.parts, p.same); i >= 0 {
		s.parts = append(slices.Delete(s.parts, i, i+1), p)
	}
}

// grant makes a session for a full request that wants one, if there is a slot.
func (c *sessionCache) grant(f fetchContext, req *kmsg.FetchRequest, results []fetchResult, env node.Env) int32 {
	replica, _ := fetchingReplica(req)
	follower := replica != kafka.NoBroker
	if f.epoch != newSessionEpoch || req.Version < 7 || !c.makeRoom(follower, len(f.parts), env.Now()) {
		return 0
	}
	s := &fetchSession{epoch: 1, byID: req.Version >= fetchTopicIDs, follower: follower,
		created: env.Now(), lastUsed: env.Now(), parts: f.parts}
	for s.id == 0 || c.sessions[s.id] != nil {
		s.id = int32(env.Rand("fetch session") & maxSessionEpoch)
	}
	for i, p := range f.parts {
		p.tell(&results[i])
	}
	c.sessions[s.id] = s
	return s.id
}

// makeRoom finds a slot for a new session, if need be at the cost of one that
// rested for two minutes, or that a follower may push out: a consumer's.
func (c *sessionCache) makeRoom(follower bool, parts int, now time.Duration) bool {
	if len(c.sessions) < c.slots {
		return true
	}
	var rested, weakest *fetchSession
	for _, s := range c.sessions { // unordered: minima of a total order
		if rested == nil || s.lastUsed < rested.lastUsed || s.lastUsed == rested.lastUsed && s.id < rested.id {
			rested = s
		}
		if s.pushedOutBy(follower, parts, now) && (weakest == nil || s.weakerThan(weakest)) {
			weakest = s
		}
	}
	if rested != nil && now-rested.lastUsed > sessionEviction {
		weakest = rested
	}
	if weakest == nil {
		return false
	}
	delete(c.sessions, weakest.id)
	return true
}

// pushedOutBy reports whether a new session is worth more: a follower's, or one
// with more partitions than one that had its time.
func (s *fetchSession) pushedOutBy(follower bool, parts int, now time.Duration) bool {
	if s.follower {
		return false
	}
	return follower || now-s.created > sessionEviction && len(s.parts) < parts
}

func (s *fetchSession) weakerThan(o *fetchSession) bool {
	if len(s.parts) != len(o.parts) {
		return len(s.parts) < len(o.parts)
	}
	return s.id < o.id
}
