package baselines_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/epochs"
)

// recordedPod is a row of a trace, and the pod that it stands for.
type recordedPod struct {
	row string
	amounts
}

// record returns pods that arrive one after the other: some without requests, some
// that say nothing of the cpu, of which they keep some busy, and some that need none.
func record(r *rand.Rand, pods int) []recordedPod {
	const columns = 5
	recorded := make([]recordedPod, pods)
	for i := range recorded {
		cell := [columns]string{fmt.Sprint(i), "10", "0", "", ""}
		p := amounts{none, none}
		if cores := r.IntN(3); cores > 0 { // half of the time at one or two cores
			cell[2] = "5"
			p.milliCPU = 500
		}
		switch r.IntN(4) {
		case 0:
			cell[3] = "0"
			p.milliCPU = none
		case 1, 2:
			p.milliCPU = []int64{100, 250, 333}[r.IntN(3)]
			cell[3] = fmt.Sprint(float64(p.milliCPU)/1000 - 0.0009) // rounded up to a whole milli-core
		}
		if r.IntN(2) == 0 {
			p.memory = []int64{64, 200, 1000}[r.IntN(3)] * mebi
			cell[4] = fmt.Sprint(p.memory)
		}
		recorded[i] = recordedPod{strings.Join(cell[:], ","), p}
	}
	return recorded
}

// replayed replays pods on nodes with a seed, in the order in which they start.
func replayed(t *testing.T, pods []recordedPod, nodes []v1alpha1.ReplayNodes, seed int) []epochs.Outcome {
	t.Helper()
	text := "#loadline-trace/v1\narrival,neutral,demand.cpu,request.cpu,request.memory\n"
	for _, p := range pods {
		text += p.row + "\n"
	}
	replay := &v1alpha1.TraceReplay{Spec: v1alpha1.TraceReplaySpec{
		Trace: &v1alpha1.ReplayTrace{}, Nodes: nodes, Policies: []v1alpha1.ReplayPolicy{{Name: "least-requested"}}, Seeds: new(int32(seed)),
	}}
	r, err := replays.New(replays.Input{Replay: replay, Open: func() (io.ReadCloser, string, error) {
		return io.NopCloser(strings.NewReader(text)), "pods.csv", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	var done []epochs.Outcome
	if _, err := r.Run(t.Context(), seed-1, replays.Watch{Job: func(o *epochs.Outcome) error {
		done = append(done, *o)
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	return done
}

// Every job of a replay goes to a node that kube-scheduler might have chosen, of
// those jobs that run at that time. Ties go to different nodes with different seeds,
// and to the same ones with the same.
func TestReplaysPlaceAsKubeSchedulerDoes(t *testing.T) {
	t.Parallel()
	kube := newKubeScheduler(t)
	capacity := func(cores, memory string) []v1alpha1.ReplayCapacity {
		return []v1alpha1.ReplayCapacity{{Name: "cpu", Quantity: new(resource.MustParse(cores))}, {Name: "memory", Quantity: new(resource.MustParse(memory))}}
	}
	for name, classes := range map[string][]v1alpha1.ReplayNodes{
		"equal nodes": {{Name: "a", Count: new(int32(3)), Capacity: capacity("1", "2Gi")}},
		"large and small nodes": {
			{Name: "a", Count: new(int32(2)), Capacity: capacity("1", "1Gi")}, {Name: "b", Capacity: capacity("3900m", "2Gi"), MaxJobs: new(int32(9))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods := record(rand.New(rand.NewPCG(1, 2)), 150)
			first := replayed(t, pods, classes, 1)
			differ := false
			for seed := range 5 {
				outcomes := replayed(t, pods, classes, seed+1)
				mustBeKubeScheduler(t, kube, pods, nodesOf(classes), outcomes)
				if !slices.EqualFunc(outcomes, replayed(t, pods, classes, seed+1), sameNode) {
					t.Errorf("seed %d gives two results", seed+1)
				}
				differ = differ || !slices.EqualFunc(outcomes, first, sameNode)
			}
			if !differ {
				t.Error("five seeds give one result")
			}
		})
	}
}

func sameNode(a, b epochs.Outcome) bool {
	return a.Name == b.Name && a.Node == b.Node && a.End == b.End
}

// nodesOf returns the nodes of some classes, on which nothing runs.
func nodesOf(classes []v1alpha1.ReplayNodes) []node {
	var nodes []node
	for _, class := range classes {
		n := node{allocatable: amounts{class.Capacity[0].Quantity.MilliValue(), class.Capacity[1].Quantity.Value()}, limit: 110}
		if class.MaxJobs != nil {
			n.limit = int(*class.MaxJobs)
		}
		count := 1
		if class.Count != nil {
			count = int(*class.Count)
		}
		nodes = append(nodes, slices.Repeat([]node{n}, count)...)
	}
	return nodes
}

func mustBeKubeScheduler(t *testing.T, kube kubeScheduler, pods []recordedPod, empty []node, outcomes []epochs.Outcome) {
	t.Helper()
	if len(outcomes) != len(pods) {
		t.Fatalf("%d of %d jobs are done", len(outcomes), len(pods))
	}
	waited := 0
	for _, o := range outcomes {
		if o.Wait() > 0 {
			waited++
		}
		nodes := slices.Clone(empty)
		for i := range nodes {
			nodes[i].pods = nil
		}
		for _, other := range outcomes {
			earlier := other.Start < o.Start || other.Start == o.Start && other.Arrival < o.Arrival
			if earlier && other.End > o.Start {
				nodes[other.Node].pods = append(nodes[other.Node].pods, pods[int(other.Arrival)].amounts)
			}
		}
		if _, best := kube.best(t, nodes, pods[int(o.Arrival)].amounts); !slices.Contains(best, o.Node) {
			t.Fatalf("job %s is on node %d, kube-scheduler chooses of %v", o.Name, o.Node, best)
		}
	}
	if waited == 0 {
		t.Error("no job waited: the nodes never were full")
	}
}
