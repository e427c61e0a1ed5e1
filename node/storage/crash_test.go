package storage

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// story is what a life did to a log, told so that the next life can be judged.
type story struct {
	w *world
	l *Log
	// lines are what the log may be a prefix of: the batches that were appended,
	// and while a truncation is not durable also those of before.
	lines [][]record.Batch
	// flushed: everything below was told to be durable.
	flushed kafka.Offset
	// point is the log's entry in the recovery-point checkpoint. lowered is what
	// it is for a host that lowers it before it truncates.
	point, lowered kafka.Offset
	start          kafka.Offset // entry in the log-start checkpoint
	// returning: the checkpoint is older than what retention deletes.
	returning bool
	crashed   bool
}

// sent makes b the next batch of one of two producers, or leaves it without one.
func (s *story) sent(b record.Batch, i int) record.Batch {
	id := kafka.ProducerID(i % 3)
	if id == 0 {
		return b
	}
	b.SetProducer(id, 4, s.sequence(id))
	return b
}

func (s *story) line() *[]record.Batch { return &s.lines[len(s.lines)-1] }

// lead appends batches as leader of an epoch.
func (s *story) lead(epoch kafka.LeaderEpoch, n int) {
	for i := range n {
		b := s.sent(replica(s.end(), epoch, 1000, fmt.Sprintf("value %d of epoch %d", i, epoch), "x"), i)
		*s.line() = append(*s.line(), slices.Clone(b))
		b.SetBaseOffset(0)
		if _, code, err := s.l.AppendAsLeader(b, epoch, 1000); code != kafka.None || err != nil {
			s.w.t.Fatalf("%s, %v", code, err)
		}
	}
}

// follow appends one fetched set.
func (s *story) follow(epoch kafka.LeaderEpoch, n int) {
	var set []byte
	for i := range n {
		b := s.sent(replica(s.end(), epoch, kafka.Timestamp(1000+i), fmt.Sprintf("value %d of epoch %d", i, epoch), "y"), i)
		*s.line() = append(*s.line(), b)
		set = append(set, b...)
	}
	if _, err := s.l.AppendAsFollower(set, epoch); err != nil {
		s.w.t.Fatalf("%v", err)
	}
}

func (s *story) end() kafka.Offset {
	if n := len(*s.line()); n > 0 {
		return (*s.line())[n-1].NextOffset()
	}
	return s.l.LogStart()
}

// flush asks for a flush and does not wait.
func (s *story) flush() {
	end := s.l.LogEnd()
	s.l.Flush(func(err error) {
		if err == nil {
			s.flushed = max(s.flushed, min(end, s.l.LogEnd())) // a truncation may have come between
		}
	})
}

// wait delivers n completions, all of them for a negative n.
func (s *story) wait(n int) {
	for ; n != 0 && len(s.w.dues) > 0; n-- {
		s.w.complete(0)
	}
	s.point = s.l.RecoveryPoint()
	s.lowered = s.point
}

// truncate cuts the log, then goes on when the cut is durable, as a fetcher does.
func (s *story) truncate(o kafka.Offset) {
	s.flushed, s.lowered = min(s.flushed, o), min(s.point, o)
	kept := slices.Clone(*s.line())
	kept = slices.DeleteFunc(kept, func(b record.Batch) bool { return b.LastOffset() >= o })
	s.lines = append(s.lines, kept)
	if err := s.l.TruncateTo(o); err != nil {
		s.w.t.Fatalf("%v", err)
	}
	s.wait(-1)
	s.lines = s.lines[len(s.lines)-1:]
}

// restartAt drops everything, and goes on when that is durable.
func (s *story) restartAt(o kafka.Offset) {
	s.flushed, s.lowered = 0, 0
	s.lines = append(s.lines, nil)
	if err := s.l.TruncateFullyAndStartAt(o); err != nil {
		s.w.t.Fatalf("%v", err)
	}
	s.wait(-1)
	s.start, s.lines = o, s.lines[len(s.lines)-1:]
}

