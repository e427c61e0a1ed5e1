package replica

import "tidemark/model/kafka"

// AskKind tells which request an Ask stands for.
type AskKind uint8

// The requests of a Fetcher. The last two are ListOffsets of one partition, sent
// as a replica, with LatestTimestamp and EarliestTimestamp.
const (
	AskFetch AskKind = iota
	AskLatest
	AskEarliest
)

// Ask is a request to the leader.
type Ask struct {
	Kind  AskKind
	Fetch []FetchAsk // of AskFetch
	// TP and CurrentLeaderEpoch are those of ListOffsets.
	TP                 kafka.TopicPartition
	CurrentLeaderEpoch kafka.LeaderEpoch
}

// FetchAsk is one partition of a follower's fetch.
type FetchAsk struct {
	TP                 kafka.TopicPartition
	TopicID            kafka.UUID
	CurrentLeaderEpoch kafka.LeaderEpoch
	FetchOffset        kafka.Offset
	LastFetchedEpoch   kafka.LeaderEpoch // NoEpoch: not told
	LogStart           kafka.Offset
	MaxBytes           int
}

// Next is the next request to send; false if one is in flight, the disk has to
// finish first, or no partition is ready. A partition that is out of range is
// cleared up before the others are fetched on.
func (f *Fetcher) Next() (Ask, bool) {
	if f.inFlight || f.awaiting > 0 {
		return Ask{}, false
	}
	for _, e := range f.order {
		if e.state != fetching {
			return f.askOffset(e), true
		}
	}
	fetch := f.buildFetch()
	if len(fetch) == 0 {
		return Ask{}, false
	}
	f.inFlight = true
	return Ask{Kind: AskFetch, Fetch: fetch}, true
}

// buildFetch asks for every partition that does not back off.
func (f *Fetcher) buildFetch() []FetchAsk {
	clear(f.sent)
	now := f.host.Now()
	var fetch []FetchAsk
	for _, e := range f.order {
		if e.delayedUntil > now {
			continue
		}
		p := e.partition
		ask := FetchAsk{TP: p.tp, TopicID: p.topicID, CurrentLeaderEpoch: e.epoch, FetchOffset: e.offset,
			LastFetchedEpoch: f.rules.LastFetchedEpoch(e.lastEpoch), LogStart: p.log.LogStart(),
			MaxBytes: f.config.PartitionMaxBytes}
		f.sent[p.tp] = ask
		fetch = append(fetch, ask)
	}
	return fetch
}

func (f *Fetcher) askOffset(e *fetchEntry) Ask {
	f.inFlight, f.asking = true, e
	kind := AskLatest
	if e.state == askingEarliest {
		kind = AskEarliest
	}
	return Ask{Kind: kind, TP: e.partition.tp, CurrentLeaderEpoch: e.epoch}
}
