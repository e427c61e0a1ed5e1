// Package kgohistory records what franz-go's clients ask of a Kafka cluster and are
// told, as a history that tidemark check judges.
//
//	rec := kgohistory.New(file, history.Header{Source: "my test"})
//	c, err := rec.NewClient("writer", kgo.SeedBrokers(...))
//	c.Produce(ctx, record, nil)     // seen by a hook
//	c.PollFetches(ctx)              // Client's own methods are recorded
//	err = rec.Close()
//
// NewGroupClient records a member of a group: what it was assigned, where the group
// has it begin, and the commits that go through Client's methods (kgo's automatic ones
// pass unseen: kgo.DisableAutoCommit). NewTransact records one that consumes,
// transforms and produces within transactions; MadeFrom tells which record another was
// made of.
//
// One counter numbers the events of all clients of a recorder, so their order is
// certain. Each record carries its attempt in a header, so that readers can tell
// which send it was; a history of clients that are not recorded is an open world
// (history.Header.Open).
//
// A send is written before franz-go takes it and its outcome when its promise is
// about to be called. Control records are seen by a client with
// kgo.KeepControlRecords; without it a position says nothing of the markers behind
// it until the next poll.
package kgohistory
