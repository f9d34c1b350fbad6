package placement_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Table 3 of the D-factor paper: W1 and W2 run on machine 1 and W3 on machine 2
// when W4 arrives. p'·p̄ ties, and the paper takes the first machine.
func TestPoliciesReproduceFig8(t *testing.T) {
	machines := newMachines(t, 2, mix.NodeClass{Servers: []int{1, 1}})
	machines[0].start(0, &placement.Job{Type: cpu, Neutral: 110.56})
	machines[0].start(0, &placement.Job{Type: io, Neutral: 115.83})
	machines[1].start(0, &placement.Job{Type: cpu, Neutral: 180})
	w4 := &placement.Job{Type: cpu, Neutral: 110.56}
	for _, test := range []struct {
		policy placement.Policy
		now    float64
		want   int
		why    string
	}{
		{placement.List{}, 0, 2, "Eq. (16), which counts jobs in full: 336.95 s on machine 1, 290.56 s on machine 2"},
		{placement.List{}, 60, 1, "50.56 + 55.83 s are left on machine 1, 120 s on machine 2"},
		{placement.LeastDilation{}, 60, 1, "p'·p̄ is 1 on both"},
		{placement.LRT{}, 60, 1, "161.12 s on machine 1, 221.12 s on machine 2"},
		{&placement.LeastCompletion{}, 60, 1, "161.12 s on machine 1, 230.56 s on machine 2"},
	} {
		if got := 1 + test.policy.Choose(test.now, w4, nodesOf(machines)); got != test.want {
			t.Errorf("%s puts W4 on machine %d after %v s, want %d: %s", test.policy.Name(), got, test.now, test.want, test.why)
		}
	}
}

// When all arrive together, least dilation arrives at the paper's schedule by
// itself, and the list scheduler at that of the paper's list scheduler.
func TestPoliciesPlaceTheJobsOfTable3InOrder(t *testing.T) {
	jobs := []placement.Job{{Type: cpu, Neutral: 110.56}, {Type: io, Neutral: 115.83}, {Type: cpu, Neutral: 180}, {Type: cpu, Neutral: 110.56}}
	for _, test := range []struct {
		policy placement.Policy
		want   []int
	}{
		{placement.List{}, []int{0, 1, 0, 1}},
		{placement.LeastDilation{}, []int{0, 0, 1, 0}},
		{&placement.LeastCompletion{}, []int{0, 0, 1, 0}},
	} {
		machines := newMachines(t, 2, mix.NodeClass{Servers: []int{1, 1}})
		var got []int
		for _, j := range jobs {
			i := test.policy.Choose(0, &j, nodesOf(machines))
			machines[i].start(0, &j)
			got = append(got, i)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.policy.Name(), diff)
		}
	}
}

// The response time of the job is not that of the node: a short job is done first
// where it is alone with a long one, the node where two others are nearly done.
func TestLRTAndLeastCompletionDiffer(t *testing.T) {
	machines := newMachines(t, 2, mix.NodeClass{Servers: []int{1, 1}})
	machines[0].start(0, &placement.Job{Type: cpu, Neutral: 100})
	machines[1].start(0, &placement.Job{Type: cpu, Neutral: 2})
	machines[1].start(0, &placement.Job{Type: cpu, Neutral: 2})
	job := &placement.Job{Type: cpu, Neutral: 1}
	if got := (placement.LRT{}).Choose(0, job, nodesOf(machines)); got != 0 { // 2 s, 3 s
		t.Errorf("LRT chose node %d", got)
	}
	if got := (&placement.LeastCompletion{}).Choose(0, job, nodesOf(machines)); got != 1 { // 101 s, 5 s
		t.Errorf("least completion chose node %d", got)
	}
}

func TestAFasterNodeIsPreferredByThoseWhoSeeIt(t *testing.T) {
	slow := newMachines(t, 1, mix.NodeClass{Servers: []int{1, 1}})[0]
	fast := newMachines(t, 1, mix.NodeClass{Servers: []int{1, 1}, Speeds: []float64{4}})[0]
	fast.Index = 1
	fast.start(0, &placement.Job{Type: cpu, Neutral: 100})
	job := &placement.Job{Type: cpu, Neutral: 100} // 100 s alone, 50 s beside another four times as fast
	for _, test := range []struct {
		policy placement.Policy
		want   int
	}{{placement.LRT{}, 1}, {&placement.LeastCompletion{}, 1}, {placement.LMUF{}, 0}, {placement.LeastDilation{}, 0}, {placement.List{}, 0}} {
		if got := test.policy.Choose(0, job, nodesOf([]*machine{slow, fast})); got != test.want {
			t.Errorf("%s chose node %d, want %d", test.policy.Name(), got, test.want)
		}
	}
}

