package sim

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/net/simnet"
)

// Link is one direction between two nodes.
type Link struct {
	From, To kafka.BrokerID
}

// cutLink is a link that is cut, and whether that held anything up yet.
type cutLink struct {
	Link
	effective bool
}

// Reverse is the other direction.
func (l Link) Reverse() Link { return Link{l.To, l.From} }

// ends returns the two nodes' names.
func (w *World) ends(l Link) (from, to string, err error) {
	a, err := w.machine(l.From)
	if err != nil {
		return "", "", err
	}
	b, err := w.machine(l.To)
	if err != nil {
		return "", "", err
	}
	if a == b {
		return "", "", fmt.Errorf("%s to %s is no link: a node reaches itself always", a.cfg.Name, b.cfg.Name)
	}
	return a.cfg.Name, b.cfg.Name, nil
}

// Cut lets no packet pass on a link until Heal. Nothing is lost by it: what is
// under way arrives after the heal, unless its connection dies first.
func (w *World) Cut(l Link) error {
	from, to, err := w.ends(l)
	if err != nil {
		return err
	}
	w.order(FaultCut)
	if w.net.Cut(int32(l.From), int32(l.To)) {
		w.cuts = append(w.cuts, cutLink{Link: l})
	}
	w.fault(l.From, l.To, "cut %s -> %s", from, to)
	return nil
}

// Heal ends a cut; on a link that is whole it has no effect.
func (w *World) Heal(l Link) error {
	from, to, err := w.ends(l)
	if err != nil {
		return err
	}
	w.order(FaultHeal)
	w.fault(l.From, l.To, "heal %s -> %s", from, to)
	w.heal(l)
	return nil
}

func (w *World) heal(l Link) {
	w.count(FaultHeal, w.net.Heal(int32(l.From), int32(l.To), w.now))
	for i := range w.cuts {
		if w.cuts[i].Link == l {
			w.cuts = append(w.cuts[:i], w.cuts[i+1:]...)
			return
		}
	}
}

// HealAll ends every cut.
func (w *World) HealAll() {
	w.order(FaultHeal)
	w.fault(kafka.NoBroker, kafka.NoBroker, "heal")
	for len(w.cuts) > 0 {
		w.heal(w.cuts[0].Link)
	}
}

// Match chooses messages on a link: the requests or the responses of one API.
type Match struct {
	Link
	Key      int16 // API key
	API      string
	Response bool
}

func (w *World) describe(x Match) (string, error) {
	from, to, err := w.ends(x.Link)
	if err != nil {
		return "", err
	}
	what := x.API
	if x.Response {
		what += " response"
	}
	return fmt.Sprintf("%s %s -> %s", what, from, to), nil
}

// Hold keeps the next message that matches, and what follows on its connection,
// until Release.
func (w *World) Hold(x Match) error {
	text, err := w.describe(x)
	if err != nil {
		return err
	}
	w.order(FaultHold)
	w.net.Hold(int32(x.From), int32(x.To), x.Key, x.Response)
	w.fault(x.From, x.To, "hold %s", text)
	return nil
}

// Fail resets the connection of the nth message that matches, from 1, in place
// of its arrival.
func (w *World) Fail(x Match, nth int) error {
	text, err := w.describe(x)
	if err != nil {
		return err
	}
	w.order(FaultFail)
	w.net.Fail(int32(x.From), int32(x.To), x.Key, x.Response, nth)
	w.fault(x.From, x.To, "fail %s number %d", text, nth)
	return nil
}

// Release lets go all that is held on a link, and forgets the holds there that
// caught nothing.
func (w *World) Release(l Link) error {
	from, to, err := w.ends(l)
	if err != nil {
		return err
	}
	w.order(FaultRelease)
	w.fault(l.From, l.To, "release %s -> %s", from, to)
	w.count(FaultRelease, w.net.Release(int32(l.From), int32(l.To), w.now) > 0)
	return nil
}

// ReleaseAll does that on every link.
func (w *World) ReleaseAll() {
	w.order(FaultRelease)
	w.fault(kafka.NoBroker, kafka.NoBroker, "release")
	w.count(FaultRelease, w.net.ReleaseAll(w.now) > 0)
}

// Reset kills every connection between two nodes; what has not arrived is lost.
func (w *World) Reset(l Link) error {
	from, to, err := w.ends(l)
	if err != nil {
		return err
	}
	w.order(FaultReset)
	w.fault(l.From, l.To, "reset %s <-> %s", from, to)
	w.net.Reset(int32(l.From), int32(l.To))
	return nil
}

// HalfOpen takes the sender's end of its connections with the receiver away; the
// receiver is not told until it sends, and never while the link back is cut.
func (w *World) HalfOpen(l Link) error {
	from, to, err := w.ends(l)
	if err != nil {
		return err
	}
	w.order(FaultHalfOpen)
	w.fault(l.From, l.To, "half-open %s -> %s", from, to)
	w.net.HalfOpen(int32(l.From), int32(l.To), w.now)
	return nil
}

var netFaults = [...]FaultKind{simnet.Cut: FaultCut, simnet.Hold: FaultHold, simnet.Fail: FaultFail,
	simnet.Reset: FaultReset, simnet.HalfOpen: FaultHalfOpen}

// netEffect counts and traces that a network fault made a difference; a cut, the
// first time that it does.
func (w *World) netEffect(f simnet.Fault, from, to int32) {
	l := Link{kafka.BrokerID(from), kafka.BrokerID(to)}
	if f == simnet.Cut {
		for i := range w.cuts {
			if c := &w.cuts[i]; c.Link == l {
				if c.effective {
					return
				}
				c.effective = true
			}
		}
	}
	k := netFaults[f]
	w.count(k, true)
	a, b, _ := w.ends(l)
	e := event.New(event.Effect)
	e.Node, e.Peer, e.Text = l.From, l.To, fmt.Sprintf("%v %s -> %s", k, a, b)
	w.trace(&e)
}
