package loading

import (
	"fmt"
	"slices"
)

// MaxDevices is the largest number of equal devices of a node.
const MaxDevices = 64

// DeviceSharing says how jobs that are assigned to one device share it.
type DeviceSharing int

const (
	// WholeDevices are not shared: a job has its device for itself, and no other job slows it down there.
	WholeDevices DeviceSharing = iota
	// TimeSliced devices serve one job at a time, in turns: jobs queue there as at a single processor, and effects count
	// for nothing.
	TimeSliced
	// Concurrent devices serve all jobs at once: no job queues, and effects make service slower.
	Concurrent
)

// Devices are equal devices of a node, such as its GPUs. Each job that uses them is assigned to one of them.
type Devices struct {
	// Count is their number, from 1 to [MaxDevices].
	Count   int
	Sharing DeviceSharing
	// Resource is the index of the resource at which a device serves jobs.
	Resource int
	// Effects are the indices of the interference resources that each device has for itself. They slow service at Resource.
	Effects []int
}

// Uses reports whether a job is served at such a device, or presses there.
func (d *Devices) Uses(v Vector) bool {
	for i := range v {
		if i == d.Resource && !v[i].Idle() || d.slows(v, i) {
			return true
		}
	}
	return false
}

// slows reports whether the i-th demand of a vector is an effect on service at the devices.
func (d *Devices) slows(v Vector, i int) bool {
	return v[i].Effect != nil && (v[i].Effect.Of == d.Resource || slices.Contains(d.Effects, i))
}

// assign changes a vector, in place, to that of a job which uses the device of this number, or none where it is 0.
func (d *Devices) assign(v Vector, device int) {
	served := Demand{}
	if d.Resource < len(v) {
		served = v[d.Resource]
		if d.Sharing == TimeSliced && device > 0 && !served.Idle() {
			v[d.Resource].Device = device
		} else {
			v[d.Resource] = Demand{}
		}
	}
	for i := range v {
		if !d.slows(v, i) {
			continue
		}
		if d.Sharing != Concurrent || device == 0 || !slices.Contains(d.Effects, i) {
			v[i] = Demand{}
			continue
		}
		effect := *v[i].Effect
		effect.Of, effect.Exclusive = d.Resource, served.Loading
		v[i] = Demand{Threads: served.Threads, Effect: &effect, Device: device}
	}
}

// Assignments counts the jobs that are assigned to each device of a node. It is not safe for concurrent use.
type Assignments struct {
	kinds []Devices
	jobs  [][]int // by kind and device
}

// NewAssignments returns the assignments to devices of the given kinds, without any job.
func NewAssignments(kinds []Devices) *Assignments {
	t := &Assignments{kinds: kinds, jobs: make([][]int, len(kinds))}
	for k, d := range kinds {
		t.jobs[k] = make([]int, d.Count)
	}
	return t
}

// LeastUsed returns the number, from 1, of the device of a kind to which the fewest jobs are assigned, the first among equals:
// where device plugins put the next job.
func (t *Assignments) LeastUsed(kind int) int {
	best := 0
	for device, jobs := range t.jobs[kind] {
		if jobs < t.jobs[kind][best] {
			best = device
		}
	}
	return best + 1
}

// Assign adds a job and returns its vector with a device of each kind: devices has its number, from 1, for each kind. Of
// kinds whose number is 0 the job uses no device, and its demands there are dropped. A vector without such demands is
// returned unchanged. The error names a device that does not exist.
func (t *Assignments) Assign(v Vector, devices []int) (Vector, error) {
	assigned := v
	for k := range t.kinds {
		d, device := &t.kinds[k], devices[k]
		if device < 0 || device > d.Count {
			return nil, fmt.Errorf("device: %d is not one of %d", device, d.Count)
		}
		if device > 0 {
			t.jobs[k][device-1]++
		}
		if d.Uses(v) {
			if &assigned[0] == &v[0] {
				assigned = slices.Clone(v)
			}
			d.assign(assigned, device)
		}
	}
	return assigned, nil
}

// Next returns the device, by the index of its resource, that the next job gets which uses all kinds of devices.
func (t *Assignments) Next() map[int]int {
	at := map[int]int{}
	for k, d := range t.kinds {
		device := t.LeastUsed(k)
		at[d.Resource] = device
		for _, i := range d.Effects {
			at[i] = device
		}
	}
	return at
}

// device is one device of a resource.
type device struct{ resource, number int }

// DeviceIndex has the index of each device of a resource where each is a resource of its own. The first device of a resource has
// the index of the resource, and those of the others follow all resources.
type DeviceIndex map[device]int

// Of returns the index of a device of a resource, which must be the first or have been added.
func (x DeviceIndex) Of(resource, number int) int {
	if number <= 1 {
		return resource
	}
	return x[device{resource, number}]
}

// Add adds a device of a resource, unless it is there. It returns the servers with those of the new one.
func (x DeviceIndex) Add(resource, number int, servers []int) []int {
	at := device{resource, number}
	if _, known := x[at]; known || number <= 1 {
		return servers
	}
	x[at] = len(servers)
	return append(servers, servers[resource])
}

// AddAll adds the devices that a job is assigned to, as [DeviceIndex.Add] does.
func (x DeviceIndex) AddAll(v Vector, servers []int) []int {
	for i, d := range v {
		servers = x.Add(i, d.Device, servers)
		if d.Effect != nil {
			servers = x.Add(d.Effect.Of, d.Device, servers)
		}
	}
	return servers
}

// Split returns the vector with each demand at the index of its device, which must have been added, on a node of that many
// resources.
func (x DeviceIndex) Split(v Vector, resources int) Vector {
	if !v.OnLaterDevice() {
		return v
	}
	w := make(Vector, resources)
	for i, d := range v {
		if d.Device <= 1 {
			w[i] = d
			continue
		}
		if d.Effect != nil {
			effect := *d.Effect
			effect.Of = x.Of(effect.Of, d.Device)
			d.Effect = &effect
		}
		at := x.Of(i, d.Device)
		d.Device = 0
		w[at] = d
	}
	return w
}

// OnLaterDevice reports whether the job is assigned to a device that is not the first of its resource.
func (v Vector) OnLaterDevice() bool {
	return slices.ContainsFunc(v, func(d Demand) bool { return d.Device > 1 })
}

// SplitDevices returns the vectors and the servers of a node with each device as a separate resource. Where all jobs are at the
// first devices it returns its arguments, and no index. All vectors must be valid on a node of these servers.
func SplitDevices(jobs []Vector, servers []int) (DeviceIndex, []Vector, []int) {
	if !slices.ContainsFunc(jobs, Vector.OnLaterDevice) {
		return nil, jobs, servers
	}
	index, all := DeviceIndex{}, slices.Clone(servers)
	for _, v := range jobs {
		all = index.AddAll(v, all)
	}
	split := make([]Vector, len(jobs))
	for j, v := range jobs {
		split[j] = index.Split(v, len(all))
	}
	return index, split, all
}