func (s *story) raise(o kafka.Offset) {
	s.start = o
	if err := s.l.RaiseLogStart(o); err != nil {
		s.w.t.Fatalf("%v", err)
	}
	s.retain(1000)
}

// retain applies retention at a time, with everything committed, as far as the log
// start tells.
func (s *story) retain(now kafka.Timestamp) {
	s.l.SetHighWatermark(s.l.LogEnd())
	_, err := s.l.DeleteOldSegments(now)
	if err != nil {
		s.w.t.Fatalf("%v", err)
	}
	if !s.returning {
		s.start = s.l.LogStart()
	}
}

// transact makes a transaction of a producer with n batches, that ends or not.
func (s *story) transact(epoch kafka.LeaderEpoch, id kafka.ProducerID, n int, end ...record.ControlType) {
	for range n {
		b := transactional(id, 4, s.sequence(id), 1)
		b.SetBaseOffset(s.end())
		b.SetLeaderEpoch(epoch)
		*s.line() = append(*s.line(), slices.Clone(b))
		b.SetBaseOffset(0)
		if _, code, err := s.l.AppendAsLeader(b, epoch, 1000); code != kafka.None || err != nil {
			s.w.t.Fatalf("%s, %v", code, err)
		}
	}
	for _, typ := range end {
		m := Marker{ProducerID: id, ProducerEpoch: 4, CoordinatorEpoch: 1, Type: typ}
		b := record.EndTransaction{Type: typ, CoordinatorEpoch: 1}.Batch(id, 4, 1000)
		b.SetBaseOffset(s.end())
		b.SetLeaderEpoch(epoch)
		*s.line() = append(*s.line(), b)
		if _, code, err := s.l.AppendMarker(m, epoch, 1000); code != kafka.None || err != nil {
			s.w.t.Fatalf("%s, %v", code, err)
		}
	}
}

// sequence is the next one of a producer.
func (s *story) sequence(id kafka.ProducerID) (next kafka.Sequence) {
	for _, old := range *s.line() {
		if old.ProducerID() == id && !old.IsControl() {
			next = old.LastSequence().Add(1)
		}
	}
	return next
}

var stories = map[string]func(*story){
	"leader append": func(s *story) {
		s.lead(0, 5)
		s.flush()
		s.wait(3)
		s.lead(0, 4)
		s.wait(4)
		s.lead(2, 5)
		s.flush()
		s.lead(3, 2)
		s.wait(-1)
		s.lead(3, 6)
		s.flush()
		s.wait(-1)
		s.lead(3, 1)
	},
	"follower append": func(s *story) {
		s.follow(0, 7)
		s.wait(-1)
		s.follow(1, 8)
		s.flush()
		s.wait(5)
		s.follow(4, 9)
		s.wait(2)
	},
	"truncate": func(s *story) {
		s.lead(0, 6)
		s.flush()
		s.lead(1, 9)
		s.wait(-1)
		s.flush()
		s.wait(4)
		s.truncate(12)
		s.follow(2, 7)
		s.flush()
		s.wait(-1)
		s.truncate(20)
		s.follow(5, 6)
		s.truncate(2)
		s.lead(6, 2)
	},
	"truncate fully": func(s *story) {
		s.lead(0, 9)
		s.flush()
		s.wait(-1)
		s.restartAt(40)
		s.follow(3, 7)
		s.flush()
		s.wait(-1)
		s.lead(4, 3)
	},
	"transactions": func(s *story) {
		s.transact(0, 21, 2, record.Abort)
		s.transact(0, 22, 1)
		s.transact(0, 21, 2, record.Commit)
		s.flush()
		s.wait(4)
		s.transact(1, 22, 2, record.Abort)
		s.transact(1, 23, 1)
		s.transact(1, 21, 1, record.Abort)
		s.wait(-1)
		s.transact(1, 24, 2, record.Abort)
		s.flush()
		s.wait(3)
		s.truncate(12)
		s.transact(2, 23, 3, record.Abort)
		s.transact(2, 21, 2, record.Abort)
		s.flush()
		s.wait(-1)
		s.transact(2, 24, 1, record.Commit)
	},
	"retention": func(s *story) {
		s.returning = true
		s.l.SetConfig(s.keeping(500))
		s.transact(0, 21, 3, record.Abort)
		s.lead(0, 13)
		s.flush()
		s.wait(-1)
		s.retain(1600) // everything is too old: the log begins anew at its end
		s.lead(1, 6)
		s.wait(2)
		s.transact(1, 22, 4, record.Abort)
		s.flush()
		s.wait(4)
		s.retain(1600)
		s.lead(1, 2)
		s.wait(-1)
		s.w.advance(time.Minute) // deleted files go
		s.lead(1, 1)
		s.flush()
		s.wait(-1)
	},
	"raise log start": func(s *story) {
		s.lead(0, 9)
		s.lead(1, 5)
		s.flush()
		s.wait(-1)
		s.raise(17)
		s.lead(2, 3)
		s.flush()
		s.wait(3)
		s.raise(30)
		s.lead(3, 3)
	},
}

