package reading_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead takes readings of a node of 250 pods and 2,000 tasks, in two containers each, and of 20 disks. Of busy tasks both files
// are read. Where tasks are busy, all pods and disks do something between two readings.
func BenchmarkRead(b *testing.B) {
	const pods, tasks = 250, 2000
	for _, busy := range []int{0, tasks / 4, tasks} {
		b.Run(fmt.Sprintf("busy=%d", busy), func(b *testing.B) {
			n := newNode(b)
			n.write("cgroup/cgroup.controllers", "cpu\n")
			id := 100
			for pod := range pods {
				path := fmt.Sprintf("cgroup/kubepods/burstable/pod%d/", pod)
				n.write(path+"cpu.stat", "usage_usec 5000000\nuser_usec 1\nnr_throttled 3\nthrottled_usec 700000\n")
				n.write(path+"cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n")
				n.write(path+"io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n")
				n.write(path+"memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n")
				n.write(path+"io.stat", podStat(0))
				n.write(path+"io.max", "8:0 rbps=2097152 wbps=max riops=max wiops=120\n")
				n.write(path+"cgroup.threads", "")
				for container := range 2 {
					path := fmt.Sprintf("%s%d/", path, container)
					n.write(path+"cpu.stat", "usage_usec 4000000\nthrottled_usec 100\n")
					n.write(path+"cpu.stat.local", "throttled_usec 200\n")
					var list strings.Builder
					for range tasks / pods / 2 {
						id++
						n.task(id, "1000 2000 3")
						fmt.Fprintln(&list, id)
					}
					n.write(path+"cgroup.threads", list.String())
				}
			}
			n.write("proc/diskstats", diskStats(0))
			for disk := range disks {
				n.write(fmt.Sprintf("sys/block/sd%c/queue/scheduler", 'a'+disk), "[none]\n")
			}
			r := n.reader()
			b.ReportAllocs()
			for turn := 0; b.Loop(); turn++ {
				b.StopTimer()
				for pod := range min(busy, pods) {
					n.write(fmt.Sprintf("cgroup/kubepods/burstable/pod%d/io.stat", pod), podStat(turn))
				}
				n.write("proc/diskstats", diskStats(turn*min(busy, 1)))
				for i := range busy {
					n.write(fmt.Sprintf("proc/%d/schedstat", 101+i), fmt.Sprintf("%d 2000 3\n", turn))
				}
				b.StartTimer()
				if _, err := r.Read(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tasks), "ns/task")
		})
	}
}

// disks is how many disks the node of the benchmark has.
const disks = 20

func diskStats(turn int) string {
	var text strings.Builder
	for disk := range disks {
		fmt.Fprintf(&text, "   8 %7d sd%c %d 15560 2884930 27124 35010 191351 21022232 39591 0 17884 70443 12649 71 4568592 3714 14 12\n", 16*disk, 'a'+disk, 83994+turn)
	}
	return text.String()
}

// podStat is the io.stat of a pod that uses two disks.
func podStat(turn int) string {
	return fmt.Sprintf("8:0 rbytes=372736 wbytes=36864 rios=%d wios=9 dbytes=0 dios=0\n8:16 rbytes=372736 wbytes=36864 rios=91 wios=9 dbytes=0 dios=0\n", turn)
}
