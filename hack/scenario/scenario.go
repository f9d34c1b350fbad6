// Package scenario makes up a shared cluster: nodes of three sizes, and
// applications that come and go on them, of four classes that need different
// things. What they request does not show what they use. Everything follows from
// a seed.
//
// docs/evidence/better.md says how the numbers of classes.go were chosen, why they are like
// those of shared clusters, and what they leave out.
package scenario

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/loading"
)

// Resources are those of nodes, in the order of vectors and of servers.
var Resources = []string{"cpu", "disk", "network"}

// The indices of [Resources].
const (
	CPU = iota
	Disk
	Network
)

// Options say which scenario to make. All must be set.
type Options struct {
	// Seed distinguishes scenarios that are alike.
	Seed uint64
	// Nodes is the number of nodes, at least 5, so that there are some of each size.
	Nodes int
	// Requested is the fraction of the CPU of all nodes that pods request, above 0 and
	// at most 0.8: with more, not all pods would fit.
	Requested float64
	// Steps is how many times pods leave and others come, at least 0. A step stands for an
	// hour.
	Steps int
	// ProfileError is how far profiles are off: each loading by a factor that is log-normal with this σ, from 0 to 1.
	ProfileError float64
	// Use multiplies what pods use of the CPU over what they request, on average: above 1 they request less, and more of them fit. 0 means 1;
	// else it is from 0.25 to 4. It has no effect with a trace.
	Use float64 `json:",omitempty"`
	// Trace has the nodes of a real cluster, what its pods request and how long they stay; nil makes all of it up.
	Trace *Trace `json:"-"`
}

// Validate returns an error that names the first option out of range.
func (o Options) Validate() error {
	switch {
	case o.Nodes < 5:
		return fmt.Errorf("nodes: %d is not at least 5", o.Nodes)
	case !(o.Requested > 0 && o.Requested <= 0.8):
		return fmt.Errorf("requested: %v is not above 0 and at most 0.8", o.Requested)
	case o.Steps < 0:
		return fmt.Errorf("steps: %d is negative", o.Steps)
	case !(o.ProfileError >= 0 && o.ProfileError <= 1):
		return fmt.Errorf("profileError: %v is not from 0 to 1", o.ProfileError)
	case o.Use != 0 && !(o.Use >= 0.25 && o.Use <= 4):
		return fmt.Errorf("use: %v is neither 0 nor from 0.25 to 4", o.Use)
	default:
		return nil
	}
}

// Scenario is a cluster and what comes and goes there.
type Scenario struct {
	Options
	Nodes        []Node
	Applications []*Application
	// Pods are in the order in which they come.
	Pods []Pod

	// ProfileSet is the name of the set of profiles, empty for that of [New].
	ProfileSet string
}

// Node is a node.
type Node struct {
	Name string
	Size *Size
}

// Application is a kind of pods, all alike.
type Application struct {
	Name  string
	Class *Class
	// Vector is what the pods really are, and Declared what their profile says, nil where there is none.
	Vector, Declared loading.Vector
	// MilliCPU and MiB are what each of its pods requests.
	MilliCPU, MiB int64
}

// Pod is a pod. It comes at the beginning of one step, of which the first is 0, and leaves at the beginning of another.
type Pod struct {
	Name        string
	Application *Application
	Comes, Goes int
}

// New makes a scenario.
func New(o Options) (*Scenario, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Scenario{Options: o}
	var from source = madeUp{}
	if o.Trace != nil {
		from = &traced{Trace: o.Trace}
	}
	from.addNodes(s)
	from.addApplications(s, rand.New(arrivals.Source(o.Seed, applicationsStream)))
	s.drawBursts(rand.New(arrivals.Source(o.Seed, burstsStream)))
	declared := s.declared(o.ProfileError)
	for _, a := range s.Applications {
		a.Declared = declared[a.Name]
	}
	s.addPods(from, rand.New(arrivals.Source(o.Seed, podsStream)))
	return s, nil
}

// source is where the parts of a scenario are from.
type source interface {
	addNodes(s *Scenario)
	addApplications(s *Scenario, draw *rand.Rand)
	// coming returns the pods that come at a step, until as much is requested again as should be. Steps come in order.
	coming(s *Scenario, step int, draw *rand.Rand) []Pod
}

// madeUp is a cluster that is made up.
type madeUp struct{}

// Each has a source of its own, so that other numbers of steps leave the applications as they are, and other errors the pods.
const (
	applicationsStream arrivals.Stream = 101 + iota
	profilesStream
	podsStream
	burstsStream
	missingStream
)

