package usage

// Disk is the activity of a block device of the node during an interval: of a whole device, such as a disk, a volume of the device
// mapper or a loop device, never of a partition. What comes to a device that lies on others is also in the activity of those beneath.
type Disk struct {
	// Name is the kernel's, such as vda, nvme0n1 or dm-0, and Number the device number by which control groups name it, such as 254:0.
	Name   string `json:"name"`
	Number string `json:"number"`
	// Rotates reports whether it is a disk that rotates, Scheduler is its scheduler of requests, such as none, mq-deadline or bfq, and
	// QueueDepth how many requests it queues (nr_requests). They are false, empty and 0 where sysfs does not say so.
	Rotates    bool   `json:"rotates,omitempty"`
	Scheduler  string `json:"scheduler,omitempty"`
	QueueDepth int    `json:"queueDepth,omitempty"`
	// Beneath are the names of the whole devices that it lies on, in order, as far as they are known: for a loop device that of its file.
	Beneath []string `json:"beneath,omitempty"`
	// Reads and Writes are the operations that ended, and Flushes those that emptied the device's own cache, without bytes. Flushes is
	// absent where there were none, and on Linux before 5.5, which does not count them.
	Reads   Transfers  `json:"reads"`
	Writes  Transfers  `json:"writes"`
	Flushes *Transfers `json:"flushes,omitempty"`
	// BusySeconds is for how long at least one operation was in flight, and QueuedSeconds how long all were in flight together:
	// their quotient is the mean number in flight while the device was busy. Linux counts BusySeconds in whole ticks of its timer
	// in which an operation began or ended: of a device that answers faster it is an upper bound.
	BusySeconds   float64 `json:"busySeconds"`
	QueuedSeconds float64 `json:"queuedSeconds"`
	// Service is what an operation takes when the device is quiet, as the gauge has learned it up to this interval.
	Service []DiskService `json:"service,omitempty"`
}

// Transfers are operations of one direction during an interval.
type Transfers struct {
	Operations int64 `json:"operations,omitempty"`
	Bytes      int64 `json:"bytes,omitempty"`
	// Seconds is how long they were in flight, queued and served, summed over them. It counts when they end.
	Seconds float64 `json:"seconds,omitempty"`
}

// Directions of operations.
const (
	Read  = "read"
	Write = "write"
	// Flush is emptying the device's own cache.
	Flush = "flush"
)

// Data are the writes of data. A write that only empties the device's cache counts among the writes as well, for as long as it waits for that.
func (d *Disk) Data() Transfers {
	data := d.Writes
	if f := d.Flushes; f != nil && f.Operations > 0 {
		emptied := min(f.Operations, data.Operations)
		data.Operations -= emptied
		data.Seconds = max(0, data.Seconds-f.Seconds*(float64(emptied)/float64(f.Operations)))
	}
	return data
}

// DiskService is what operations of a direction and a size take on a quiet device: one with a mean of not much more than one operation
// in flight while it was busy, or as few as there ever were. It is learned from whole intervals.
type DiskService struct {
	// Direction is [Read], [Write], of data, or [Flush], and Bytes the upper end of a class of mean sizes of an operation: a power of two from 4 KiB
	// to 16 MiB. The first class has all that are smaller, and the last all that are larger. MeanBytes is the mean of the mean sizes. The size of a
	// flush is what was written for each.
	Direction string  `json:"direction"`
	Bytes     int64   `json:"bytes"`
	MeanBytes float64 `json:"meanBytes,omitempty"`
	// Seconds is the median over quiet intervals of the mean time of an operation, Spread half the distance between the quartiles, and
	// Intervals of how many intervals they are: the latest ones, a bounded number.
	Seconds   float64 `json:"seconds"`
	Spread    float64 `json:"spread,omitempty"`
	Intervals int     `json:"intervals"`
	// InFlight is up to how many operations were in flight in these intervals, on average while the device was busy, above 1: Seconds has waiting in
	// it then, and is too long by this factor at most. 0 is that they were quiet.
	InFlight float64 `json:"inFlight,omitempty"`
}

// PodDisk is what a pod read from and wrote to a [Disk] of the interval. The kernel counts what is submitted; what a pod writes to the
// page cache comes later and from the kernel, and is counted here only on control groups of version 2 with file systems that
// account it.
type PodDisk struct {
	// Name is that of the disk.
	Name            string `json:"name"`
	ReadOperations  int64  `json:"readOperations,omitempty"`
	ReadBytes       int64  `json:"readBytes,omitempty"`
	WriteOperations int64  `json:"writeOperations,omitempty"`
	WriteBytes      int64  `json:"writeBytes,omitempty"`
	// Limit is nil where neither the pod nor a container of it has one.
	Limit *DiskLimit `json:"limit,omitempty"`
}

// DiskLimit is how much per second a pod may do at a disk: the tightest limits of its group and of its containers, each 0 where
// there is none.
type DiskLimit struct {
	ReadBytes       int64 `json:"readBytes,omitempty"`
	WriteBytes      int64 `json:"writeBytes,omitempty"`
	ReadOperations  int64 `json:"readOperations,omitempty"`
	WriteOperations int64 `json:"writeOperations,omitempty"`
}

// DiskPressure is for how long a pod waited for disks by the kernel's pressure stall information: some task of it, and all of its tasks
// that did not sleep, so that none ran. The latter is 0 on kernels that do not account it.
type DiskPressure struct {
	SomeSeconds float64 `json:"someSeconds"`
	FullSeconds float64 `json:"fullSeconds,omitempty"`
}

// What Blocked of a pod is by: see [Pod.BlockedBy].
const (
	// ByTasks is the kernel's account of each task.
	ByTasks = ""
	// ByPressure is the pressure stall information of the pod: for how long some task of it was blocked.
	ByPressure = "pressure"
	// ByNothing means that neither is known.
	ByNothing = "nothing"
)
