package scenario

import (
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/pkg/model/loading"
)

// Size is a size of nodes.
type Size struct {
	Name string
	// Servers are those of [Resources]: cores, and disks and network links that serve one pod at a time at full speed.
	Servers []int
	MiB     int64
}

// sizes have disks and links in proportion to their cores, as those of clouds do, and 4 GiB per core.
var sizes = []*Size{
	{"small", []int{8, 1, 1}, 32 << 10},
	{"medium", []int{16, 2, 2}, 64 << 10},
	{"large", []int{32, 4, 4}, 128 << 10},
}

// pattern is the sizes of five nodes: two small ones, two medium ones, a large one. 16 cores on average.
var pattern = []int{0, 1, 0, 1, 2}

// Class is a class of applications.
type Class struct {
	Name string
	// Share is its part of the applications, and of the pods. They add up to 1.
	Share float64
	// Loadings are those of its applications, each drawn uniformly.
	Loadings [3]Range
	// Threads are drawn uniformly from these.
	Threads []int
	// Bursts is for how many milliseconds a thread computes at a time, on average. Its applications' logarithms are drawn uniformly.
	Bursts Range
	// Use is the CPU that pods use, alone, over what they request: log-normal with this median and this σ.
	Use, UseSigma float64
	// Replicas is how many pods come together, and StayHours how long they stay on average.
	Replicas  Range
	StayHours float64
	// MaxDilation is what the SLA allows.
	MaxDilation float64
	// Service tells that a Kubernetes Service selects the pods: schedulers spread them.
	Service bool
}

// classes are the classes.
var classes = []*Class{
	{
		Name: "interactive", Share: 0.45,
		Loadings: [3]Range{{0.05, 0.35}, {0, 0.03}, {0.02, 0.15}}, Threads: []int{1, 1, 2}, Bursts: Range{0.2, 20},
		Use: 0.3, UseSigma: 0.7, Replicas: Range{2, 12}, StayHours: 24, MaxDilation: 1.2, Service: true,
	},
	{
		Name: "batch", Share: 0.25,
		Loadings: [3]Range{{0.85, 0.97}, {0, 0.03}, {0, 0}}, Threads: []int{1, 1, 2, 4}, Bursts: Range{20, 200},
		Use: 0.9, UseSigma: 0.5, Replicas: Range{1, 20}, StayHours: 3, MaxDilation: 2,
	},
	{
		Name: "disk", Share: 0.18,
		Loadings: [3]Range{{0.1, 0.3}, {0.2, 0.7}, {0, 0}}, Threads: []int{1}, Bursts: Range{0.2, 5},
		Use: 0.6, UseSigma: 0.7, Replicas: Range{1, 4}, StayHours: 12, MaxDilation: 1.5,
	},
	{
		Name: "network", Share: 0.12,
		Loadings: [3]Range{{0.1, 0.4}, {0, 0}, {0.15, 0.5}}, Threads: []int{1}, Bursts: Range{0.2, 5},
		Use: 0.6, UseSigma: 0.7, Replicas: Range{1, 6}, StayHours: 24, MaxDilation: 1.5, Service: true,
	},
}

// Range is from one number to another.
type Range struct{ From, To float64 }

// uniform returns a number of the range.
func (r Range) uniform(draw *rand.Rand) float64 { return r.From + (r.To-r.From)*draw.Float64() }

// logUniform returns a number of the range, whose logarithm is uniform.
func (r Range) logUniform(draw *rand.Rand) float64 {
	return r.From * math.Pow(r.To/r.From, draw.Float64())
}

// whole returns a whole number of the range, each as likely as any other.
func (r Range) whole(draw *rand.Rand) int { return int(r.From) + draw.IntN(int(r.To-r.From)+1) }

// application draws an application of the class, given how many times more of what they request its pods use than those of the class do.
func (c *Class) application(name string, use float64, draw *rand.Rand) *Application {
	threads := c.Threads[draw.IntN(len(c.Threads))]
	a := &Application{Name: name, Class: c, Vector: c.loadings(draw)}
	a.setThreads(threads)
	a.MilliCPU = customary(a.Vector[CPU].Loading * float64(threads) / (use * c.used(draw)))
	// 2.5 GiB per core requested, of the 4 that nodes have.
	const median, sigma, least = 2.5 * 1024 / 1000, 0.5, 128
	a.MiB = max(least, int64(float64(a.MilliCPU)*median*math.Exp(sigma*draw.NormFloat64())))
	return a
}

// loadings draws those of an application of the class.
func (c *Class) loadings(draw *rand.Rand) loading.Vector {
	var v loading.Vector
	for _, r := range c.Loadings {
		fraction := rounded(r.uniform(draw))
		v = append(v, loading.Demand{Loading: fraction, Pressure: fraction})
	}
	return v
}

// used draws which part of what they request the pods of an application use.
func (c *Class) used(draw *rand.Rand) float64 { return c.Use * math.Exp(c.UseSigma*draw.NormFloat64()) }

// setThreads gives the pods of an application their number of threads, at each resource that they use.
func (a *Application) setThreads(threads int) {
	for i := range a.Vector {
		if a.Vector[i].Loading > 0 {
			a.Vector[i].Threads = threads
		}
	}
}

// customary returns the CPU request, in thousandths of a core, that is nearest to a number of cores, by ratio, of those that
// people write.
func customary(cores float64) int64 {
	best, distance := int64(0), math.Inf(1)
	for _, milli := range []int64{100, 250, 500, 1000, 2000, 4000, 8000} {
		if d := math.Abs(math.Log(cores * 1000 / float64(milli))); d < distance {
			best, distance = milli, d
		}
	}
	return best
}
