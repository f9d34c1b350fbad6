package epochs

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Job is a job of a trace.
type Job struct {
	// Name identifies the job.
	Name string
	placement.Job
	// Arrival is when the job arrives, in seconds, finite, not before the job
	// before it.
	Arrival float64
	// Data is for the caller, and is passed on unchanged.
	Data any
}

// Outcome is when and where a job ran. Times are seconds since the start of the trace.
type Outcome struct {
	Job
	Node       int // of the cluster, counted through all classes
	Start, End float64
	// Alone is the neutral time of the job on its node.
	Alone float64
}

// Wait returns how long the job waited at the scheduler.
func (o *Outcome) Wait() float64 { return o.Start - o.Arrival }

// Execution returns how long the job ran.
func (o *Outcome) Execution() float64 { return o.End - o.Start }

// Response returns how long the job took from its arrival: wait and execution.
func (o *Outcome) Response() float64 { return o.End - o.Arrival }

// Dilation returns how much longer the job ran than it would have alone on its
// node, at least 1. A job of no work is not dilated.
func (o *Outcome) Dilation() float64 {
	if o.Alone == 0 {
		return 1
	}
	return max(1, o.Execution()/o.Alone)
}

// Drop is a job that no node can ever take, or that the policy does not place even
// when no job runs.
type Drop struct {
	Job
	Reason string
}

// Epoch is a time during which the mix of jobs on a node stays the same.
type Epoch struct {
	Node       int
	Start, End float64
	Mix        *mix.Mix
}

// Options are the options of a replay. The zero value is a sound choice.
type Options struct {
	// Solver is how mixes are predicted. ExactSteps of 0 means
	// [DefaultExactSteps].
	Solver queueing.Options
	// FIFO keeps jobs from overtaking each other at the scheduler. By default a job
	// that cannot be placed does not hold up those behind it, as in kube-scheduler.
	FIFO bool
	// Done, Dropped and Epoch, where given, are called for each job that completes,
	// each that is dropped, and each epoch in which a job runs, in the order in
	// which they end. Their arguments are valid during the call only. An error ends
	// the replay.
	Done    func(*Outcome) error
	Dropped func(*Drop) error
	Epoch   func(*Epoch) error
	// Resource and Capacity, where given, name a resource and a capacity in
	// reasons, by their place in the lists of a class of nodes.
	Resource, Capacity func(i int) string
	// Progress, where given, is called every few thousand arrivals and completions
	// with the number of jobs that have arrived.
	Progress func(arrived int)
	// MaxMixes is the maximum size of the cache of mixes of one class of nodes, as
	// [contention.Mixes.Size] counts. 0 means [DefaultMaxMixes].
	MaxMixes int
}

const (
	// DefaultExactSteps bounds the time for the exact solution of a mix to about
	// 50 µs: 8 different jobs at 4 resources.
	DefaultExactSteps = 1 << 14
	// DefaultMaxMixes is about 100 MB.
	DefaultMaxMixes = 1 << 19
)

// Result is the totals of a replay.
type Result struct {
	// Completed and Dropped count jobs.
	Completed, Dropped int
	// FirstArrival and LastEnd are when the first job arrived and the last
	// completed.
	FirstArrival, LastEnd float64
	// Busy holds, per node and resource, for how many server-seconds jobs were served, at any device or server of it.
	Busy [][]float64
}

// Makespan returns the time from the first arrival to the last completion.
func (r *Result) Makespan() float64 { return r.LastEnd - r.FirstArrival }

// Replay replays jobs, in order of arrival, on a cluster whose policy places them.
// The policy must be new.
//
// An error of the trace, an invalid job or cluster, the end of the context or an
// error of one of the functions in the options ends the replay. The result is then
// that of the replay so far.
func Replay(ctx context.Context, jobs iter.Seq2[Job, error], classes []NodeClass, policy placement.Policy, options Options) (*Result, error) {
	r, err := newReplay(ctx, classes, policy, options)
	if err != nil {
		return &Result{}, err
	}
	return r.result, r.run(jobs)
}