// death is how a life ends after its crash, on a disk of a kind that allows it.
type death struct {
	name string
	on   func(failer) *world
	end  func(*world)
}

func deaths(seeds uint64) []death {
	all := []death{
		{"kill", newWorld, (*world).kill},
		{"power, all lost", newFrailWorld, func(w *world) { w.power(faultdisk.LoseAll, 0) }},
		{"power, nothing lost", newFrailWorld, func(w *world) { w.power(faultdisk.LoseNone, 0) }},
	}
	for seed := range seeds {
		all = append(all, death{fmt.Sprintf("power, random loss %d", seed), newFrailWorld, func(w *world) { w.power(faultdisk.LoseRandom, seed) }})
	}
	return all
}

// crashOn is a new disk for the n-th crash of an enumeration. What is left on it is
// compared where both runs take that crash; about tells the crashes of a test apart.
func crashOn(t *testing.T, on func(failer) *world, n int, about string) *world {
	w := on(t)
	w.leaves = ""
	if sampled(n) {
		w.leaves = fmt.Sprintf("%s, crash before operation %d, %s", t.Name(), n, about)
	}
	return w
}

// live runs a story from an empty disk up to its n-th operation, or to its end
// (then it reports false), and ends the life.
func live(t *testing.T, tell func(*story), n int, d death, about string) (s *story, crashed bool) {
	s = tellOn(crashOn(t, d.on, n, d.name+about), tell, n)
	s.w.unnamed(!s.crashed)
	d.end(s.w)
	return s, s.crashed
}

// unnamed keeps what is left from being compared if a life was not cut short: the two
// runs take different crashes for the one behind the last.
func (w *world) unnamed(whole bool) {
	if whole {
		w.leaves = ""
	}
}

// tellOn is live on a new disk, without the end.
func tellOn(w *world, tell func(*story), n int) *story {
	s := &story{w: w, lines: [][]record.Batch{nil}}
	w.crashAt = n
	s.crashed = w.until(func() {
		s.l, _ = w.open(false, 0, 0)
		tell(s)
	})
	return s
}

func TestAfterACrashTheLogIsAPrefixWithEverythingFlushed(t *testing.T) {
	for name, tell := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, more := 1, true; more; n++ {
				if skipped(n) {
					continue
				}
				for _, d := range deaths(1) {
					for _, walkAll := range []bool{true, false} {
						var s *story
						s, more = live(t, tell, n, d, fmt.Sprint(walkAll))
						point := s.lowered
						if walkAll {
							point = 0
						}
						l, rec := s.w.open(false, point, s.start)
						s.judge(t, fmt.Sprintf("crash before operation %d, %s, from %d", n, d.name, point), l, rec)
						s.w.end()
					}
				}
			}
		})
	}
}

