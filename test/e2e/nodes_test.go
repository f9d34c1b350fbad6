//go:build e2e

package e2e

import (
	"testing"

	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/test/live"
)

func TestProbesRunOnEveryWorker(t *testing.T) { //nolint:paralleltest // probes have the nodes to themselves
	namespace := cluster.NewNamespace(t)
	boots := map[string]bool{}
	for _, node := range cluster.Workers {
		pod := cluster.RunPod(t, cluster.ProbePod(namespace, "probe-"+node.Name, node.Name, "run", "--job", "cpu", "--duration", "1s"))
		if pod.Spec.NodeName != node.Name {
			t.Errorf("the probe for %s ran on %s", node.Name, pod.Spec.NodeName)
		}
		run, err := result.ParseRun(live.TerminationMessage(t, pod, "probe"))
		must(t, err)
		if run.Job != "cpu" || run.Units == 0 || run.CPUNanos == 0 {
			t.Errorf("the probe on %s reports no work: %+v", node.Name, run)
		}
		boots[run.BootID] = true
	}
	if len(boots) == 0 || boots[""] {
		t.Errorf("boot ids: %v, want one of each node's kernel", boots)
	}
}
