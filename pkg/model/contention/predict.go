package contention

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/interference"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Prediction holds the predicted dilations of jobs that share a node, and the delays that each causes. It is
// read-only and safe for concurrent use.
type Prediction struct {
	// Dilations holds the dilation of each job, at least 1.
	Dilations []float64
	// Solution is the solution of the closed network of the jobs. It says which solver was used, and can be the warm
	// start of the prediction of a similar node. Equal jobs are copies of one class in it.
	Solution *queueing.Solution

	given        []loading.Vector // as given by the caller, for these servers
	givenServers []int

	jobs      []loading.Vector         // with a resource of its own for each device
	inflated  []loading.Vector         // the same, with service that interference makes slower
	inflation []interference.Inflation // of each job, nil where nothing interferes
	slowing   []float64                // by job: the slowdown by interference, nil where nothing interferes
	servers   []int
	index     loading.DeviceIndex // of devices, among the resources
	class     []int               // of each job, in Solution
	alone     []float64           // of each class: see Alone
	scale     []float64           // by class: the factor from a wait for others to a delay

	// Where a resource is shared by weights and limits:
	sharing *Sharing    // nil where all is shared equally
	delays  [][]float64 // of each job at each resource
	paces   []float64   // of each job, own times per time
	// throttling is the factor by which its own limit lengthens the time of each job alone.
	throttling []float64
}

// Predict returns the dilations of the jobs that share a node, whose i-th resource has servers[i] servers. The
// first-order model takes each job to be at a resource as often as if it were alone; here thread k is at resource i
// for the fraction (q_ik + min(q_ik, p_ik)·w_ik)/λ_k of its time, at most 1, p_ik·w_ik being its wait there; and the
// threads that a job finds are those of the node without the job itself. It waits s_ik/p_ik as long for each as it is
// served, s_ik being its sensitivity. The node is solved as a closed network, by the solver that the options name:
// see [queueing.Solve], which also states the errors of each. The zero options choose well.
//
// With [queueing.FirstOrder] the dilations are those of [price.Load.Dilation], within the bounds: no resource is more than
// fully busy, the sum over the threads there of loading over response being at most the number of its servers.
//
// A dilation is relative to the neutral time, the time of the job alone on this node by the same solver: see [Alone].
// A job that is alone has exactly 1. Of jobs with very many threads only some count: see [loading.InEffect].
//
// The error names the first invalid job or resource.
func Predict(jobs []loading.Vector, servers []int, options queueing.Options) (*Prediction, error) {
	return predict(jobs, servers, nil, options)
}

// predict is [Predict] for jobs that interfere as those which share a resource do: by their limits. Nil is none.
func predict(jobs []loading.Vector, servers []int, sharing *Sharing, options queueing.Options) (*Prediction, error) {
	if err := loading.ValidateServers(servers); err != nil {
		return nil, err
	}
	for j, v := range jobs {
		if err := v.ValidateOn(servers); err != nil {
			return nil, fmt.Errorf("job %d: %w", j, err)
		}
	}
	p := &Prediction{given: jobs, givenServers: servers, class: make([]int, len(jobs)), Dilations: make([]float64, len(jobs))}
	p.index, jobs, servers = loading.SplitDevices(jobs, servers)
	p.jobs = loading.InEffect(jobs, servers)
	p.inflated, p.servers = p.jobs, servers
	p.inflate(sharing)
	solution, err := queueing.Solve(p.network(servers), options)
	if err != nil {
		return nil, err
	}
	p.Solution = solution
	if err := p.compare(options); err != nil {
		return nil, err
	}
	if err := p.slow(func(_ int, v loading.Vector) (float64, error) { return SolveAlone(v, servers, options) }); err != nil {
		return nil, err
	}
	return p, nil
}

