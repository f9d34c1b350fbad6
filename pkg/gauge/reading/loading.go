package reading

import "loadline.dev/loadline/pkg/gauge/usage"

// maxDilation bounds the dilation of a task that almost never got a processor: its time without waiting is then not known any
// better.
const maxDilation = 1000

// rates are the rates of tasks, as of a [usage.Pod].
type rates struct{ threads, dilation, cpu, disk, burst float64 }

// rate sets the derived values of a pod from the activity of its tasks.
func rate(pod *usage.Pod, items []item) {
	r := rated(items)
	pod.Threads, pod.Dilation, pod.CPULoading, pod.DiskLoading, pod.BurstSeconds = r.threads, r.dilation, r.cpu, r.disk, r.burst
}

// rated returns the rates of tasks from their activity. The weight of a task is its running and blocked time. If its waiting
// were in its weight as well, threads of a runtime that wake often and do next to nothing would weigh the more the longer
// others keep them from it: beside a single worker that competes for its processor they counted as another. The mean burst is
// weighted by running time for the same reason: such threads begin most bursts, and run next to nothing.
func rated(items []item) rates {
	var active, squares, dilation, cpu, disk, ran, burst float64
	for i := range items {
		item := &items[i]
		a := item.own()
		if a <= 0 || item.there <= 0 {
			continue
		}
		alone := max(item.there-item.wait-item.throttled, a, item.there/maxDilation)
		part := min(1, item.run/alone)
		active += a
		squares += a * a
		dilation += a * max(1, item.there/alone)
		cpu += a * part
		disk += a * min(1-part, item.blocked/alone)
		if item.bursts > 0 {
			ran += item.run
			burst += item.run * (item.run / item.bursts)
		}
	}
	if active <= 0 || squares <= 0 { // the square of a positive number may be 0
		return rates{threads: 1, dilation: 1}
	}
	r := rates{threads: max(1, active*active/squares), dilation: max(1, dilation/active), cpu: cpu / active, disk: disk / active}
	if ran > 0 {
		r.burst = burst / ran
	}
	return r
}
