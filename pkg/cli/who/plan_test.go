package who_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// crowdedFiles are files of a node on which a pod waits for another, one on which a limit holds a pod back, and one that is free.
func crowdedFiles(t *testing.T) []string {
	t.Helper()
	objects := []client.Object{
		observedNode("worker-1", "1"), observedNode("worker-2", "1"), observedNode("worker-3", "1"),
		observedPod("shop", "cart", "worker-1", "50m", ""), observedPod("etl", "sort", "worker-1", "500m", ""), observedPod("web", "api", "worker-3", "100m", "300m"),
	}
	return clusterFiles(t, objects, []usage.Report{
		reportOf("worker-1", 1, 0, observed("cart", 0.6, 1-1/6.6, 0), observed("sort", 1, 0.08, 0)), reportOf("worker-2", 1, 0),
		reportOf("worker-3", 1, 0, observed("api", 0.5, 0, 0.4)),
	})
}

func TestThePlanIsShownStepByStep(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", append([]string{"plan"}, crowdedFiles(t)...)...)
	const want = `STEP   CHANGE                                        WINS                      LEFT    HELPS                              COSTS
   1   move shop/cart from worker-1 to worker-2      5.40 (2.75 to 5.87)   0.47   shop/cart 6.60 → 1.00× and 1 more   -
   2   limit 1 of main in web/api (now 300m)         0.47 (0.24 to 0.47)   0.00   web/api 1.67 → 1.00×                -
Excess above 1.20×: 5.87 now, 0.00 after 2 steps. The first takes 92.0% of it.
`
	if code != 0 || stderr != "" || clitest.Squeezed(stdout) != clitest.Squeezed(want) {
		t.Errorf("exit code %d, %s\n%s", code, stderr, stdout)
	}
}

// What the rows say adds up, whatever kinds of changes are allowed and however many.
func TestThePlanHasTheChangesThatAreAllowed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want []plan.Action
	}{
		"all":                {nil, []plan.Action{plan.MovePod, plan.RaiseLimit}},
		"one":                {[]string{"--max-changes", "1"}, []plan.Action{plan.MovePod}},
		"as many as help":    {[]string{"--max-changes", "0"}, []plan.Action{plan.MovePod, plan.RaiseLimit}},
		"limits":             {[]string{"--allow", "limit"}, []plan.Action{plan.RaiseLimit}},
		"requests":           {[]string{"--allow", "resize"}, []plan.Action{plan.RaiseRequest}},
		"of a node":          {[]string{"--node", "worker-3"}, []plan.Action{plan.RaiseLimit}},
		"of a namespace":     {[]string{"-n", "web"}, []plan.Action{plan.RaiseLimit}},
		"above another mark": {[]string{"--above", "2"}, []plan.Action{plan.MovePod}},
		"above all":          {[]string{"--above", "7"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", append(append([]string{"plan", "-o", "json"}, test.args...), crowdedFiles(t)...)...)
			var p plan.Plan
			if err := json.Unmarshal([]byte(stdout), &p); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, stderr)
			}
			won := 0.0
			for i, s := range p.Steps {
				won += s.Win.Value
				if i >= len(test.want) || s.Action != test.want[i] {
					t.Errorf("step %d is %s", i+1, s.Action)
				}
			}
			if len(p.Steps) != len(test.want) || math.Abs(p.Excess-won-p.Left) > 1e-9 {
				t.Errorf("%d steps win %v of %v and leave %v, want %v", len(p.Steps), won, p.Excess, p.Left, test.want)
			}
		})
	}
}

func TestWrongFlagsOfAPlanAreRefused(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`Error: --max-changes: -1 is below 0`:                             {"--max-changes", "-1"},
		`Error: --allow: "evict" is not one of move, resize, limit`:       {"--allow", "move,evict"},
		`Error: --above: 1 is not above 1`:                                {"--above", "1"},
		`Error: --namespace: there is no pod in namespace "bank"`:         {"-n", "bank"},
		`Error: --filename: say what the gauges observed, too: --usage F`: {},
	} {
		files := crowdedFiles(t)
		if len(args) == 0 {
			files = files[:2]
		}
		code, stdout, stderr := clitest.Run(t, "", append(append([]string{"plan"}, args...), files...)...)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}
