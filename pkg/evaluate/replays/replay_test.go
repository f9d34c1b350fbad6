package replays_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/test/given"
)

func TestRunsAreEachPolicyWithEachSeed(t *testing.T) {
	t.Parallel()
	r := newReplay(t, generating())
	want := []replays.Run{{"random", 1}, {"random", 2}, {"random", 3}, {"least-dilation", 1}, {"least-dilation", 2}, {"least-dilation", 3}}
	if diff := cmp.Diff(want, r.Runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if r.Jobs() != 400 {
		t.Errorf("%d jobs per run, want 400", r.Jobs())
	}
}

func TestFourPoliciesAreComparedIfNoneIsNamed(t *testing.T) {
	t.Parallel()
	replay := generating()
	replay.Spec.Policies, replay.Spec.Seeds = nil, nil
	want := []replays.Run{{"round-robin", 1}, {"least-requested", 1}, {"lmuf", 1}, {"least-dilation", 1}}
	if diff := cmp.Diff(want, newReplay(t, replay).Runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestNodesAreNamedByTheirClass(t *testing.T) {
	t.Parallel()
	replay := generating()
	replay.Spec.Nodes = []v1alpha1.ReplayNodes{{Name: "small", Count: new(int32(2))}, {Name: "large"}}
	if diff := cmp.Diff([]string{"small-1", "small-2", "large"}, newReplay(t, replay).NodeNames()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// The resources of a node: as declared, else those of its profile, else one server of each resource
// that every node has, and the number of cores that may be requested.
func TestNodesHaveWhatIsSaidOfThem(t *testing.T) {
	t.Parallel()
	replay := generating()
	replay.Spec.Arrivals.Types = replay.Spec.Arrivals.Types[:1]          // each keeps one core busy for 4 s
	replay.Spec.Arrivals.Interarrival.MeanMillis = new(int64(1_000_000)) // and is alone
	for name, test := range map[string]struct {
		node  v1alpha1.ReplayNodes
		cores float64
		speed float64
	}{
		"nothing":                         {v1alpha1.ReplayNodes{}, 1, 1},
		"a capacity":                      {v1alpha1.ReplayNodes{Capacity: []v1alpha1.ReplayCapacity{{Name: "cpu", Quantity: given.Quantity("7600m")}}}, 8, 1},
		"a profile":                       {v1alpha1.ReplayNodes{NodeProfile: "big"}, 32, 1},
		"a profile and resources":         {v1alpha1.ReplayNodes{NodeProfile: "big", Resources: []v1alpha1.ReplayResource{{Name: "cpu", Servers: new(int32(3))}}}, 3, 1},
		"a speed, the rest of a profile":  {v1alpha1.ReplayNodes{NodeProfile: "big", Resources: []v1alpha1.ReplayResource{{Name: "cpu", Speed: given.Quantity("2")}}}, 32, 2},
		"a resource without more details": {v1alpha1.ReplayNodes{Resources: []v1alpha1.ReplayResource{{Name: "cpu"}}}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replay := replay.DeepCopy()
			test.node.Name = "node"
			replay.Spec.Nodes = []v1alpha1.ReplayNodes{test.node}
			r, err := replays.New(replays.Input{
				Replay: replay, Workloads: jobProfiles(),
				Nodes: []v1alpha1.NodeProfile{given.Class("big", v1alpha1.ResourceServers{Name: "cpu", Servers: new(int32(32))})},
			})
			if err != nil {
				t.Fatal(err)
			}
			result, _ := outcomes(t, r, 0)
			if want := 400 * 4 / test.speed / test.cores / result.MakespanSeconds; !near(result.Utilization[0].Mean, want, 1e-9) {
				t.Errorf("the cpu is busy for %v of the time, want %v: %v cores of speed %v", result.Utilization[0].Mean, want, test.cores, test.speed)
			}
		})
	}
}

func TestAWrongReplayIsRefusedWithFieldValueAndRule(t *testing.T) {
	t.Parallel()
	profiles := append(jobProfiles(),
		given.Workload("endless", 0, given.CPU("1")), // no neutralMillis
		given.Workload("twice", 0, given.CPU("1")), given.Workload("twice", 0, given.CPU("1")),
	)
	profiles[len(profiles)-1].Namespace = "other"
	type spec = v1alpha1.TraceReplaySpec
	node := func(change func(*v1alpha1.ReplayNodes)) func(*spec) { return func(s *spec) { change(&s.Nodes[0]) } }
	gaps := func(i v1alpha1.Interarrival) func(*spec) { return func(s *spec) { s.Arrivals.Interarrival = i } }
	jobsOf := func(t ...v1alpha1.ReplayJobType) func(*spec) { return func(s *spec) { s.Arrivals.Types = t } }
	policies := func(p ...v1alpha1.ReplayPolicy) func(*spec) { return func(s *spec) { s.Policies = p } }
	for name, test := range map[string]struct {
		change func(*spec)
		want   string
	}{
		"trace and arrivals":    {func(s *spec) { s.Trace = &v1alpha1.ReplayTrace{} }, "spec.trace: Required value: give either trace (recorded jobs) or arrivals (generated jobs), and not both"},
		"neither":               {func(s *spec) { s.Arrivals = nil }, "spec.trace: Required value: give either trace"},
		"an unknown format":     {func(s *spec) { s.Arrivals, s.Trace = nil, &v1alpha1.ReplayTrace{Format: "xml"} }, `spec.trace.format: Unsupported value: "xml": supported values: "csv", "swf", "openb"`},
		"a limit of 0":          {func(s *spec) { s.Arrivals, s.Trace = nil, &v1alpha1.ReplayTrace{Limit: new(int64(0))} }, "spec.trace.limit: Invalid value: 0: must be at least 1"},
		"another order":         {func(s *spec) { s.Arrivals, s.Trace = nil, &v1alpha1.ReplayTrace{Unsorted: "shuffle"} }, `spec.trace.unsorted: Unsupported value: "shuffle"`},
		"an unknown policy":     {policies(v1alpha1.ReplayPolicy{Name: "best"}), `spec.policies[0].name: Unsupported value: "best": supported values: "round-robin", "random", "list", "least-requested", "target-load-packing", "lmuf", "lmuf-t", "lrt", "least-dilation", "least-completion"`},
		"a policy twice":        {policies(v1alpha1.ReplayPolicy{Name: "lmuf"}, v1alpha1.ReplayPolicy{Name: "lmuf"}), `spec.policies[1].name: Duplicate value: "lmuf"`},
		"a threshold of 0":      {policies(v1alpha1.ReplayPolicy{Name: "lmuf-t", Threshold: given.Quantity("0")}), `spec.policies[0].threshold: Invalid value: "0": is a utilization: write a number above 0 and up to 1`},
		"a threshold of 2":      {policies(v1alpha1.ReplayPolicy{Name: "lmuf-t", Threshold: given.Quantity("2")}), `threshold: Invalid value: "2"`},
		"a target of 1":         {policies(v1alpha1.ReplayPolicy{Name: "target-load-packing", Target: given.Quantity("1")}), `spec.policies[0].target: Invalid value: "1": is a utilization: write a number above 0 and below 1`},
		"a threshold of others": {policies(v1alpha1.ReplayPolicy{Name: "lmuf", Threshold: given.Quantity("0.5")}), "spec.policies[0].threshold: Forbidden: only lmuf-t has a threshold"},
		"a target of others":    {policies(v1alpha1.ReplayPolicy{Name: "lmuf", Target: given.Quantity("0.5")}), "only target-load-packing has a target"},
		"no seeds":              {func(s *spec) { s.Seeds = new(int32(0)) }, "spec.seeds: Invalid value: 0: must be between 1 and 500: each of the 2 policies is run with each seed, 1000 runs at most"},
		"too many runs":         {func(s *spec) { s.Seeds = new(int32(501)) }, "spec.seeds: Invalid value: 501: must be between 1 and 500"},
		"an unknown solver":     {func(s *spec) { s.Solver = "magic" }, `spec.solver: Unsupported value: "magic"`},
		"an unknown queue":      {func(s *spec) { s.Queue = "lifo" }, `spec.queue: Unsupported value: "lifo": supported values: "backfill", "fifo"`},
		"unknown shares":        {func(s *spec) { s.CPUShares = "fair" }, `spec.cpuShares: Unsupported value: "fair": supported values: "equal", "requests"`},
		"no nodes":              {func(s *spec) { s.Nodes = nil }, "spec.nodes: Required value: list at least one class of nodes"},
		"a class twice":         {func(s *spec) { s.Nodes = append(s.Nodes, s.Nodes[0]) }, `spec.nodes[1].name: Duplicate value: "node"`},
		"a node twice":          {func(s *spec) { s.Nodes = append(s.Nodes, v1alpha1.ReplayNodes{Name: "node-2"}) }, `spec.nodes[1].name: Invalid value: "node-2": is also what a node of the class node is called`},
		"zero nodes":            {node(func(n *v1alpha1.ReplayNodes) { n.Count = new(int32(0)) }), "spec.nodes[0].count: Invalid value: 0: must be between 1 and 100000"},
		"no jobs per node":      {node(func(n *v1alpha1.ReplayNodes) { n.MaxJobs = new(int32(0)) }), "spec.nodes[0].maxJobs: Invalid value: 0: must be at least 1; leave it out for no limit"},
		"a capacity of 0": {node(func(n *v1alpha1.ReplayNodes) {
			n.Capacity = []v1alpha1.ReplayCapacity{{Name: "gpu", Quantity: given.Quantity("0")}}
		}), `spec.nodes[0].capacity[0].quantity: Invalid value: "0": must be above 0; leave out what there is no limit for`},
		"a capacity of nothing": {node(func(n *v1alpha1.ReplayNodes) { n.Capacity = []v1alpha1.ReplayCapacity{{Name: "gpu"}} }), `spec.nodes[0].capacity[0].quantity: Invalid value: "": must be above 0`},
		"a capacity twice": {node(func(n *v1alpha1.ReplayNodes) {
			n.Capacity = []v1alpha1.ReplayCapacity{{Name: "gpu", Quantity: given.Quantity("1")}, {Name: "gpu", Quantity: given.Quantity("2")}}
		}), `spec.nodes[0].capacity[1].name: Duplicate value: "gpu"`},
		"an unknown nodeProfile": {node(func(n *v1alpha1.ReplayNodes) { n.NodeProfile = "nvme" }), `spec.nodes[0].nodeProfile: Not found: "nvme"`},
		"no servers": {node(func(n *v1alpha1.ReplayNodes) {
			n.Resources = []v1alpha1.ReplayResource{{Name: "gpu", Servers: new(int32(0))}}
		}), "spec.nodes[0].resources[0].servers: Invalid value: 0: must be between 1 and 16384"},
		"too many servers": {node(func(n *v1alpha1.ReplayNodes) {
			n.Resources = []v1alpha1.ReplayResource{{Name: "gpu", Servers: new(int32(16385))}}
		}), "servers: Invalid value: 16385"},
		"a resource twice": {node(func(n *v1alpha1.ReplayNodes) { n.Resources = []v1alpha1.ReplayResource{{Name: "gpu"}, {Name: "gpu"}} }), `spec.nodes[0].resources[1].name: Duplicate value: "gpu"`},
		"no speed": {node(func(n *v1alpha1.ReplayNodes) {
			n.Resources = []v1alpha1.ReplayResource{{Name: "cpu", Speed: given.Quantity("0")}}
		}), `spec.nodes[0].resources[0].speed: Invalid value: "0": is relative to the node`},
		"no jobs":                {func(s *spec) { s.Arrivals.Jobs = nil }, "spec.arrivals.jobs: Invalid value: 0: must be between 1 and 10000000"},
		"too many jobs":          {func(s *spec) { s.Arrivals.Jobs = new(int64(10_000_001)) }, "spec.arrivals.jobs: Invalid value: 10000001"},
		"no types":               {jobsOf(), "spec.arrivals.types: Required value: list at least one kind of jobs"},
		"an unknown profile":     {jobsOf(v1alpha1.ReplayJobType{Profile: "merge"}), `spec.arrivals.types[0].profile: Invalid value: "merge": there is no such WorkloadProfile; there are shop/sort, shop/copy`},
		"an ambiguous profile":   {jobsOf(v1alpha1.ReplayJobType{Profile: "twice"}), `spec.arrivals.types[0].profile: Invalid value: "twice": there are several such WorkloadProfiles: write namespace/name`},
		"a profile twice":        {jobsOf(v1alpha1.ReplayJobType{Profile: "sort"}, v1alpha1.ReplayJobType{Profile: "shop/sort"}), `spec.arrivals.types[1].profile: Duplicate value: "shop/sort"`},
		"no neutral time":        {jobsOf(v1alpha1.ReplayJobType{Profile: "endless"}), `spec.arrivals.types[0].profile: Invalid value: "endless": has no neutralMillis: set in the WorkloadProfile how long such a job takes alone`},
		"a weight of 0":          {jobsOf(v1alpha1.ReplayJobType{Profile: "sort", Weight: new(int32(0))}), "spec.arrivals.types[0].weight: Invalid value: 0: must be at least 1"},
		"a negative request":     {jobsOf(v1alpha1.ReplayJobType{Profile: "sort", CPURequest: given.Quantity("-1m")}), `spec.arrivals.types[0].cpuRequest: Invalid value: "-1m": must be a number of cores from 0 to 16384`},
		"a huge request":         {jobsOf(v1alpha1.ReplayJobType{Profile: "sort", CPURequest: given.Quantity("16385")}), `types[0].cpuRequest: Invalid value: "16385"`},
		"a limit of nothing":     {jobsOf(v1alpha1.ReplayJobType{Profile: "sort", CPULimit: given.Quantity("0")}), `spec.arrivals.types[0].cpuLimit: Invalid value: "0": must be a number of cores above 0 and up to 16384; leave it out for no limit`},
		"a huge limit":           {jobsOf(v1alpha1.ReplayJobType{Profile: "sort", CPULimit: given.Quantity("1E")}), `types[0].cpuLimit: Invalid value: "1E"`},
		"a limit below":          {jobsOf(v1alpha1.ReplayJobType{Profile: "sort", CPURequest: given.Quantity("1"), CPULimit: given.Quantity("500m")}), `spec.arrivals.types[0].cpuLimit: Invalid value: "500m": is less than cpuRequest, 1`},
		"another distribution":   {gaps(v1alpha1.Interarrival{Distribution: "weibull", MeanMillis: new(int64(1))}), `spec.arrivals.interarrival.distribution: Unsupported value: "weibull"`},
		"no mean":                {gaps(v1alpha1.Interarrival{}), `spec.arrivals.interarrival.meanMillis: Invalid value: "": every distribution needs the mean, but for empirical`},
		"a mean of 0":            {gaps(v1alpha1.Interarrival{MeanMillis: new(int64(0))}), "spec.arrivals.interarrival.meanMillis: Invalid value: 0: must be at least 1"},
		"empirical with a mean":  {gaps(v1alpha1.Interarrival{Distribution: "empirical", MeanMillis: new(int64(1)), GapsMillis: []int64{1}}), "meanMillis: Invalid value: 1: every distribution needs"},
		"empirical without gaps": {gaps(v1alpha1.Interarrival{Distribution: "empirical"}), "spec.arrivals.interarrival.gapsMillis: Invalid value: 0: the distribution empirical needs gaps"},
		"gaps of length 0":       {gaps(v1alpha1.Interarrival{Distribution: "empirical", GapsMillis: []int64{0, 0}}), "spec.arrivals.interarrival: gaps: all 2 are 0; time would not pass"},
		"gamma without scv":      {gaps(v1alpha1.Interarrival{Distribution: "gamma", MeanMillis: new(int64(1))}), `spec.arrivals.interarrival.scv: Invalid value: "": gamma, lognormal and hyperexponential need it`},
		"constant with scv":      {gaps(v1alpha1.Interarrival{Distribution: "constant", MeanMillis: new(int64(1)), SCV: given.Quantity("2")}), `scv: Invalid value: "2"`},
		"too regular":            {gaps(v1alpha1.Interarrival{Distribution: "hyperexponential", MeanMillis: new(int64(1)), SCV: given.Quantity("0.5")}), "spec.arrivals.interarrival: scv: 0.5 is not a number from 1 to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replay := generating()
			test.change(&replay.Spec)
			_, err := replays.New(replays.Input{Replay: replay, Workloads: profiles})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v,\nwant %s", err, test.want)
			}
		})
	}
}

func TestAWrongProfileIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   replays.Input
		want string
	}{
		"a workload":     {replays.Input{Workloads: []v1alpha1.WorkloadProfile{given.Workload("bad", 0, given.CPU("2"))}}, "workload profile shop/bad: spec.resources[0].loading"},
		"the same twice": {replays.Input{Workloads: append(jobProfiles(), jobProfiles()[0])}, "workload profile shop/sort: there are two of this name"},
		"a node":         {replays.Input{Workloads: jobProfiles(), Nodes: []v1alpha1.NodeProfile{given.Class("bad", given.GPUs(0))}}, "node profile bad: spec.resources[0].servers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.Replay = generating()
			if _, err := replays.New(test.in); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// Every distribution has the mean that it is asked for.
func TestJobsArriveAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	const jobs = 20_000
	for _, i := range []v1alpha1.Interarrival{
		{MeanMillis: new(int64(6000))},
		{Distribution: "constant", MeanMillis: new(int64(6000))},
		{Distribution: "gamma", MeanMillis: new(int64(6000)), SCV: given.Quantity("4")},
		{Distribution: "lognormal", MeanMillis: new(int64(6000)), SCV: given.Quantity("0.25")},
		{Distribution: "hyperexponential", MeanMillis: new(int64(6000)), SCV: given.Quantity("3")},
		{Distribution: "empirical", GapsMillis: []int64{3000, 9000}},
	} {
		replay := generating()
		replay.Spec.Arrivals.Jobs, replay.Spec.Arrivals.Interarrival = new(int64(jobs)), i
		_, done := outcomes(t, newReplay(t, replay), 0)
		last := 0.0
		kinds := map[string]int{}
		for _, o := range done {
			last = max(last, o.Arrival)
			kinds[o.Type.Name]++
		}
		// Four standard deviations of a mean of 20,000 gaps of scv 4, and of a
		// fraction of 1/3.
		if mean := last / jobs; !near(mean, 6, 4*2/141.0) {
			t.Errorf("%s: a job every %v s, want 6", i.Distribution, mean)
		}
		if share := float64(kinds["shop/sort"]) / jobs; !near(share, 1.0/3, 4*1.42/141) {
			t.Errorf("%s: %v of the jobs are of the first kind, want a third", i.Distribution, share)
		}
	}
}
