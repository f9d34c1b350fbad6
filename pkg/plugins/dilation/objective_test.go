package dilation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
)

func TestObjectives(t *testing.T) {
	light, heavy := workload("light", demand("disk", 0.1)), workload("heavy", demand("disk", 0.6))
	critical := bounded(workload("critical", demand("disk", 0.2)), 1.1)
	for name, test := range map[string]struct {
		objective configv1alpha1.Objective
		app       string
		nodes     map[string][]string
		want      string
	}{
		"the fullest node where no pod is dilated too much": {
			configv1alpha1.ObjectivePacking, "light", map[string][]string{"empty": nil, "fuller": {"light", "light"}, "too full": {"heavy", "heavy", "heavy"}}, "fuller",
		},
		"where all are too full, the one with the least dilation": {
			configv1alpha1.ObjectivePacking, "heavy", map[string][]string{"heavy": {"heavy", "heavy"}, "light": {"heavy"}}, "light",
		},
		"the least total": {
			configv1alpha1.ObjectiveTotal, "heavy", map[string][]string{"critical": {"critical"}, "light": {"light", "light", "light"}}, "critical",
		},
		"the least risk of an SLA": {
			configv1alpha1.ObjectiveSLARisk, "heavy", map[string][]string{"critical": {"critical"}, "light": {"light", "light", "light"}}, "light",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := guarded(t, func(a *config.DilationArgs) { a.Objective, a.PackingMaxDilation = test.objective, 1.2 }, light, heavy, critical)
			var list []fwk.NodeInfo
			for node, apps := range test.nodes {
				var pods []*corev1.Pod
				for k, app := range apps {
					pods = append(pods, requesting(testPod(fmt.Sprint(node, k), app), "1", ""))
				}
				info := framework.NewNodeInfo(pods...)
				info.SetNode(testNode(node, 8).Node())
				list = append(list, info)
			}
			_, normalized := scores(t, d, requesting(testPod("new", test.app), "1", ""), list)
			for _, s := range normalized {
				if best := s.Score == fwk.MaxScore; best != (s.Name == test.want) {
					t.Errorf("want %s: %v", test.want, normalized)
				}
			}
		})
	}
}

// Whatever estimates say, no pod is dilated more than it may be on the node that is best, unless one is on every node.
func TestTheBestPackedNodeHolds(t *testing.T) {
	const most = 1.2
	random := rand.New(rand.NewPCG(5, 1))
	wrong := 0
	for range 60 {
		var profiles []any
		for app := range 6 {
			profiles = append(profiles, workload(fmt.Sprintf("app-%d", app), demand("cpu", 0.1+0.4*random.Float64()), demand("disk", 0.1*random.Float64())))
		}
		d := guarded(t, func(a *config.DilationArgs) {
			a.Objective, a.PackingMaxDilation = configv1alpha1.ObjectivePacking, most
		}, profiles...)
		anyPod := func(name string) *corev1.Pod {
			return requesting(testPod(name, fmt.Sprintf("app-%d", random.IntN(6))), fmt.Sprintf("%dm", 50<<random.IntN(5)), "")
		}
		var list []fwk.NodeInfo
		for n := range 12 {
			var pods []*corev1.Pod
			for k := range 1 + random.IntN(6) {
				pods = append(pods, anyPod(fmt.Sprintf("%d-%d", n, k)))
			}
			list = append(list, testNode(fmt.Sprint(n), 1<<random.IntN(2), pods...))
		}
		pod := anyPod("new")
		raw, normalized := scores(t, d, pod, list)
		least := math.Inf(1)
		for _, node := range list {
			least = min(least, worstWith(t, d, node, pod))
		}
		for i, node := range list {
			worst := worstWith(t, d, node, pod)
			if normalized[i].Score == fwk.MaxScore && worst > most && least <= most {
				t.Errorf("the best node has a pod dilated %v times, another one %v times at most", worst, least)
			}
			if decodeCost(raw[i].Score) < 1 && worst > most {
				wrong++
			}
		}
	}
	if wrong == 0 {
		t.Error("no estimate was too low: there was nothing to confirm")
	}
}

