package observed

import (
	"cmp"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/station"
)

// disks are the devices of an interval, and which pods use them.
type disks struct {
	interval *usage.Interval
	at       map[string]*disk // by their names
}

// disk is a device of an interval.
type disk struct {
	*usage.Disk

	interval *usage.Interval
	solved   *station.Station // nil until a pod is found to use it
	// pods are the customers, as indices of the pods of the interval, in increasing order.
	pods []int
}

// wait is for how long the threads of a pod waited at a disk in an interval, each on average, in seconds: for the operations of others, or for the
// limit that the pod has there.
type wait struct {
	at       *disk
	customer int
	limit    bool
	seconds  float64
}

// disksOf returns the disks of an interval, nil where nothing is known of what any of them takes when it is quiet.
func disksOf(v *usage.Interval) *disks {
	if !slices.ContainsFunc(v.Disks, func(d usage.Disk) bool { return len(d.Service) > 0 }) {
		return nil
	}
	v = new(*v) // a pointer into the intervals would keep all of them
	all := &disks{v, make(map[string]*disk, len(v.Disks))}
	for i := range v.Disks {
		all.at[v.Disks[i].Name] = &disk{Disk: &v.Disks[i], interval: v}
	}
	for i := range v.Pods {
		for k := range v.Pods[i].Disks {
			if d := all.at[v.Pods[i].Disks[k].Name]; d != nil {
				d.pods = append(d.pods, i)
			}
		}
	}
	return all
}

// station returns for how long operations waited at a disk of which something is known of what it takes when it is quiet.
func (d *disk) station() *station.Station {
	if d.solved == nil {
		d.solved = station.New(d.seen())
	}
	return d.solved
}

// seen returns what happened at a disk.
func (d *disk) seen() *station.Interval {
	v := &station.Interval{Seconds: d.interval.Seconds, Busy: d.BusySeconds}
	for at, direction := range directions {
		v.Quiet[at], v.Bounds[at] = services(d.Disk, direction)
	}
	for _, i := range d.pods {
		p := &d.interval.Pods[i]
		did := p.Disks[slices.IndexFunc(p.Disks, func(of usage.PodDisk) bool { return of.Name == d.Name })]
		c := station.Customer{Work: station.Work{
			station.Read:  flow(did.ReadOperations, did.ReadBytes),
			station.Write: flow(did.WriteOperations, did.WriteBytes),
		}}
		if p.BlockedBy == usage.ByTasks {
			c.Threads = p.Threads
		}
		v.Customers = append(v.Customers, c)
	}
	v.Counted[station.Read], v.InFlight[station.Read] = flow(d.Reads.Operations, d.Reads.Bytes), d.Reads.Seconds
	v.Counted[station.Write], v.InFlight[station.Write] = flow(d.Writes.Operations, d.Writes.Bytes), d.Writes.Seconds
	if f := d.Flushes; f != nil && f.Operations > 0 {
		tellFlushes(v, float64(f.Operations), f.Seconds/float64(f.Operations))
	}
	return v
}

// directions are those of a station.
var directions = [station.Directions]string{station.Read: usage.Read, station.Write: usage.Write, station.Flush: usage.Flush}

func flow(operations, bytes int64) station.Flow {
	return station.Flow{Operations: float64(operations), Bytes: float64(bytes)}
}

// leastWrite is the size of the smallest write of data through a page cache, in bytes.
const leastWrite = 4096

// tellFlushes tells the writes that only empty the cache of a disk from those of data, given how often the disk emptied it and for how long each time:
// the kernel counts them among the writes, of pods and of the disk, and while several wait at once empties the cache once for all. Whose they are does
// not show, but for those of a pod that writes less than a page each on average; the others are taken to be spread over the other writes.
func tellFlushes(v *station.Interval, flushes, seconds float64) {
	told := 0.0
	for i := range v.Customers {
		c := &v.Customers[i]
		n := max(0, c.Work[station.Write].Operations-c.Work[station.Write].Bytes/leastWrite)
		c.Work[station.Flush].Operations = n
		told += n
	}
	others := max(0, flushes-told) / max(1, v.Counted[station.Write].Operations-told)
	all := max(flushes, told)
	for i := range v.Customers {
		c := &v.Customers[i]
		writes, n := &c.Work[station.Write], &c.Work[station.Flush].Operations
		*n += min(1, others) * (writes.Operations - *n)
		writes.Operations -= *n
		c.Work[station.Flush].Bytes = writes.Bytes
	}
	writes := &v.Counted[station.Write]
	all = min(all, writes.Operations)
	writes.Operations -= all
	v.Counted[station.Flush] = station.Flow{Operations: all, Bytes: writes.Bytes}
	v.InFlight[station.Flush] = min(all*seconds, v.InFlight[station.Write])
	v.InFlight[station.Write] -= v.InFlight[station.Flush]
}

