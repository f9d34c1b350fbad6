package placement

import (
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
)

// DeviceClass is the time-sliced devices of the nodes of a class, which jobs share in turns.
type DeviceClass struct {
	// Resource is the index of the resource at which devices serve jobs. It has one server for each device, for jobs that
	// have devices for themselves.
	Resource int
	// First is the index of the resource that is the first device. Those of the others follow. Each has one server.
	First, Count int
	// Request is the index of the request for devices, −1 where it is not known, and Room the amount of it that one device
	// has. A job that requests that amount, or is at several devices at once, has them for itself.
	Request int
	Room    float64

	types map[*mix.JobType][]*mix.JobType // by device
}

// typeAt returns the type of the jobs that are assigned to the device of a number, from 0.
func (c *DeviceClass) typeAt(t *mix.JobType, device int) *mix.JobType {
	if c.types[t] == nil {
		if c.types == nil {
			c.types = map[*mix.JobType][]*mix.JobType{}
		}
		c.types[t] = make([]*mix.JobType, c.Count)
	}
	if at := c.types[t][device]; at != nil {
		return at
	}
	at := *t
	at.Vector = make(loading.Vector, c.First+c.Count)
	copy(at.Vector, t.Vector)
	at.Vector[c.First+device], at.Vector[c.Resource] = at.Vector[c.Resource], loading.Demand{}
	c.types[t][device] = &at
	return &at
}

// Forget drops all types, as [contention.Mixes.Forget] does.
func (c *DeviceClass) Forget() { c.types = nil }

// Devices are those of one node.
type Devices struct {
	*DeviceClass
	used  []float64     // of the room of each, or how many jobs use it where requests are not known
	taken map[int][]int // devices by the number of the job
}

// NewDevices returns the devices of a node without jobs.
func NewDevices(class *DeviceClass) *Devices {
	return &Devices{DeviceClass: class, used: make([]float64, class.Count), taken: map[int][]int{}}
}

// needs returns how many devices a job uses, and how much of each.
func (d *Devices) needs(j *Job) (devices int, each float64) {
	if d.Resource >= len(j.Type.Vector) || j.Type.Vector[d.Resource].Loading == 0 && j.Type.Vector[d.Resource].Pressure == 0 {
		return 0, 0
	}
	devices = min(max(1, j.Type.Vector[d.Resource].Threads), d.Count)
	switch {
	case d.Request < 0:
		return devices, 1
	case d.Request >= len(j.Requests):
		return devices, 0
	default:
		return devices, j.Requests[d.Request] / float64(devices)
	}
}

// whole reports whether a job has its devices for itself.
func (d *Devices) whole(devices int, each float64) bool {
	return devices > 1 || d.Request >= 0 && WithinCapacity(d.Room, each)
}

// least returns the device with the most room, except those left out.
func (d *Devices) least(except []int) int {
	best := -1
	for i, used := range d.used {
		if !slices.Contains(except, i) && (best < 0 || used < d.used[best]) {
			best = i
		}
	}
	return best
}

// typeOf returns the type of a job at the device that it would get now.
func (d *Devices) typeOf(j *Job) *mix.JobType {
	devices, each := d.needs(j)
	if devices == 0 || d.whole(devices, each) {
		return j.Type
	}
	return d.typeAt(j.Type, d.least(nil))
}

// take gives a job its devices.
func (d *Devices) take(j *Job, id int) {
	devices, each := d.needs(j)
	for range devices {
		device := d.least(d.taken[id])
		d.used[device] += each
		d.taken[id] = append(d.taken[id], device)
	}
}

// release takes them back.
func (d *Devices) release(j *Job, id int) {
	_, each := d.needs(j)
	for _, device := range d.taken[id] {
		// What rounding leaves behind must not decide which device has more room.
		if d.used[device] -= each; math.Abs(d.used[device]) < 1e-9 {
			d.used[device] = 0
		}
	}
	delete(d.taken, id)
}
