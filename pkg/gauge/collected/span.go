package collected

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

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
	uid             string // by packUID
	namespace, name string
	number          uint64 // unlike that of any other pod of the node
	last            uint64 // the number of the last interval that has it
	// throttled reports whether a limit has held the pod back since it was seen first: from then on its containers are kept.
	throttled bool
}

// workspace is memory in which spans are made, which the next span is made in again.
type workspace struct {
	rows, others []row
	at           map[uint64]int // of the rows, by the numbers of pods
	packed       []byte
	known        map[string]int // of the pods of a node, by their packed UIDs
}

// maxKnown is how many pods a node has for the map of them to be used again: to clear a larger one takes longer than to make one.
const maxKnown = 1000

// of returns the workspace for intervals of a node.
func (w *workspace) of(n *node) *workspace {
	if w.known == nil || len(w.known) > maxKnown {
		w.known = map[string]int{}
	}
	if w.at == nil {
		w.at = map[uint64]int{}
	}
	clear(w.known)
	for i := range n.pods {
		w.known[n.pods[i].uid] = i
	}
	return w
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
		work.rows = append(work.rows, newRow(n.identify(&v.Pods[i], work), &v.Pods[i]))
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

// identify returns the identity of a pod, which gets its name once that is known. It is where it is until the next one is identified.
func (n *node) identify(p *usage.Pod, work *workspace) *identity {
	work.packed = packUID(work.packed[:0], p.UID)
	i, known := work.known[string(work.packed)]
	if !known {
		i = len(n.pods)
		n.identified++
		n.pods = append(n.pods, identity{number: n.identified, uid: string(work.packed)})
		work.known[n.pods[i].uid] = i
	}
	pod := &n.pods[i]
	pod.last = n.added
	pod.throttled = pod.throttled || p.Throttled > 0
	if p.Name != "" && (p.Name != pod.name || p.Namespace != pod.namespace) {
		pod.name, pod.namespace = p.Name, n.shared(p.Namespace)
	}
	return pod
}

// shared returns the name of a namespace as one of the latest pods of the node has it already, if one has.
func (n *node) shared(namespace string) string {
	const latest = 100 // a node that lies may have thousands
	for _, pod := range n.pods[max(0, len(n.pods)-latest):] {
		if pod.namespace == namespace {
			return pod.namespace
		}
	}
	return namespace
}

// The forms of UIDs, which a packed one begins with.
const (
	uuidForm = iota // of API servers: 8-4-4-4-12 hexadecimal digits
	hashForm        // of static pods: 32 of them
	textForm        // any other
)

// packUID appends a UID, of which those of API servers and kubelets take 17 bytes.
func packUID(to []byte, uid string) []byte {
	const digits, written = 32, 36
	if length := len(uid); (length == digits || length == written) && !strings.ContainsAny(uid, "ABCDEF") {
		if parsed, err := uuid.Parse(uid); err == nil {
			form := byte(uuidForm)
			if length == digits {
				form = hashForm
			}
			return append(append(to, form), parsed[:]...)
		}
	}
	return append(append(to, textForm), uid...)
}

// unpackUID returns a UID that is packed.
func unpackUID(packed string) string {
	form, rest := packed[0], packed[1:]
	switch form {
	case uuidForm:
		return uuid.UUID([]byte(rest)).String()
	case hashForm:
		return hex.EncodeToString([]byte(rest))
	default:
		return rest
	}
}

// intervals returns the intervals that spans of a node are.
func (n *node) intervals(name string, spans []span) []usage.Interval {
	uids := make([]string, len(n.pods)) // which all intervals share
	for i := range n.pods {
		uids[i] = unpackUID(n.pods[i].uid)
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
			at, _ := slices.BinarySearchFunc(n.pods, rows[k].pod, func(pod identity, number uint64) int { return cmp.Compare(pod.number, number) })
			v.Pods = append(v.Pods, rows[k].usageOf(&n.pods[at], uids[at]))
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
