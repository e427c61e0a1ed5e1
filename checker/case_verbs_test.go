package checker_test

import (
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// WHO send TOPIC [KEY=]VALUE [headers=TEXT] [ts=MS] [told=MS toldheaders=TEXT: with its outcome] [acks=N] [pid=ID/EPOCH] [txn=N] -> ok@OFFSET | no(CODE) | ??[(CODE)]
func caseSend(b *caseBuilder, l *caseLine) {
	attempt, key, hash, text := b.record(l.args[1])
	set := func(e *event.Event) {
		e.Attempt, e.Key, e.Hash, e.Text, e.Acks, e.Source = attempt, key, hash, text, b.acks, l.opts["source"]
		if v, ok := l.opts["acks"]; ok {
			e.Acks = acksOf(b.t, v)
		}
		if v, ok := l.opts["headers"]; ok {
			e.Headers = event.HashHeader(event.NoHeaders, v, nil)
		}
		e.Timestamp = kafka.Timestamp(l.offset(b.t, "ts", 0))
	}
	b.emit(l.start, event.SendInvoke, l, l.args[0], set)
	if l.end == 0 {
		return
	}
	kind, res := event.SendUnknown, l.result[0]
	offset, acked := strings.CutPrefix(res, "ok@")
	switch {
	case acked:
		kind = event.SendOK
	case strings.HasPrefix(res, "no"):
		kind = event.SendFail
	}
	b.emit(l.end, kind, l, l.args[0], func(e *event.Event) {
		set(e)
		e.Timestamp += kafka.Timestamp(l.offset(b.t, "told", 0))
		if v, ok := l.opts["toldheaders"]; ok {
			e.Headers = event.HashHeader(event.NoHeaders, v, nil)
		}
		if acked {
			e.Offset = kafka.Offset(num(b.t, offset))
		} else {
			e.Code = codeOf(b.t, res)
		}
	})
}

// WHO poll TOPIC [iso=rc] [from=N] [to=N] -> OFFSET=[KEY=]VALUE[^HEADERS][@MS][/eN] ... [drained] [hw=N] [lso=N]
//
// OFFSET=!commit and OFFSET=!abort are control records.
func casePoll(b *caseBuilder, l *caseLine) {
	op := b.attempt("poll " + l.who + l.args[0] + b.t.Name() + strings.Join(l.result, " ") + string(rune(l.start)))
	iso := event.ReadUncommitted
	if l.opts["iso"] == "rc" {
		iso = event.ReadCommitted
	}
	if l.start != l.end {
		b.emit(l.start, event.PollInvoke, l, l.args[0], func(e *event.Event) { e.Attempt, e.Isolation = op, iso })
	}
	if l.end == 0 {
		return
	}
	b.emit(l.end, event.PollOK, l, l.args[0], func(e *event.Event) {
		e.Attempt, e.Isolation = op, iso
		for _, w := range l.result {
			b.polled(e, w)
		}
		first, last := kafka.Offset(0), kafka.Offset(0)
		if n := len(e.Records); n > 0 {
			first, last = e.Records[0].Offset, e.Records[n-1].Offset+1
		}
		e.Offset = l.offset(b.t, "from", first)
		e.End = l.offset(b.t, "to", max(last, e.Offset))
		servedBy(b, l, e)
	})
}

// servedBy takes the option by=BROKER: who served the answer.
func servedBy(b *caseBuilder, l *caseLine, e *event.Event) {
	if v, ok := l.opts["by"]; ok {
		e.Peer = kafka.BrokerID(num(b.t, v))
	}
}

func (b *caseBuilder) polled(e *event.Event, w string) {
	name, rest, _ := strings.Cut(w, "=")
	switch name {
	case "drained":
		e.Drained = true
	case "hw":
		e.HighWatermark = kafka.Offset(num(b.t, rest))
	case "lso":
		e.LastStable = kafka.Offset(num(b.t, rest))
	case "-":
	default:
		rec := event.Record{Offset: kafka.Offset(num(b.t, name)), Epoch: kafka.NoEpoch}
		if i := strings.LastIndex(rest, "/e"); i >= 0 {
			rec.Epoch = epoch(b.t, rest[i+1:])
			rest = rest[:i]
		}
		switch rest {
		case "!commit":
			rec.Control = event.CommitMarker
		case "!abort":
			rec.Control = event.AbortMarker
		default:
			rest, stamp, stamped := strings.Cut(rest, "@")
			if stamped {
				rec.Timestamp = kafka.Timestamp(num(b.t, stamp))
			}
			rest, headers, some := strings.Cut(rest, "^")
			if some {
				rec.Headers = event.HashHeader(event.NoHeaders, headers, nil)
			}
			value, other, mangled := strings.Cut(rest, "~") // VALUE~OTHER: its attempt, and another value
			rec.Attempt, rec.Key, rec.Hash, _ = b.record(value)
			if mangled {
				rec.Hash = event.HashValue([]byte(other))
			}
		}
		e.Records = append(e.Records, rec)
	}
}

// WHO latest|earliest TOPIC [iso=rc] -> OFFSET
func caseListOffsets(b *caseBuilder, l *caseLine) {
	op := b.attempt("list " + l.who + string(rune(l.start)))
	iso := event.ReadUncommitted
	if l.opts["iso"] == "rc" {
		iso = event.ReadCommitted
	}
	b.emit(l.start, event.ListOffsetsInvoke, l, l.args[0], func(e *event.Event) { e.Attempt, e.Text, e.Isolation = op, l.verb, iso })
	if l.end != 0 {
		b.emit(l.end, event.ListOffsetsOK, l, l.args[0], func(e *event.Event) {
			e.Attempt, e.Text, e.Isolation, e.Offset = op, l.verb, iso, kafka.Offset(num(b.t, l.result[0]))
			servedBy(b, l, e)
		})
	}
}

// WHO reset TOPIC FROM>TO REASON
func caseReset(b *caseBuilder, l *caseLine) {
	from, to, _ := strings.Cut(l.args[1], ">")
	b.emit(l.end, event.PositionReset, l, l.args[0], func(e *event.Event) {
		e.Offset, e.End, e.Text = kafka.Offset(num(b.t, from)), kafka.Offset(num(b.t, to)), l.args[2]
		servedBy(b, l, e)
	})
}

// WHO truncation TOPIC POSITION>END eN
func caseTruncation(b *caseBuilder, l *caseLine) {
	from, to, _ := strings.Cut(l.args[1], ">")
	b.emit(l.end, event.TruncationDetected, l, l.args[0], func(e *event.Event) {
		e.Offset, e.End, e.Epoch = kafka.Offset(num(b.t, from)), kafka.Offset(num(b.t, to)), epoch(b.t, l.args[2])
	})
}

// WHO crash
func caseCrash(b *caseBuilder, l *caseLine) { b.emit(l.end, event.ClientCrashed, l, "", nil) }

// *elected TOPIC LEADER eN isr=1,2 [pe=N] HOW, *isr TOPIC LEADER eN isr=1,2 [pe=N], *applied TOPIC LEADER eN isr=1,2
func caseElected(b *caseBuilder, l *caseLine) {
	kind := map[string]event.Kind{"*elected": event.Elected, "*isr": event.ISRChanged, "*applied": event.ISRApplied}[l.verb]
	b.emit(l.end, kind, l, l.args[0], func(e *event.Event) {
		e.Node, e.Peer, e.Epoch = 101, kafka.BrokerID(num(b.t, l.args[1])), epoch(b.t, l.args[2])
		if kind == event.ISRApplied {
			e.Node, e.Text = e.Peer, "metadata"
		}
		e.ISR = isrOf(b, l)
		if v, ok := l.opts["pe"]; ok {
			e.PartitionEpoch = kafka.PartitionEpoch(num(b.t, v))
		}
		if len(l.args) > 3 {
			e.Text = l.args[3]
		}
	})
}

func isrOf(b *caseBuilder, l *caseLine) []kafka.BrokerID {
	var isr []kafka.BrokerID
	for _, id := range strings.FieldsFunc(l.opts["isr"], func(r rune) bool { return r == ',' }) {
		isr = append(isr, kafka.BrokerID(num(b.t, id)))
	}
	return isr
}

// *died NODE HOW, *boot NODE, *ready NODE, *paused NODE, *resumed NODE
func caseNode(b *caseBuilder, l *caseLine) {
	kind := map[string]event.Kind{"*died": event.Died, "*boot": event.Boot, "*ready": event.Ready, "*paused": event.Paused, "*resumed": event.Resumed}[l.verb]
	b.emit(l.end, kind, l, "", func(e *event.Event) {
		e.Node, e.Text = kafka.BrokerID(num(b.t, l.args[0])), strings.Join(l.args[1:], " ")
	})
}

// *registered NODE
func caseRegistered(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Registered, l, "", func(e *event.Event) { e.Node, e.Peer = 101, kafka.BrokerID(num(b.t, l.args[0])) })
}

