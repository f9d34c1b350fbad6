package trace

// openbPod is one pod of an openb trace: the pods and nodes of a production
// Kubernetes GPU cluster, published as CSV (openb_pod_list_*.csv).
// An empty scheduled_time or deletion_time means never.
type openbPod struct {
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

// readOpenbPod reads one row; what a row says must make sense by itself.
func readOpenbPod(r *row) openbPod {
	pod := openbPod{
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
