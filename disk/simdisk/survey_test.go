package simdisk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
)

// busyDisk is a disk after the same random operations each time, some of them durable.
func busyDisk(t *testing.T, seed uint64) *simdisk.Disk {
	t.Helper()
	d := simdisk.New()
	w := &surveyed{}
	fs := d.View("lane", w)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 60 {
		name := fmt.Sprintf("f%d", random.IntN(4))
		f, err := fs.Open(name)
		if err != nil {
			if f, err = fs.Create(name); err != nil {
				t.Fatal(err)
			}
		}
		switch random.IntN(7) {
		case 0:
			f.Sync(1)
		case 1:
			fs.SyncDir(1, "")
		case 2:
			err = fs.Remove(name)
		case 3:
			err = fs.Rename(name, fmt.Sprintf("f%d", random.IntN(4)))
		case 4:
			err = f.Truncate(random.Int64N(3000))
		case 5:
			if len(w.syncs) > 0 {
				d.Finish(w.syncs[0], 0)
				w.syncs = w.syncs[1:]
			}
		default:
			_, err = f.WriteAt([]byte(strings.Repeat(fmt.Sprint(random.IntN(10)), 1+random.IntN(2500))), random.Int64N(3000))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

type surveyed struct{ syncs []simdisk.Sync }

func (*surveyed) Now() int64   { return 0 }
func (*surveyed) Charge(int64) {}
func (*surveyed) Step()        {}
func (s *surveyed) Complete(_ disk.Token, _ int64, sync simdisk.Sync) {
	s.syncs = append(s.syncs, sync)
}

// The first outcome that a survey shows is the loss of everything, the second the loss
// of nothing; and looking changes nothing.
func TestASurveyShowsWhatAPowerLossThenLeaves(t *testing.T) {
	for seed := range uint64(200) {
		for way, loss := range []simdisk.Loss{faultdisk.LoseAll, faultdisk.LoseNone} {
			d := busyDisk(t, seed)
			s := d.Survey()
			keep := make([]bool, s.Changes())
			for i := range keep {
				keep[i] = loss == faultdisk.LoseNone
			}
			s.Close(keep)
			var want strings.Builder
			for _, e := range s.Names(keep) {
				all, err := s.Contents(e.Inode)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&want, "%s %x\n", e.Name, all[min(way, len(all)-1)])
			}
			d.PowerLoss(loss, nil)
			var got strings.Builder
			for _, p := range d.Paths(faultdisk.Cached) {
				content, err := d.ReadFile(faultdisk.Cached, p)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "%s %x\n", p, content)
			}
			if got.String() != want.String() {
				t.Fatalf("seed %d, loss %d: the disk has\n%s\nthe survey showed\n%s", seed, loss, got.String(), want.String())
			}
		}
	}
}
