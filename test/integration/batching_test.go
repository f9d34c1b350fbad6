package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/test/feature"
)

// What a profile of the scheduler needs besides config/scheduler, so that pods are batched.
const (
	noDefaultSpreading = "  - name: PodTopologySpread\n    args: {defaultingType: List}\n"
	// Without it two pods are alike only if all their labels are.
	withoutLabels = "  - name: InterPodAffinity\n    args: {ignorePreferredTermsOfExistingPods: true}\n"
)

// batching is what the batching of a scheduler did.
type batching struct {
	attempts map[string]float64 // pods, by whether they were placed by the scores of the pod before
	flushed  map[string]float64 // how often these were dropped, by the reason
	scored   float64            // pods that Dilation scored
}

// batch has a new scheduler place the n pods of the place that are called new-something. They are there already, so it has all
// of them in its queue before it places the first. It returns the pods on each node, under "" those that wait.
func (p *place) batch(t *testing.T, n int, pluginConfig string) (nodes map[string][]string, b batching) {
	t.Helper()
	if !feature.Batching(t) {
		t.Skip("pods are scored one by one")
	}
	profiles, err := local.ShippedProfiles(root)
	must(t, err)
	process := p.startScheduler(t, profiles+pluginConfig)
	_, err = local.AwaitPods(t.Context(), p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		nodes = map[string][]string{}
		decided := 0
		for name, pod := range pods {
			if !strings.HasPrefix(name, "new-") {
				continue
			}
			if pod.Spec.NodeName != "" || slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
			}) {
				decided++
			}
			nodes[pod.Spec.NodeName] = append(nodes[pod.Spec.NodeName], name)
		}
		return decided == n
	})
	must(t, err)
	text, err := process.Get(t.Context(), "/metrics")
	must(t, err)
	return nodes, readBatching(t, text)
}

