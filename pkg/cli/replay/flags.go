package replay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/trace"
)

// specFlags are the flags for the fields of a TraceReplay's spec.
type specFlags struct {
	// The trace.
	format string
	limit  int64
	sort   bool

	// Arrivals.
	generate     int64
	every        time.Duration
	distribution string
	scv          string
	gapsFrom     string
	types        []string
	requests     map[string]string
	limits       map[string]string

	// Nodes.
	nodes     int32
	cores     int32
	servers   []string
	sharing   map[string]string
	capacity  []string
	maxJobs   int32
	nodesFrom string
	madeNodes bool // of the flags

	policies  []string
	seeds     int32
	solver    string
	queue     string
	cpuShares string
}

func (f *specFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "format", v1alpha1.TraceFormatCSV, "format of the trace: "+strings.Join(formats(), ", "))
	flags.Int64Var(&f.limit, "limit", 0, "read at most this number of jobs of the trace (default all)")
	flags.BoolVar(&f.sort, "sort", false, "sort the trace by arrival first, in memory")

	flags.Int64Var(&f.generate, "generate", 0, "generate this number of jobs per seed, in place of a trace")
	flags.DurationVar(&f.every, "every", 0, "the mean time between generated jobs, such as 6s")
	flags.StringVar(&f.distribution, "distribution", v1alpha1.DistributionExponential,
		"how the times between generated jobs are distributed: "+strings.Join(replays.Distributions(), ", "))
	flags.StringVar(&f.scv, "scv", "", "their squared coefficient of variation, for gamma, lognormal and hyperexponential: the larger, the burstier")
	flags.StringVar(&f.gapsFrom, "gaps-from", "", "draw the times between generated jobs from those of this trace, in place of --every")
	flags.StringSliceVar(&f.types, "types", nil, "the WorkloadProfiles of generated jobs, as NAME[=WEIGHT] (default all that have neutralMillis)")
	flags.StringToStringVar(&f.requests, "requests", nil, "CPU that generated jobs of a WorkloadProfile request, as PROFILE=CPU,…, 0 for nothing (default what they keep busy)")
	flags.StringToStringVar(&f.limits, "limits", nil, "CPU that generated jobs of a WorkloadProfile are limited to, as PROFILE=CPU,… (default no limit)")

	flags.Int32Var(&f.nodes, "nodes", 1, "how many nodes there are, all alike")
	flags.Int32Var(&f.cores, "cores", 1, "how many cores each node has")
	flags.StringSliceVar(&f.servers, "servers", nil, "servers of other resources of each node, as NAME=COUNT, such as disk=2,gpu=8")
	flags.StringToStringVar(&f.sharing, "sharing", nil, "how jobs share the servers of a resource that are devices, as NAME=TimeSliced or NAME=Exclusive, such as gpu=TimeSliced (default what the NodeProfile says, else any server that is free)")
	flags.StringSliceVar(&f.capacity, "capacity", nil, "what requests may add up to on each node, as NAME=QUANTITY, such as cpu=64,memory=256Gi (default no limit)")
	flags.Int32Var(&f.maxJobs, "max-jobs", 0, "how many jobs each node runs at once (default no limit)")
	flags.StringVar(&f.nodesFrom, "nodes-from", "", "file with a list of nodes of the openb format")

	flags.StringSliceVar(&f.policies, "policies", nil, "policies to compare, the first being what others are compared with; lmuf-t=THRESHOLD and target-load-packing=TARGET (default round-robin,least-requested,lmuf,least-dilation)")
	flags.Int32Var(&f.seeds, "seeds", 1, "how many streams of jobs to generate, or draws of policies to try")
	flags.StringVar(&f.solver, "solver", "auto", "how to solve the model: "+strings.Join(queueing.SolverNames(), ", "))
	flags.StringVar(&f.queue, "queue", v1alpha1.QueueBackfill, "what happens behind a job that fits nowhere: backfill or fifo")
	flags.StringVar(&f.cpuShares, "cpu-shares", v1alpha1.CPUSharesEqual, "how jobs share busy cores: equal, or by their CPU requests as in Kubernetes, requests")
}

// apply writes the flags that were given into a spec, which may be empty.
func (f *specFlags) apply(spec *v1alpha1.TraceReplaySpec, trace string, workloads []v1alpha1.WorkloadProfile, changed func(flag string) bool) error {
	for _, apply := range []func() error{
		func() error { return f.applyTrace(spec, trace, changed) },
		func() error { return f.applyArrivals(spec, workloads, changed) },
		func() error { return f.applyNodes(spec, changed) },
		func() error { return f.applySharing(spec) },
		func() error { return f.applyPolicies(spec) },
	} {
		if err := apply(); err != nil {
			return err
		}
	}
	if changed("seeds") {
		spec.Seeds = &f.seeds
	}
	if changed("solver") {
		spec.Solver = f.solver
	}
	if changed("queue") {
		spec.Queue = f.queue
	}
	if changed("cpu-shares") {
		spec.CPUShares = f.cpuShares
	}
	return nil
}

func (f *specFlags) applyTrace(spec *v1alpha1.TraceReplaySpec, trace string, changed func(flag string) bool) error {
	if trace == "" {
		return nil
	}
	if spec.Arrivals != nil {
		return errors.New("the TraceReplay generates its jobs: leave out --trace, or spec.arrivals")
	}
	if spec.Trace == nil {
		spec.Trace = &v1alpha1.ReplayTrace{}
	}
	if changed("format") {
		spec.Trace.Format = f.format
	}
	if changed("limit") {
		spec.Trace.Limit = &f.limit
	}
	if f.sort {
		spec.Trace.Unsorted = v1alpha1.UnsortedSort
	}
	return nil
}

func (f *specFlags) applyPolicies(spec *v1alpha1.TraceReplaySpec) error {
	if len(f.policies) > 0 {
		spec.Policies = nil
	}
	for _, text := range f.policies {
		policy, err := parsePolicy(text)
		if err != nil {
			return fmt.Errorf("--policies %s: %w", text, err)
		}
		spec.Policies = append(spec.Policies, policy)
	}
	return nil
}

// parsePolicy reads NAME or NAME=NUMBER.
func parsePolicy(text string) (v1alpha1.ReplayPolicy, error) {
	name, value, hasValue := strings.Cut(text, "=")
	policy := v1alpha1.ReplayPolicy{Name: name}
	if !hasValue {
		return policy, nil
	}
	q, err := resource.ParseQuantity(value)
	if err != nil {
		return policy, fmt.Errorf("%q is not a number such as 0.8", value)
	}
	switch name {
	case "lmuf-t":
		policy.Threshold = &q
	case "target-load-packing":
		policy.Target = &q
	default:
		return policy, errors.New("only lmuf-t and target-load-packing take a number")
	}
	return policy, nil
}

// formats returns the names of the formats of traces.
func formats() []string {
	var names []string
	for _, f := range trace.Formats() {
		names = append(names, string(f))
	}
	return names
}
