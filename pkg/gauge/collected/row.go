package collected

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// row holds the usage of a pod in an interval.
type row struct {
	pod uint64 // the number of its identity
	// The others are as in [usage.Pod].
	seconds, run, unseen, wait, throttled, blocked float64
	threads, dilation, cpuLoading, diskLoading     float64
	burst                                          float64 // 0 where it is unknown
	slowed, tasks                                  float64
	// pressure is one second more than the known value, and 0 where none is known.
	pressure     float64
	slowedBefore bool
	blockedBy    int // an index of blockedBys
	// containers are those that have a CPU limit, of a pod that was throttled.
	containers []container
}

// Rows are kept as whole numbers of these parts of a second or of one. Most are small, or 0, and take a byte or two.
const (
	milli = 1e3
	tenth = 1e4 // of a thousandth
	micro = 1e6
)

// most is the largest number that is kept, so that none is too large in these parts, nor a product or a sum. Nodes may lie.
const most = 1e12

// blockedBys are the values of [usage.Pod.BlockedBy]. Of two intervals together it is the later one of these: what was known of a part only is
// no less.
var blockedBys = [...]string{usage.ByNothing, usage.ByTasks, usage.ByPressure}

type field struct {
	value *float64
	parts float64
}

// fields are the numbers of a row in the order in which they are kept.
func (r *row) fields() [14]field {
	return [...]field{
		{&r.seconds, milli},
		{&r.run, milli},
		{&r.unseen, milli},
		{&r.wait, milli},
		{&r.throttled, milli},
		{&r.blocked, milli},
		{&r.threads, milli},
		{&r.dilation, tenth},
		{&r.cpuLoading, tenth},
		{&r.diskLoading, tenth},
		{&r.burst, micro},
		{&r.slowed, milli},
		{&r.tasks, 1},
		{&r.pressure, milli},
	}
}

// pack appends a row.
func (r *row) pack(to []byte) []byte {
	before := uint64(0)
	if r.slowedBefore {
		before = 1
	}
	to = binary.AppendUvarint(to, r.pod<<3|uint64(r.blockedBy)<<1|before)
	for _, f := range r.fields() {
		to = binary.AppendUvarint(to, uint64(math.Round(min(*f.value, most)*f.parts)))
	}
	to = append(to, byte(len(r.containers)))
	for i := range r.containers {
		to = r.containers[i].pack(to)
	}
	return to
}

// unpack appends the rows from a text of pack.
func unpack(rows []row, packed []byte) []row {
	next := func() uint64 {
		value, n := binary.Uvarint(packed)
		packed = packed[n:]
		return value
	}
	for len(packed) > 0 {
		pod := next()
		r := row{pod: pod >> 3, blockedBy: int(pod >> 1 & 3), slowedBefore: pod&1 == 1}
		for _, f := range r.fields() {
			*f.value = float64(next()) / f.parts
		}
		n := packed[0]
		packed = packed[1:]
		for range n {
			var c container
			c, packed = unpackContainer(packed)
			r.containers = append(r.containers, c)
		}
		rows = append(rows, r)
	}
	return rows
}

// newRow returns the row of a pod with an identity.
func newRow(pod *identity, p *usage.Pod) row {
	r := row{
		pod: pod.number, seconds: p.Seconds, run: p.Run, unseen: p.Unseen, wait: p.Wait, throttled: p.Throttled, blocked: p.Blocked,
		threads: p.Threads, dilation: p.Dilation, cpuLoading: p.CPULoading, diskLoading: p.DiskLoading, burst: p.BurstSeconds, slowed: p.SlowedSeconds,
		tasks: float64(p.Tasks), slowedBefore: p.SlowedBefore,
		blockedBy: slices.Index(blockedBys[:], p.BlockedBy),
	}
	if p.PressureSeconds != nil {
		r.pressure = 1 + *p.PressureSeconds
	}
	if pod.throttled {
		r.containers = limited(p)
	}
	return r
}

// usageOf returns the usage of a pod of a UID from its row.
func (r *row) usageOf(pod *identity, uid string) usage.Pod {
	cpu := min(1, r.cpuLoading)
	p := usage.Pod{
		UID: uid, Namespace: pod.namespace, Name: pod.name, Seconds: r.seconds, Tasks: int(r.tasks),
		Times:   usage.Times{Run: r.run, Unseen: r.unseen, Wait: r.wait, Throttled: r.throttled, Blocked: r.blocked},
		Threads: max(1, r.threads), Dilation: max(1, r.dilation), CPULoading: cpu, DiskLoading: min(r.diskLoading, 1-cpu), BurstSeconds: r.burst,
		SlowedSeconds: r.slowed, SlowedBefore: r.slowedBefore,
		BlockedBy: blockedBys[r.blockedBy],
	}
	if r.pressure >= 1 {
		p.PressureSeconds = new(r.pressure - 1)
	}
	for i := range r.containers {
		p.Containers = append(p.Containers, r.containers[i].usageOf())
	}
	slices.SortFunc(p.Containers, func(a, b usage.Container) int { return cmp.Compare(a.ID, b.ID) })
	return p
}

// add adds the usage of the pod in the interval that follows. The weight of a mean of times without waiting is the time
// without waiting.
func (r *row) add(next *row) {
	r.containers = together(r.containers, next.containers)
	mine, its := r.seconds/max(1, r.dilation), next.seconds/max(1, next.dilation) // without waiting
	r.cpuLoading = mean(r.cpuLoading, mine, next.cpuLoading, its)
	r.diskLoading = mean(r.diskLoading, mine, next.diskLoading, its)
	r.threads = mean(r.threads, r.seconds, next.threads, next.seconds)
	if mine+its > 0 {
		r.dilation = (r.seconds + next.seconds) / (mine + its)
	}
	if r.burst == 0 || next.burst == 0 {
		r.burst = max(r.burst, next.burst) // the known one
	} else {
		r.burst = mean(r.burst, r.run, next.burst, next.run)
	}
	r.seconds += next.seconds
	r.run += next.run
	r.unseen += next.unseen
	r.wait += next.wait
	r.throttled += next.throttled
	r.blocked += next.blocked
	r.blockedBy = max(r.blockedBy, next.blockedBy)
	r.tasks = max(r.tasks, next.tasks)
	r.slowed, r.slowedBefore = next.slowed, next.slowedBefore
	if r.pressure >= 1 && next.pressure >= 1 {
		r.pressure += next.pressure - 1
	} else {
		r.pressure = 0
	}
}

// mean returns that of two values with weights, the larger one where these are 0.
func mean(a, wa, b, wb float64) float64 {
	if wa+wb <= 0 {
		return max(a, b)
	}
	return (a*wa + b*wb) / (wa + wb)
}
