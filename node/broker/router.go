package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// router takes the connections of clients and of other brokers' fetchers. It
// splits a request by data lane, joins the lanes' answers in request order, and
// keeps what is not a partition's business: fetch sessions, parked fetches, the
// deadline of a request. A connection has one request in work, so the work
// table never outgrows the connections.
type router struct {
	cfg      Config
	env      node.Env
	timers   *node.Timers
	image    *metadata.Image // there before anything is served
	last     workID
	work     map[workID]*work
	busy     map[node.ConnID]*work
	creating map[workID]string // topics that the controller was asked for
	sessions *sessionCache
	ids      producerIDs
	apis     []api    // sorted by key
	batches  [][]byte // of the request that handleProduce looks at
	serving  bool
	closed   bool
}

// work is one request that waits for answers of other lanes.
type work struct {
	id      workID
	conn    node.ConnID
	request *node.Message
	missing int // answers of data lanes
	// At most one is set, by API.
	produce *produceWork
	fetch   *fetchWork
	lookup  *lookupWork
	delete  *deleteWork
}

func newRouter(cfg Config) *router { return &router{cfg: cfg} }

// Start begins a life: nothing is served before lifecycle says so.
func (r *router) Start(env node.Env) {
	r.env, r.timers = env, node.NewTimers(env)
	r.work, r.busy, r.creating = map[workID]*work{}, map[node.ConnID]*work{}, map[workID]string{}
	r.apis = servedAPIs()
	r.sessions = newSessionCache(int(r.cfg.Properties.Int(kafka.FetchSessionSlots)))
}

// api is one row of what the router serves: versions Min to Max of an API key.
type api struct {
	Key      int16
	Min, Max int16
	// Advertised is the lowest version told in ApiVersions.
	Advertised int16
	Handle     func(*router, node.ConnID, *node.Message)
}

func (r *router) findAPI(key int16) (api, bool) {
	i, found := slices.BinarySearchFunc(r.apis, key, func(a api, key int16) int { return int(a.Key) - int(key) })
	if !found {
		return api{}, false
	}
	return r.apis[i], true
}

// Receive takes a client's request. A version that is not served ends the
// connection, as Kafka does, except that of ApiVersions, which is how a client
// finds out.
func (r *router) Receive(conn node.ConnID, m *node.Message) {
	a, known := r.findAPI(m.Key())
	switch {
	case !r.serving || r.closed || !known:
		r.env.Close(conn)
	case m.Version() >= a.Min && m.Version() <= a.Max:
		a.Handle(r, conn, m)
	case a.Key == int16(kmsg.ApiVersions):
		r.refuseVersion(conn, m)
	default:
		r.env.Close(conn)
	}
}

// Disconnected drops the request in work; what its lanes still answer is
// thrown away.
func (r *router) Disconnected(conn node.ConnID) {
	w := r.busy[conn]
	if w == nil {
		return
	}
	delete(r.busy, conn)
	if w.fetch != nil {
		r.abandonFetch(w)
	}
	delete(r.work, w.id)
}

// begin enters a request that other lanes work on.
func (r *router) begin(conn node.ConnID, m *node.Message) *work {
	r.last++
	w := &work{id: r.last, conn: conn, request: m}
	r.work[w.id], r.busy[conn] = w, w
	return w
}

// end takes a request off the table.
func (r *router) end(w *work) {
	delete(r.work, w.id)
	delete(r.busy, w.conn)
}

// reply answers a request.
func (r *router) reply(conn node.ConnID, m *node.Message, body kmsg.Response) {
	r.env.Send(conn, m.Reply(body))
}

// Posted takes the word of another lane.
func (r *router) Posted(from node.Lane, msg any) {
	switch m := msg.(type) {
	case imagePost:
		r.image = m.Image
		r.env.Post(node.Lifecycle, appliedPost{Offset: m.Image.Offset()})
	case producedPost:
		if w := r.work[m.ID]; w != nil {
			r.produced(w, m.Results)
		}
	case fetchedPost:
		r.fetched(m)
	case fetchGrownPost:
		if w := r.work[m.ID]; w != nil {
			r.fetchGrown(from, w, m)
		}
	case lookedUpPost:
		if w := r.work[m.ID]; w != nil {
			r.lookedUp(w, m)
		}
	case deletedPost:
		if w := r.work[m.ID]; w != nil {
			r.deleted(w, m.Results)
		}
	case forwardedPost:
		if w := r.work[m.ID]; w != nil {
			r.forwarded(w, m.Response)
		}
		delete(r.creating, m.ID)
	case allocatedPost:
		r.ids.allocated(m, r.env.Now())
	case servePost:
		r.serving = true
	case closePost:
		r.close()
	default:
		panic("router does not take this post")
	}
}

// close ends the service: whoever waits is told by the hang-up.
func (r *router) close() {
	r.closed = true
	conns := make([]node.ConnID, 0, len(r.busy))
	for conn := range r.busy { // unordered: sorted below
		conns = append(conns, conn)
	}
	slices.Sort(conns)
	for _, conn := range conns {
		r.Disconnected(conn)
		r.env.Close(conn)
	}
}

// Fire runs a timer's continuation.
func (r *router) Fire(timer node.TimerID) { r.timers.Fire(timer) }

// Synced never comes: the lane writes nothing.
func (r *router) Synced(disk.Token, error) { panic("router syncs nothing") }

// laneShares groups n partitions by their data lane. lane gives the lane of the
// i-th, or -1 for one that needs none.
func (r *router) laneShares(n int, lane func(i int) int) [][]int {
	shares := make([][]int, r.cfg.DataLanes)
	for i := range n {
		if l := lane(i); l >= 0 {
			shares[l] = append(shares[l], i)
		}
	}
	return shares
}

// topicName finds the topic that a request names, by id from the version on
// that has ids; the code says how Kafka answers for one that is not there.
func (r *router) topicName(byID bool, id kafka.UUID, name string) (string, kafka.ErrorCode) {
	if byID {
		if t, ok := r.image.TopicByID(id); ok {
			return t.Name, kafka.None
		}
		return "", kafka.UnknownTopicID
	}
	if _, ok := r.image.Topic(name); ok {
		return name, kafka.None
	}
	return name, kafka.UnknownTopicOrPartition
}

// partitionKnown is the check that every request makes before it reaches a
// lane: the partition is in the metadata.
func (r *router) partitionKnown(tp kafka.TopicPartition) kafka.ErrorCode {
	if _, ok := r.image.Partition(tp); !ok {
		return kafka.UnknownTopicOrPartition
	}
	return kafka.None
}
