package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/shares"
)

// busyNode has a pod of class burstable and one of class besteffort.
func busyNode() *shares.NodeAnswer {
	return &shares.NodeAnswer{
		TreeAnswer: &shares.TreeAnswer{
			Name: "worker", Method: "race", Processors: 2, Utilization: 1.5, Workloads: 2, Exact: true, RelativeError: 1e-12, Residual: 8e-16,
			Nodes: []shares.TreeNode{
				{Name: "burstable", Depth: 1, Share: 10, Utilization: 1, RequestMilliCPU: new(int64(250))},
				{Name: "shop/cart", Depth: 2, Workload: true, Share: 10, Utilization: 1, Factor: new(1.5), RequestMilliCPU: new(int64(250))},
				{Name: "besteffort", Depth: 1, Share: 1, Utilization: 0.5, RequestMilliCPU: new(int64)},
				{Name: "batch/report", Depth: 2, Workload: true, Share: 1, Utilization: 0.5, Factor: new(5.25), RequestMilliCPU: new(int64)},
			},
		},
		Weights: "linear",
	}
}

func TestTheSharesOfANodeAreWrittenWithRequestsWeightsAndUsage(t *testing.T) {
	t.Parallel()
	a := busyNode()
	const want = `POD                  CPU REQUEST   WEIGHT    USAGE   RESPONSE
worker                                      1,500m
├─ burstable                250m       10   1,000m
│  └─ shop/cart             250m       10   1,000m      1.50×
└─ besteffort                  -        1     500m
   └─ batch/report             -        1     500m      5.25×
`
	if diff := cmp.Diff(want, printed(t, NodeSharesTable(a))); diff != "" {
		t.Errorf("unexpected table (-want +got):\n%s", diff)
	}
	const weights = `POD                  CPU REQUEST   WEIGHT
worker
├─ burstable                250m       10
│  └─ shop/cart             250m       10
└─ besteffort                  -        1
   └─ batch/report             -        1
`
	if diff := cmp.Diff(weights, printed(t, NodeWeightsTable(a))); diff != "" {
		t.Errorf("unexpected weights (-want +got):\n%s", diff)
	}
	cart := &a.Nodes[1]
	cart.RequestMilliCPU, cart.RequestMilliCPUBefore, cart.ShareBefore, cart.FactorBefore = new(int64(500)), new(int64(250)), new(5.0), new(2.5)
	a.Name = ""
	got := printed(t, NodeSharesTable(a))
	if !strings.Contains(got, "250m → 500m   5 → 10   1,000m   2.50× → 1.50×") || !strings.Contains(got, "\nnode ") {
		t.Errorf("the changed node is\n%s", got)
	}
}

func TestTheSummaryOfANodeSaysWhatToKeepInMind(t *testing.T) {
	t.Parallel()
	a := busyNode()
	a.Unmeasured = 1
	want := []string{
		"75.0% of 2 cores busy; responses are multiples of the time that work takes with a core to itself",
		"exact to 1e-12, 2 workloads, 1ms by race; conservation residual 8e-16",
		"weights of containers: linear (cgroup v2)",
		"1 of 2 containers have no usage, which is taken as idle",
	}
	if diff := cmp.Diff(want, NodeSharesSummary(a, time.Millisecond, "cgroup v2")); diff != "" {
		t.Errorf("unexpected summary (-want +got):\n%s", diff)
	}
	a.Processors, a.Utilization, a.Unmeasured = 1, 0.5, 0
	if got := NodeSharesSummary(a, time.Millisecond, ""); len(got) != 3 || !strings.HasPrefix(got[0], "50.0% of 1 core busy") || got[2] != "weights of containers: linear" {
		t.Errorf("unexpected summary: %q", got)
	}
}
