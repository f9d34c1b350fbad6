package reading

import (
	"fmt"
	"time"
)

// Number is the number of a block device, by which control groups name it.
type Number struct{ Major, Minor uint32 }

func (n Number) String() string { return fmt.Sprintf("%d:%d", n.Major, n.Minor) }

// Disk is a block device that did something since it came.
type Disk struct {
	Name   string
	Number Number
	// Whole reports whether it is no partition. It is false of one that did nothing since the reading before, or was not there then.
	Whole bool
	Kind  DiskKind
	// Reads, Writes and Flushes are those that ended, Discards how many operations gave up parts of the device.
	Reads, Writes, Flushes Transfers
	Discards               int64
	// Busy is for how long at least one operation was in flight, and Queued the sum of these times over all. All times of a
	// disk are in milliseconds in a number of 32 bits: they begin anew after 49.7 days.
	Busy, Queued time.Duration
}

// DiskKind is what sysfs says of a disk: see [usage.Disk].
type DiskKind struct {
	Rotates    bool
	Scheduler  string
	QueueDepth int
	Beneath    []string
}

// Transfers are operations of a direction. Flushes have no bytes.
type Transfers struct {
	Operations, Bytes int64
	// Time is how long they were in flight, in all.
	Time time.Duration
}

func (d *Disk) operations() int64 {
	return d.Reads.Operations + d.Writes.Operations + d.Flushes.Operations
}

// PodDisk is what a pod did at a disk, without what it trimmed.
type PodDisk struct {
	Number                          Number
	ReadOperations, WriteOperations int64
	ReadBytes, WriteBytes           int64
}

// DiskLimit is the limit per second of a pod at a disk: see [usage.DiskLimit].
type DiskLimit struct {
	Number                          Number
	ReadOperations, WriteOperations int64
	ReadBytes, WriteBytes           int64
}

// Pressure is for how long some task of a pod was stalled, and for how long all were that did not sleep; the latter can be [Unknown].
type Pressure struct{ Some, Full time.Duration }
