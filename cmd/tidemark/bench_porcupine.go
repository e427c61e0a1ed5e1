//go:build !js

package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/anishathalye/porcupine"

	"tidemark/checker/history"
	"tidemark/model/event"
)

// porcupineRow is how far porcupine came.
type porcupineRow struct {
	Partitions   int     `json:"partitions"`        // of the history
	Judged       int     `json:"judged_partitions"` // up to the first that is illegal or takes too long
	Operations   int     `json:"judged_operations"`
	Seconds      float64 `json:"seconds"`
	Result       string  `json:"result"` // Ok, Illegal or Unknown: it gave up
	AllocatedMiB float64 `json:"allocated_mebibytes"`
}

func (p *porcupineRow) String() string {
	how := map[string]string{"Ok": "all legal", "Illegal": "then found an illegal one", "Unknown": "then ran out of time"}[p.Result]
	return fmt.Sprintf("%d of %d partitions (%d operations) in %.2f s, %s; %.0f MiB allocated", p.Judged, p.Partitions, p.Operations, p.Seconds,
		how, p.AllocatedMiB)
}

// logOp is a send or a poll for porcupine.
type logOp struct {
	send bool
	// at is the send's offset, or the largest that the poll returned.
	at int64
}

// logModel is an append-only log whose sends are known to lie at their offsets:
// its state is the offset that comes next.
var logModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		next, op := state.(int64), input.(logOp)
		if op.send {
			return op.at == next, next + 1
		}
		return op.at < next, next
	},
}

// porcupineOn judges a history's partitions one after the other.
func porcupineOn(load history.Load, limit time.Duration) porcupineRow {
	logs := make([][]porcupine.Operation, load.Partitions)
	open := map[uint64]int64{} // invocation by attempt
	history.Generate(load, func(e *event.Event) {
		switch e.Kind {
		case event.SendInvoke:
			open[e.Attempt] = int64(e.Seq)
		case event.SendOK:
			logs[e.Partition] = append(logs[e.Partition], porcupine.Operation{Call: open[e.Attempt], Return: int64(e.Seq), Input: logOp{true, int64(e.Offset)}})
			delete(open, e.Attempt)
		case event.PollOK:
			logs[e.Partition] = append(logs[e.Partition], porcupine.Operation{Call: int64(e.Seq), Return: int64(e.Seq), Input: logOp{false, int64(e.End) - 1}})
		}
	})
	row := porcupineRow{Partitions: load.Partitions, Result: string(porcupine.Ok)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for _, ops := range logs {
		left := limit - time.Since(start)
		if left <= 0 {
			row.Result = string(porcupine.Unknown)
			break
		}
		result := porcupine.CheckOperationsTimeout(logModel, ops, left)
		if row.Result = string(result); result != porcupine.Ok {
			break
		}
		row.Judged++
		row.Operations += len(ops)
	}
	row.Seconds = time.Since(start).Seconds()
	runtime.ReadMemStats(&after)
	row.AllocatedMiB = float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20)
	return row
}