// inflate makes the service of the jobs as slow as interference does, given the limits of a sharing, if there is one.
func (p *Prediction) inflate(sharing *Sharing) {
	if !interference.AnyInterferes(p.jobs) {
		return
	}
	processor, shares := -1, []loading.Share(nil)
	if sharing != nil {
		processor, shares = sharing.Resource, sharing.Shares
	}
	p.inflation = interference.InflateEach(p.jobs, p.servers, processor, shares)
	p.inflated = make([]loading.Vector, len(p.jobs))
	cells := make(loading.Vector, len(p.jobs)*len(p.servers))
	for j, v := range p.jobs {
		p.inflated[j] = p.inflation[j].Apply(v, false, cells[:0:len(v)])
		cells = cells[len(v):]
	}
}

// slow multiplies the dilations by the slowdown by interference: they are relative to the time alone with service
// inflated as it is among the others, and the factor is the ratio of that time to the time alone. Its function alone
// returns either time in units of the own time at that speed of service.
func (p *Prediction) slow(alone func(j int, v loading.Vector) (float64, error)) error {
	if p.inflation == nil {
		return nil
	}
	p.slowing = make([]float64, len(p.jobs))
	for j, v := range p.jobs {
		f := &p.inflation[j]
		p.slowing[j] = 1
		if f.Stretch(false) > f.Stretch(true) {
			before, err := alone(j, f.Apply(v, true, nil))
			if err != nil {
				return fmt.Errorf("job %d alone: %w", j, err)
			}
			after, err := alone(j, p.inflated[j])
			if err != nil {
				return fmt.Errorf("job %d alone: %w", j, err)
			}
			p.slowing[j] = max(1, f.Stretch(false)*after/(f.Stretch(true)*before))
		}
		p.Dilations[j] *= p.slowing[j]
	}
	return nil
}

// slowed returns the factor of job j's time by interference. Its waits grow by the same factor.
func (p *Prediction) slowed(j int) float64 {
	if p.slowing == nil {
		return 1
	}
	return p.slowing[j]
}

// compare fills in the dilations: the response of each job over its response alone. A job that waits for no other has
// the response alone: the solver of the node may differ a little from that of the job alone.
func (p *Prediction) compare(options queueing.Options) error {
	classes := len(p.Solution.Waits)
	p.alone, p.scale = make([]float64, classes), make([]float64, classes)
	for j, v := range p.inflated {
		c := p.class[j]
		response := v.Response(p.Solution.Waits[c])
		if p.alone[c] == 0 { // the first job of its class
			p.alone[c] = response
			if len(p.jobs) > 1 {
				var err error
				if p.alone[c], err = SolveAlone(v, p.servers, options); err != nil {
					return fmt.Errorf("job %d alone: %w", j, err)
				}
			}
		}
		wait := 0.0
		for i := range v {
			wait += p.waitForOthers(j, i)
		}
		p.Dilations[j] = 1
		if wait > 0 {
			p.Dilations[j] = max(1, response/p.alone[c])
			p.scale[c] = (p.Dilations[j] - 1) / wait
		}
	}
	return nil
}

// network returns the closed network that the jobs make, equal jobs as copies of
// one class, and notes the class of each.
func (p *Prediction) network(servers []int) *queueing.Network {
	network := &queueing.Network{Servers: servers}
	classes := make(map[string]int, len(p.jobs))
	var key []byte
	for j, v := range p.inflated {
		key = v.AppendQueueKey(key[:0])
		class, known := classes[string(key)]
		if !known {
			class = len(network.Classes)
			classes[string(key)] = class
			network.Classes = append(network.Classes, QueueingClass(v))
		}
		network.Classes[class].Copies++
		p.class[j] = class
	}
	return network
}

// Resources returns the number of resources of the node, as given by the caller.
func (p *Prediction) Resources() int { return len(p.givenServers) }

// Wait returns how long a thread of job j waits at resource i, as a multiple of
// the time it is served there, at least 0.
func (p *Prediction) Wait(j, i int) float64 { return p.wait(j, p.indexOf(j, i)) }

// indexOf returns the index of the device of job j at a resource.
func (p *Prediction) indexOf(j, i int) int {
	if p.index == nil || i >= len(p.given[j]) {
		return i
	}
	return p.index.Of(i, p.given[j][i].Device)
}

func (p *Prediction) wait(j, i int) float64 { return p.Solution.Waits[p.class[j]][i] }

