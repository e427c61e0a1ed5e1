// Package clienttest is a scripted cluster around one client lane, for tests.
//
// A test of a client must decide what each broker answers, when, and when a
// connection breaks; a real broker would decide that itself. World plays the
// driver (clock, timers, connections) and the brokers' side of the wire. Each
// message is encoded and decoded in its version, so a field that the version
// does not carry does not arrive.
//
//	w := clienttest.New(t, 2)             brokers 1 and 2
//	w.Topic("t", 1)                       partition 0 led by broker 1, epoch 0
//	w.Host = …                            the lane under test
//	w.Advance(time.Second)                runs what is due
//	r := w.Take(clienttest.Produce)       a request that waits for its answer
//	r.Answer(…)
//
// ApiVersions, Metadata and InitProducerId (with ids from 1 on) are answered by
// the World; so is any API that a handler was put into On for. All else waits in Held.
package clienttest
