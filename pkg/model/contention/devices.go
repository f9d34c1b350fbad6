package contention

import (
	"fmt"
	"slices"
)

// MaxDevices is the largest number of equal devices of a node.
const MaxDevices = 64

// DeviceSharing says how jobs that are tied to one device share it.
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

// Devices are equal devices of a node, such as its GPUs. Each job that uses them is tied to one of them.
type Devices struct {
	// Count is how many there are, from 1 to [MaxDevices].
	Count   int
	Sharing DeviceSharing
	// Resource is the index of the resource at which a device serves jobs.
	Resource int
	// Effects are the indices of the interference resources of which each device has one. They slow service at Resource.
	Effects []int
}

// Uses reports whether a job is served at such a device, or presses there.
func (d *Devices) Uses(v Vector) bool {
	for i := range v {
		if i == d.Resource && !v[i].idle() || d.slows(v, i) {
			return true
		}
	}
	return false
}

// slows reports whether the i-th demand of a vector is an effect on service at the devices.
func (d *Devices) slows(v Vector, i int) bool {
	return v[i].Effect != nil && (v[i].Effect.Of == d.Resource || slices.Contains(d.Effects, i))
}

// tie makes a vector what it is for a job that is tied to the device of a number, or to none, 0, in place.
func (d *Devices) tie(v Vector, device int) {
	served := Demand{}
	if d.Resource < len(v) {
		served = v[d.Resource]
		if d.Sharing == TimeSliced && device > 0 && !served.idle() {
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

// Tying counts the jobs that are tied to each device of a node. It is not safe for concurrent use.
type Tying struct {
	kinds []Devices
	jobs  [][]int // by kind and device
}

// NewTying returns a Tying of no job to devices of these kinds.
func NewTying(kinds []Devices) *Tying {
	t := &Tying{kinds: kinds, jobs: make([][]int, len(kinds))}
	for k, d := range kinds {
		t.jobs[k] = make([]int, d.Count)
	}
	return t
}

// Fewest returns the number, from 1, of the device of a kind to which the fewest jobs are tied, the first among equals:
// where device plugins put the next job.
func (t *Tying) Fewest(kind int) int {
	best := 0
	for device, jobs := range t.jobs[kind] {
		if jobs < t.jobs[kind][best] {
			best = device
		}
	}
	return best + 1
}

// Tie returns the vector of a job that is tied to a device of each kind: that of the number, from 1, in devices, which
// has one for each kind. Of kinds whose number is 0 it uses no device, and its demands there count for nothing. A vector with no such demand is returned as
// it is. The error names a device that is not there.
func (t *Tying) Tie(v Vector, devices []int) (Vector, error) {
	tied := v
	for k := range t.kinds {
		d, device := &t.kinds[k], devices[k]
		if device < 0 || device > d.Count {
			return nil, fmt.Errorf("device: %d is not one of %d", device, d.Count)
		}
		if device > 0 {
			t.jobs[k][device-1]++
		}
		if d.Uses(v) {
			if &tied[0] == &v[0] {
				tied = slices.Clone(v)
			}
			d.tie(tied, device)
		}
	}
	return tied, nil
}

// Newcomer returns at which device of each resource a job would be that comes now and uses all kinds of devices: see
// [Load.Newcomer].
func (t *Tying) Newcomer() map[int]int {
	at := map[int]int{}
	for k, d := range t.kinds {
		device := t.Fewest(k)
		at[d.Resource] = device
		for _, i := range d.Effects {
			at[i] = device
		}
	}
	return at
}

// place names one device of a resource.
type place struct{ resource, device int }

// places are where each device of a resource stands among the resources, in which each has a place of its own. The
// first device of a resource has the place of the resource.
type places map[place]int

func (p places) of(resource, device int) int {
	if device <= 1 {
		return resource
	}
	return p[place{resource, device}]
}

// add gives each device that a job is tied to a place, after the resources that there are by their servers, and returns
// these with those of the new ones.
func (p places) add(v Vector, servers []int) []int {
	for i, d := range v {
		servers = p.need(place{i, d.Device}, servers)
		if d.Effect != nil {
			servers = p.need(place{d.Effect.Of, d.Device}, servers)
		}
	}
	return servers
}

func (p places) need(at place, servers []int) []int {
	if _, known := p[at]; known || at.device <= 1 {
		return servers
	}
	p[at] = len(servers)
	return append(servers, servers[at.resource])
}

// put returns the vector with each demand at the place of its device, which must have been added.
func (p places) put(v Vector, resources int) Vector {
	if !v.elsewhere() {
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
			effect.Of = p.of(effect.Of, d.Device)
			d.Effect = &effect
		}
		at := p.of(i, d.Device)
		d.Device = 0
		w[at] = d
	}
	return w
}

// elsewhere reports whether the job is tied to a device that is not the first.
func (v Vector) elsewhere() bool {
	return slices.ContainsFunc(v, func(d Demand) bool { return d.Device > 1 })
}

// split returns what jobs that are tied to devices are on a node on which each device is a resource of its own, after those
// that there are. Jobs of which none is tied to a device but the first are returned as they are, without places. All must be
// valid on a node of these servers.
func split(jobs []Vector, servers []int) (places, []Vector, []int) {
	if !slices.ContainsFunc(jobs, Vector.elsewhere) {
		return nil, jobs, servers
	}
	at, all := places{}, slices.Clone(servers)
	for _, v := range jobs {
		all = at.add(v, all)
	}
	apart := make([]Vector, len(jobs))
	for j, v := range jobs {
		apart[j] = at.put(v, len(all))
	}
	return at, apart, all
}

// splitRuns is split for the vectors of runs.
func splitRuns(runs []Run, servers []int) ([]Run, []int) {
	vectors := make([]Vector, len(runs))
	for j := range runs {
		vectors[j] = runs[j].Vector
	}
	_, vectors, servers = split(vectors, servers)
	apart := slices.Clone(runs)
	for j := range apart {
		apart[j].Vector = vectors[j]
	}
	return apart, servers
}