// Cores returns how many cores all nodes have.
func (s *Scenario) Cores() int {
	cores := 0
	for _, n := range s.Nodes {
		cores += n.Size.Servers[CPU]
	}
	return cores
}

// Present returns the indices of the pods that are there during a step, wherever they are.
func (s *Scenario) Present(step int) []int {
	return s.those(func(p *Pod) bool { return p.Comes <= step && step < p.Goes })
}

// Coming returns the indices of the pods that come at the beginning of a step.
func (s *Scenario) Coming(step int) []int {
	return s.those(func(p *Pod) bool { return p.Comes == step })
}

// Going returns the indices of the pods that leave at the beginning of a step.
func (s *Scenario) Going(step int) []int {
	return s.those(func(p *Pod) bool { return p.Goes == step })
}

func (s *Scenario) those(are func(*Pod) bool) []int {
	var indices []int
	for i := range s.Pods {
		if are(&s.Pods[i]) {
			indices = append(indices, i)
		}
	}
	return indices
}

// addNodes adds nodes by the shares of sizes, in turn.
func (madeUp) addNodes(s *Scenario) {
	for i := range s.Options.Nodes {
		size := sizes[pattern[i%len(pattern)]]
		s.Nodes = append(s.Nodes, Node{fmt.Sprintf("%s-%04d", size.Name, i), size})
	}
}

// addApplications adds about one application for each node, and at least two of each class.
func (madeUp) addApplications(s *Scenario, draw *rand.Rand) {
	for _, c := range classes {
		for i := range max(2, int(math.Round(c.Share*float64(s.Options.Nodes)))) {
			s.Applications = append(s.Applications, c.application(fmt.Sprintf("%s-%03d", c.Name, i), cmp.Or(s.Use, 1), draw))
		}
	}
}

// drawBursts draws for how long applications compute at a time.
func (s *Scenario) drawBursts(draw *rand.Rand) {
	const second = 1000 // milliseconds
	for _, a := range s.Applications {
		a.Vector[CPU].Burst = a.Class.Bursts.logUniform(draw) / second
	}
}

// addPods lets pods come at each step until as much is requested again as should be.
func (s *Scenario) addPods(from source, draw *rand.Rand) {
	for step := range s.Steps + 1 {
		coming := from.coming(s, step, draw)
		draw.Shuffle(len(coming), func(i, j int) { coming[i], coming[j] = coming[j], coming[i] })
		for i := range coming {
			coming[i].Name = fmt.Sprintf("%s-%d-%d", coming[i].Application.Name, step, i)
		}
		s.Pods = append(s.Pods, coming...)
	}
}

// coming returns the pods that come at a step: groups of equal pods that come and leave together, each of the class that has
// the fewest pods beside its share.
func (madeUp) coming(s *Scenario, step int, draw *rand.Rand) []Pod {
	missing, pods := s.missing(step)
	var coming []Pod
	for missing > 0 {
		c := fewest(pods)
		a := s.anyOf(c, draw)
		goes := step + 1 + int(draw.ExpFloat64()*c.StayHours)
		for range c.Replicas.whole(draw) {
			if missing > 0 {
				coming = append(coming, Pod{Application: a, Comes: step, Goes: goes})
				missing -= a.MilliCPU
				pods[c]++
			}
		}
	}
	return coming
}

// missing returns how much less CPU than should be, in thousandths of a core, the pods request that are there at a step, and how
// many there are of each class.
func (s *Scenario) missing(step int) (milliCPU int64, pods map[*Class]float64) {
	milliCPU, pods = int64(s.Requested*float64(s.Cores())*1000), map[*Class]float64{}
	for _, i := range s.Present(step) {
		milliCPU -= s.Pods[i].Application.MilliCPU
		pods[s.Pods[i].Application.Class]++
	}
	return milliCPU, pods
}

// fewest returns the class that has the fewest pods beside its share.
func fewest(pods map[*Class]float64) *Class {
	return slices.MinFunc(classes, func(a, b *Class) int { return cmp.Compare(pods[a]/a.Share, pods[b]/b.Share) })
}

// anyOf draws an application of a class.
func (s *Scenario) anyOf(c *Class, draw *rand.Rand) *Application {
	of := slices.DeleteFunc(slices.Clone(s.Applications), func(a *Application) bool { return a.Class != c })
	return of[draw.IntN(len(of))]
}

// rounded returns a fraction in thousandths, as a profile of the API has it.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }
