package reading_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// interval is what happens between a first reading and one after a change of the files, 10 s later.
func (n node) interval(change func()) *usage.Interval {
	n.tb.Helper()
	r := n.reader()
	now := noon
	r.Now = func() time.Time { return now }
	before, err := r.Read()
	if err != nil {
		n.tb.Fatal(err)
	}
	change()
	now = noon.Add(10 * second)
	after, err := r.Read()
	if err != nil {
		n.tb.Fatal(err)
	}
	v := reading.Between(before, after, "worker-1", nil)
	if err := v.Validate(); err != nil {
		n.tb.Fatal(err)
	}
	return v
}

// link makes a symbolic link.
func (n node) link(path, to string) {
	n.tb.Helper()
	path = filepath.Join(n.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.tb.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		n.tb.Fatal(err)
	}
}

// withoutPods is a node of version 2 without any pod.
func withoutPods(tb testing.TB) node {
	tb.Helper()
	n := newNode(tb)
	n.write("cgroup/cgroup.controllers", "cpu io\n")
	n.write("cgroup/kubepods/cgroup.threads", "")
	return n
}

// names returns the names of disks.
func names(disks []usage.Disk) string {
	var all []string
	for i := range disks {
		all = append(all, disks[i].Name)
	}
	return strings.Join(all, " ")
}

// As recorded on a virtual machine of Linux 6.18, and made longer.
func TestADiskIsReadWithWhatSysfsSaysOfIt(t *testing.T) {
	t.Parallel()
	n := withoutPods(t)
	n.write("proc/diskstats", ` 254       0 vda 83994 15560 2884930 27124 35010 191351 21022232 39591 0 17884 70443 12649 71 4568592 3714 14 12
 254       1 vda1 100 0 800 10 0 0 0 0 0 10 10 0 0 0 0 0 0
 253       0 dm-0 10 0 80 10 0 0 0 0 0 10 10 0 0 0 0 0 0
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 251       0 zram0 10 0 80 10 0 0 0 0 0 10 10 0 0 0 0 0 0
`)
	n.write("sys/block/vda/queue/rotational", "1\n")
	n.write("sys/block/vda/queue/scheduler", "none [mq-deadline] kyber\n")
	n.write("sys/block/vda/queue/nr_requests", "256\n")
	n.link("sys/block/dm-0/slaves/vda1", "../../../../pci0000:00/0000:00:02.0/virtio1/block/vda/vda1")
	n.link("sys/block/dm-0/slaves/sdb", "../../../../pci0000:00/ata2/block/sdb")
	got := n.interval(func() {
		n.write("proc/diskstats", ` 254       0 vda 84094 15560 2885730 28124 35060 191351 21022632 40091 0 19884 73443 12649 71 4568592 3714 16 32 7 7
 254       1 vda1 200 0 1600 10 0 0 0 0 0 10 10 0 0 0 0 0 0
 253       0 dm-0 20 0 160 20 0 0 0 0 0 20 20 0 0 0 0 0 0
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 251       0 zram0 20 0 80 10 0 0 0 0 0 10 10 0 0 0 0 0 0
`)
	})
	diff(t, []usage.Disk{
		{
			Name: "dm-0", Number: "253:0", Beneath: []string{"sdb", "vda"}, Reads: usage.Transfers{Operations: 10, Bytes: 40960, Seconds: 0.01},
			BusySeconds: 0.01, QueuedSeconds: 0.01,
		},
		{
			Name: "vda", Number: "254:0", Rotates: true, Scheduler: "mq-deadline", QueueDepth: 256,
			Reads:  usage.Transfers{Operations: 100, Bytes: 409600, Seconds: 1},
			Writes: usage.Transfers{Operations: 50, Bytes: 204800, Seconds: 0.5}, Flushes: &usage.Transfers{Operations: 2, Seconds: 0.02},
			BusySeconds: 2, QueuedSeconds: 3,
		},
	}, got.Disks)
}

