package explain_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

func TestExplainTellsWhoSlowsWhomAndWhatOtherNodesCost(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.FiveWorkers, "explain", "pod", "etl/filecomp-7", "-f", "-", "--nodes")
	// The dilation is that of the paper; on the empty node nothing is in the way, and
	// beside the other job the price is that of Definition 2, 2 p'·p̄ = 2 · 0.42.
	const want = `etl/filecomp-7 runs on worker-1, 1.42 times slower than alone, because of disk 0.42.
RESOURCE   SERVERS   LOADING   WAITS   BECAUSE OF      INFLICTS   ON
disk             1      0.42    0.42   etl/io-0 0.42       0.42   etl/io-0 0.42
cpu              1      0.58    0.00   -                   0.00   -
It slows etl/io-0 from 1.00× to 1.42×.
That is within its limit of 1.50×.
etl/io-0 is above its limit: 1.42×, and 1.30× is allowed; without this pod it would not be.
Alone it takes 78.1s, here 110.9s.
Vector: WorkloadProfile etl/filecomp, as declared.
Placed by loadline.

RANK   NODE        COST   WAITS   INFLICTS   PODS   REMARK
   1   worker-2   0.000   0.000      0.000      0
   2   worker-1   0.840   0.420      0.420      1   it is here
   -   worker-3   0.000   0.000      0.000      0   does not fit: node(s) were unschedulable
   -   worker-4   0.000   0.000      0.000      0   does not fit: Insufficient cpu: the pod requests 500m, and 250m is left
   -   worker-5   0.000   0.000      0.000      0   does not fit: node(s) didn't match Pod's node affinity/selector
   -   worker-6   0.000   0.000      0.000      0   does not fit: node(s) had untolerated taint(s): gpu:NoSchedule
   -   worker-7   0.840   0.420      0.420      1   does not fit: Too many pods: it runs 1, as many as it may
worker-2 is cheaper by 0.840: of 2 nodes that fit, this one is number 2.
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

func TestExplainRanksNodesForAPodThatWaitsForOne(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.FiveWorkers, "explain", "pod/waiting", "-n", "shop", "-f", "-", "--scheduler", clitest.WriteFile(t, "scheduler.yaml", clitest.SchedulerYAML))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		"shop/waiting waits for a node.\ndefault-scheduler says: 0/5 nodes are available: 5 node(s) had a taint.\n",
		"Vector: assumed from its requests, since it follows no WorkloadProfile (rules: scheduler.yaml).\n",
		"Its scheduler is default-scheduler, which does not go by these prices.\n",
		// The configured minimum of 200m is its loading, not the request of 100m: equals would cost 2 · 0.2 · 0.58 =
		// 0.232. The other requests five times as much, so the pod waits for most of that.
		"   4   worker-1   0.272   0.234      0.038      2\n",
		"is the cheapest of 4 nodes that fit.\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

func TestExplainSaysWhyCostsCountSomeWaitsOften(t *testing.T) {
	t.Parallel()
	const line = "Its profile has an importance of 5: costs count what it waits that many times.\n"
	important := strings.Replace(clitest.FiveWorkers, "  neutralMillis: 78100\n", "  neutralMillis: 78100\n  importance: 5\n", 1)
	for pod, says := range map[string]bool{"filecomp-7": true, "io-0": false} {
		code, stdout, stderr := clitest.Run(t, important, "explain", "pod/"+pod, "-n", "etl", "-f", "-", "--nodes")
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if strings.Contains(stdout, line) != says {
			t.Errorf("%s: want the line: %t, got\n%s", pod, says, stdout)
		}
	}
}

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

func TestExplainAsksTheCluster(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, append(clitest.Installed(), clitest.EtlCluster()...)...)
	code, stdout, stderr := server.Ask(t, "explain", "pod", "sort-0")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		"etl/sort-0 runs on worker-1, ",
		// A pod of two threads waits for itself, too; the other, of equal weight, has as much as both of them, and counts
		// by the minimum that the scheduler's configuration has.
		"cpu              1   2 × 0.50", "0.12   shop/other 0.12",
		"Vector: WorkloadProfile etl/sort, measured 3h ago on nodes without a NodeProfile (± 0.03 at most).\n",
		"Placed by loadline 60m ago.\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "RANK") {
		t.Errorf("nodes are ranked that were not asked for:\n%s", stdout)
	}

	code, stdout, stderr = server.Ask(t, "explain", "pod", "sort-0", "-o", "json")
	var here explanation.Answer
	if err := json.Unmarshal([]byte(stdout), &here); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s %v", code, stderr, err)
	}
	if r := here.Resources[0]; r.Loading != 0.5 || r.Sensitivity != 0.4 {
		t.Errorf("at the cpu it is %+v, want loading 0.5 and sensitivity 0.4", r)
	}

	code, stdout, stderr = server.Ask(t, "explain", "pod", "sort-1", "-o", "json")
	var e explanation.Answer
	if err := json.Unmarshal([]byte(stdout), &e); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s %v", code, stderr, err)
	}
	if e.Node != "" || e.Dilation != nil || len(e.Nodes) != 2 || e.Nodes[0].Node != "worker-2" || e.Nodes[0].Rank != 1 || e.Nodes[1].Pods != 2 {
		t.Errorf("the explanation is %+v", e)
	}
	if e.Rules != "ConfigMap loadline-system/loadline-scheduler-5t6h, scheduler.yaml" {
		t.Errorf("the rules are of %q", e.Rules)
	}
}

func TestExplainGoesOnWithoutWhatItMayNotSee(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, clitest.EtlCluster()...).Without("loadline.dev").Refuse("/apis/apps/*")
	code, stdout, stderr := server.Ask(t, "explain", "pod", "sort-0")
	if code != 0 || !strings.Contains(stdout, "(rules: the defaults, since the scheduler's are not known: listing Deployments: ") {
		t.Errorf("exit code %d, output\n%s", code, stdout)
	}
	if want := "Warning: " + deployed.ErrNoProfileKind.Error() + ": pods count by their requests\n"; stderr != want {
		t.Errorf("errors %q, want %q", stderr, want)
	}
}

func TestExplainShowsEverythingIfAsked(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString(clitest.FiveWorkers)
	for i := range 20 {
		name := string(rune('a' + i))
		many.WriteString("- {apiVersion: v1, kind: Node, metadata: {name: node-" + name + ", labels: {zone: a}}, status: {allocatable: {cpu: '1'}}}\n")
		many.WriteString("- {apiVersion: v1, kind: Pod, metadata: {name: io-" + name + ", namespace: etl, labels: {app: std-io}}, spec: {nodeName: worker-1, containers: [{name: main}]}}\n")
	}
	_, stdout, _ := clitest.Run(t, many.String(), "explain", "pod", "filecomp-7", "-f", "-", "--nodes")
	for _, want := range []string{"19 more ", "and 18 more (-o wide lists all).\n", "it is here\n", "So are 18 more pods.\n", "and 16 more (-o wide lists all)\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	_, stdout, _ = clitest.Run(t, many.String(), "explain", "pod", "filecomp-7", "-f", "-", "--nodes", "-o", "wide")
	if strings.Contains(stdout, "lists all") || strings.Count(stdout, "\n   1   node-") != 20 || strings.Count(stdout, "\netl/io-") != 2*21 {
		t.Errorf("something is left out of\n%s", stdout)
	}
}

func TestTheVectorOfAProfileThatIsNotMeasuredYetIsThatOfTheRequests(t *testing.T) {
	t.Parallel()
	text := strings.Replace(clitest.FiveWorkers, `resources: [{name: cpu, loading: "0.58"}, {name: disk, loading: "0.42"}]`, "measurement: {target: {kind: Job, name: x}}", 1)
	_, stdout, stderr := clitest.Run(t, text, "explain", "pod", "filecomp-7", "-f", "-")
	if want := "Vector: assumed from its requests, since WorkloadProfile etl/filecomp has no vector in use yet (rules: the defaults).\n"; !strings.Contains(stdout, want) {
		t.Errorf("%q is not in\n%s%s", want, stdout, stderr)
	}
	text = strings.Replace(clitest.FiveWorkers, `{name: cpu, loading: "0.58"}`, `{name: cqu, loading: "0.58"}`, 1)
	_, stdout, stderr = clitest.Run(t, text, "explain", "pod", "filecomp-7", "-f", "-")
	if want := "Vector: WorkloadProfile etl/filecomp, as declared; it leaves out cqu.\n"; !strings.Contains(stdout, want) {
		t.Errorf("%q is not in\n%s%s", want, stdout, stderr)
	}
}

func TestExplainRefusesWrongUse(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, clitest.EtlCluster()...)
	lonely := clitest.SortPod("lonely", corev1.PodRunning)
	lonely.Spec.NodeName = "worker-9"
	server.Objects = append(server.Objects, lonely)
	kubeconfig := server.Kubeconfig(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no pod":                    {nil, "name a pod: write explain pod NAME, or explain pod NAMESPACE/NAME"},
		"no name":                   {[]string{"pod"}, "name a pod: write explain pod NAME"},
		"another kind":              {[]string{"node", "worker-1"}, `"node" is not explained, only pods are: write explain pod NAME`},
		"a pod that is not there":   {[]string{"pod", "x", "--kubeconfig", kubeconfig}, `there is no pod "x" in namespace "etl"; -n names another`},
		"a pod that has ended":      {[]string{"pod", "sort-2", "--kubeconfig", kubeconfig}, "pod etl/sort-2 has ended (Succeeded): explain is about pods that run or wait for a node"},
		"a node that is gone":       {[]string{"pod", "lonely", "--kubeconfig", kubeconfig}, `pod etl/lonely is on node "worker-9", which is not there any more`},
		"a pod not in the files":    {[]string{"pod", "etl/x", "-f", "-"}, `there is no pod "etl/x" in the files (there are etl/filecomp-7, etl/io-0, etl/io-1, etl/done, shop/waiting)`},
		"no pods in the files":      {[]string{"pod", "x", "-f", clitest.WriteFile(t, "a.yaml", clitest.PaperJobs)}, "there are no pods in the files: kubectl get pods,nodes,namespaces,workloadprofiles,nodeprofiles -A -o yaml prints them"},
		"a node not in the files":   {[]string{"pod", "x", "-f", clitest.WriteFile(t, "p.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {nodeName: gone}\n")}, `pod x is on node "gone", which is not there: give the Node, too`},
		"which of two pods":         {[]string{"pod", "x", "-f", clitest.WriteFile(t, "p.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: b}\n")}, `there are several pods "x" in the files, such as a/x: say which`},
		"another kind in the files": {[]string{"pod", "x", "-f", clitest.WriteFile(t, "s.yaml", "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}")}, "there are no pods in the files: "},
		"a misspelt profile":        {[]string{"pod", "x", "-f", clitest.WriteFile(t, "w.yaml", strings.Replace(clitest.PaperJobs, "resources", "resurces", 1))}, `spec.resurces: Forbidden: there is no such field`},
		"no such configuration":     {[]string{"pod", "etl/io-0", "-f", "-", "--scheduler", "none.yaml"}, "--scheduler none.yaml: open none.yaml: no such file"},
		"another configuration":     {[]string{"pod", "etl/io-0", "-f", "-", "--scheduler", clitest.WriteFile(t, "k.yaml", "kind: Kustomization")}, `--scheduler k.yaml: kind: "Kustomization" is not KubeSchedulerConfiguration`},
		"wrong arguments": {
			[]string{"pod", "etl/io-0", "-f", "-", "--scheduler", clitest.WriteFile(t, "k.yaml", strings.Replace(clitest.SchedulerYAML, "200m", "-1", 1))}, `k.yaml: profiles[1]: [requests[0].minimum: Invalid value: "-1"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, clitest.FiveWorkers, append([]string{"explain"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}

// Equal nodes have one rank, and the plugin takes any of them.
func TestNodesThatCostTheSameHaveOneRank(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(clitest.FiveWorkers, "unschedulable: true", "unschedulable: false")
	_, stdout, _ := clitest.Run(t, text, "explain", "pod", "filecomp-7", "-f", "-", "--nodes", "-o", "json")
	var e explanation.Answer
	if err := json.Unmarshal([]byte(stdout), &e); err != nil {
		t.Fatal(err)
	}
	var ranks []int
	for _, n := range e.Nodes {
		ranks = append(ranks, n.Rank)
	}
	if !slices.Equal(ranks, []int{1, 1, 3, 0, 0, 0, 0}) {
		t.Errorf("the ranks are %v", ranks)
	}
}

// unequalPods are a service of 60 % of a core that requests 50m beside a job that never rests.
const unequalPods = `apiVersion: v1
kind: List
items:
- {apiVersion: loadline.dev/v1alpha1, kind: WorkloadProfile, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, resources: [{name: cpu, loading: "0.6"}]}}
- {apiVersion: loadline.dev/v1alpha1, kind: WorkloadProfile, metadata: {name: batch, namespace: shop}, spec: {selector: {matchLabels: {app: batch}}, resources: [{name: cpu, loading: "1"}]}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-1}, status: {allocatable: {cpu: "1"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: shop, labels: {app: web}}, spec: {nodeName: worker-1, containers: [{name: main, resources: {requests: {cpu: 50m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: batch-0, namespace: shop, labels: {app: batch}}, spec: {nodeName: worker-1, containers: [{name: main, resources: {requests: {cpu: 300m}}}]}}
`

func TestExplainSaysWhatWeightDoesAndWhatAnotherRequestWould(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"": "It requests 50m of the CPU and its neighbour shop/batch-0 300m, which gets 6 times as much where both want it; with equal requests it would be 1.60 times slower." +
			" A request of 600m (now 50m) would make it 1.30 times, and shop/batch-0 1.86 times (now 1.15).\n",
		"request=200m":           "With a request of 200m it would be 1.90 times slower than alone (now 4.60), and shop/batch-0 1.46 times (now 1.15).\n",
		"dilation=1.5":           "The smallest request that keeps it below 1.50× is 362m (now 50m): it would be 1.48 times slower than alone (now 4.60), and shop/batch-0 1.68 times (now 1.15).\n",
		"dilation=1.01":          "No request that fits keeps it below 1.01×: with a request of 700m it would be 1.26 times slower than alone (now 4.60), and shop/batch-0 1.91 times (now 1.15).\n",
		"dilation=50":            "Even without a request it would be ",
		"limit=300m,request=60m": "With a request of 60m and a limit of 300m it would be ",
	} {
		args := []string{"explain", "pod", "shop/web-0", "-f", "-"}
		if what != "" {
			args = append(args, "--what-if", what)
		}
		code, stdout, stderr := clitest.Run(t, unequalPods, args...)
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit code %d, errors %q, want %q in\n%s", what, code, stderr, want, stdout)
		}
	}
	for what, want := range map[string]string{
		"memory=1Gi":           `--what-if memory=1Gi: "memory" is not one of request, limit, dilation`,
		"request":              "--what-if request: write NAME=VALUE, such as request=300m",
		"request=much":         `"much" is not a number such as 500m or 2`,
		"limit=-1":             "--what-if limit=-1: -1 is less than 0",
		"dilation=1":           `"1" is not a number above 1, such as 1.5`,
		"dilation=NaN":         `"NaN" is not a number above 1`,
		"dilation=Inf":         `"Inf" is not a number above 1`,
		"request=1,request=2":  "it is given twice",
		"dilation=2,request=1": "dilation asks for a request: leave one of them out",
		"request=2,limit=1":    "a request of 2 is above the limit of 1: change both",
		"limit=20m":            "a request of 50m is above the limit of 20m: change both",
	} {
		code, stdout, stderr := clitest.Run(t, unequalPods, "explain", "pod", "shop/web-0", "-f", "-", "--what-if", what)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, output %q, errors %q, want %q", what, code, stdout, stderr, want)
		}
	}
}
