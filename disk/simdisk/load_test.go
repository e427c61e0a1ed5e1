package simdisk_test

import (
	"slices"
	"testing"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
)

func TestWhatWasLoadedIsDurableFromTheStart(t *testing.T) {
	d := simdisk.New()
	big := slices.Repeat([]byte("tide"), 5000)
	err := d.Load([]simdisk.Content{{Path: "meta.properties", Bytes: []byte("version=1\n")}, {Path: "t-0/log", Bytes: big}, {Path: "t-0/empty"}})
	if err != nil {
		t.Fatal(err)
	}
	d.PowerLoss(faultdisk.LoseAll, nil)
	if got, want := d.Paths(faultdisk.Durable), []string{"meta.properties", "t-0/", "t-0/empty", "t-0/log"}; !slices.Equal(got, want) {
		t.Fatalf("the disk has %q, want %q", got, want)
	}
	if got, err := d.ReadFile(faultdisk.Durable, "t-0/log"); err != nil || !slices.Equal(got, big) {
		t.Errorf("%d bytes are in the file, %v; want %d", len(got), err, len(big))
	}
	if err := d.Load([]simdisk.Content{{Path: "t-0"}}); err == nil {
		t.Error("a file took the name of a directory")
	}
}
