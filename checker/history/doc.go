// Package history is the file format of histories: what clients asked of a Kafka
// cluster and were told, for the checker to judge.
//
// A checker that judges only its own simulator has little to say about anybody's
// cluster. So a history is plain text that any recorder can write in any language
// (FORMAT.md is for its author), and the readers of other tools' records, in the
// packages below this one, turn them into the same events:
//
//	{"tidemark_history":1,"world":"closed","clock":"seq","profile":{"cluster":{"min.insync.replicas":"2"}}}
//	{"seq":1,"t_ns":1000,"kind":"send","client":"p","topic":"t","partition":0,"attempt":1,"acks":-1}
//	{"seq":2,"t_ns":2500,"kind":"send-ok","client":"p","topic":"t","partition":0,"offset":0,"attempt":1,"acks":-1}
//
//	file ─▶ Reader ─┐
//	file ─▶ Reader ─┼─▶ Merge ─▶ events in one order ─▶ checker
//	EDN  ─▶ Slice  ─┘
//
// A header says what no event can: the settings under which promises hold, whether
// other producers were at work, and what orders the events. Events have the keys of
// package event. A history can be longer than memory: Reader and Merge hold a line
// of each file, and a fault is one line with file, line, field and what was
// expected there.
//
// The parser is written by hand for these keys. encoding/json takes about seven
// times as long for a line, longer than the checker needs to judge it.
package history
