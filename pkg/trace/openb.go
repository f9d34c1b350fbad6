package trace

import (
	"io"
	"iter"
)

// OpenbPod is one pod of an openb trace: the pods and nodes of a production
// Kubernetes GPU cluster, published as CSV (openb_pod_list_*.csv).
type OpenbPod struct {
	// Name of the pod, never empty.
	Name string
	// CPUMilli is the CPU request in thousandths of a core.
	CPUMilli int64
	// MemoryMiB is the memory request in MiB.
	MemoryMiB int64
	// GPUs is the number of GPUs requested.
	GPUs int
	// GPUMilli is the part of each of these GPUs, in thousandths, 0 to 1000.
	GPUMilli int
	// GPUSpec lists the GPU models the pod accepts, separated by "|"; empty
	// if any will do.
	GPUSpec string
	// QoS is the class of service, as written: LS (latency sensitive), BE
	// (best effort), Burstable, Guaranteed.
	QoS string
	// Phase is the phase in which the trace leaves the pod, as written:
	// Pending, Running, Succeeded, Failed.
	Phase string
	// Created is the time of creation, in whole seconds since the start of the
	// trace.
	Created float64
	// Scheduled is when the pod got a node, not before Created. It has not
	// happened for a pod that stayed pending.
	Scheduled Moment
	// Deleted is when the pod went, not before Created and Scheduled. It has
	// not happened for a pod that outlived the trace.
	Deleted Moment
}

// OpenbPodOptions says what [OpenbPods] accepts. The zero value is strict
// about the order and does not look for duplicates.
type OpenbPodOptions struct {
	// AllowUnsorted accepts pods that were created before the pod on the row
	// above. By default that is an error, because a replay needs arrivals in
	// order.
	AllowUnsorted bool
	// UniqueNames makes a name that occurs twice an error. It needs memory
	// for every name of the trace (some 100 bytes each), hence not the
	// default.
	UniqueNames bool
}

// Bounds of what a row may ask for: bytes and thousandths fit in an int64 with
// room to add many of them up.
const (
	maxMilli = 1_000_000_000_000
	maxMiB   = 1 << 40
	maxGPUs  = 1_000_000
	wholeGPU = 1000
)

const (
	podName = iota
	podCPU
	podMemory
	podGPUs
	podGPUMilli
	podGPUSpec
	podQoS
	podPhase
	podCreated
	podDeleted
	podScheduled
)

var openbPodColumns = []string{
	podName: "name", podCPU: "cpu_milli", podMemory: "memory_mib", podGPUs: "num_gpu",
	podGPUMilli: "gpu_milli", podGPUSpec: "gpu_spec", podQoS: "qos", podPhase: "pod_phase",
	podCreated: "creation_time", podDeleted: "deletion_time", podScheduled: "scheduled_time",
}

// OpenbPods reads the pods of an openb trace from in, in the order of the
// file; file is its name in errors. Times are whole seconds since the start of
// the trace; an empty scheduled_time or deletion_time means never. The
// sequence can be ranged over once, because in can be read once.
func OpenbPods(file string, in io.Reader, options OpenbPodOptions) iter.Seq2[OpenbPod, error] {
	previous := 0.0
	names := nameLines{}
	open := func() (rowReader, error) { return openTable(file, in, openbPodColumns) }
	return readRows(open, func(r *row) (OpenbPod, bool) {
		pod := openbPod(r)
		if pod.Created < previous && !options.AllowUnsorted {
			r.reject(podCreated, "is before the row above, "+grouped(int64(previous))+
				"; sort the trace by creation_time")
		}
		previous = pod.Created
		if options.UniqueNames {
			names.check(r, podName)
		}
		return pod, true
	})
}

// openbPod reads one row; what a row says must make sense by itself.
func openbPod(r *row) OpenbPod {
	pod := OpenbPod{
		Name:      r.name(podName),
		CPUMilli:  r.whole(podCPU, maxMilli),
		MemoryMiB: r.whole(podMemory, maxMiB),
		GPUs:      int(r.whole(podGPUs, maxGPUs)),
		GPUMilli:  int(r.whole(podGPUMilli, wholeGPU)),
		GPUSpec:   r.word(podGPUSpec),
		QoS:       r.word(podQoS),
		Phase:     r.word(podPhase),
		Created:   r.seconds(podCreated),
		Scheduled: r.moment(podScheduled),
		Deleted:   r.moment(podDeleted),
	}
	if pod.Scheduled.before(pod.Created) {
		r.reject(podScheduled, "is before creation_time, "+r.cells[podCreated])
	}
	if pod.Deleted.before(pod.Created) {
		r.reject(podDeleted, "is before creation_time, "+r.cells[podCreated])
	}
	if pod.Scheduled.Happened && pod.Deleted.before(pod.Scheduled.At) {
		r.reject(podDeleted, "is before scheduled_time, "+r.cells[podScheduled])
	}
	return pod
}