// Presence returns the probability, from 0 to 1, that a thread of job j stands in
// the way of others at resource i.
func (p *Prediction) Presence(j, i int) float64 { return p.presence(j, p.indexOf(j, i)) }

func (p *Prediction) presence(j, i int) float64 { return p.Solution.Presences[p.class[j]][i] }

// Delay returns the part of the dilation of job j that its waits for other jobs at resource i add, at least 0, or at
// an interference resource the part that slower service adds. The parts of all resources add up to λ_j − 1.
//
// What a thread waits for others is its loading times its wait, in the proportion in
// which it finds their threads and those of its own job there. For a job with several
// threads these waits are scaled, all alike, to add up to λ_j − 1: its threads wait for
// each other longer or shorter than they do alone, and that is due to the others, too.
func (p *Prediction) Delay(j, i int) float64 { return p.delay(j, p.indexOf(j, i)) }

func (p *Prediction) delay(j, i int) float64 {
	if p.interferesAt(j, i) {
		return p.slowingAt(j, i)
	}
	if p.sharing != nil {
		return p.delays[j][i] * p.slowed(j)
	}
	return p.waitForOthers(j, i) * p.scale[p.class[j]] * p.slowed(j)
}

// interferesAt reports whether job j has an effect at resource i.
func (p *Prediction) interferesAt(j, i int) bool {
	return i < len(p.jobs[j]) && p.jobs[j][i].Effect != nil
}

// slowingAt returns the contribution of slower service because of interference resource i to the dilation of job j:
// its part of the sum over all of them, in the proportion in which they inflate service.
func (p *Prediction) slowingAt(j, i int) float64 {
	f := &p.inflation[j]
	stretch := f.Stretch(false)
	if stretch == 1 {
		return 0
	}
	return (p.slowing[j] - 1) * f.Parts[i] / (stretch - 1)
}

// waitForOthers returns the wait of a thread of job j at resource i for threads of other jobs, in own times.
func (p *Prediction) waitForOthers(j, i int) float64 {
	if i >= len(p.inflated[j]) || p.inflated[j][i].Idle() {
		return 0
	}
	others := p.found(j, i)
	if others == 0 {
		return 0
	}
	siblings := float64(p.inflated[j][i].ThreadCount()-1) * p.presence(j, i)
	return p.inflated[j][i].Loading * p.wait(j, i) * (others / (others + siblings))
}

// found returns the mean number of threads of other jobs that a thread of job j finds at resource i.
func (p *Prediction) found(j, i int) float64 {
	sum := 0.0
	for k, v := range p.jobs {
		if k != j && i < len(v) {
			sum += float64(v[i].ThreadCount()) * p.presence(k, i)
		}
	}
	return sum
}

// BlameAt returns the contribution of each job to the dilation of job j by delaying it at resource i. The
// contributions add up to [Prediction.Delay].
//
// The rule: the delay is shared out in proportion to the mean number of threads of each job that a thread of job j
// finds there, which is the wait itself when the resource has one server; at a resource that is shared by weights and
// limits ([PredictSharing]), in proportion to each job's usage of it; at an interference resource, in proportion to
// each job's pressure there. No job is to blame for its own dilation.
func (p *Prediction) BlameAt(j, i int) []float64 {
	blame := make([]float64, len(p.jobs))
	i = p.indexOf(j, i)
	delay := p.delay(j, i)
	if delay == 0 {
		return blame
	}
	total := 0.0
	for k, v := range p.inflated {
		if k != j && i < len(v) {
			blame[k] = p.inTheWay(k, i)
			total += blame[k]
		}
	}
	for k := range blame {
		blame[k] *= delay / total
	}
	return blame
}

// inTheWay returns the weight of job k in sharing out blame: the mean number of its threads at a resource, or its
// usage where the resource is shared by weights.
func (p *Prediction) inTheWay(k, i int) float64 {
	d := p.inflated[k][i]
	if d.Effect != nil {
		return p.inflation[k].Pressing[i]
	}
	if p.sharing != nil && i == p.sharing.Resource {
		return float64(d.ThreadCount()) * d.Loading * p.paces[k]
	}
	return float64(d.ThreadCount()) * p.presence(k, i)
}