// replay is the state of a replay.
type replay struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one call of Replay
	cluster *cluster
	policy  placement.Policy
	options Options
	result  *Result

	now     float64
	last    float64 // arrival of the last job seen
	next    *completions
	jobs    []active // by number
	free    []int    // numbers of jobs that are done
	arrived int
	running int
	waiting []int // numbers of jobs at the scheduler, in the order of arrival
	changed []int // nodes on which a job completed now

	done       []int                  // scratch
	freed      []*placement.NodeState // scratch
	candidates []*placement.NodeState // scratch
	calls      int
}

// active is a job in the system.
type active struct {
	Job
	start float64
}

func newReplay(ctx context.Context, classes []NodeClass, policy placement.Policy, options Options) (*replay, error) {
	if options.Solver.ExactSteps == 0 {
		options.Solver.ExactSteps = DefaultExactSteps
	}
	if options.MaxMixes == 0 {
		options.MaxMixes = DefaultMaxMixes
	}
	cluster, err := newCluster(classes, options.Solver)
	if err != nil {
		return nil, err
	}
	r := &replay{
		ctx: ctx, cluster: cluster, policy: policy, options: options,
		next: newCompletions(len(cluster.nodes)), result: &Result{Busy: make([][]float64, len(cluster.nodes))},
	}
	for _, class := range cluster.classes {
		class.maxMixes = options.MaxMixes
	}
	for i, class := range cluster.class {
		r.result.Busy[i] = make([]float64, len(class.Servers))
	}
	return r, nil
}

