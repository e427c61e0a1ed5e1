package reports

import "testing"

func TestNarratorKeepsToItsRoomWhateverTheRanksOfItsLines(t *testing.T) {
	ranks := []int{rankWitness, rankTurn, rankFault, rankFlow, rankISR, rankRole}
	for items := 1; items <= 24; items++ {
		for shift := range ranks {
			n := &narrator{}
			for i := range items {
				n.items = append(n.items, item{at: int64(i), seq: uint64(i + 1), rank: ranks[(i*i+shift)%len(ranks)], text: "x"})
			}
			for room := 1; room <= items+1; room++ {
				if got := len(n.lines(room)); got > room {
					t.Fatalf("%d items, shift %d, room %d: %d lines", items, shift, room, got)
				}
			}
		}
	}
}
