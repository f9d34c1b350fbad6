package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
)

// The vectors of the D-factor paper's workloads, which the tests place.
var papers = map[string]map[string]string{
	"filecomp":   {"cpu": "0.58", "disk": "0.42"},
	"sort":       {"cpu": "0.9", "disk": "0.1"},
	"fileserver": {"cpu": "0.02", "disk": "0.98"},
}

var papersVectors = map[string]loading.Vector{
	"filecomp":   loading.Loadings(0.58, 0.42),
	"sort":       loading.Loadings(0.9, 0.1),
	"fileserver": loading.Loadings(0.02, 0.98),
}

func TestPodsLandWhereDefinition2Says(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 4)
	must(t, p.Create(t.Context(), p.oneCore()))
	for app, loadings := range papers {
		must(t, p.Create(t.Context(), p.profile(app, loadings)))
	}
	p.startScheduler(t, onlyDilation)

	loads := map[string]*price.Load{}
	for _, node := range p.nodes {
		loads[node] = price.NewLoad([]int{1, 1})
	}
	apps := []string{"sort", "fileserver", "filecomp", "sort", "sort", "fileserver", "filecomp", "filecomp", "sort", "fileserver", "sort", "filecomp"}
	for i, app := range apps {
		name := fmt.Sprintf("%02d-%s", i, app)
		must(t, p.Create(t.Context(), p.pod(name, app)))
		chosen := p.awaitBound(t, i+1)[name]

		candidate := price.NewCandidate(papersVectors[app])
		cost := loads[chosen].Prices().Of(candidate)
		for node, load := range loads {
			if other := load.Prices().Of(candidate); other < cost-1e-9 {
				t.Errorf("%s went to %s, where 2 p'·p̄ = %.4f; on %s it is %.4f", name, chosen, cost, node, other)
			}
		}
		loads[chosen].Add(papersVectors[app])
	}
}

// burst creates 100 pods that use only the CPU and 100 that use only the disk,
// at once. On 20 nodes the sequential optimum is 5 of each on every node, in
// any order.
func (p *place) burst(t *testing.T) {
	t.Helper()
	must(t, p.Create(t.Context(), p.oneCore()))
	must(t, p.Create(t.Context(), p.profile("cpu", map[string]string{"cpu": "1"})))
	must(t, p.Create(t.Context(), p.profile("disk", map[string]string{"disk": "1"})))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(32)
	for i := range 100 {
		for _, app := range []string{"cpu", "disk"} {
			group.Go(func() error { return p.Create(ctx, p.pod(fmt.Sprintf("%s-%03d", app, i), app)) })
		}
	}
	must(t, group.Wait())
}

// checkSpread checks that every node has the sequential optimum of the burst's
// pods, but for at most off pods of each kind in all that are elsewhere.
func (p *place) checkSpread(t *testing.T, nodes map[string]string, off int) {
	t.Helper()
	counts := map[string]map[string]int{"cpu": {}, "disk": {}}
	for pod, node := range nodes {
		for app := range counts {
			if pod[:len(app)] == app {
				counts[app][node]++
			}
		}
	}
	for app, on := range counts {
		elsewhere := 0
		for _, node := range p.nodes {
			elsewhere += max(0, on[node]-5)
		}
		if elsewhere > off {
			t.Errorf("%d pods of %s are elsewhere than in the optimum of 5 on each node, at most %d may be: %v", elsewhere, app, off, on)
		}
	}
}

func TestABurstSpreadsAsTheSequentialOptimum(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 20)
	p.startScheduler(t, onlyDilation)
	p.burst(t)
	p.checkSpread(t, p.awaitBound(t, 200), 0)
}

// slowly limits a scheduler to some 25 pods per second, so that it is in the
// middle of a burst for seconds.
func slowly(config string) string {
	return replaceOnce(config, "qps: 5000, burst: 5000", "qps: 50, burst: 10")
}

// awaitMiddle waits until some of the burst's pods are bound, and checks that
// others are not.
func (p *place) awaitMiddle(t *testing.T) {
	t.Helper()
	var bound atomic.Int64
	_, err := local.AwaitPods(t.Context(), p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		n := int64(0)
		for _, pod := range pods {
			if pod.Spec.NodeName != "" {
				n++
			}
		}
		bound.Store(n)
		return n >= 30
	})
	must(t, err)
	if bound.Load() == 200 {
		t.Fatal("the burst was over before the test could disturb it")
	}
}

func TestASchedulerKilledAndRestartedMidBurstLosesNothing(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 20)
	first := p.startScheduler(t, onlyDilation, slowly)
	p.burst(t)
	p.awaitMiddle(t)
	must(t, first.Kill())
	p.startScheduler(t, onlyDilation)
	p.checkSpread(t, p.awaitBound(t, 200), 0)
}

func TestAnAPIServerRestartedMidBurstLosesNothing(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 20)
	process := p.startScheduler(t, onlyDilation, slowly)
	p.burst(t)
	p.awaitMiddle(t)
	must(t, p.plane.RestartAPIServer(t.Context()))
	bound := p.awaitBound(t, 200)
	// A binding that the server made but could not acknowledge counts again
	// only once the watch is back; another pod may be placed there meanwhile.
	p.checkSpread(t, bound, strings.Count(process.Log(), "is already assigned to node"))
}

func TestAProfileChangedMidRunChangesTheNextPlacement(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	must(t, p.Create(t.Context(), p.oneCore()))
	job := p.profile("job", map[string]string{"cpu": "0.9"})
	must(t, p.Create(t.Context(), job))
	must(t, p.Create(t.Context(), p.profile("cpu", map[string]string{"cpu": "1"})))
	must(t, p.Create(t.Context(), p.profile("disk", map[string]string{"disk": "0.8"})))
	for i, app := range []string{"cpu", "disk"} {
		pod := p.pod(app, app)
		pod.Spec.NodeName = p.nodes[i]
		must(t, p.Create(t.Context(), pod))
	}
	process := p.startScheduler(t, onlyDilation)
	must(t, p.Create(t.Context(), p.pod("before", "job")))
	if got := p.awaitBound(t, 3)["before"]; got != p.nodes[1] {
		t.Errorf("a CPU-bound pod went to %s, beside another one", got)
	}

	p.change(t, job, func() {
		job.Spec.Resources[0].Name = "disk"
		job.Spec.Resources[0].Loading = new(resource.MustParse("0.9"))
	})
	// The informer needs a moment: what counts is that the change arrives
	// without a restart. Pods placed with the old profile make the disk's node
	// the cheaper one only for as long as they are CPU-bound.
	for i := range 100 {
		name := fmt.Sprintf("after-%d", i)
		must(t, p.Create(t.Context(), p.pod(name, "job")))
		bound := p.awaitBound(t, 4)
		if bound[name] == p.nodes[0] {
			return
		}
		must(t, p.Delete(t.Context(), p.pod(name, "job"), client.GracePeriodSeconds(0)))
		p.awaitBound(t, 3)
	}
	t.Errorf("disk-bound pods go on to %s, beside two others\n%s", p.nodes[1], process.Log())
}
