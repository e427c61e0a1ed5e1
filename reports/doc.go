// Package reports tells a run to a human: as a narrative of at most forty
// lines, and as a picture of one partition over time.
//
// Both read the same events and the checker's report and nothing else, so they
// describe a simulated run, a real one and a recorded one alike. The picture
// has time to the right and one lane for each actor:
//
//	controller   ◆ e1 leader 2        ◆ e2 leader 3          ◆ e3 leader 1
//	faults                                          ✕ kill 3
//	broker 1     ▁▁▃▃▃ log end, tide of the high watermark   ▼ cut  leads e3
//	broker 2     ▁▁▃▃▃
//	broker 3     ▁▁▃▃▃
//	clients        | | acknowledgements, in red those that did not last
//	            ───┴──────┴───//───┴───────┴───── seconds, long gaps shrunk
//
// What the checker found is red, by whatever rule: a ring at the moment at which it
// became true, in the lane of the client or broker whose event that was (else the
// controller's), with the rules' names; a band over its offsets in every log that
// reaches so far; and of a lost record stripes where copies exist, and a star where
// the record vanished. The time axis reaches to the last of them.
//
// A run waits nine seconds between actions that take a millisecond, so the time
// axis is piecewise: between two neighbouring instants it is linear, and the
// width of the piece grows with the logarithm of its duration. Ticks carry real
// times and every long piece is marked with the time that it stands for.
//
// Equal input gives equal bytes: nothing depends on a map's order or a clock.
package reports