// *fault TEXT
func caseFault(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Fault, l, "", func(e *event.Event) { e.Text = strings.Join(l.args, " ") })
}

// *log-start TOPIC OFFSET retention|delete-records by=ADMIN, who was told so
func caseLogStart(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.LogStartMoved, l, l.args[0], func(e *event.Event) {
		e.Offset, e.Text, e.Client = kafka.Offset(num(b.t, l.args[1])), strings.Join(l.args[2:], " "), l.opts["by"]
	})
}

// *cleaned TOPIC END node=N, every replica if it is not said
func caseCleaned(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Cleaned, l, l.args[0], func(e *event.Event) {
		e.End = kafka.Offset(num(b.t, l.args[1]))
		if node, one := l.opts["node"]; one {
			e.Node = kafka.BrokerID(num(b.t, node))
		}
	})
}

// *topic TOPIC PARTITIONS
func caseTopic(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.TopicCreated, l, l.args[0], func(e *event.Event) { e.Partition = int32(num(b.t, l.args[1])) })
}

// *lead TOPIC NODE eN end=N hw=N isr=1,2, *follow TOPIC NODE eN end=N hw=N
func caseRole(b *caseBuilder, l *caseLine) {
	kind := event.BecameLeader
	if l.verb == "*follow" {
		kind = event.BecameFollower
	}
	b.emit(l.end, kind, l, l.args[0], func(e *event.Event) {
		e.Node, e.Epoch = kafka.BrokerID(num(b.t, l.args[1])), epoch(b.t, l.args[2])
		e.End, e.HighWatermark, e.ISR = l.offset(b.t, "end", 0), l.offset(b.t, "hw", 0), isrOf(b, l)
	})
}

