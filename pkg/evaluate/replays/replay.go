// Package replays answers a TraceReplay: it checks one, carries out its runs, a
// policy and a seed each, on the jobs of a trace or on generated ones, and merges
// the results of the runs into an answer and a status. A result can be encoded in a
// text that fits a termination message, so that runs may be carried out by pods.
package replays

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/trace"
)

// Input is the input of a replay.
type Input struct {
	Replay *v1alpha1.TraceReplay
	// Workloads and Nodes hold the profiles that the replay may refer to.
	Workloads []v1alpha1.WorkloadProfile
	Nodes     []v1alpha1.NodeProfile
	// Open opens the trace, and returns its name for messages. It is called once
	// per run, if the replay has a trace, and must be safe for concurrent use.
	Open func() (io.ReadCloser, string, error)
}

// Run is one run: a policy and a seed.
type Run struct {
	Policy string
	Seed   uint64
}

// Replay is a valid TraceReplay, ready to run.
type Replay struct {
	name      string
	spec      *v1alpha1.TraceReplaySpec
	open      func() (io.ReadCloser, string, error)
	runs      []Run
	policies  []v1alpha1.ReplayPolicy
	solver    queueing.Solver
	profiles  []*profile.NodeClass
	nodes     []epochs.NodeClass
	jobTypes  *jobTypes
	resources *profile.Resources // that any object names: the order of vectors
	requests  []string           // that a node may have a capacity for: the order of requests
}

// cpu is the resource, and the request, that every node and job has.
const cpu = "cpu"

// defaultPolicies are compared if none is named.
var defaultPolicies = []string{"round-robin", "least-requested", "lmuf", "least-dilation"}

// The largest values that the API lets through.
const (
	maxRuns  = 1000
	maxJobs  = 10_000_000
	maxNodes = 100_000 // of one class
)

// New returns a replay ready to run. Everything but the content of the
// trace is checked; the error names the field, the value and the rule.
func New(in Input) (*Replay, error) {
	r := &Replay{name: in.Replay.Name, spec: &in.Replay.Spec, open: in.Open}
	for _, step := range []func(Input) error{
		r.setPolicies, r.setRuns, r.setOptions, r.checkShares, r.checkTrace, r.setResources, r.setNodes, r.setJobTypes, r.checkArrivals,
	} {
		if err := step(in); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Runs returns the runs: each policy with each seed, seeds 1 and up, policy by
// policy in the order of the spec.
func (r *Replay) Runs() []Run { return r.runs }

// Jobs returns how many jobs a run replays at most, 0 if that is unknown.
func (r *Replay) Jobs() int64 {
	switch {
	case r.spec.Arrivals != nil:
		return *r.spec.Arrivals.Jobs
	case r.spec.Trace.Limit != nil:
		return *r.spec.Trace.Limit
	default:
		return 0
	}
}

// seeds returns how many runs each policy has.
func (r *Replay) seeds() int { return len(r.runs) / len(r.policies) }

func (r *Replay) setPolicies(Input) error {
	r.policies = r.spec.Policies
	if len(r.policies) == 0 {
		for _, name := range defaultPolicies {
			r.policies = append(r.policies, v1alpha1.ReplayPolicy{Name: name})
		}
	}
	seen := map[string]bool{}
	for i, p := range r.policies {
		path := field.NewPath("spec", "policies").Index(i)
		if seen[p.Name] {
			return field.Duplicate(path.Child("name"), p.Name)
		}
		seen[p.Name] = true
		if !slices.Contains(placement.Names(), p.Name) {
			return field.NotSupported(path.Child("name"), p.Name, placement.Names())
		}
		if err := checkThreshold(p, path); err != nil {
			return err
		}
	}
	return nil
}

// checkThreshold refuses numbers that a policy does not take.
func checkThreshold(p v1alpha1.ReplayPolicy, path *field.Path) error {
	one := resource.MustParse("1")
	switch {
	case p.Threshold != nil && p.Name != placement.LMUFT{}.Name():
		return field.Forbidden(path.Child("threshold"), "only "+placement.LMUFT{}.Name()+" has a threshold")
	case p.Target != nil && p.Name != placement.TargetLoadPacking{}.Name():
		return field.Forbidden(path.Child("target"), "only "+placement.TargetLoadPacking{}.Name()+" has a target")
	case p.Threshold != nil && (p.Threshold.Sign() <= 0 || p.Threshold.Cmp(one) > 0):
		return field.Invalid(path.Child("threshold"), p.Threshold.String(), "is a utilization: write a number above 0 and up to 1")
	case p.Target != nil && (p.Target.Sign() <= 0 || p.Target.Cmp(one) >= 0):
		return field.Invalid(path.Child("target"), p.Target.String(), "is a utilization: write a number above 0 and below 1")
	}
	return nil
}

// policy returns a new policy for a run.
func (r *Replay) policy(i int, seed uint64) (placement.Policy, error) {
	p := r.policies[i]
	options := placement.Options{Rand: lots(seed), CPU: 0, Scored: r.scored()} // the first resource is the cpu
	if p.Threshold != nil {
		options.Threshold = p.Threshold.AsApproximateFloat64()
	}
	if p.Target != nil {
		options.Target = p.Target.AsApproximateFloat64()
	}
	return placement.Named(p.Name, options)
}

func (r *Replay) setRuns(Input) error {
	seeds := 1
	if r.spec.Seeds != nil {
		seeds = int(*r.spec.Seeds)
	}
	if most := maxRuns / len(r.policies); seeds < 1 || seeds > most {
		return field.Invalid(field.NewPath("spec", "seeds"), seeds, fmt.Sprintf(
			"must be between 1 and %d: each of the %d policies is run with each seed, %d runs at most", most, len(r.policies), maxRuns))
	}
	for _, p := range r.policies {
		for seed := range seeds {
			r.runs = append(r.runs, Run{p.Name, uint64(seed + 1)})
		}
	}
	return nil
}

func (r *Replay) setOptions(Input) (err error) {
	path := field.NewPath("spec")
	if r.solver, err = queueing.SolverNamed(r.spec.Solver); err != nil {
		return field.NotSupported(path.Child("solver"), r.spec.Solver, queueing.SolverNames())
	}
	if queues := []string{v1alpha1.QueueBackfill, v1alpha1.QueueFIFO}; r.spec.Queue != "" && !slices.Contains(queues, r.spec.Queue) {
		return field.NotSupported(path.Child("queue"), r.spec.Queue, queues)
	}
	return nil
}

func (r *Replay) checkTrace(in Input) error {
	path := field.NewPath("spec", "trace")
	if (r.spec.Trace == nil) == (r.spec.Arrivals == nil) {
		return field.Required(path, "give either trace (recorded jobs) or arrivals (generated jobs), and not both")
	}
	t := r.spec.Trace
	if t == nil {
		return nil
	}
	if format := trace.Format(t.Format); format != "" && !slices.Contains(trace.Formats(), format) {
		return field.NotSupported(path.Child("format"), format, trace.Formats())
	}
	if t.Limit != nil && *t.Limit < 1 {
		return field.Invalid(path.Child("limit"), *t.Limit, "must be at least 1")
	}
	if unsorted := []string{v1alpha1.UnsortedRefuse, v1alpha1.UnsortedSort}; t.Unsorted != "" && !slices.Contains(unsorted, t.Unsorted) {
		return field.NotSupported(path.Child("unsorted"), t.Unsorted, unsorted)
	}
	if in.Open == nil {
		return errors.New("nobody said how to open the trace") // a bug of the caller
	}
	return nil
}