// run replays all jobs. Those that arrive at one instant are gathered, so that
// they can be put in order.
func (r *replay) run(jobs iter.Seq2[Job, error]) error {
	var batch []Job
	for job, err := range jobs {
		if err != nil {
			return err
		}
		if err := r.check(&job, r.arrived+len(batch) == 0); err != nil {
			return err
		}
		r.last = job.Arrival
		if len(batch) > 0 && job.Arrival > batch[0].Arrival {
			if err := r.arrive(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if r.arrived+len(batch) == 0 {
			r.result.FirstArrival, r.result.LastEnd, r.now = job.Arrival, job.Arrival, job.Arrival
		}
		batch = append(batch, job)
	}
	if len(batch) > 0 {
		if err := r.arrive(batch); err != nil {
			return err
		}
	}
	return r.completeUntil(math.Inf(1))
}

// check returns an error for a job that is invalid, or out of order.
func (r *replay) check(j *Job, first bool) error {
	switch {
	case math.IsNaN(j.Arrival) || math.IsInf(j.Arrival, 0):
		return fmt.Errorf("job %q: arrival: %v is not a finite time", j.Name, j.Arrival)
	case !first && j.Arrival < r.last:
		return fmt.Errorf("job %q: arrival: %v is before that of the job before it, %v", j.Name, j.Arrival, r.last)
	case !(j.Neutral >= 0) || math.IsInf(j.Neutral, 0):
		return fmt.Errorf("job %q: neutral time: %v is not a finite time of at least 0", j.Name, j.Neutral)
	case j.Type == nil:
		return fmt.Errorf("job %q: has no type", j.Name)
	case len(j.Requests) > r.cluster.capacities:
		return fmt.Errorf("job %q: requests: %d for nodes with %d capacities", j.Name, len(j.Requests), r.cluster.capacities)
	}
	for i, request := range j.Requests {
		if !(request >= 0) || math.IsInf(request, 0) {
			return fmt.Errorf("job %q: requests[%d]: %v is not a finite number of at least 0", j.Name, i, request)
		}
	}
	return nil
}

// arrive lets jobs arrive at one instant, after the completions until then.
func (r *replay) arrive(batch []Job) error {
	slices.SortStableFunc(batch, func(a, b Job) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	if err := r.completeUntil(batch[0].Arrival); err != nil {
		return err
	}
	r.now = batch[0].Arrival
	for i := range batch {
		r.arrived++
		if err := r.tick(); err != nil {
			return err
		}
		if err := r.admit(r.enter(&batch[i])); err != nil {
			return err
		}
	}
	return nil
}

// admit places a job that arrives, lets it wait, or drops it.
func (r *replay) admit(id int) error {
	j := &r.jobs[id].Job.Job
	if !r.cluster.suits(j) {
		return r.drop(id, r.why(j))
	}
	if !r.options.FIFO || len(r.waiting) == 0 {
		placed, err := r.place(id, r.cluster.nodes)
		if err != nil || placed {
			return err
		}
		if r.running == 0 {
			return r.refuse(id)
		}
	}
	r.waiting = append(r.waiting, id)
	return nil
}

// enter gives a job a number.
func (r *replay) enter(j *Job) int {
	if last := len(r.free) - 1; last >= 0 {
		id := r.free[last]
		r.free = r.free[:last]
		r.jobs[id] = active{Job: *j}
		return id
	}
	r.jobs = append(r.jobs, active{Job: *j})
	return len(r.jobs) - 1
}

// leave frees the number of a job.
func (r *replay) leave(id int) {
	r.jobs[id] = active{}
	r.free = append(r.free, id)
}

// place starts a job on one of some nodes, if the policy finds one.
func (r *replay) place(id int, nodes []*placement.NodeState) (placed bool, err error) {
	j := &r.jobs[id].Job.Job
	candidates := r.candidatesOf(j, nodes)
	if len(candidates) == 0 {
		return false, nil
	}
	chosen := r.policy.Choose(r.now, j, candidates)
	if err := r.cluster.err(); err != nil || chosen < 0 {
		return false, err
	}
	n := candidates[chosen]
	if err := r.pass(n); err != nil {
		return false, err
	}
	r.jobs[id].start = r.now
	r.running++
	if r.done = n.Start(r.now, j, id, r.done[:0]); len(r.done) > 0 {
		// Jobs that were to complete within rounding of now.
		if err := r.finish(n, r.done); err != nil {
			return false, err
		}
	}
	return true, r.schedule(n)
}

// candidatesOf returns those of some nodes that can take a job now.
func (r *replay) candidatesOf(j *placement.Job, nodes []*placement.NodeState) []*placement.NodeState {
	r.cluster.suits(j)
	if r.cluster.all && !r.cluster.limited {
		return nodes
	}
	candidates := r.candidates[:0]
	for _, n := range nodes {
		if r.cluster.class[n.Index].suits && n.Fits(j) {
			candidates = append(candidates, n)
		}
	}
	r.candidates = candidates
	return candidates
}

// schedule updates when the next job completes on a node.
func (r *replay) schedule(n *placement.NodeState) error {
	r.next.at[n.Index] = n.Since + n.Running.Next()
	heap.Fix(r.next, r.next.place[n.Index])
	return n.Mixes.Err()
}

// pass records the epoch of a node that ends now.
func (r *replay) pass(n *placement.NodeState) error {
	mix := n.Running.Mix()
	if mix.Jobs() == 0 || r.now <= n.Since {
		return nil
	}
	busy := r.result.Busy[n.Index]
	for i, servers := range n.Class.Servers {
		at := i
		if n.Devices != nil && i >= n.Devices.First {
			at = n.Devices.Resource
		}
		busy[at] += (r.now - n.Since) * mix.Utilization(i) * float64(servers)
	}
	if r.options.Epoch == nil {
		return nil
	}
	return r.options.Epoch(&Epoch{Node: n.Index, Start: n.Since, End: r.now, Mix: mix})
}

// completeUntil lets jobs complete up to a time, and places those that wait.
func (r *replay) completeUntil(until float64) error {
	for {
		_, at := r.next.next()
		if at > until || math.IsInf(at, 1) {
			return nil
		}
		r.now = at
		r.changed = r.changed[:0]
		for node, next := r.next.next(); next == at; node, next = r.next.next() {
			if err := r.complete(r.cluster.nodes[node]); err != nil {
				return err
			}
			r.changed = append(r.changed, node)
		}
		if err := r.retry(); err != nil {
			return err
		}
	}
}

// complete carries out the next completion of a node, now.
func (r *replay) complete(n *placement.NodeState) error {
	if err := r.pass(n); err != nil {
		return err
	}
	// Not the difference of two times, after which rounding could leave the job some
	// work.
	r.done = n.Running.Advance(n.Running.Next(), r.done[:0])
	n.Since = r.now
	if err := r.finish(n, r.done); err != nil {
		return err
	}
	return r.schedule(n)
}

// finish lets jobs leave that have completed on a node.
func (r *replay) finish(n *placement.NodeState, done []int) error {
	slices.SortFunc(done, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(r.jobs[a].Name), len(r.jobs[b].Name)), strings.Compare(r.jobs[a].Name, r.jobs[b].Name))
	})
	for _, id := range done {
		j := &r.jobs[id]
		n.Release(&j.Job.Job, id)
		r.running--
		r.result.Completed++
		r.result.LastEnd = r.now
		if r.options.Done != nil {
			outcome := Outcome{Job: j.Job, Node: n.Index, Start: j.start, End: r.now, Alone: j.Neutral * n.Mixes.Stretch(j.Type)}
			if err := r.options.Done(&outcome); err != nil {
				return err
			}
		}
		r.leave(id)
	}
	return r.tick()
}

