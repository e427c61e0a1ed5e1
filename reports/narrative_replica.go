package reports

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func (n *narrator) tellReplica(e *event.Event) {
	switch e.Kind {
	case event.Elected:
		n.lives.elected(e)
		n.commits(e)
		n.tellElection(e)
	case event.ISRChanged:
		if n.commits(e) {
			n.say(e, rankISR, "the controller commits ISR %s", ids(e.ISR))
		}
	case event.AlterPartitionRefused:
		n.say(e, rankISR, "the controller refuses an ISR of broker %d: %s", e.Peer, e.Code)
	case event.BecameLeader, event.BecameFollower, event.Recovered:
		n.tellRole(e)
	case event.Truncated:
		n.lives.replica(e)
		switch {
		case e.Text == "full":
			n.say(e, rankTurn, "broker %d empties its log, which ended at %d, and starts again at %d", e.Node, e.Offset, e.End)
		case e.Offset != e.End:
			n.say(e, rankTurn, "broker %d truncates its log from %d to %d%s", e.Node, e.Offset, e.End, inWords(", ", e.Text))
		}
	case event.StorageFailed:
		n.say(e, rankTurn, "the log directory of broker %d fails: %s", e.Node, e.Text)
	case event.Cleaned:
		n.say(e, rankFault, "%s compacts its log from %d up to %d", replicas(e.Node), e.Offset, e.End)
	case event.LogStartMoved:
		n.say(e, rankFault, "%s moves its log start to %d (%s)", replicas(e.Node), e.Offset, e.Text)
	case event.Appended, event.HighWatermarkMoved:
		if n.lives.replica(e).serves {
			n.say(e, rankTurn, "broker %d begins to serve as leader of epoch %d", e.Node, n.lives.of(e.Node).led)
		}
		n.flow.replica(e)
	}
}

// replicas names the replica of a node, or all if the event does not say which.
func replicas(node kafka.BrokerID) string {
	if node == kafka.NoBroker {
		return "every replica"
	}
	return nodeName(node)
}

// tellRole tells how a replica comes back and what it then is.
func (n *narrator) tellRole(e *event.Event) {
	c := n.lives.replica(e)
	if e.Kind == event.Recovered {
		ends := num(int64(e.End))
		if c.before != kafka.NoOffset {
			ends += ", not " + num(int64(c.before))
		}
		n.say(e, rankFault, "broker %d opens its log, which ends at %s%s", e.Node, ends, inWords(", ", e.Text))
		return
	}
	tell := n.say
	if c.before != kafka.NoOffset {
		n.say(e, rankTurn, "broker %d starts with %s (%d before)", e.Node, logOf(e.End), c.before)
		tell = n.aside
	}
	switch {
	case e.Kind == event.BecameFollower:
		tell(e, rankRole, "broker %d follows in epoch %d, log end %d, high watermark %d", e.Node, e.Epoch, e.End, e.HighWatermark)
	case c.ended:
		tell(e, rankRole, "broker %d is to lead epoch %d, which the controller has ended: it serves nobody", e.Node, e.Epoch)
	case c.idle && c.again:
		tell(e, rankRole, "broker %d leads epoch %d again, from old metadata: it serves nobody until it is registered", e.Node, e.Epoch)
	case c.idle:
		tell(e, rankRole, "broker %d is to lead epoch %d: it serves nobody until it is registered", e.Node, e.Epoch)
	default:
		tell(e, rankTurn, "broker %d leads epoch %d from offset %d on, high watermark %d", e.Node, e.Epoch, e.End, e.HighWatermark)
	}
}

// commits takes a committed ISR in and reports whether it has other members than
// the one before. It need not: the controller also commits changes of the
// eligible leader replicas alone (KIP-966).
func (n *narrator) commits(e *event.Event) bool {
	before := n.isr
	n.isr = slices.Sorted(slices.Values(e.ISR))
	return !slices.Equal(before, n.isr)
}

// logOf names the log that a replica begins with.
func logOf(end kafka.Offset) string {
	if end == 0 {
		return "an empty log"
	}
	return "a log that ends at " + num(int64(end))
}

func (n *narrator) tellElection(e *event.Event) {
	switch {
	case e.Peer == kafka.NoBroker:
		n.say(e, rankElection, "the controller leaves %s without a leader in epoch %d, ISR %s", n.tp, e.Epoch, ids(e.ISR))
	case e.Text == "create":
		n.say(e, rankElection, "the controller creates %s: leader %d, epoch %d, ISR %s", n.tp, e.Peer, e.Epoch, ids(e.ISR))
	default:
		n.say(e, rankElection, "the controller elects broker %d in epoch %d (%s), ISR %s", e.Peer, e.Epoch, e.Text, ids(e.ISR))
	}
}
