package reading

import (
	"cmp"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// plausible is the largest count that is reported.
const plausible = 1e15

// disks compares the disks of two readings: the whole ones at which an operation ended, in the order of their names, the busiest where
// there are more than an interval may have, and how many further ones there are.
func (c *comparison) disks() (disks []usage.Disk, leftOut int) {
	earlier := make(map[string]*Disk, len(c.before.Disks))
	for i := range c.before.Disks {
		earlier[c.before.Disks[i].Name] = &c.before.Disks[i]
	}
	for i := range c.after.Disks {
		now := &c.after.Disks[i]
		was := earlier[now.Name]
		if !now.Whole || was == nil && len(c.before.Disks) >= maxDevices { // it may have been beyond these
			continue
		}
		if disk := c.disk(was, now); disk.Reads.Operations+disk.Writes.Operations+flushed(&disk) > 0 {
			disks = append(disks, disk)
		}
	}
	leftOut = max(0, len(disks)-usage.MaxDisks)
	if leftOut > 0 {
		slices.SortStableFunc(disks, func(a, b usage.Disk) int { return cmp.Compare(b.QueuedSeconds, a.QueuedSeconds) })
		disks = slices.Clip(disks[:usage.MaxDisks])
	}
	slices.SortFunc(disks, func(a, b usage.Disk) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(disks, func(a, b usage.Disk) bool { return a.Name == b.Name }), leftOut
}

func flushed(d *usage.Disk) int64 {
	if d.Flushes == nil {
		return 0
	}
	return d.Flushes.Operations
}

// disk compares a disk. One whose operations went back, or whose number is another, is a new one of the same name: all that it did
// is of this interval.
func (c *comparison) disk(was, now *Disk) usage.Disk {
	if was == nil || was.Number != now.Number || now.Reads.Operations < was.Reads.Operations || now.Writes.Operations < was.Writes.Operations {
		was = &Disk{}
	}
	disk := usage.Disk{
		Name: now.Name, Number: now.Number.String(), Rotates: now.Kind.Rotates, Scheduler: now.Kind.Scheduler, QueueDepth: now.Kind.QueueDepth,
		Beneath: now.Kind.Beneath, Reads: transferred(&was.Reads, &now.Reads), Writes: transferred(&was.Writes, &now.Writes),
		BusySeconds: bound(wrapped(was.Busy, now.Busy), c.span), QueuedSeconds: wrapped(was.Queued, now.Queued),
	}
	if flushes := transferred(&was.Flushes, &now.Flushes); flushes.Operations > 0 {
		disk.Flushes = &flushes
	}
	return disk
}

func transferred(was, now *Transfers) usage.Transfers {
	return usage.Transfers{
		Operations: countedAtMost(was.Operations, now.Operations), Bytes: countedAtMost(was.Bytes, now.Bytes), Seconds: wrapped(was.Time, now.Time),
	}
}

// countedAtMost returns by how much a count grew, bounded by what is plausible.
func countedAtMost(before, after int64) int64 { return min(counted(before, after), plausible) }

// wrapped returns by how many seconds a counter of milliseconds in 32 bits grew. One that went back by more than half of its range
// passed its end; any other began anew.
func wrapped(before, after time.Duration) float64 {
	const whole = (1 << 32) * time.Millisecond
	if after < before && before-after > whole/2 && before <= whole {
		return (after + whole - before).Seconds()
	}
	return grown(before, after)
}

// namesOf returns the names of the disks of an interval that ended with a reading.
func namesOf(disks []usage.Disk, after *Reading) map[Number]string {
	names := make(map[Number]string, len(disks))
	for i := range after.Disks {
		name := after.Disks[i].Name
		if _, is := slices.BinarySearchFunc(disks, name, func(d usage.Disk, name string) int { return cmp.Compare(d.Name, name) }); is && after.Disks[i].Whole {
			names[after.Disks[i].Number] = name
		}
	}
	return names
}

// podDisks returns what a pod did at the disks of the interval, in the order of their names, the busiest where there are too many.
func (c *comparison) podDisks(before, after *Pod) (disks []usage.PodDisk) {
	for i := range after.Disks {
		now, was := &after.Disks[i], &PodDisk{}
		name := c.names[now.Number]
		if name == "" {
			continue
		}
		if at := slices.IndexFunc(before.Disks, func(d PodDisk) bool { return d.Number == now.Number }); at >= 0 {
			was = &before.Disks[at]
		}
		disk := usage.PodDisk{
			Name: name, ReadOperations: countedAtMost(was.ReadOperations, now.ReadOperations), ReadBytes: countedAtMost(was.ReadBytes, now.ReadBytes),
			WriteOperations: countedAtMost(was.WriteOperations, now.WriteOperations), WriteBytes: countedAtMost(was.WriteBytes, now.WriteBytes),
		}
		if disk == (usage.PodDisk{Name: name}) || slices.ContainsFunc(disks, func(d usage.PodDisk) bool { return d.Name == name }) {
			continue
		}
		disk.Limit = limitAt(after.DiskLimits, now.Number)
		disks = append(disks, disk)
	}
	if len(disks) > usage.MaxPodDisks {
		operations := func(d *usage.PodDisk) int64 { return d.ReadOperations + d.WriteOperations }
		slices.SortStableFunc(disks, func(a, b usage.PodDisk) int { return cmp.Compare(operations(&b), operations(&a)) })
		disks = slices.Clip(disks[:usage.MaxPodDisks])
	}
	slices.SortFunc(disks, func(a, b usage.PodDisk) int { return cmp.Compare(a.Name, b.Name) })
	return disks
}

// limitAt returns the limit at a device, nil if there is none, or none that is plausible.
func limitAt(limits []DiskLimit, number Number) *usage.DiskLimit {
	at := slices.IndexFunc(limits, func(l DiskLimit) bool { return l.Number == number })
	if at < 0 {
		return nil
	}
	set := func(n int64) int64 {
		if n < 0 || n > plausible {
			return 0
		}
		return n
	}
	l := &limits[at]
	limit := usage.DiskLimit{
		ReadBytes: set(l.ReadBytes), WriteBytes: set(l.WriteBytes), ReadOperations: set(l.ReadOperations), WriteOperations: set(l.WriteOperations),
	}
	if limit == (usage.DiskLimit{}) {
		return nil
	}
	return &limit
}
