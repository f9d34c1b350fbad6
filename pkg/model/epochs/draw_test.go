package epochs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// drawn is a random replay: everything that may be different is.
type drawn struct {
	jobs    []epochs.Job
	classes []epochs.NodeClass
	policy  string
	options epochs.Options
}

const drawnResources, drawnCapacities, drawnThreads = 3, 2, 2

// drawReplay draws up to 40 jobs of a few types on a few classes of nodes, and one
// of all policies.
func drawReplay(t *rapid.T) drawn {
	d := drawn{
		policy:  rapid.SampledFrom(placement.Names()).Draw(t, "policy"),
		options: epochs.Options{FIFO: rapid.Bool().Draw(t, "fifo")},
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "classes") {
		d.classes = append(d.classes, drawClass(t, fmt.Sprint("class ", i)))
	}
	types := make([]*mix.JobType, rapid.IntRange(1, 4).Draw(t, "types"))
	for k := range types {
		types[k] = &mix.JobType{Name: fmt.Sprint("type ", k), Vector: drawVector(t)}
	}
	now := 0.0
	for j := range rapid.SampledFrom([]int{1, 5, 10, 20, 40}).Draw(t, "jobs") {
		now += float64(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 5, 100}).Draw(t, "gap"))
		d.jobs = append(d.jobs, epochs.Job{
			Name: strconv.Itoa(j), Arrival: now, Job: placement.Job{
				Type:     rapid.SampledFrom(types).Draw(t, "type"),
				Neutral:  float64(rapid.SampledFrom([]int{0, 1, 4, 15, 40, 40, 60}).Draw(t, "neutral")) / 4,
				Requests: rapid.SliceOfN(rapid.Float64Range(0, 1.2), 0, drawnCapacities).Draw(t, "requests"),
			},
		})
	}
	return d
}

func drawClass(t *rapid.T, name string) epochs.NodeClass {
	class := epochs.NodeClass{
		Name: name, Count: rapid.IntRange(1, 3).Draw(t, "count"), MaxJobs: rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "max jobs"),
		NodeClass:   mix.NodeClass{Servers: rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2, 2, 3}), 1, drawnResources).Draw(t, "servers")},
		Capacity:    rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, math.Inf(1)}), 0, drawnCapacities).Draw(t, "capacity"),
		Allocatable: []float64{4, 0},
	}
	class.Speeds = rapid.SliceOfN(rapid.Float64Range(0.25, 4), 0, len(class.Servers)).Draw(t, "speeds")
	return class
}

func drawVector(t *rapid.T) loading.Vector {
	v := make(loading.Vector, drawnResources)
	left := 1.0
	for i := range v {
		if rapid.Bool().Draw(t, "nothing") {
			continue
		}
		v[i] = loading.Symmetric(left * float64(rapid.IntRange(1, 10).Draw(t, "tenths")) / 10)
		v[i].Threads = rapid.IntRange(0, drawnThreads).Draw(t, "threads")
		if rapid.IntRange(0, 4).Draw(t, "asymmetric") == 0 {
			v[i].Pressure = rapid.Float64Range(0, 1).Draw(t, "pressure")
		}
		left = max(0, left-v[i].Loading)
	}
	return v
}

// newPolicy returns a new policy, which draws from a seed if it is random, and takes
// the first capacity for cores.
func newPolicy(name string) placement.Policy {
	policy, err := placement.Named(name, placement.Options{Rand: rand.New(rand.NewPCG(1, 2)), Scored: []placement.Scored{placement.ScoredCPU(0)}})
	if err != nil {
		panic(err) // the name is one of Names
	}
	return policy
}

// classOf returns the class of a node.
func (d drawn) classOf(node int) *epochs.NodeClass {
	for i := range d.classes {
		if node -= d.classes[i].Count; node < 0 {
			return &d.classes[i]
		}
	}
	panic("no such node")
}

func (d drawn) nodes() int {
	n := 0
	for _, class := range d.classes {
		n += class.Count
	}
	return n
}

// speed returns the speed of a resource.
func speed(class *epochs.NodeClass, resource int) float64 {
	if resource < len(class.Speeds) {
		return class.Speeds[resource]
	}
	return 1
}

// alone returns how long a job takes that has a node to itself.
func alone(t *rapid.T, class *epochs.NodeClass, j *epochs.Job, options queueing.Options) float64 {
	idle, sum := 1.0, 0.0
	for i, d := range j.Type.Vector {
		idle -= d.Loading
		sum += d.Loading / speed(class, i)
	}
	own := j.Neutral * (sum + max(0, idle))
	vector, _ := class.On(j.Type.Vector)
	servers := make([]int, len(vector)) // no job is where there are none
	for i := range servers {
		servers[i] = 1
		if i < len(class.Servers) {
			servers[i] = max(1, class.Servers[i])
		}
	}
	threads, err := contention.Alone(vector, servers, options)
	if err != nil {
		t.Fatal(err)
	}
	return own * threads
}

// suits reports whether a node has sufficient resources for a job, given its sum of requests and
// its number of running jobs.
func suits(class *epochs.NodeClass, j *epochs.Job, requested []float64, running int) bool {
	for i, d := range j.Type.Vector {
		if (d.Loading > 0 || d.Pressure > 0) && (i >= len(class.Servers) || class.Servers[i] == 0) {
			return false
		}
	}
	for i, request := range j.Requests {
		if i < len(class.Capacity) && request > 0 && requested[i]+request > class.Capacity[i]*(1+1e-9) {
			return false
		}
	}
	return class.MaxJobs == 0 || running < class.MaxJobs
}

// at returns the sum of requests, and the number of running jobs, on a node at a time.
func (r record) at(node int, time float64) (requested []float64, running int) {
	requested = make([]float64, drawnCapacities)
	for _, o := range r.Outcomes {
		if o.Node == node && o.Start <= time && time < o.End {
			running++
			for i, request := range o.Requests {
				requested[i] += request
			}
		}
	}
	return requested, running
}

// between returns times at which nothing happens: one between each two events.
func (r record) between() []float64 {
	var events, times []float64
	for _, o := range r.Outcomes {
		events = append(events, o.Arrival, o.Start, o.End)
	}
	slices.Sort(events)
	for e := 1; e < len(events); e++ {
		// Events apart by no more than rounding are one.
		if events[e]-events[e-1] > 1e-9*max(1, events[e]) {
			times = append(times, (events[e-1]+events[e])/2)
		}
	}
	return times
}
