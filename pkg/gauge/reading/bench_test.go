package reading_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRead takes readings of a node of 250 pods and 2,000 tasks, in two containers each. Of busy tasks both files are read.
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
			r := n.reader()
			b.ReportAllocs()
			for turn := 0; b.Loop(); turn++ {
				b.StopTimer()
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
