package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report/chart"
)

func twoGroups() *shares.TreeAnswer {
	leaf := func(name string, depth int, share, utilization, factor float64) shares.TreeNode {
		return shares.TreeNode{Name: name, Depth: depth, Workload: true, Share: share, Utilization: utilization, Factor: &factor}
	}
	a := &shares.TreeAnswer{
		Name: "company", Method: "race", Processors: 2, Utilization: 1.8, Workloads: 4, Exact: true, RelativeError: 2e-12, Residual: 3e-16,
		Nodes: []shares.TreeNode{
			{Name: "web", Depth: 1, Share: 50, Utilization: 0.7},
			leaf("web.hi", 2, 75, 0.4, 1.9),
			leaf("web.lo", 2, 25, 0.3, 14.2),
			{Name: "db", Depth: 1, Share: 1000, Utilization: 1.1},
			leaf("orders", 2, 60, 1.1, 2.5),
		},
	}
	a.Nodes[1].SLA = &shares.SLA{MaxFactor: new(2.5), Met: true}
	a.Nodes[2].SLA = &shares.SLA{MaxFactor: new(4.0)}
	return a
}

func TestATreeOfSharesIsWrittenWithItsBranches(t *testing.T) {
	t.Parallel()
	const want = `company                      90.0% busy
├─ web            share 50   35.0% busy
│  ├─ web.hi      share 75   20.0% busy    response 1.90×   SLA 2.50× ok
│  └─ web.lo      share 25   15.0% busy   response 14.20×   SLA 4.00× missed
└─ db          share 1,000   55.0% busy
   └─ orders      share 60   55.0% busy    response 2.50×
`
	if got := printed(t, ShareTable(twoGroups())); got != want {
		t.Errorf("the tree is\n%swant\n%s", got, want)
	}
}

func TestAChangedTreeShowsWhatWasBeforeAndItsTimes(t *testing.T) {
	t.Parallel()
	a := twoGroups()
	a.Nodes[0].ShareBefore = new(20.0)
	a.Nodes[1].FactorBefore = new(3.1)
	a.Nodes[1].ResponseSeconds = new(0.019)
	a.Nodes[1].SLA.ResponseSeconds = new(0.25)
	got := printed(t, ShareTable(a))
	for _, want := range []string{"share 20 → 50", "response 3.10× → 1.90×   19ms   SLA 2.50× and 250ms ok"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestTheSummaryOfATreeSaysHowGoodItIs(t *testing.T) {
	t.Parallel()
	a := twoGroups()
	const exact = "exact to 2e-12, 4 workloads, 200µs by race; conservation residual 3e-16"
	if got := ShareSummary(a, 200*time.Microsecond); got != exact {
		t.Errorf("the summary is %q, want %q", got, exact)
	}
	a.Exact, a.RelativeError, a.Method, a.Workloads = false, 0.05, "monte-carlo", 1
	const random = "± 5.0% (95% confidence), 1 workload, 3ms by monte-carlo; conservation residual 3e-16"
	if got := ShareSummary(a, 3*time.Millisecond); got != random {
		t.Errorf("the summary is %q, want %q", got, random)
	}
	a.Exact, a.Method = true, "caps"
	if got := ShareSummary(a, 0); !strings.HasSuffix(got, "by caps; shares are taken as limits: what one leaves, nobody uses") {
		t.Errorf("the summary is %q", got)
	}
}

func TestAChartOfSharesHasARowForEachGroupAndWorkload(t *testing.T) {
	t.Parallel()
	a := twoGroups()
	a.Nodes[1].FactorBefore = new(3.1)
	a.Nodes[1].ServiceSeconds, a.Nodes[1].SLA.ResponseSeconds = new(0.01), new(0.02) // less than 2.5 times
	want := chart.ShareTree{Title: "Shares", Name: "company", Busy: 0.9, Rows: []chart.ShareRow{
		{Name: "web", Depth: 1, Share: "50", Busy: 0.35},
		{Name: "web.hi", Depth: 2, Share: "75", Busy: 0.2, Workload: true, Response: &chart.ShareResponse{Factor: 1.9, Before: 3.1, Limit: 2}},
		{Name: "web.lo", Depth: 2, Share: "25", Busy: 0.15, Workload: true, Response: &chart.ShareResponse{Factor: 14.2, Limit: 4, Missed: true}},
		{Name: "db", Depth: 1, Share: "1,000", Busy: 0.55},
		{Name: "orders", Depth: 2, Share: "60", Busy: 0.55, Workload: true, Response: &chart.ShareResponse{Factor: 2.5}},
	}}
	if diff := cmp.Diff(want, ShareChart(a, "Shares")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