func readBatching(t *testing.T, text string) batching {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	must(t, err)
	counts := func(family, label string) map[string]float64 {
		counts := map[string]float64{}
		for _, m := range families[family].GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == label {
					counts[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
		return counts
	}
	return batching{
		attempts: counts("scheduler_batch_attempts_total", "result"),
		flushed:  counts("scheduler_batch_cache_flushed_total", "reason"),
		scored:   counts("loadline_dilation_pods_scored_total", "vector")["profile"],
	}
}

// neighbour puts a pod of a profile on a node of the place.
func (p *place) neighbour(t *testing.T, node int, app string) {
	t.Helper()
	pod := p.pod(fmt.Sprintf("%s-%d", app, node), app)
	pod.Spec.NodeName = p.nodes[node]
	must(t, p.Create(t.Context(), pod))
}

// The scores of one pod decide where those behind it go, each to the next best node, which the guard checks as it is by then:
// no node gets a second pod, and none goes where a neighbour would slow it down too much.
func TestABatchOfPodsOfOneProfileTakesTheBestNodesThatTheGuardAllows(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 16)
	p.guard(t, "enforce") // 1.5 at most, of pods that use nothing but the disk
	must(t, p.Create(t.Context(), p.profile("light", map[string]string{"disk": "0.2"})))
	must(t, p.Create(t.Context(), p.profile("heavy", map[string]string{"disk": "0.6"})))
	for i := range 4 {
		p.neighbour(t, 8+i, "light")
		p.neighbour(t, 12+i, "heavy")
	}
	for i := range 10 {
		must(t, p.Create(t.Context(), p.pod(fmt.Sprintf("new-%02d", i), "disk")))
	}
	nodes, b := p.batch(t, 10, noDefaultSpreading)
	on := func(from, to int) (counts []int) {
		for _, node := range p.nodes[from:to] {
			counts = append(counts, len(nodes[node]))
		}
		slices.Sort(counts)
		return counts
	}
	if got := on(0, 8); !slices.Equal(got, []int{1, 1, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("the nodes without neighbours have %v pods, want one each", got)
	}
	if got := on(8, 12); !slices.Equal(got, []int{0, 0, 1, 1}) {
		t.Errorf("the nodes with a light neighbour have %v pods, want one on two of them", got)
	}
	if got := on(12, 16); !slices.Equal(got, []int{0, 0, 0, 0}) { // beside heavy a pod would run 1.6 times slower
		t.Errorf("the nodes with a heavy neighbour have %v pods, want none", got)
	}
	used := b.attempts["hint_used"]
	if used == 0 || b.attempts["hint_not_used"] > 0 || used+b.attempts["no_hint"] != 10 || b.scored != b.attempts["no_hint"] {
		t.Errorf("%+v, want most pods to be placed by the scores of the one before, and not scored", b)
	}
	// What was slower than the half second for which scores are good was scored anew. So were pods that came to the queue before
	// and after the scheduler had read a namespace's guard: their signatures differ.
	if b.attempts["no_hint"] != 1+b.flushed["expired"]+b.flushed["pod_incompatible"] {
		t.Errorf("%+v, want the first pod to be scored, and one each time that the scores were too old or of another signature", b)
	}
}

// Pods behind those that fill all nodes wait, whatever the scores of the first said.
func TestABatchEndsWhereTheGuardRefusesAllNodes(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 4)
	p.guard(t, "enforce")
	for i := range 6 {
		must(t, p.Create(t.Context(), p.pod(fmt.Sprintf("new-%02d", i), "disk")))
	}
	nodes, b := p.batch(t, 6, noDefaultSpreading)
	for _, node := range p.nodes {
		if len(nodes[node]) != 1 {
			t.Errorf("%s has %v, want one pod", node, nodes[node])
		}
	}
	if len(nodes[""]) != 2 || b.attempts["hint_used"] == 0 {
		t.Errorf("%v wait, want two; %+v", nodes[""], b)
	}
}

// While a node takes more pods, its price is found anew for each, and it is the best again or not: with two heavy neighbours on a node
// and none on another, of four pods that use the disk nine tenths of their time the second node takes the first two and the fourth.
func TestInABatchTheNodeThatTookAPodHasItsNewPrice(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	must(t, p.Create(t.Context(), p.profile("disk", map[string]string{"disk": "0.9"})))
	for _, app := range []string{"heavy", "also-heavy"} {
		must(t, p.Create(t.Context(), p.profile(app, map[string]string{"disk": "0.6"})))
		p.neighbour(t, 0, app)
	}
	for i := range 4 {
		must(t, p.Create(t.Context(), p.pod(fmt.Sprintf("new-%02d", i), "disk")))
	}
	nodes, b := p.batch(t, 4, noDefaultSpreading)
	if len(nodes[p.nodes[0]]) != 1 || len(nodes[p.nodes[1]]) != 3 {
		t.Errorf("beside two heavy ones are %v, and elsewhere %v, want one of four pods, and three", nodes[p.nodes[0]], nodes[p.nodes[1]])
	}
	if used := b.attempts["hint_used"]; used == 0 || used+b.attempts["no_hint"] != 4 || b.scored != 4 {
		t.Errorf("%+v, want some pods to be placed by the scores of the one before, and each to have a node scored", b)
	}
}

func TestNothingIsBatchedAsShipped(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 4)
	p.guard(t, "enforce")
	for i := range 4 {
		must(t, p.Create(t.Context(), p.pod(fmt.Sprintf("new-%02d", i), "disk")))
	}
	if _, b := p.batch(t, 4, ""); b.attempts["no_hint"] != 4 || b.scored < 3 {
		t.Errorf("%+v, want all pods to be scored", b)
	}
}

// No two of the pods of a case are the same in one thing. Their labels do not count.
func TestPodsAreBatchedUnlessTheyDifferInWhatDilationScores(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		vary  func(pod *corev1.Pod, i int)
		alike bool
	}{
		"labels of one profile": {func(pod *corev1.Pod, i int) { pod.Labels["index"] = fmt.Sprint(i) }, true},
		"profiles":              {func(pod *corev1.Pod, i int) { pod.Labels["app"] = fmt.Sprintf("app-%d", i) }, false},
		"limits": {func(pod *corev1.Pod, i int) {
			pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(1+i), resource.DecimalSI)}
		}, false},
	}
	const pods = 8
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := shared.newPlace(t, pods)
			disk := p.guard(t, "enforce")
			for i := range pods {
				other := p.profile(fmt.Sprintf("app-%d", i), map[string]string{"disk": "0.9", "network": fmt.Sprintf("0.0%d", i)})
				other.Spec.SLA = disk.Spec.SLA
				must(t, p.Create(t.Context(), other))
				pod := p.pod(fmt.Sprintf("new-%d", i), "disk")
				pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
				test.vary(pod, i)
				must(t, p.Create(t.Context(), pod))
			}
			nodes, b := p.batch(t, pods, noDefaultSpreading+withoutLabels)
			for _, node := range p.nodes {
				if len(nodes[node]) != 1 {
					t.Errorf("%s has %v, want one pod", node, nodes[node])
				}
			}
			// Pods that are alike differ in their signatures, too, where the scheduler reads a namespace's guard between them.
			if used, differed := b.attempts["hint_used"], b.flushed["pod_incompatible"]; test.alike != (used > 0) || !test.alike && differed == 0 {
				t.Errorf("%+v, want pods to be batched: %v", b, test.alike)
			}
		})
	}
}