// services returns what operations of a direction take when a disk is quiet, and at most: where only upper bounds are known, these are taken for it.
func services(d *usage.Disk, direction string) (quiet, bounds station.Service) {
	for _, s := range d.Service {
		if s.Direction != direction {
			continue
		}
		to := &quiet
		if s.InFlight > 0 && knows(d, direction) {
			to = &bounds
		}
		*to = append(*to, station.Size{Bytes: cmp.Or(s.MeanBytes, float64(s.Bytes)), Seconds: s.Seconds, Spread: s.Spread})
	}
	slices.SortFunc(quiet, func(a, b station.Size) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return quiet, bounds
}

// knows reports whether for a class of operations of a direction it is known what they take when a disk is quiet, and not only an upper bound.
func knows(d *usage.Disk, direction string) bool {
	return slices.ContainsFunc(d.Service, func(s usage.DiskService) bool { return s.Direction == direction && s.InFlight == 0 })
}

// atDisks is what the threads of a pod did at the disks of an interval, in parts of the time for which they were blocked, all together from 0
// to 1: what is left nothing explains.
type atDisks struct {
	// service is for how long operations of the pod were served, and own for how long they waited for others of the same pod.
	service, own float64
	// waits are for what else they waited, with these parts in the place of seconds.
	waits []wait
	// unlearned reports whether the pod did something of which it is not known how long it takes when the disk is quiet, and bounded whether only
	// an upper bound of that is known at one of its disks, so that it waited for longer, and was served less.
	unlearned, bounded bool
}

// of returns what a pod of the interval did.
func (all *disks) of(pod int) (at atDisks) {
	if all == nil {
		return at
	}
	p := &all.interval.Pods[pod]
	if p.Blocked <= 0 || p.BlockedBy == usage.ByNothing {
		return at
	}
	var stays []station.Stay
	for i := range p.Disks {
		d := all.at[p.Disks[i].Name]
		if d == nil || all.passes(d, p) {
			continue
		}
		at.unlearned = at.unlearned || !d.learned(&p.Disks[i])
		at.bounded = at.bounded || bounded(d.Disk)
		if len(d.Service) == 0 {
			continue
		}
		customer, _ := slices.BinarySearch(d.pods, pod)
		at.waits, stays = append(at.waits, wait{at: d, customer: customer}), append(stays, d.station().Stay(customer))
	}
	parts := station.Divide(stays, p.Blocked, p.BlockedBy == usage.ByTasks)
	at.service, at.own = parts.Service, parts.Own
	for i, part := range parts.Others {
		at.waits[i].seconds = part
	}
	all.limit(&at, p, stays)
	return at
}

// learned reports whether it is known how long the operations of a pod at a disk take when that is quiet.
func (d *disk) learned(by *usage.PodDisk) bool {
	learned := func(direction string) bool {
		return slices.ContainsFunc(d.Service, func(s usage.DiskService) bool { return s.Direction == direction })
	}
	return (by.ReadOperations == 0 || learned(usage.Read)) && (by.WriteOperations == 0 || learned(usage.Write))
}

// passes reports whether a pod's operations pass through a disk to one beneath it, which has them in its account: they wait there, and are
// counted once.
func (all *disks) passes(d *disk, p *usage.Pod) bool {
	for next, seen := slices.Clone(d.Beneath), 0; len(next) > 0 && seen <= len(all.at); seen++ {
		name := next[0]
		if slices.ContainsFunc(p.Disks, func(of usage.PodDisk) bool { return of.Name == name && of.Name != d.Name }) {
			return true
		}
		next = next[1:]
		if lower := all.at[name]; lower != nil {
			next = append(next, lower.Beneath...)
		}
	}
	return false
}

// atLimit is the part of a limit from which on it is spent: the kernel admits no more than the limit, and little less while something waits.
const atLimit = 0.95

// limit has a pod that a limit of its own holds back wait for that: one that spends its limit does no more without its neighbours, so that all
// of its waiting is due to that.
func (all *disks) limit(at *atDisks, p *usage.Pod, stays []station.Stay) {
	i := slices.IndexFunc(p.Disks, func(d usage.PodDisk) bool { return spent(&d, p.Seconds) })
	if i < 0 || len(at.waits) == 0 {
		return
	}
	service := 0.0
	for _, s := range stays {
		service += s.Service
	}
	at.service, at.own = min(1, service/p.Blocked), 0
	at.waits = []wait{{at: all.at[p.Disks[i].Name], limit: true, seconds: 1 - at.service}}
}

// spent reports whether a pod did as much at a disk in some seconds as its limit lets it.
func spent(d *usage.PodDisk, seconds float64) bool {
	is := func(did, limit int64) bool { return limit > 0 && float64(did) >= atLimit*float64(limit)*seconds }
	l := d.Limit
	return l != nil && (is(d.ReadBytes, l.ReadBytes) || is(d.WriteBytes, l.WriteBytes) ||
		is(d.ReadOperations, l.ReadOperations) || is(d.WriteOperations, l.WriteOperations))
}

// mostWaiting is the largest part of the time without waiting for a processor that is taken for waiting at disks: a dilation of 1,000, as the
// largest of a gauge.
const mostWaiting = 0.999

// partOf returns which part of the time for which a pod was blocked it waited at disks.
func partOf(waits []wait) (part float64) {
	for i := range waits {
		part += waits[i].seconds
	}
	return min(part, mostWaiting)
}

// waitAt adds for how long threads of the pod waited at disks in an interval, given the parts of the time for which they were blocked and for
// how long each was on average, and returns how long that is in all.
func (o *Observation) waitAt(list []wait, blocked float64) (seconds float64) {
	for _, w := range list {
		if w.seconds *= blocked; w.seconds > 0 {
			o.waits = append(o.waits, w)
		}
	}
	return partOf(list) * blocked
}

// byDisks returns what waiting at disks adds to the dilation, and for whose operations.
func (r *Pod) byDisks() (list Causes) {
	sum := 0.0
	for _, w := range r.waits {
		sum += w.seconds
	}
	if sum <= 0 || r.AtDisks <= 0 {
		return nil
	}
	pods, index := r.Node.byUIDs(), map[Cause]int{}
	for _, w := range r.waits {
		dilation := r.AtDisks * (w.seconds / sum)
		for who, share := range w.shares(pods, r.Node) {
			i, known := index[who]
			if !known {
				i = len(list)
				index[who] = i
				list = append(list, who)
			}
			list[i].Dilation += dilation * share
		}
	}
	return slices.DeleteFunc(list, func(c Cause) bool { return c.Dilation <= negligibleCause })
}

// shares calls yield with what a wait is due to, and the parts, which add up to 1.
func (w *wait) shares(pods map[string]*Pod, n *Node) func(yield func(Cause, float64) bool) {
	return func(yield func(Cause, float64) bool) {
		if w.limit {
			yield(Cause{Kind: ByLimit, Resource: Disk, Device: w.at.Name}, 1)
			return
		}
		left := 1.0
		for k, i := range w.at.pods {
			share := w.at.station().Share(w.customer, k)
			left -= share
			if share > 0 && !yield(n.owner(w.at, pods, w.at.interval.Pods[i].UID), share) {
				return
			}
		}
		if left > 0 {
			yield(outside(w.at), left)
		}
	}
}

// owner is the cause that a pod of an interval is, by its UID.
func (n *Node) owner(at *disk, pods map[string]*Pod, uid string) Cause {
	c := Cause{Kind: BySystem, Resource: Disk, Device: at.Name}
	if p := pods[uid]; p != nil {
		c.Kind, c.Pod, c.Workload = ByNeighbour, p.Name(), workloads.Of(p.Object)
	} else if n.hasEnded(uid) {
		c.Kind = ByEnded
	}
	return c
}

// outside is the cause that operations of a device are which no pod is known to have had. With version 1 of control groups the kernel counts none
// that write back what pods wrote to the page cache, and a gauge does not report all pods of a node that has very many: then these may be pods'.
func outside(at *disk) Cause {
	c := Cause{Kind: BySystem, Resource: Disk, Device: at.Name}
	if at.interval.CgroupVersion != 2 || at.interval.LeftOut > 0 {
		c.Kind = ByUnclear
	}
	return c
}

// UnlearnedDisks returns the names of the disks at which a pod did something in the last interval, and was blocked for a part of it that is worth a
// word, and of which nothing is known of what they take when they are quiet.
func (n *Node) UnlearnedDisks() []string {
	return n.disksInUse(func(d *usage.Disk) bool { return len(d.Service) == 0 })
}

// BusyDisks returns the names of those of which only an upper bound of that is known, so that pods waited there for longer than is said.
func (n *Node) BusyDisks() []string { return n.disksInUse(bounded) }

// bounded reports whether of the operations of a direction at a disk only an upper bound is known of what they take when it is quiet.
func bounded(d *usage.Disk) bool {
	return slices.ContainsFunc(d.Service, func(s usage.DiskService) bool { return !knows(d, s.Direction) })
}

// lastDisks is what was seen of disks in the last interval. It keeps no other memory of the interval.
type lastDisks struct {
	seconds float64
	leftOut int
	disks   []usage.Disk
	pods    []podAtDisks
}

// podAtDisks is what was seen of a pod.
type podAtDisks struct {
	uid     string
	loading float64
	disks   []usage.PodDisk
}

// lastDisksOf returns what an interval says of disks.
func lastDisksOf(v *usage.Interval) *lastDisks {
	last := &lastDisks{v.Seconds, v.LeftOut, v.Disks, make([]podAtDisks, len(v.Pods))}
	for i := range v.Pods {
		last.pods[i] = podAtDisks{v.Pods[i].UID, v.Pods[i].DiskLoading, v.Pods[i].Disks}
	}
	return last
}

// disksInUse returns the names of some disks at which a pod did something in the last interval, and was blocked for a part of it that is worth a word.
func (n *Node) disksInUse(some func(*usage.Disk) bool) (names []string) {
	if n.last == nil {
		return nil
	}
	wanted := map[string]bool{}
	for i := range n.last.disks {
		wanted[n.last.disks[i].Name] = some(&n.last.disks[i])
	}
	for i := range n.last.pods {
		p := &n.last.pods[i]
		for k := range p.disks {
			if name := p.disks[k].Name; wanted[name] && p.loading >= WorthAtLeast && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// UncountedDisks returns the names of the disks at which no pod is known to have done anything in the last interval, although something was done
// there for a part of it that is worth a word, and a pod was blocked for one of which no operation is known. The kernel counts none: with version
// 1 of control groups, or of version 2 without the controller io. Where such a pod waited for something else, waiting at the disk is none.
func (n *Node) UncountedDisks() (names []string) {
	if n.last == nil || n.last.leftOut > 0 {
		return nil
	}
	counted, blocked := map[string]bool{}, false
	for i := range n.last.pods {
		p := &n.last.pods[i]
		blocked = blocked || len(p.disks) == 0 && p.loading >= WorthAtLeast
		for k := range p.disks {
			counted[p.disks[k].Name] = true
		}
	}
	for i := range n.last.disks {
		if d := &n.last.disks[i]; blocked && !counted[d.Name] && d.BusySeconds >= WorthAtLeast*n.last.seconds {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}

// byUIDs returns the observed pods of the node by the UIDs of their control groups.
func (n *Node) byUIDs() map[string]*Pod {
	pods := make(map[string]*Pod, len(n.Pods))
	for _, p := range n.Pods {
		pods[p.UID] = p
	}
	return pods
}

// hasEnded reports whether a pod that was seen is not there any more.
func (n *Node) hasEnded(uid string) bool {
	return n.last.leftOut == 0 && !slices.ContainsFunc(n.last.pods, func(p podAtDisks) bool { return p.uid == uid })
}
