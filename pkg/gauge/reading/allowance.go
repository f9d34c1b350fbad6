package reading

import "loadline.dev/loadline/pkg/gauge/fair"

// The bounds of a reading. A pod can have any number of tasks up to the memory for their kernel stacks, and control groups of its
// own where it may write to them: reading all of a hundred thousand would exceed the gauge's own limits, and its node would not be
// observed. The rest is accounted by the surrounding control groups, like tasks that come and go between two readings.
const (
	// maxTasks is how many tasks are read of all pods, at some 400 bytes each, and maxPodTasks of one, which is the limit of many
	// clusters (podPidsLimit). Of each pod at least minPodTasks are.
	maxTasks    = 16_384
	maxPodTasks = 4096
	minPodTasks = 32
	// maxGroups is how many control groups are read of all pods, within those of the pods, maxPodGroups of one, and minPodGroups of
	// each at least.
	maxGroups    = 8192
	maxPodGroups = 1024
	minPodGroups = 16
	// maxNames is how many directories are listed in one: more than a kubelet runs pods.
	maxNames = 10_000
)

// allowance bounds the number of items read of all pods together, and shares that by max-min fairness, by the items of each pod at
// the reading before: of a pod with few items everything is read, whatever another pod has.
type allowance struct {
	all, most, least int // of all pods; of one pod at most and at least

	left  int   // of all
	part  int   // of each pod
	pod   int   // how many may be read of this one yet
	has   int   // number of its counted items
	wants []int // items of the pods that were read
}

// reading begins a reading.
func (a *allowance) reading() {
	a.next()
	a.part = min(a.most, fair.Level(a.all, a.wants))
	a.left, a.wants = a.all, a.wants[:0]
}

// next begins a pod.
func (a *allowance) next() {
	if a.has > 0 {
		a.wants = append(a.wants, min(a.has, a.most))
	}
	a.pod, a.has = max(a.least, min(a.part, a.left)), 0
}

// take reports whether one more may be read of the pod.
func (a *allowance) take() bool {
	a.has++
	if a.pod == 0 {
		return false
	}
	a.pod--
	a.left = max(0, a.left-1)
	return true
}