// retry places waiting jobs, now that there is room on the nodes where a job completed. On the others nothing has
// changed since the jobs were refused.
func (r *replay) retry() error {
	if len(r.waiting) == 0 {
		return nil
	}
	slices.Sort(r.changed)
	r.freed = r.freed[:0]
	for _, node := range slices.Compact(r.changed) {
		r.freed = append(r.freed, r.cluster.nodes[node])
	}
	still := r.waiting[:0]
	for k, id := range r.waiting {
		nodes := r.freed
		if r.running == 0 || r.options.FIFO && k > 0 { // the last try, or the first
			nodes = r.cluster.nodes
		}
		placed, err := r.place(id, nodes)
		switch {
		case err != nil:
			return err
		case placed:
		case r.running == 0:
			if err := r.refuse(id); err != nil {
				return err
			}
		case r.options.FIFO:
			r.waiting = slices.Delete(r.waiting, 0, k)
			return nil
		default:
			still = append(still, id)
		}
	}
	r.waiting = still
	return nil
}

// refuse drops a job that the policy will never place.
func (r *replay) refuse(id int) error {
	return r.drop(id, fmt.Sprintf("policy %s does not take it even when nothing runs", r.policy.Name()))
}

// why returns the reason why no node can ever take a job.
func (r *replay) why(j *placement.Job) string {
	var reasons []string
	for _, class := range r.cluster.classes {
		if i, ok := class.has(j); !ok {
			reasons = append(reasons, fmt.Sprintf("nodes of class %q have no resource %s", class.Name, named(r.options.Resource, i)))
			continue
		}
		for i, request := range j.Requests {
			if i < len(class.Capacity) && !placement.WithinCapacity(request, class.Capacity[i]) {
				reasons = append(reasons, fmt.Sprintf("nodes of class %q have %s of %s, it requests %s", class.Name, amount(class.Capacity[i]), named(r.options.Capacity, i), amount(request)))
				break
			}
		}
	}
	return strings.Join(reasons, "; ")
}

// amount formats a number without an exponent, as bytes are written.
func amount(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func named(name func(int) string, i int) string {
	if name == nil {
		return strconv.Itoa(i)
	}
	return name(i)
}

func (r *replay) drop(id int, reason string) error {
	r.result.Dropped++
	d := Drop{r.jobs[id].Job, reason}
	r.leave(id)
	if r.options.Dropped == nil {
		return nil
	}
	return r.options.Dropped(&d)
}

// tick does the work that is due about once per event.
func (r *replay) tick() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	for _, class := range r.cluster.classes {
		if class.mixes.Size() > class.maxMixes {
			r.forget(class)
		}
	}
	const often = 1 << 12
	if r.calls++; r.options.Progress != nil && r.calls%often == 0 {
		r.options.Progress(r.arrived)
	}
	return nil
}

// forget empties the cache of mixes of a class, except for those in use. Its maximum
// size grows with these, or it would be emptied at each event.
func (r *replay) forget(class *nodeClass) {
	class.mixes.Forget()
	if class.devices != nil {
		class.devices.Forget()
	}
	for _, n := range class.nodes {
		n.Running.Recall(class.mixes)
	}
	class.maxMixes = max(r.options.MaxMixes, 2*class.mixes.Size())
}
