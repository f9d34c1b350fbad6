package share_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/shares"
)

// exampleNode and exampleUsage are those of the docs.
const (
	exampleNode  = "../../../docs/examples/node.yaml"
	exampleUsage = "../../../docs/examples/usage.csv"
)

func TestShareShowsTheTreeOfANode(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", "share", "--pods", exampleNode, "--usage", exampleUsage)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	const want = `POD                   CPU REQUEST   WEIGHT    USAGE   RESPONSE
worker-3                                     1,610m
├─ shop/db-0                1000m       39     350m      1.60×
├─ burstable                 850m       34     760m
│  ├─ shop/cart-0            250m       10     300m      1.67×
│  └─ shop/orders-0          600m       24     460m      1.37×
│     ├─ main                500m       59     400m      1.34×
│     └─ proxy               100m       17      60m      1.58×
└─ besteffort                   -        1     500m
   └─ batch/report              -        1     500m      5.76×
80.5% of 2 cores busy; responses are multiples of the time that work takes with a core to itself
ELAPSED, 5 workloads, ELAPSED by race; conservation ELAPSED
weights of containers: log (containerd://2.2.1 comes with a runc of at least 1.3.2, if the node uses that; --container-weights says otherwise)
`
	if diff := cmp.Diff(want, elapsed.ReplaceAllString(stdout, "ELAPSED")); diff != "" {
		t.Errorf("unexpected output (-want +got):\n%s", diff)
	}
}

func TestShareAnswersWhatAnotherRequestWouldDo(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "node.svg")
	args := []string{
		"share", "--pods", exampleNode, "--usage", exampleUsage, "--set", "shop/cart-0=1", "--set", "shop/orders-0/proxy=200m",
		"--container-weights", "linear", "--cores", "4", "--plot", plot,
	}
	code, stdout, stderr := clitest.Run(t, "", args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"250m → 1000m   10 → 39", "100m → 200m     4 → 8", "of 4 cores busy", "weights of containers: linear\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if info, err := os.Stat(plot); err != nil || info.Size() == 0 {
		t.Errorf("the tree is not drawn: %v", err)
	}
	code, stdout, stderr = clitest.Run(t, "", append(args, "--cgroup", "v1", "-o", "json")...)
	var r shares.NodeAnswer
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s %v", code, stderr, err)
	}
	if r.Weights != "none" || r.Processors != 4 || r.Nodes[0].Share != 1024 || *r.Nodes[2].RequestMilliCPUBefore != 250 {
		t.Errorf("unexpected answer: %s", stdout)
	}
}

func TestShareReadsListsOfPodsAsKubectlPrintsThem(t *testing.T) {
	t.Parallel()
	const list = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 1900m}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}, status: {capacity: {cpu: "4"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: one, namespace: shop}, spec: {nodeName: a, containers: [{name: main}], futureField: 1}}
- {apiVersion: v1, kind: Pod, metadata: {name: other, namespace: shop}, spec: {nodeName: b, containers: [{name: main}]}}
`
	usage := clitest.WriteFile(t, "usage.csv", "# busy\npod,container,cpu\none,,100m\n")
	code, stdout, stderr := clitest.Run(t, list, "share", "--pods", "-", "--node", "a", "--usage", usage)
	if code != 0 || !strings.Contains(stdout, "shop/one") || strings.Contains(stdout, "shop/other") || !strings.Contains(stdout, "10.0% of 1 core busy") {
		t.Errorf("exit code %d: %s\n%s", code, stderr, stdout)
	}
	code, _, stderr = clitest.Run(t, list, "share", "--pods", "-", "--usage", usage)
	if code != 2 || !strings.Contains(stderr, "there are several nodes in the files, choose one, --node: a, b") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	code, _, stderr = clitest.Run(t, list, "share", "--pods", "-", "--node", "c", "--usage", usage)
	if code != 2 || !strings.Contains(stderr, `--node: "c" is not a node of the files (a, b)`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestShareRefusesBadNodes(t *testing.T) {
	t.Parallel()
	with := func(args ...string) []string { return append([]string{"--pods", exampleNode}, args...) }
	usage := func(lines string) []string {
		return with("--usage", clitest.WriteFile(t, "usage.csv", "pod,container,cpu\n"+lines))
	}
	pod := clitest.WriteFile(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: main}]}\n")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no usage":                 {with(), "say how much CPU the containers use: --usage usage.csv"},
		"a usage without a header": {with("--usage", clitest.WriteFile(t, "u.csv", "cart-0,main,1\n")), `u.csv: the header is "cart-0,main,1"; it must be pod,container,cpu`},
		"an empty usage":           {with("--usage", clitest.WriteFile(t, "u.csv", "")), `u.csv: the header is ""`},
		"an unknown pod":           {usage("it,main,1\n"), `usage.csv, line 2: pod: there is no pod "it" on the node`},
		"an unknown container":     {usage("cart-0,it,1\n"), `usage.csv, line 2: container: pod "cart-0" runs no container "it"`},
		"which container":          {usage("orders-0,,1\n"), `usage.csv, line 2: pod "orders-0", container "": there are several`},
		"no number":                {usage("cart-0,main,busy\n"), `usage.csv, line 2: cpu: "busy" is not a number such as 250m`},
		"a negative usage":         {usage("cart-0,main,-1\n"), "usage.csv, line 2: cpu: is negative"},
		"twice":                    {usage("cart-0,main,1\ncart-0,,1\n"), "usage.csv, line 3: the container was given before"},
		"a short line":             {usage("cart-0\n"), "usage.csv: record on line 2: wrong number of fields"},
		"too busy":                 {usage("cart-0,main,2\n"), "the workloads keep 2 processors busy, and there are 2"},
		"weights of a kind":        {with("--usage", exampleUsage, "--container-weights", "cubic"), `--container-weights: "cubic" is not one of auto, linear, log`},
		"cgroups of a kind":        {with("--usage", exampleUsage, "--cgroup", "v3"), `--cgroup: "v3" is not one of v1, v2`},
		"a tree and a node":        {with("-f", "tree.yaml"), "-f and --compare are about a ShareTree"},
		"a request that is none":   {with("--set", "shop/cart-0=much"), `--set shop/cart-0=much: "much" is not a number such as 500m or 2`},
		"unknown cores":            {[]string{"--pods", pod, "--usage", clitest.WriteFile(t, "u.csv", "pod,container,cpu\n")}, "how many cores the node has is not known"},
		"another kind":             {[]string{"--pods", clitest.WriteFile(t, "s.yaml", "apiVersion: v1\nkind: Secret\n"), "--usage", exampleUsage}, "Skipped 1 object of a kind that share --pods has no use for: Secret (1)."},
		"a usage without a node":   {[]string{"-f", "tree.yaml", "--usage", exampleUsage}, "--usage and --cores are about a node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", append([]string{"share"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}
