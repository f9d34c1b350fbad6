package who_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// quietFiles are files of nodes of which two have little to do, one has no gauge, and a pod of one may not be evicted.
func quietFiles(t *testing.T) []string {
	t.Helper()
	alone := observedPod("shop", "alone", "worker-4", "100m", "")
	alone.OwnerReferences = nil
	agent := observedPod("logs", "agent", "worker-1", "50m", "")
	agent.OwnerReferences[0].Kind = "DaemonSet"
	objects := []client.Object{
		observedNode("worker-1", "2"), observedNode("worker-2", "2"), observedNode("worker-3", "2"), observedNode("worker-4", "1"), observedNode("worker-5", "1"),
		observedPod("shop", "cart", "worker-1", "500m", ""), agent, observedPod("etl", "sort", "worker-2", "500m", ""), observedPod("etl", "load", "worker-2", "300m", ""),
		observedPod("web", "api", "worker-3", "100m", ""), observedPod("web", "ui", "worker-3", "200m", ""), observedPod("web", "db", "worker-3", "300m", ""), alone,
		observedPod("shop", "unseen", "worker-5", "100m", ""),
	}
	return clusterFiles(t, objects, []usage.Report{
		reportOf("worker-1", 2, 0, observed("cart", 0.5, 0, 0), observed("agent", 0.1, 0, 0)),
		reportOf("worker-2", 2, 0, observed("sort", 0.1, 0, 0), observed("load", 0.1, 0, 0)),
		reportOf("worker-3", 2, 0, observed("api", 0.2, 0, 0), observed("ui", 0.2, 0, 0), observed("db", 0.2, 0, 0)),
		reportOf("worker-4", 1, 0, observed("alone", 0.9, 0, 0)),
	})
}

func TestThePlanSaysWhichNodesCanBeEmptied(t *testing.T) {
	t.Parallel()
	const want = `EMPTY      MOVES   OF                                COSTS   WORST THEN       LEFT
worker-1       1   shop/cart to worker-3             -       web/api 1.05×   0.00
worker-2       2   etl/sort to worker-3 and 1 more   -       web/api 1.09×   0.00
2 of 5 nodes can be emptied by 3 moves so that no pod is slowed down more than 1.20×, or more than now where that is more.
The worst pod: etl/load 1.00× now, web/api 1.09× then. Excess above 1.20×: 0.00 now, 0.00 then.
worker-3 stays: it takes pods of worker-1.
worker-4 stays because of shop/alone: no controller would make it anew.
worker-5 stays: its state is not known: there is no gauge.
`
	code, stdout, stderr := clitest.Run(t, "", append([]string{"plan", "--consolidate"}, quietFiles(t)...)...)
	if diff := cmp.Diff(clitest.Squeezed(want), clitest.Squeezed(stdout)); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, %s\n-want +got:\n%s\n%s", code, stderr, diff, stdout)
	}
}

func TestAConsolidationFollowsTheFlags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want []string // the nodes that can be emptied
	}{
		"all":                 {nil, []string{"worker-1", "worker-2"}},
		"no more than a move": {[]string{"--max-changes", "1"}, []string{"worker-1"}},
		"moves alone":         {[]string{"--allow", "move"}, []string{"worker-1", "worker-2"}},
		"of a node":           {[]string{"--node", "worker-2"}, []string{"worker-2"}},
		"of a namespace":      {[]string{"-n", "shop"}, []string{"worker-1"}},
		"a lower bound":       {[]string{"--above", "1.001"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", append(append([]string{"plan", "--consolidate", "-o", "json"}, test.args...), quietFiles(t)...)...)
			var answer plan.Consolidation
			if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, stderr)
			}
			var got []string
			for i := range answer.Emptied {
				got = append(got, answer.Emptied[i].Node)
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%v can be emptied, want %v: %s", got, test.want, stdout)
			}
		})
	}
}

// The commands are a script, which cordons the nodes that are to be empty and evicts their pods, in this order, and nothing else.
func TestTheCommandsOfAConsolidationRun(t *testing.T) {
	t.Parallel()
	code, script, stderr := clitest.Run(t, "", append([]string{"plan", "--consolidate", "-o", "commands"}, quietFiles(t)...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	const fake = "kubectl() { echo \"$@\"; case \"$*\" in *-) cat >/dev/null;; esac; }\n"
	out, err := exec.CommandContext(t.Context(), "sh", "-eu", "-c", fake+script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	const want = `cordon node/worker-1
cordon node/worker-2
create --raw /api/v1/namespaces/shop/pods/cart/eviction -f -
create --raw /api/v1/namespaces/etl/pods/sort/eviction -f -
create --raw /api/v1/namespaces/etl/pods/load/eviction -f -
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, script)
	}
}

func TestAConsolidationOnlyMovesPods(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", append([]string{"plan", "--consolidate", "--allow", "move,limit"}, quietFiles(t)...)...)
	if want := "Error: --allow: move,limit: --consolidate makes no other change than move"; code != 2 || stdout != "" || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