// A host that dies before it lowered its recovery-point checkpoint makes the
// next life trust segments that the truncation was removing.
func TestAfterACrashInATruncationWhatIsFoundIsOld(t *testing.T) {
	for n, more := 1, true; more; n++ {
		if skipped(n) {
			continue
		}
		for _, d := range deaths(4) {
			var s *story
			s, more = live(t, stories["truncate"], n, d, "")
			l, rec := s.w.open(false, s.point, 0)
			found := text(content(t, l))
			fits := isPart
			if d.name == "kill" { // the last segment goes first, and a kill keeps the order: no gap
				fits = isRun
			}
			if !slices.ContainsFunc(s.lines, func(line []record.Batch) bool { return fits(text(line), found) }) || l.LogEnd() < s.flushed {
				t.Fatalf("crash before operation %d, %s: %+v\nfound %v\nof %v", n, d.name, rec, found, lineTexts(s.lines))
			}
			s.w.end()
		}
	}
}

// isPart tells that found is in line, in order, with or without gaps.
func isPart(line, found []string) bool {
	for _, f := range found {
		i := slices.Index(line, f)
		if i < 0 {
			return false
		}
		line = line[i+1:]
	}
	return true
}

func TestARecoveryMayCrashAsWell(t *testing.T) {
	for name, tell := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, first := range deaths(1)[1:] {
				for n, more := 1, true; more; n++ {
					if skipped(n) {
						continue
					}
					second := deaths(1)[(n+i)%4]
					s := tellOn(crashOn(t, newFrailWorld, n, first.name), tell, 0)
					first.end(s.w)
					s.w.crashAt = n
					more = s.w.until(func() {
						s.w.open(false, s.lowered, s.start)
						s.w.drain()
					})
					s.w.unnamed(!more)
					second.end(s.w)
					l, rec := s.w.open(false, s.lowered, s.start)
					s.judge(t, fmt.Sprintf("%s, crash before operation %d of the recovery, %s", first.name, n, second.name), l, rec)
					s.w.end()
				}
			}
		})
	}
}

// keeping is a configuration under which records are kept for some ms.
func (s *story) keeping(ms int64) Config {
	c := small()
	c.RetentionMs = ms
	return c
}

// judge checks what the next life found.
func (s *story) judge(t *testing.T, when string, l *Log, rec Recovery) {
	t.Helper()
	found := text(content(t, l))
	if !slices.ContainsFunc(s.lines, func(line []record.Batch) bool { return isRun(text(line), found) }) {
		t.Fatalf("%s: %+v\nfound %v\nof %v", when, rec, found, s.lines)
	}
	if l.LogEnd() < s.flushed {
		t.Fatalf("%s: log ends at %d, flushed was %d: %+v", when, l.LogEnd(), s.flushed, rec)
	}
	if l.RecoveryPoint() > l.LogEnd() {
		t.Fatalf("%s: recovery point %d, log end %d", when, l.RecoveryPoint(), l.LogEnd())
	}
	if id, ok, err := ReadTopicID(s.w.fs, dir); err != nil || ok && id != topicID || l.TopicID() != topicID {
		t.Fatalf("%s: topic id %s %t, %v", when, id, ok, err)
	}
	audit(t, l)
	retryLast(t, l)
	lead(t, l, 9, 3)
	audit(t, l)
}

// retryLast sends the last batch of each producer again: however a start came to
// know of it, it is in the log once.
func retryLast(t *testing.T, l *Log) {
	t.Helper()
	last := map[kafka.ProducerID]record.Batch{}
	for _, b := range content(t, l) {
		if !b.IsControl() {
			last[b.ProducerID()] = b
		}
		if whole := kafka.Offset(b.Count()) == b.NextOffset()-b.BaseOffset(); !whole {
			delete(last, b.ProducerID()) // not what its producer sent, since a cleaner went over it
		}
	}
	delete(last, kafka.NoProducerID)
	for _, b := range last {
		again := slices.Clone(b)
		again.SetBaseOffset(0)
		dropped(t, l, again, b.BaseOffset())
	}
}

// isRun tells that found is a run of line without a gap.
func isRun(line, found []string) bool {
	if len(found) == 0 {
		return true
	}
	i := slices.Index(line, found[0])
	return i >= 0 && i+len(found) <= len(line) && slices.Equal(line[i:i+len(found)], found)
}