// *append TOPIC NODE eN BASE-END CONTENT leader|follower
func caseAppend(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Appended, l, l.args[0], func(e *event.Event) {
		e.Node, e.Epoch = kafka.BrokerID(num(b.t, l.args[1])), epoch(b.t, l.args[2])
		e.Offset, e.End = span(b.t, l.args[3])
		e.Hash, e.Text = event.HashValue([]byte(l.args[4])), l.args[5]
	})
}

// *hw TOPIC NODE FROM-TO leader|follower
func caseHW(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.HighWatermarkMoved, l, l.args[0], func(e *event.Event) {
		e.Node, e.Text = kafka.BrokerID(num(b.t, l.args[1])), l.args[3]
		e.Offset, e.HighWatermark = span(b.t, l.args[2])
	})
}

// *cut TOPIC NODE FROM-TO REASON
func caseCut(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Truncated, l, l.args[0], func(e *event.Event) {
		e.Node, e.Text = kafka.BrokerID(num(b.t, l.args[1])), l.args[3]
		e.Offset, e.End = span(b.t, l.args[2])
	})
}

// *recovered TOPIC NODE end=N
func caseRecovered(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Recovered, l, l.args[0], func(e *event.Event) {
		e.Node, e.End = kafka.BrokerID(num(b.t, l.args[1])), l.offset(b.t, "end", 0)
	})
}

// *invariant NODE TEXT
func caseInvariant(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.Invariant, l, "", func(e *event.Event) {
		e.Node, e.Text = kafka.BrokerID(num(b.t, l.args[0])), strings.Join(l.args[1:], " ")
	})
}

// *audited TOPIC NODE END hw=N [from=N]: what lies in the segments of a live replica
func caseAudited(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.AuditReplica, l, l.args[0], func(e *event.Event) {
		e.Node, e.Text = kafka.BrokerID(num(b.t, l.args[1])), "live"
		e.Offset, e.End, e.HighWatermark = l.offset(b.t, "from", 0), kafka.Offset(num(b.t, l.args[2])), l.offset(b.t, "hw", 0)
	})
}

// *record TOPIC NODE OFFSET eN CONTENT, which an audit found in the segments
func caseAuditRecord(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.AuditRecord, l, l.args[0], func(e *event.Event) {
		e.Node, e.Offset, e.Epoch = kafka.BrokerID(num(b.t, l.args[1])), kafka.Offset(num(b.t, l.args[2])), epoch(b.t, l.args[3])
		e.Hash = event.HashValue([]byte(l.args[4]))
	})
}

// *proposed TOPIC NODE eN isr=1,2 pe=N
func caseProposed(b *caseBuilder, l *caseLine) {
	b.emit(l.end, event.ISRProposed, l, l.args[0], func(e *event.Event) {
		e.Node, e.Epoch, e.ISR = kafka.BrokerID(num(b.t, l.args[1])), epoch(b.t, l.args[2]), isrOf(b, l)
		e.PartitionEpoch = kafka.PartitionEpoch(num(b.t, l.opts["pe"]))
	})
}