func TestTheDisksOfAnIntervalAreThoseThatDidSomething(t *testing.T) {
	t.Parallel()
	const idle = "8 0 sda 5 0 40 5 0 0 0 0 0 5 5\n"
	for name, c := range map[string]struct{ before, after, want string }{
		"a kernel of 11 fields":           {idle, "8 0 sda 6 0 48 6 0 0 0 0 0 6 6\n", "sda"},
		"nothing":                         {idle, idle, ""},
		"it came":                         {"", idle, "sda"},
		"it went":                         {idle, "", ""},
		"the first operations":            {"8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n", idle, "sda"},
		"only discards":                   {idle, "8 0 sda 5 0 40 5 0 0 0 0 0 5 5 9 0 9 9\n", ""},
		"another one with its name":       {"8 0 sda 900 0 40 5 0 0 0 0 0 5 5\n", idle, "sda"},
		"partitions by name":              {"", idle + "8 1 sda1 5 0 40 5 0 0 0 0 0 5 5\n", "sda"},
		"partitions after a digit":        {"", "259 0 nvme0n1 5 0 40 5 0 0 0 0 0 5 5\n259 1 nvme0n1p2 5 0 40 5 0 0 0 0 0 5 5\n", "nvme0n1"},
		"names that end in a digit":       {"", "9 127 md127 5 0 40 5 0 0 0 0 0 5 5\n253 1 dm-1 5 0 40 5 0 0 0 0 0 5 5\n7 3 loop3 5 0 40 5 0 0 0 0 0 5 5\n", "dm-1 loop3 md127"},
		"partitions of very old kernels":  {"", "8 1 sda1 1 2 3 4\n" + idle, "sda"},
		"a name of a driver with a slash": {"", "104 0 cciss/c0d0 5 0 40 5 0 0 0 0 0 5 5\n", "cciss/c0d0"},
		"a name that cannot be printed":   {"", "8 0 s\x1bda 5 0 40 5 0 0 0 0 0 5 5\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := withoutPods(t)
			n.write("proc/diskstats", c.before)
			got := n.interval(func() { n.write("proc/diskstats", c.after) })
			if names(got.Disks) != c.want || got.DisksLeftOut != 0 {
				t.Errorf("got %+v, want %s", got.Disks, c.want)
			}
			for i := range got.Disks {
				if d := &got.Disks[i]; d.Reads.Operations > 5 || d.Reads.Operations < 1 {
					t.Errorf("it read %d times", d.Reads.Operations)
				}
			}
		})
	}
}

func TestTimesOfADiskAreInMillisecondsThatBeginAnew(t *testing.T) {
	t.Parallel()
	n := withoutPods(t)
	n.write("proc/diskstats", "8 0 sda 5 0 40 4294967000 0 0 0 0 0 4294967200 4294966296\n")
	got := n.interval(func() { n.write("proc/diskstats", "8 0 sda 6 0 48 704 0 0 0 0 0 904 1000\n") }).Disks[0]
	diff(t, []float64{1, 1, 2}, []float64{got.Reads.Seconds, got.BusySeconds, got.QueuedSeconds})
}

func TestThousandsOfDevicesThatDoNothingAreNoReport(t *testing.T) {
	t.Parallel()
	n := withoutPods(t)
	stats := func(operations, many int) string {
		var text strings.Builder
		for i := range 4000 {
			done := 5
			if i < many {
				done += operations
			}
			fmt.Fprintf(&text, "   7 %7d loop%d %d 0 %d 5 0 0 0 0 0 5 5 0 0 0 0 0 0\n", i, i, done, 8*done)
		}
		return text.String()
	}
	n.write("proc/diskstats", stats(0, 0))
	if got := n.interval(func() { n.write("proc/diskstats", stats(0, 0)) }); got.Disks != nil {
		t.Errorf("%d disks of 4,000 that did nothing", len(got.Disks))
	}
	got := n.interval(func() { n.write("proc/diskstats", stats(1, 4000)) })
	if len(got.Disks) != usage.MaxDisks || got.DisksLeftOut == 0 {
		t.Errorf("%d disks of 4,000 that did something, and %d left out", len(got.Disks), got.DisksLeftOut)
	}
}

const podPath = "/kubepods/pod" + uid + "/"

// disksOfPod is the only pod of an interval in which its disks did something.
func disksOfPod(t *testing.T, n node, change func()) usage.Pod {
	t.Helper()
	n.write("proc/diskstats", "8 0 sda 5 0 40 5 0 0 0 0 0 5 5\n8 16 sdb 5 0 40 5 0 0 0 0 0 5 5\n")
	n.task(11, "1 2 3")
	return only(t, n.interval(func() {
		n.write("proc/diskstats", "8 0 sda 95 0 400 50 9 0 72 9 0 59 59\n8 16 sdb 6 0 48 6 0 0 0 0 0 6 6\n")
		change()
	}))
}

func TestTheDisksOfAPodOfVersion2AreReadWithTheTightestLimits(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu io\n")
	n.write("cgroup"+podPath+"abc/cgroup.threads", "11\n")
	n.write("cgroup"+podPath+"io.stat", "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n")
	n.write("cgroup"+podPath+"io.max", "8:0 rbps=2097152 wbps=max riops=max wiops=120\n8:16 rbps=1 wbps=max riops=max wiops=max\n")
	n.write("cgroup"+podPath+"abc/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=200\n")
	n.write("cgroup"+podPath+"io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n")
	n.write("cgroup"+podPath+"memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n")
	got := disksOfPod(t, n, func() {
		n.write("cgroup"+podPath+"io.stat", "7:0 7:1 8:0 rbytes=372736 wbytes=36864 rios=91 wios=9 dbytes=0 dios=0\n9:9 rbytes=1 rios=1\n")
		n.write("cgroup"+podPath+"io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\n")
		n.write("cgroup"+podPath+"memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=250005\n")
	})
	diff(t, []usage.PodDisk{{
		Name: "sda", ReadOperations: 90, ReadBytes: 368640, WriteOperations: 9, WriteBytes: 36864, Limit: &usage.DiskLimit{ReadBytes: 1 << 20, WriteOperations: 120},
	}}, got.Disks)
	diff(t, usage.Pod{DiskPressure: &usage.DiskPressure{SomeSeconds: 4, FullSeconds: 2}, MemoryPressureSeconds: new(0.25)},
		usage.Pod{DiskPressure: got.DiskPressure, MemoryPressureSeconds: got.MemoryPressureSeconds, BlockedBy: got.BlockedBy})
}