func TestPackingEndsWithItsCycle(t *testing.T) {
	d := guarded(t, func(a *config.DilationArgs) { a.Objective, a.PackingMaxDilation = configv1alpha1.ObjectivePacking, 1.2 }, workload("job", demand("disk", 0.5)))
	nodes, pod := []fwk.NodeInfo{testNode("free", 4)}, testPod("new", "job")
	d.knows(nodes...)
	state := framework.NewCycleState()
	if status := d.PreScore(t.Context(), state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status := d.NormalizeScore(ctx, state, pod, fwk.NodeScoreList{{Name: "free", Score: encodeCost(0.5)}})
	if !errors.Is(status.AsError(), context.Canceled) {
		t.Errorf("%v", status)
	}
	status = d.NormalizeScore(t.Context(), state, pod, fwk.NodeScoreList{{Name: "gone", Score: encodeCost(0.5)}})
	if status.Code() != fwk.Error {
		t.Errorf("a node that is gone: %v", status)
	}
}

// worstWith returns the largest dilation on a node with one more pod, by the accurate model.
func worstWith(t *testing.T, d *Dilation, node fwk.NodeInfo, pod *corev1.Pod) float64 {
	t.Helper()
	return slices.Max(predicted(t, d.index.Snapshot(), node, append(podsOf(node), pod)).Dilations)
}

// Own looks at the pod alone: one that presses on others and hardly waits itself goes where the others are many.
func TestOwnLeavesNeighboursOutOfAccount(t *testing.T) {
	pushy := workload("pushy", demand("disk", 0.05))
	pushy.Spec.Resources[0].Pressure = quantity(0.9)
	meek := workload("meek", demand("disk", 0.5))
	meek.Spec.Resources[0].Pressure = quantity(0.01)
	loud := workload("loud", demand("disk", 0.05))
	loud.Spec.Resources[0].Pressure = quantity(0.3)
	for objective, want := range map[configv1alpha1.Objective]string{configv1alpha1.ObjectiveOwn: "meek", configv1alpha1.ObjectiveTotal: "loud"} {
		d := guarded(t, func(a *config.DilationArgs) { a.Objective = objective }, pushy, meek, loud)
		list := []fwk.NodeInfo{testNode("meek", 4, testPod("a", "meek")), testNode("loud", 4, testPod("b", "loud"))}
		_, normalized := scores(t, d, testPod("new", "pushy"), list)
		for _, s := range normalized {
			if best := s.Score == fwk.MaxScore; best != (s.Name == want) {
				t.Errorf("%s: want %s, got %v", objective, want, normalized)
			}
		}
	}
}

// Two nodes are alike but for which of their pods is important.
func TestNeighboursAreSparedByTheirImportance(t *testing.T) {
	important, job := workload("important", demand("disk", 0.3)), workload("job", demand("disk", 0.4))
	nodes := []fwk.NodeInfo{testNode("important", 4, testPod("a", "important")), testNode("job", 4, testPod("b", "job"))}
	best := func(d *Dilation) string {
		_, normalized := scores(t, d, testPod("new", "job"), nodes)
		return normalized[slices.IndexFunc(normalized, func(s fwk.NodeScore) bool { return s.Score == fwk.MaxScore })].Name
	}
	if got := best(testPlugin(t, important, job)); got != "important" {
		t.Errorf("where all are as important: %s", got)
	}
	important.Spec.Importance = quantity(5)
	d := testPlugin(t, important, job)
	if got := best(d); got != "job" {
		t.Errorf("where one is more important: %s", got)
	}
	raw, _ := scores(t, d, testPod("new", "important"), nodes)
	for i, want := range []float64{0.3*0.3*5 + 5*0.3*0.3, 5*0.3*0.4 + 0.3*0.4} {
		if got := decodeCost(raw[i].Score); math.Abs(got-want) > 1e-12 {
			t.Errorf("on %s it costs %v, want %v", nodes[i].Node().Name, got, want)
		}
	}
}

// A bound of 1 is exceeded by any wait, and the model cannot predict a pod without containers: neither spoils the scores.
func TestNodesThatCannotBeJudgedScoreLowest(t *testing.T) {
	for _, objective := range []configv1alpha1.Objective{configv1alpha1.ObjectiveSLARisk, configv1alpha1.ObjectivePacking} {
		strict := bounded(workload("strict", demand("disk", 0.5)), 1)
		d := guarded(t, func(a *config.DilationArgs) { a.Objective, a.GuardMode = objective, configv1alpha1.GuardWarn }, strict, workload("job", demand("disk", 0.9)))
		broken := testPod("broken", "job")
		broken.Spec.Containers = nil
		list := []fwk.NodeInfo{testNode("free", 4), testNode("strict", 4, testPod("there", "strict")), testNode("broken", 4, broken)}
		_, normalized := scores(t, d, testPod("new", "strict"), list)
		for _, s := range normalized {
			if s.Score < fwk.MinScore || s.Score > fwk.MaxScore || (s.Score == fwk.MaxScore) != (s.Name == "free") {
				t.Errorf("%s: %v", objective, normalized)
			}
		}
	}
}
