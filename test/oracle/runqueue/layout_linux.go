package runqueue

import (
	"fmt"

	"github.com/cilium/ebpf/btf"
)

// layout is where the kernel that runs has the fields that the programs read: offsets in bytes.
type layout struct {
	taskID, taskCPU, taskGroup, taskQueue int16 // of task_struct; taskGroup and taskQueue are those of the scheduler
	groupCgroup, cgroupNode, nodeID       int16 // of task_group, cgroup, kernfs_node
	queueLimits, queueThrottled           int16 // of cfs_rq
}

// newLayout reads the layout from the type information of the kernel.
func newLayout(types *btf.Spec) (*layout, error) {
	l := &layout{}
	// Before Linux 6.6 there is only the sum that leaves out what interrupts and the hypervisor took.
	throttled := []string{"cfs_rq", "throttled_clock_self_time"}
	if _, err := offsetOf(types, throttled); err != nil {
		throttled[1] = "throttled_clock_pelt_time"
	}
	for _, field := range []struct {
		to    *int16
		names []string // of a structure, of its field, of the field of that
	}{
		{&l.taskID, []string{"task_struct", "pid"}},
		{&l.taskCPU, []string{"task_struct", "thread_info", "cpu"}},
		{&l.taskGroup, []string{"task_struct", "sched_task_group"}},
		{&l.taskQueue, []string{"task_struct", "se", "cfs_rq"}},
		{&l.groupCgroup, []string{"task_group", "css", "cgroup"}},
		{&l.cgroupNode, []string{"cgroup", "kn"}},
		{&l.nodeID, []string{"kernfs_node", "id"}},
		{&l.queueLimits, []string{"cfs_rq", "throttle_count"}},
		{&l.queueThrottled, throttled},
	} {
		offset, err := offsetOf(types, field.names)
		if err != nil {
			return nil, err
		}
		*field.to = int16(offset)
	}
	return l, nil
}

// offsetOf returns where a field is in a structure.
func offsetOf(types *btf.Spec, names []string) (uint32, error) {
	var in *btf.Struct
	if err := types.TypeByName(names[0], &in); err != nil {
		return 0, fmt.Errorf("the kernel's type %s: %w", names[0], err)
	}
	offset := uint32(0)
	for i, name := range names[1:] {
		found := false
		for _, m := range in.Members {
			if m.Name != name {
				continue
			}
			found = true
			offset += m.Offset.Bytes()
			if inner, ok := btf.As[*btf.Struct](m.Type); ok && i+2 < len(names) {
				in = inner
			}
			break
		}
		if !found {
			return 0, fmt.Errorf("the kernel's type %s has no field %s", in.Name, name)
		}
	}
	return offset, nil
}
