package report

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/evaluate/shares"
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

func TestADrawnTreeHasEveryNameShareUtilizationAndResponse(t *testing.T) {
	t.Parallel()
	wantTexts(t, ShareTree{Title: "Shares", Answer: twoGroups()},
		"Shares", "share", "busy", "mean response / service time", "SLA", "missed", "company", "90.0%", "web", "1,000", "web.lo", "15.0%", "14.20×", "1.90×")
}

func TestTreesOfEverySizeAreDrawn(t *testing.T) {
	t.Parallel()
	before := math.Inf(1)
	for _, n := range []int{1, 45, 150, 2000} {
		a := twoGroups()
		a.Nodes = nil
		for i := range n {
			a.Nodes = append(a.Nodes, shares.TreeNode{Name: "w" + strconv.Itoa(i), Depth: 1, Workload: true, Share: 1, Factor: new(1.0), FactorBefore: new(3.0)})
		}
		chart := ShareTree{Answer: a}
		if err := EncodeChart(io.Discard, chart, SVG); err != nil {
			t.Errorf("%d workloads: %v", n, err)
		}
		_, height := chart.size()
		if each := float64(height) / float64(n); each > before {
			t.Errorf("%d workloads take %v points each, fewer took %v", n, each, before)
		} else {
			before = each
		}
	}
}

func TestADrawingOfSharesRefusesWhatIsNoTree(t *testing.T) {
	t.Parallel()
	noFactor, many := twoGroups(), twoGroups()
	noFactor.Nodes[1].Factor = new(math.NaN())
	many.Nodes = make([]shares.TreeNode, 2001)
	for want, chart := range map[string]ShareTree{
		"answer: is missing": {},
		"answer.nodes: there are 0; a drawing shows 1 to 2000":                 {Answer: &shares.TreeAnswer{}},
		"answer.nodes: there are 2001; a drawing shows 1 to 2000":              {Answer: many},
		`answer.nodes[1] ("web.hi").factor: is no finite number of at least 1`: {Answer: noFactor},
	} {
		var b bytes.Buffer
		if err := EncodeChart(&b, chart, PNG); err == nil || err.Error() != want || b.Len() > 0 {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
