package share_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

// twoLevels has a leaf that is a WorkloadProfile.
const twoLevels = `apiVersion: loadline.dev/v1alpha1
kind: ShareTree
metadata: {name: company}
spec:
  namespaces: [shop]
  groups:
  - {name: web, share: 50}
  - {name: db, share: 50}
  workloads:
  - {name: hi, group: web, share: 75, utilization: "0.2"}
  - {name: lo, group: web, share: 25, utilization: "0.2"}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: orders, namespace: shop}
spec:
  selector: {}
  resources: [{name: cpu, loading: "1"}]
  fairShare: {tree: company, group: db, share: 1, utilization: "0.4"}
  sla: {maxDilation: "6"}
`

// elapsed matches the parts that differ from run to run.
var elapsed = regexp.MustCompile(`\d+(µs|ms)|exact to [^, ]+|residual \S+`)

func TestSharePrintsTheTree(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, twoLevels, "share", "-f", "-")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	// Two groups alike: each has a mean of 1/(1 − 0.8) = 5.
	const want = `company                        80.0% busy
├─ web              share 50   40.0% busy
│  ├─ hi            share 75   20.0% busy   response 3.85×
│  └─ lo            share 25   20.0% busy   response 6.15×
└─ db               share 50   40.0% busy
   └─ shop/orders    share 1   40.0% busy   response 5.00×   SLA 6.00× ok
ELAPSED, 3 workloads, ELAPSED by race; conservation ELAPSED
`
	if got := elapsed.ReplaceAllString(stdout, "ELAPSED"); got != want {
		t.Errorf("the output is\n%swant\n%s", got, want)
	}
}

func TestShareAnswersInJSONWithChangesAndAComparison(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "tree.svg")
	code, stdout, stderr := clitest.Run(t, "", "share", "-f", clitest.WriteFile(t, "tree.yaml", twoLevels),
		"--set", "web=20", "--set", "db/shop/orders=7", "--method", "subsets", "--compare", "--plot", plot, "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var r struct {
		shares.TreeAnswer
		Comparison []shares.ComparedMethod `json:"comparison"`
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if web := r.Nodes[0]; web.Share != 20 || *web.ShareBefore != 50 || r.Method != "subsets" {
		t.Errorf("unexpected answer: %+v", r.TreeAnswer)
	}
	if orders := r.Nodes[4]; math.Abs(*orders.FactorBefore-5) > 1e-9 || *orders.Factor >= 5 {
		t.Errorf("unexpected workload: %+v", orders)
	}
	if len(r.Comparison) != 6 {
		t.Fatalf("unexpected comparison: %+v", r.Comparison)
	}
	for _, m := range r.Comparison {
		if m.Error == nil || *m.Error > math.Max(3**m.Claimed, 1e-12) {
			t.Errorf("unexpected comparison: %+v", m)
		}
	}
	if info, err := os.Stat(plot); err != nil || info.Size() == 0 {
		t.Errorf("the tree is not drawn: %v", err)
	}
}

func TestShareComparesMethodsAndGivesUpOnThoseThatAreTooCostly(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, flatTree(40), "share", "-f", "-", "--compare", "--samples", "100")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout, "\nMETHOD ") || strings.Count(stdout, "too costly") != 3 {
		t.Errorf("the output is\n%s", stdout)
	}
}

func TestShareSaysNoWhenAnSLACannotBeMet(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, strings.Replace(twoLevels, `"6"`, `"1.5"`, 1), "share", "-f", "-")
	const want = "Error: shop/orders misses its SLA: the mean response time is 5 times the service time, the SLA asks for at most 1.5\n"
	if code != 1 || stderr != want || !strings.Contains(stdout, "SLA 1.50× missed") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}

func TestShareNamesTheProfilesThatATreeLeavesOut(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, strings.Replace(twoLevels, "namespaces: [shop]", "namespaces: [etl]", 1), "share", "-f", "-")
	const want = `Left out: shop/orders: the tree takes no WorkloadProfiles of namespace "shop": list it in the tree's spec.namespaces
Without a workload: db
`
	if code != 0 || !strings.HasSuffix(stdout, want) || strings.Contains(stdout, "─ shop/orders") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}

func TestShareRefusesBadInput(t *testing.T) {
	t.Parallel()
	const never = "never.svg"
	for name, test := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"no file":                {"", nil, "name a file with a ShareTree, -f sharetree.yaml; or a node, --node worker-3"},
		"no tree":                {clitest.PaperJobs, []string{"-f", "-"}, "there is no ShareTree in the files"},
		"two trees":              {twoLevels + "---\n" + twoLevels, []string{"-f", "-"}, "there are 2 ShareTrees in the files, share takes one"},
		"a share of 0":           {strings.Replace(twoLevels, "share: 75", "share: 0", 1), []string{"-f", "-"}, "spec.workloads[0].share: Invalid value: 0: a share must be at least 1"},
		"an unknown method":      {twoLevels, []string{"-f", "-", "--method", "magic"}, `method: "magic" is not one of race,`},
		"a change of nothing":    {twoLevels, []string{"-f", "-", "--set", "web"}, "--set web: "},
		"a share that is no one": {twoLevels, []string{"-f", "-", "--set", "web=half"}, `--set web=half: "half" is not a whole number of at least 1`},
		"an unknown name":        {twoLevels, []string{"-f", "-", "--set", "it=2"}, "it: names no group and no workload of the tree"},
		"an unknown drawing":     {twoLevels, []string{"-f", "-", "--plot", "tree.pdf"}, "--plot: tree.pdf: cannot draw .pdf"},
		"too busy":               {strings.Replace(twoLevels, `"0.2"`, `"0.9"`, 1), []string{"-f", "-", "--plot", never}, "the workloads keep 1.1 processors busy, and there are 1"},
		"too costly":             {flatTree(20), []string{"-f", "-", "--method", "permutations"}, "too costly"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.stdin, append([]string{"share"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}

// flatTree has n workloads side by side.
func flatTree(n int) string {
	var b strings.Builder
	b.WriteString("apiVersion: loadline.dev/v1alpha1\nkind: ShareTree\nmetadata: {name: flat}\nspec:\n  workloads:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: w%d, share: 1, utilization: \"0.01\"}\n", i)
	}
	return b.String()
}