func TestRoundRobinTakesNodesInTurnAndPassesOverOthers(t *testing.T) {
	nodes := nodesOf(newMachines(t, 4, mix.NodeClass{Servers: []int{1, 1}}))
	policy := &placement.RoundRobin{}
	var got []int
	for _, can := range [][]int{{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 3}, {0, 1, 2, 3}, {1, 2, 3}, {3}, {3}, {0, 1, 2}, {0, 3}} {
		var candidates []*placement.NodeState
		for _, i := range can {
			candidates = append(candidates, nodes[i])
		}
		got = append(got, candidates[policy.Choose(0, nil, candidates)].Index)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 0, 1, 3, 3, 0, 3}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPoliciesThatDrawLotsChooseNodesEquallyOften(t *testing.T) {
	const draws, n = 20_000, 7
	nodes := nodesOf(newMachines(t, n, mix.NodeClass{Servers: []int{1, 1}}, 2))
	for _, policy := range []placement.Policy{
		placement.Random{Rand: rand.New(rand.NewPCG(1, 2))},
		placement.LeastRequested{Rand: rand.New(rand.NewPCG(1, 2)), Scored: scored[:1]},
	} {
		var count [n]float64
		for range draws {
			count[policy.Choose(0, &placement.Job{Type: cpu}, nodes)]++
		}
		square := 0.0
		for _, c := range count {
			square += (c - draws/n) * (c - draws/n) / (draws / n)
		}
		// The seeds are fixed, so this is no test that fails by chance.
		if limit := (distuv.ChiSquared{K: n - 1}).Quantile(0.99); square > limit {
			t.Errorf("%s chose nodes %v times: χ² = %.1f is beyond %.1f", policy.Name(), count, square, limit)
		}
	}
}

func TestLMUFTWaitsForANodeBelowItsThreshold(t *testing.T) {
	// A job of (0.5, 0.5) makes a node half busy; two make it 2/3 busy, as each
	// is dilated 1.5 times.
	half := &mix.JobType{Name: "half", Vector: loading.Loadings(0.5, 0.5)}
	machines := newMachines(t, 2, mix.NodeClass{Servers: []int{1, 1}})
	job := &placement.Job{Type: half, Neutral: 10}
	choose := func(threshold float64) int {
		return placement.LMUFT{Threshold: threshold}.Choose(0, job, nodesOf(machines))
	}
	machines[0].start(0, job)
	machines[0].start(0, job)
	machines[1].start(0, job)
	for threshold, want := range map[float64]int{0.49: -1, 0.51: 1, 0: 1} {
		if got := choose(threshold); got != want {
			t.Errorf("threshold %v: node %d, want %d", threshold, got, want)
		}
	}
	machines[1].start(0, job)
	for threshold, want := range map[float64]int{0.66: -1, 0.67: 0, 0: 0} {
		if got := choose(threshold); got != want {
			t.Errorf("two on each, threshold %v: node %d, want %d", threshold, got, want)
		}
	}
	machines[0].start(0, &placement.Job{Type: cpu, Neutral: 10})
	machines[1].start(0, &placement.Job{Type: io, Neutral: 10})
	if got := choose(0); got != -1 {
		t.Errorf("both are busier than the default threshold: node %d", got)
	}
}

// Nodes that are busy all the time are equally busy, however many jobs run there.
func TestLMUFTakesTheLeastCrowdedOfEquallyBusyNodes(t *testing.T) {
	machines := newMachines(t, 4, mix.NodeClass{Servers: []int{1, 1}})
	for i, n := range []int{3, 1, 2, 1} {
		for range n {
			machines[i].start(0, &placement.Job{Type: cpu, Neutral: 10})
		}
	}
	if got := (placement.LMUF{}).Choose(0, &placement.Job{Type: cpu}, nodesOf(machines)); got != 1 {
		t.Errorf("node %d, want 1", got)
	}
}

// A node that is idle is never too busy, however low the threshold.
func TestLMUFTTakesAnIdleNode(t *testing.T) {
	machines := newMachines(t, 2, mix.NodeClass{Servers: []int{1, 1}})
	machines[0].start(0, &placement.Job{Type: cpu, Neutral: 10})
	if got := (placement.LMUFT{Threshold: 1e-9}).Choose(0, &placement.Job{Type: cpu}, nodesOf(machines)); got != 1 {
		t.Errorf("node %d, want 1", got)
	}
}

// The published formula at some points, by hand; the other node scores as given.
func TestTargetLoadPackingPacksUpToTheTarget(t *testing.T) {
	// One thread in ten of cpu servers is 10 %.
	tenth := &mix.JobType{Name: "tenth", Vector: loading.Loadings(1)}
	job := &placement.Job{Type: tenth, Neutral: 10}
	for _, test := range []struct {
		jobs []int
		want int
		why  string
	}{
		{[]int{0, 3, 4}, 1, "with it 10 %, 40 % and 50 %: scores 55, 100 and 33.3"},
		{[]int{0, 4, 8}, 0, "with it 10 %, 50 % and 90 %: scores 55, 33.3 and 6.7"},
		{[]int{9, 8, 10}, 1, "with it 100 %, 90 % and 110 %: scores 0, 6.7 and 0"},
		{[]int{10, 12, 9}, 2, "with it 110 %, 130 % and 100 %: all scores are 0, fewest jobs run on the last"},
		{[]int{7, 2, 1}, 1, "with it 80 %, 30 % and 20 %: scores 13.3, 85 and 70"},
	} {
		machines := newMachines(t, 3, mix.NodeClass{Servers: []int{10}})
		for i, n := range test.jobs {
			for range n {
				machines[i].start(0, job)
			}
		}
		if got := (placement.TargetLoadPacking{}).Choose(0, job, nodesOf(machines)); got != test.want {
			t.Errorf("%s: chose %d", test.why, got)
		}
	}
}

func TestLeastRequestedCountsTheJobItself(t *testing.T) {
	// Before the job the first node has more left, with it the second: 65 and 60 % are
	// free, then 40 and 50 %; with 100m for a job that requests nothing, 60 and 58 %.
	small := newMachines(t, 1, mix.NodeClass{Servers: []int{1, 1}}, 2)[0]
	large := newMachines(t, 1, mix.NodeClass{Servers: []int{1, 1}}, 5)[0]
	large.Index = 1
	small.start(0, &placement.Job{Type: cpu, Neutral: 1, Requests: []float64{0.7}})
	large.start(0, &placement.Job{Type: cpu, Neutral: 1, Requests: []float64{2}})
	nodes := nodesOf([]*machine{small, large})
	policy := placement.LeastRequested{Scored: scored[:1]}
	for request, want := range map[float64]int{0: 0, 0.5: 1} {
		if got := policy.Choose(0, &placement.Job{Type: cpu, Requests: []float64{request}}, nodes); got != want {
			t.Errorf("a job that requests %v cores goes to node %d", request, got)
		}
	}
}

// Jobs without requests count, so that they are spread, like those that request 0.
func TestLeastRequestedSpreadsJobsWithoutRequests(t *testing.T) {
	for name, requests := range map[string][]float64{"none": nil, "zero": {0}, "of something else": {0, 3}} {
		machines := newMachines(t, 4, mix.NodeClass{Servers: []int{1, 1}}, 1, 0)
		policy := placement.LeastRequested{Scored: scored, Rand: rand.New(rand.NewPCG(1, 2))}
		for k := range 12 {
			j := &placement.Job{Type: io, Neutral: 100, Requests: requests}
			machines[policy.Choose(0, j, nodesOf(machines))].start(0, j)
			for i, m := range machines {
				if jobs := m.Running.Mix().Jobs(); jobs < (k+1)/4 || jobs > (k+4)/4 {
					t.Fatalf("requests %s: of %d jobs %d run on node %d of 4", name, k+1, jobs, i)
				}
			}
		}
	}
}

// Nodes differ by less than a whole percent: kube-scheduler does not see it.
func TestLeastRequestedScoresInWholePercents(t *testing.T) {
	machines := newMachines(t, 3, mix.NodeClass{Servers: []int{1, 1}}, 10)
	for i, request := range []float64{1.3, 1.301, 1.399} {
		machines[i].start(0, &placement.Job{Type: cpu, Neutral: 1, Requests: []float64{request}})
	}
	policy := placement.LeastRequested{Scored: scored[:1], Rand: rand.New(rand.NewPCG(1, 2))}
	chosen := map[int]int{}
	for range 1000 {
		chosen[policy.Choose(0, &placement.Job{Type: cpu, Requests: []float64{0.2}}, nodesOf(machines))]++
	}
	// 85, 84.99 and 84.01 % are free.
	if chosen[0] != 1000 {
		t.Errorf("nodes were chosen %v times", chosen)
	}
	clear(chosen)
	for range 1000 {
		chosen[policy.Choose(0, &placement.Job{Type: cpu, Requests: []float64{0.201}}, nodesOf(machines))]++
	}
	// 84.99, 84.98 and 84 % are free. The seed is fixed.
	if len(chosen) != 3 {
		t.Errorf("nodes were chosen %v times", chosen)
	}
}

// What kube-scheduler would leave pending goes where it does least harm, and never
// beside a node that has room.
func TestLeastRequestedOvercommitsAsLittleAsPossible(t *testing.T) {
	machines := newMachines(t, 3, mix.NodeClass{Servers: []int{1, 1}}, 2, 1)
	for i, requests := range [][]float64{{2, 0.1}, {1.9, 0.1}, {1, 0.9}} {
		machines[i].start(0, &placement.Job{Type: cpu, Neutral: 1, Requests: requests})
	}
	policy := placement.LeastRequested{Scored: scored}
	for _, test := range []struct {
		requests []float64
		want     int
		why      string
	}{
		{[]float64{0.1, 0.2}, 1, "only there is room for both, however little"},
		{[]float64{1, 0.2}, 2, "by 1 and 0.9 of 2 on the first two, by 0.1 of 1 on the third"},
		{[]float64{2, 0}, 2, "by 2, 1.9 and 1 of 2"},
	} {
		if got := policy.Choose(0, &placement.Job{Type: cpu, Requests: test.requests}, nodesOf(machines)); got != test.want {
			t.Errorf("requests %v: node %d, want %d: %s", test.requests, got, test.want, test.why)
		}
	}
}

func TestPoliciesHaveNames(t *testing.T) {
	want := []string{
		"round-robin", "random", "list", "least-requested", "target-load-packing", "lmuf", "lmuf-t", "lrt",
		"least-dilation", "least-completion",
	}
	if diff := cmp.Diff(want, placement.Names()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, name := range want {
		policy, err := placement.Named(name, placement.Options{})
		if err != nil || policy.Name() != name {
			t.Errorf("%s: %v, %v", name, policy, err)
		}
	}
	if _, err := placement.Named("best", placement.Options{}); err == nil || !strings.HasPrefix(err.Error(), `policy: "best" is not one of round-robin, random, `) {
		t.Errorf("an unknown policy: %v", err)
	}
}

func TestPoliciesTakeTheirOptions(t *testing.T) {
	options := placement.Options{Rand: rand.New(rand.NewPCG(1, 2)), Threshold: 0.3, Target: 0.7, CPU: 2, Scored: scored}
	for name, want := range map[string]placement.Policy{
		"random": placement.Random{Rand: options.Rand}, "lmuf-t": placement.LMUFT{Threshold: 0.3},
		"target-load-packing": placement.TargetLoadPacking{Resource: 2, Target: 0.7},
		"least-requested":     placement.LeastRequested{Scored: scored, Rand: options.Rand},
	} {
		if got, err := placement.Named(name, options); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", name, got, err)
		}
	}
}

func TestANodeHasRoomWithinItsLimits(t *testing.T) {
	mixes, err := mix.NewMixes(mix.NodeClass{Servers: []int{1, 1}}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	node := func(maxJobs int) *placement.NodeState {
		return &placement.NodeState{
			Mixes: mixes, Running: mix.NewRunning(mixes), MaxJobs: maxJobs,
			Capacity: []float64{1, math.Inf(1)}, Requested: make([]float64, 2), Requesting: make([]int, 2),
		}
	}
	job := func(requests ...float64) *placement.Job {
		return &placement.Job{Type: cpu, Neutral: 1, Requests: requests}
	}
	for _, test := range []struct {
		name       string
		node       *placement.NodeState
		running    []*placement.Job
		job        *placement.Job
		fits, ever bool
	}{
		{"an empty node", node(0), nil, job(1, 1e9), true, true},
		{"what is more than there is", node(0), nil, job(1.1), false, false},
		{"what is left", node(0), []*placement.Job{job(0.6)}, job(0.4), true, true},
		{"tenths, of which ten are one but for rounding", node(0), slices.Repeat([]*placement.Job{job(0.1)}, 9), job(0.1), true, true},
		{"more than is left", node(0), []*placement.Job{job(0.6)}, job(0.5), false, true},
		{"nothing, on a full node", node(0), []*placement.Job{job(1)}, job(), true, true},
		{"the last place", node(2), []*placement.Job{job()}, job(), true, true},
		{"no place left", node(1), []*placement.Job{job()}, job(), false, true},
	} {
		for id, j := range test.running {
			test.node.Start(0, j, id, nil)
		}
		if got := test.node.Fits(test.job); got != test.fits {
			t.Errorf("%s: fits is %v", test.name, got)
		}
		if got := test.node.FitsEver(test.job); got != test.ever {
			t.Errorf("%s: fits ever is %v", test.name, got)
		}
	}
}

func TestANodeOfAnInvalidClassIsRefused(t *testing.T) {
	if _, err := placement.NewNodeState(mix.NodeClass{Servers: []int{0}}, queueing.Options{}); err == nil {
		t.Error("a node with no servers was made")
	}
	node, err := placement.NewNodeState(mix.NodeClass{Servers: []int{1, 1}}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	job := &placement.Job{Type: cpu, Neutral: 1}
	node.Start(0, job, 1, nil)
	if done := node.Start(3, job, 2, nil); !slices.Equal(done, []int{1}) || node.Since != 3 {
		t.Errorf("jobs %v were done at %v, want job 1 at 3", done, node.Since)
	}
}