// As recorded on Linux 6.18, with the hierarchy of version 2 beside those of version 1 for the pressure.
func TestTheDisksOfAPodOfVersion1AreReadFromBlkio(t *testing.T) {
	t.Parallel()
	for _, recursive := range []bool{true, false} {
		t.Run(fmt.Sprint("recursive=", recursive), func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.write("proc/sys/kernel/task_delayacct", "0\n")
			n.write("cgroup/cpu"+podPath+"abc/tasks", "11\n")
			n.write("cgroup/unified"+podPath+"io.pressure", "some total=0\nfull total=0\n")
			n.write("cgroup/blkio"+podPath+"abc/blkio.throttle.read_iops_device", "8:0 200\n")
			n.write("cgroup/blkio"+podPath+"blkio.throttle.write_bps_device", "8:0 4096\n")
			write := func(reads, writes int) {
				text := func(reads, writes int) string {
					return fmt.Sprintf("8:0 Read %d\n8:0 Write %d\n8:0 Sync %d\n8:0 Async 0\n8:0 Discard 0\n8:0 Total %d\nTotal %d\n", reads, writes, reads, reads, reads)
				}
				if recursive {
					n.write("cgroup/blkio"+podPath+"blkio.throttle.io_serviced_recursive", text(reads, writes))
					n.write("cgroup/blkio"+podPath+"blkio.throttle.io_service_bytes_recursive", text(4096*reads, 4096*writes))
					return
				}
				n.write("cgroup/blkio"+podPath+"blkio.throttle.io_serviced", "Total 0\n")
				n.write("cgroup/blkio"+podPath+"blkio.throttle.io_service_bytes", "Total 0\n")
				n.write("cgroup/blkio"+podPath+"abc/blkio.throttle.io_serviced", text(reads, writes))
				n.write("cgroup/blkio"+podPath+"abc/blkio.throttle.io_service_bytes", text(4096*reads, 4096*writes))
			}
			write(100, 3)
			got := disksOfPod(t, n, func() {
				write(190, 12)
				n.write("cgroup/unified"+podPath+"io.pressure", "some total=6000000\nfull total=6000000\n")
			})
			diff(t, []usage.PodDisk{{
				Name: "sda", ReadOperations: 90, ReadBytes: 368640, WriteOperations: 9, WriteBytes: 36864, Limit: &usage.DiskLimit{ReadOperations: 200, WriteBytes: 4096},
			}}, got.Disks)
			if got.BlockedBy != usage.ByPressure || got.Blocked != 6 {
				t.Errorf("blocked for %v s by %q, want 6 by the pressure", got.Blocked, got.BlockedBy)
			}
		})
	}
}

func TestWhatIsWrongOfDisksIsNamedByFileAndLine(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(node){
		"proc/diskstats:1: \"8 x sda\"": func(n node) { n.write("proc/diskstats", "8 x sda\n") },
		"proc/diskstats:2: ": func(n node) {
			n.write("proc/diskstats", "8 0 sda 1 0 1 1 0 0 0 0 0 1 1\n8 16 sdb 1 0 x 1 0 0 0 0 0 1 1\n")
		},
		"pod1/io.stat:1: ":     func(n node) { n.write("cgroup/kubepods/pod1/io.stat", "8:0 rios=x\n") },
		"pod1/io.pressure:1: ": func(n node) { n.write("cgroup/kubepods/pod1/io.pressure", "full total=x\n") },
	} {
		n := newNode(t)
		n.write("cgroup/cgroup.controllers", "cpu\n")
		n.write("cgroup/kubepods/pod1/cgroup.threads", "")
		spoil(n)
		if _, err := n.reader().Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestALoopDeviceLiesOnTheDeviceOfItsFileWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	n := withoutPods(t)
	n.write("proc/diskstats", "")
	n.write("proc/1/root/images/a.img", "")
	n.write("sys/block/loop0/loop/backing_file", "/images/a.img\n")
	n.write("sys/block/loop1/loop/backing_file", "/images/unseen.img\n")
	number, ok := reading.DeviceNumber(filepath.Join(n.root, "proc", "1", "root", "images", "a.img"))
	if !ok {
		t.Skip("the number of a device is not known here")
	}
	n.link("sys/dev/block/"+number.String(), "../../devices/pci0000:00/block/sda/sda2")
	got := n.interval(func() {
		n.write("proc/diskstats", "7 0 loop0 5 0 40 5 0 0 0 0 0 5 5\n7 1 loop1 5 0 40 5 0 0 0 0 0 5 5\n")
	})
	if len(got.Disks) != 2 || cmp.Diff([]string{"sda"}, got.Disks[0].Beneath) != "" || got.Disks[1].Beneath != nil {
		t.Errorf("got %+v", got.Disks)
	}
}
