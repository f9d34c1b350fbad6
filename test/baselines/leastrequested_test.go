package baselines_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

const mebi = 1 << 20

// world draws nodes and pods.
type world struct {
	*rand.Rand
	sizes      []amounts // of nodes; any if there are none
	withMemory bool      // nodes have some that is known
}

func newWorld(seed uint64) world {
	w := world{Rand: rand.New(rand.NewPCG(seed, 0))}
	w.withMemory = w.IntN(4) > 0
	sizes := []amounts{{1000, 2048 * mebi}, {2000, 2048 * mebi}, {3900, 7811 * mebi}, {64_000, 262_144 * mebi}}
	switch w.IntN(3) {
	case 0:
		w.sizes = sizes
	case 1:
		w.sizes = sizes[w.IntN(len(sizes)):][:1]
	}
	return w
}

// nodes returns nodes of one size or of several, empty, busy and full ones.
func (w world) nodes() []node {
	nodes := make([]node, 1+w.IntN(5))
	for i := range nodes {
		if nodes[i].allocatable = (amounts{1 + w.Int64N(256_000), 1 + w.Int64N(1<<42)}); w.sizes != nil {
			nodes[i].allocatable = w.sizes[w.IntN(len(w.sizes))]
		}
		if !w.withMemory {
			nodes[i].allocatable.memory = none
		}
		nodes[i].limit = []int{3, 30, 110}[w.IntN(3)]
		for range []int{0, 1, 5, 40}[w.IntN(4)] {
			if pod := w.pod(); nodes[i].hasRoom(pod) {
				nodes[i].pods = append(nodes[i].pods, pod)
			}
		}
	}
	return nodes
}

// pod returns a pod that requests both resources, one or none: usual amounts, by
// which nodes tie, or any.
func (w world) pod() amounts {
	usual := amounts{[]int64{1, 100, 200, 300, 700, 1000}[w.IntN(6)], []int64{1, 64, 200, 1024}[w.IntN(4)] * mebi}
	pod := []amounts{usual, {1 + w.Int64N(4000), 1 + w.Int64N(4<<30)}}[w.IntN(2)]
	if w.IntN(3) == 0 {
		pod.milliCPU = none
	}
	if w.IntN(3) == 0 || !w.withMemory {
		pod.memory = none
	}
	return pod
}

// hasRoom reports whether a pod fits on a node, by its requests.
func (n node) hasRoom(pod amounts) bool {
	sum := amounts{max(0, pod.milliCPU), max(0, pod.memory)}
	for _, p := range n.pods {
		sum.milliCPU += max(0, p.milliCPU)
		sum.memory += max(0, p.memory)
	}
	return len(n.pods) < n.limit &&
		(pod.milliCPU == none || sum.milliCPU <= n.allocatable.milliCPU) && (pod.memory == none || sum.memory <= n.allocatable.memory)
}

// kind is a job that does what does not matter here.
var kind = &mix.JobType{Name: "any", Vector: loading.Loadings(0.5)}

func (a amounts) job() *placement.Job {
	return &placement.Job{Type: kind, Neutral: 1, Requests: []float64{float64(max(0, a.milliCPU)) / 1000, float64(max(0, a.memory))}}
}

// placed returns the nodes as a replay has them, with its capacities or without.
func placed(t *testing.T, nodes []node, limited bool) []*placement.NodeState {
	t.Helper()
	same := make([]*placement.NodeState, len(nodes))
	for i, n := range nodes {
		p, err := placement.NewNodeState(mix.NodeClass{Servers: []int{1}}, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.Index, p.MaxJobs = i, n.limit
		p.Allocatable = []float64{float64(n.allocatable.milliCPU) / 1000, float64(max(0, n.allocatable.memory))}
		p.Capacity = []float64{math.Inf(1), math.Inf(1)}
		if limited {
			p.Capacity[0] = p.Allocatable[0]
			if n.allocatable.memory != none {
				p.Capacity[1] = p.Allocatable[1]
			}
		}
		p.Requested, p.Requesting = make([]float64, 2), make([]int, 2)
		for id, pod := range n.pods {
			p.Start(0, pod.job(), id, nil)
		}
		same[i] = p
	}
	return same
}

// choices returns all nodes that the policy chooses when it draws often.
func choices(seed uint64, job *placement.Job, candidates []*placement.NodeState) []int {
	policy := placement.LeastRequested{
		Scored: []placement.Scored{placement.ScoredCPU(0), placement.ScoredMemory(1)}, Rand: rand.New(rand.NewPCG(seed, 1)),
	}
	chosen := map[int]bool{}
	// That one of 5 equal nodes is never drawn has a probability of 5·0.8^200 < 10^-18.
	for range 200 {
		chosen[candidates[policy.Choose(0, job, candidates)].Index] = true
	}
	return slices.Sorted(maps.Keys(chosen))
}

// With capacities a job fits where the pod does, and goes to one of the nodes that
// kube-scheduler scores highest, to each of them at times. Without capacities it
// does so, too, as long as there is a node where it fits.
func TestLeastRequestedChoosesAsKubeSchedulerDoes(t *testing.T) {
	t.Parallel()
	const snapshots = 3000
	kube := newKubeScheduler(t)
	ties, full := 0, 0
	for seed := range uint64(snapshots) {
		w := newWorld(seed)
		nodes, pod := w.nodes(), w.pod()
		fits, best := kube.best(t, nodes, pod)
		if len(best) > 1 {
			ties++
		}
		if len(fits) < len(nodes) {
			full++
		}
		var candidates []*placement.NodeState
		var room []int
		for _, n := range placed(t, nodes, true) {
			if n.Fits(pod.job()) {
				candidates, room = append(candidates, n), append(room, n.Index)
			}
		}
		if diff := cmp.Diff(fits, room); diff != "" {
			t.Fatalf("snapshot %d: %+v fits on (-kube-scheduler +replay)\n%s\nof %+v", seed, pod, diff, nodes)
		}
		if len(fits) == 0 {
			continue
		}
		for name, candidates := range map[string][]*placement.NodeState{"with capacities": candidates, "without": notFull(placed(t, nodes, false))} {
			if diff := cmp.Diff(best, choices(seed, pod.job(), candidates)); diff != "" {
				t.Fatalf("snapshot %d, %s: %+v goes to (-kube-scheduler +replay)\n%s\nof %+v", seed, name, pod, diff, nodes)
			}
		}
	}
	// A test of the test: many snapshots have equal nodes, many nodes without room.
	if ties < snapshots/10 || full < snapshots/10 {
		t.Errorf("of %d snapshots %d had equal nodes, %d nodes without room: want more", snapshots, ties, full)
	}
	t.Logf("of %d snapshots %d had equal nodes, %d nodes without room", snapshots, ties, full)
}

// notFull returns the nodes with fewer pods than their limit.
func notFull(nodes []*placement.NodeState) []*placement.NodeState {
	return slices.DeleteFunc(nodes, func(n *placement.NodeState) bool { return n.Running.Mix().Jobs() >= n.MaxJobs })
}
