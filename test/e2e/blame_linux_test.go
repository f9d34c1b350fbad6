//go:build e2e

package e2e

import (
	"errors"
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/test/oracle/runqueue"
)

// A pod waits for two others, of which the one with the smaller request has more to do. The kernel is observed meanwhile.
func TestWhoBlamesThePodsThatRanWhileAnotherWaited(t *testing.T) {
	t.Parallel()
	observer, err := runqueue.Start()
	if errors.Is(err, runqueue.ErrUnavailable) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { must(t, observer.Close()) })
	account := func() runqueue.Account {
		a, err := observer.Account()
		if errors.Is(err, runqueue.ErrLost) {
			t.Skip(err)
		}
		must(t, err)
		return a
	}
	node := reserve(t, 0)[0]
	namespace := cluster.NewNamespace(t)
	speed := cluster.Speed(t, namespace, node)
	half := func(name, request string) *corev1.Pod {
		pod := cluster.ProbePod(namespace, name, node)
		pod.Spec.Containers[0] = cluster.HalfBusy(speed, endlessly).Containers[0]
		return requesting(pod, request, "")
	}
	pods := []*corev1.Pod{
		half("cart", "50m"), half("index", "300m"),
		requesting(cluster.ProbePod(namespace, "sort", node, "run", "--job", "cpu", "--duration", "1h"), "200m", ""),
	}
	for _, pod := range pods {
		must(t, cluster.Create(t.Context(), pod))
	}
	both := func(f *findings.Finding) bool { return len(neighbours(f, namespace)) == 2 }
	cluster.AwaitFinding(t, node, namespace, "cart", both)
	before := account()
	f := cluster.AwaitFinding(t, node, namespace, "cart", func(f *findings.Finding) bool { return both(f) && f.Seconds > 50 })
	names := map[runqueue.Group]string{}
	for _, pod := range pods {
		groups, err := runqueue.GroupsOfPod(string(pod.UID))
		must(t, err)
		for _, group := range groups {
			names[group] = pod.Name
		}
	}
	waited := map[string]time.Duration{}
	for pair, d := range account().Since(before).Waited {
		if names[pair.Waiting] == "cart" {
			waited[names[pair.Running]] += d
		}
	}
	causes := neighbours(f, namespace)
	said := causes["sort"] / (causes["sort"] + causes["index"])
	is := waited["sort"].Seconds() / (waited["sort"] + waited["index"]).Seconds()
	t.Logf("of what neighbours add to %.2f, sort is said to add %.3f, and ran for %.3f of that waiting: %v", f.Dilation, said, is, waited)
	const tolerance = 0.15 // twice as much as of drawn mixes on average: see test/observed
	if !(math.Abs(said-is) <= tolerance) {
		t.Errorf("sort is said to add %.3f of what neighbours do: %+v; it ran for %.3f of that waiting: %v", said, f.Causes, is, waited)
	}
}

// neighbours returns what the pods of a namespace add to a dilation, by their names.
func neighbours(f *findings.Finding, namespace string) map[string]float64 {
	of := map[string]float64{}
	for _, c := range f.Causes {
		if c.Kind == observed.ByNeighbour && len(c.Pod) > len(namespace) && c.Pod[:len(namespace)+1] == namespace+"/" {
			of[c.Pod[len(namespace)+1:]] += c.Dilation
		}
	}
	return of
}
