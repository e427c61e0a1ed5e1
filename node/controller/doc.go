// Package controller is Kafka's QuorumController: the one writer of the
// metadata log. It keeps registrations and sessions of brokers, creates and
// deletes topics, elects leaders and decides over every change of an ISR.
//
// It is a state machine over one image. An operation looks at the image,
// computes records, replays them into the image at once and appends them; the
// next operation builds on that image although nothing is committed yet, so two
// brokers that expire together never act on one stale base (KAFKA-13173). Only
// the answers wait:
//
//	request ─▶ records ─▶ replay in memory ─▶ append ─┐
//	                                                  ▼
//	answer, events ◀──────── last stable offset ◀── commit
//
// When leadership is lost, what was replayed but not committed is undone by
// going back to the last committed image, and every answer that still waits is
// NOT_CONTROLLER: its outcome is not known (K9).
//
// What is not in the log is not replicated: sessions and the metadata offsets
// that brokers report live in the active controller alone, and a new one gives
// every unfenced broker a whole new session.
package controller
