package collected

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// span is an interval in the history.
type span struct {
	start, end            time.Time
	seconds, busy, stolen float64
	cpus, cgroup, leftOut int
	exclusiveCPUs         bool
	blockedUnknown        bool
	packed                []byte // the rows of its pods
	disks                 []byte // by packDisks, of an interval of a gauge
	first, last           uint64 // the numbers of the intervals that it is of
}

// identity is the common part of all rows of a pod.
type identity struct {
	number               uint64 // unlike that of any other pod of the node
	last                 uint64 // the number of the last interval that has it
	uid, namespace, name string
	// throttled reports whether a limit has held the pod back since it was seen first: from then on its containers are kept.
	throttled bool
}

// workspace is memory in which spans are made, which the next span is made in again.
type workspace struct {
	rows, others []row
	at           map[uint64]int // of the rows, by the numbers of pods
	packed       []byte
}

// newSpan returns the span of the next interval.
func (n *node) newSpan(v *usage.Interval, work *workspace) span {
	n.added++
	s := span{
		first: n.added, last: n.added, start: v.Start, end: v.End, seconds: v.Seconds, busy: min(v.BusySeconds, most), stolen: min(v.StolenSeconds, most),
		cpus: v.CPUs, cgroup: v.CgroupVersion, leftOut: v.LeftOut, exclusiveCPUs: v.ExclusiveCPUs,
		blockedUnknown: v.BlockedUnknown, disks: packDisks(v),
	}
	work.rows = work.rows[:0]
	for i := range v.Pods {
		work.rows = append(work.rows, newRow(n.identify(&v.Pods[i]), &v.Pods[i]))
	}
	s.pack(work)
	return s
}

// pack packs the rows of the workspace.
func (s *span) pack(work *workspace) {
	work.packed = work.packed[:0]
	for i := range work.rows {
		work.packed = work.rows[i].pack(work.packed)
	}
	s.packed = bytes.Clone(work.packed) // of no more than it takes
}

// identify returns the identity of a pod, which gets its name once that is known.
func (n *node) identify(p *usage.Pod) *identity {
	pod := n.pods[p.UID]
	if pod == nil {
		n.identified++
		pod = &identity{number: n.identified, uid: p.UID}
		n.pods[p.UID] = pod
	}
	pod.last = n.added
	pod.throttled = pod.throttled || p.Throttled > 0
	if p.Name != "" {
		pod.namespace, pod.name = p.Namespace, p.Name
	}
	return pod
}

// intervals returns the intervals that spans of a node are.
func (n *node) intervals(name string, spans []span) []usage.Interval {
	pods := make(map[uint64]*identity, len(n.pods))
	for _, pod := range n.pods {
		pods[pod.number] = pod
	}
	all := make([]usage.Interval, 0, len(spans))
	var rows []row
	for i := range spans {
		s := &spans[i]
		rows = unpack(rows[:0], s.packed)
		v := usage.Interval{
			Node: name, Start: s.start, End: s.end, Seconds: s.seconds, CPUs: s.cpus, BusySeconds: s.busy, StolenSeconds: s.stolen,
			CgroupVersion: s.cgroup, LeftOut: s.leftOut, ExclusiveCPUs: s.exclusiveCPUs, BlockedUnknown: s.blockedUnknown,
			Pods: make([]usage.Pod, 0, len(rows)),
		}
		for k := range rows {
			v.Pods = append(v.Pods, rows[k].usageOf(pods[rows[k].pod]))
		}
		unpackDisks(s.disks, &v)
		slices.SortFunc(v.Pods, func(a, b usage.Pod) int { return cmp.Compare(a.UID, b.UID) })
		all = append(all, v)
	}
	return all
}

// add adds the span that follows, and reports whether it did: not if they have more pods than an interval may, nor if they are of
// different numbers of processors, whose busy time has no sum.
func (s *span) add(next *span, work *workspace) bool {
	if s.cpus != next.cpus {
		return false
	}
	work.rows, work.others = unpack(work.rows[:0], s.packed), unpack(work.others[:0], next.packed)
	if work.at == nil {
		work.at = map[uint64]int{}
	}
	clear(work.at)
	for i := range work.rows {
		work.at[work.rows[i].pod] = i
	}
	for i := range work.others {
		r := &work.others[i]
		if k, is := work.at[r.pod]; is {
			work.rows[k].add(r)
		} else {
			work.rows = append(work.rows, *r)
		}
	}
	if len(work.rows) > usage.MaxPods {
		return false
	}
	s.pack(work)
	s.disks = nil
	s.end, s.last = next.end, next.last
	s.seconds += next.seconds
	s.busy += next.busy
	s.stolen += next.stolen
	s.cgroup, s.leftOut = next.cgroup, max(s.leftOut, next.leftOut)
	s.exclusiveCPUs = s.exclusiveCPUs || next.exclusiveCPUs
	s.blockedUnknown = s.blockedUnknown || next.blockedUnknown
	return true
}
