package reading_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/reading"
)

func TestALoopDeviceLiesOnTheDeviceOfItsFileWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	n := withoutPods(t)
	n.write("proc/diskstats", "")
	n.write("proc/1/root/images/a.img", "")
	n.write("sys/block/loop0/loop/backing_file", "/images/a.img\n")
	n.write("sys/block/loop1/loop/backing_file", "/images/unseen.img\n")
	number, ok := reading.DeviceNumber(filepath.Join(n.root, "proc", "1", "root", "images", "a.img"))
	if !ok {
		t.Fatal("the device of a file of this test has no number")
	}
	n.link("sys/dev/block/"+number.String(), "../../devices/pci0000:00/block/sda/sda2")
	got := n.interval(func() {
		n.write("proc/diskstats", "7 0 loop0 5 0 40 5 0 0 0 0 0 5 5\n7 1 loop1 5 0 40 5 0 0 0 0 0 5 5\n")
	})
	if len(got.Disks) != 2 || cmp.Diff([]string{"sda"}, got.Disks[0].Beneath) != "" || got.Disks[1].Beneath != nil {
		t.Errorf("got %+v", got.Disks)
	}
}
