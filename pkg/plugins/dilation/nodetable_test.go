package dilation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// in moves an object to a namespace.
func in[T metav1.Object](namespace string, object T) T {
	object.SetNamespace(namespace)
	return object
}

// changed returns a later state of a profile.
func changed(p *v1alpha1.WorkloadProfile, change func(*v1alpha1.WorkloadProfile)) *v1alpha1.WorkloadProfile {
	p = p.DeepCopy()
	p.Generation++
	change(p)
	return p
}

// countCosts returns how often a node was looked into to find a cost, where it was not looked up.
func countCosts(d *Dilation) *int {
	n, cost := new(int), d.cost
	d.cost = func(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
		*n++
		return cost(ctx, c, node)
	}
	return n
}

// A change of a profile touches the nodes whose pods follow it before or after, and no other. Only what concerns all nodes
// touches all.
func TestAChangedProfileTouchesTheNodesOfItsPods(t *testing.T) {
	t.Parallel()
	job, quiet, foreign := bounded(workload("job", demand("disk", 0.5)), 3), workload("quiet", demand("network", 0.1)), in("foreign", workload("job", demand("cpu", 0.5)))
	heavier := func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Loading = quantity(0.6) }
	specific := workload("canary", demand("network", 0.5))
	specific.Spec.Selector.MatchLabels = map[string]string{"app": "job", "track": "canary"}
	set := func(p any) func(*Dilation) { return func(d *Dilation) { d.index.OnUpdate(nil, p) } }
	for name, test := range map[string]struct {
		change func(*Dilation)
		want   []string // nodes
	}{
		"one that no pod follows":           {set(workload("unused", demand("disk", 1))), nil},
		"one of another namespace":          {set(changed(foreign, heavier)), []string{"foreign"}},
		"one that pods of one node follow":  {set(changed(quiet, heavier)), []string{"quiet"}},
		"one that pods of two nodes follow": {set(changed(job, heavier)), []string{"canary", "job"}},
		"a more specific one":               {set(specific), []string{"canary"}},
		"one for a pod that had none":       {set(workload("none", demand("disk", 0.1))), []string{"none"}},
		"one is gone":                       {func(d *Dilation) { d.index.OnDelete(quiet) }, []string{"quiet"}},
		"one becomes invalid":               {set(changed(quiet, func(p *v1alpha1.WorkloadProfile) { p.Spec.Selector = nil })), []string{"quiet"}},
		"one of all nodes":                  {set(nodeProfile(map[string]int{"disk": 2})), []string{"canary", "foreign", "job", "none", "quiet"}},
		"one that names another resource":   {set(nodeProfile(map[string]int{"gpu": 2})), []string{"canary", "foreign", "job", "none", "quiet"}},
		"a namespace that enforces its bounds": {func(d *Dilation) {
			d.modes.OnAdd(&corev1.Namespace{ObjectMeta: withLabel("x", v1alpha1.GuardLabel, "warn")}, false)
		}, []string{"canary", "foreign", "job", "none", "quiet"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := guarded(t, nil, job, quiet, foreign)
			canary := testPod("canary", "job")
			canary.Labels["track"] = "canary"
			var list []fwk.NodeInfo
			for name, pods := range map[string][]*corev1.Pod{
				"job": {testPod("a", "job")}, "quiet": {testPod("b", "quiet")}, "canary": {canary}, "none": {testPod("c", "none")},
				"foreign": {in("foreign", testPod("d", "job"))},
			} {
				list = append(list, testNode(name, 4, pods...))
			}
			slices.SortFunc(list, func(a, b fwk.NodeInfo) int { return cmp.Compare(a.Node().Name, b.Node().Name) })
			known := func() (all []nodeDetails) {
				for range 2 { // the first time the nodes may be new
					pod := in("new", testPod("new", "new"))
					filter(t, d, pod, list...)
					scores(t, d, pod, list)
				}
				for _, node := range list {
					all = append(all, d.known(t, node))
				}
				return all
			}
			costs := countCosts(d)
			before, found := known(), *costs
			test.change(d)
			var priced, taken []string
			for n, now := range known() {
				if now.prices != before[n].prices {
					priced = append(priced, list[n].Node().Name)
				}
				if now.residents != before[n].residents {
					taken = append(taken, list[n].Node().Name)
				}
			}
			if diff := gocmp.Diff([][]string{test.want, test.want}, [][]string{priced, taken}); diff != "" {
				t.Errorf("unexpected nodes that were priced anew, and whose pods were taken in anew (-want +got):\n%s", diff)
			}
			if n := *costs - found; n != len(test.want) {
				t.Errorf("%d costs were found, want %d", n, len(test.want))
			}
		})
	}
}

// What Filter and Score mostly ask of a node is in one cache line.
func TestWhatIsKnownOfANodeIsInOneCacheLine(t *testing.T) {
	t.Parallel()
	const line = 64
	if size := reflect.TypeFor[nodeState]().Size(); size != line {
		t.Errorf("%d bytes, want %d: all of the table would be out of line", size, line)
	}
}

// What is known of nodes through any changes of profiles, pods, namespaces and nodes is what a new plugin finds.
func TestNodesThatWereKeptAnswerAsNewOnes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		objective := rapid.SampledFrom([]configv1alpha1.Objective{
			configv1alpha1.ObjectiveTotal, configv1alpha1.ObjectiveOwn, configv1alpha1.ObjectiveSLARisk,
		}).Draw(t, "objective")
		w := newWorld(t, func(a *config.DilationArgs) {
			a.Objective = objective
			a.Requests = append(a.Requests, config.RequestRule{Resource: "disk", Request: corev1.ResourceMemory, PerThread: 1 << 30, Utilization: 0.7})
		})
		t.Repeat(map[string]func(*rapid.T){
			"set a profile":    w.setProfile,
			"delete a profile": w.deleteProfile,
			"set a profile of nodes": func(t *rapid.T) {
				w.setNodes(rapid.SampledFrom([]map[string]int{{"disk": 1}, {"disk": 2}, {"disk": 1, "tape": 1}}).Draw(t, "servers"))
			},
			"label a namespace": func(t *rapid.T) {
				w.label(rapid.SampledFrom(worldNamespaces).Draw(t, "namespace"), rapid.SampledFrom([]string{"off", "warn", "enforce"}).Draw(t, "mode"))
			},
			"a pod comes":    w.addPod,
			"a pod goes":     w.removePod,
			"a node comes":   w.addNode,
			"a node goes":    w.removeNode,
			"a pod is tried": func(t *rapid.T) { answer(t, w.kept, w.pod(t), w.nodes) },
			"":               w.check,
		})
	})
}

// world is a cluster with the plugin that has seen all that happened there.
type world struct {
	change   func(*config.DilationArgs)
	kept     *Dilation
	profiles map[string]*v1alpha1.WorkloadProfile
	onNodes  *v1alpha1.NodeProfile
	labels   map[string]string // of namespaces
	nodes    []fwk.NodeInfo
	happened int
}

var worldNamespaces = []string{"shop", "etl"}

func newWorld(t testingT, change func(*config.DilationArgs)) *world {
	w := &world{change: change, profiles: map[string]*v1alpha1.WorkloadProfile{}, labels: map[string]string{}}
	w.kept = w.plugin(t)
	for n := range 3 {
		w.nodes = append(w.nodes, testNode(fmt.Sprint("node-", n), 2))
	}
	for n, namespace := range worldNamespaces {
		w.set(in(namespace, bounded(workload("a", demand("disk", 0.41927)), 1.3173+0.1*float64(n))))
		for k, node := range w.nodes {
			w.come(t, node, in(namespace, requesting(testPod(fmt.Sprint("first-", n, k), "a"), "137m", "")))
		}
	}
	return w
}

// plugin returns a plugin that knows what there is now.
func (w *world) plugin(t testingT) *Dilation {
	objects := []any{}
	for _, name := range slices.Sorted(maps.Keys(w.profiles)) {
		objects = append(objects, w.profiles[name])
	}
	if w.onNodes != nil {
		objects = append(objects, w.onNodes)
	}
	d := guarded(t, w.change, objects...)
	for namespace, mode := range w.labels {
		d.modes.OnAdd(&corev1.Namespace{ObjectMeta: withLabel(namespace, v1alpha1.GuardLabel, mode)}, false)
	}
	return d
}

func (w *world) next() int64 {
	w.happened++
	return int64(w.happened)
}

func (w *world) setProfile(t *rapid.T) {
	app := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "app")
	specific := rapid.Bool().Draw(t, "specific")
	at := rapid.SampledFrom([]string{"cpu", "disk", "tape", ""}).Draw(t, "resource")
	p := workload(app)
	if specific {
		p.Name += "-canary"
		p.Spec.Selector.MatchLabels["track"] = "canary"
	}
	if at == "" {
		p.Spec.Measurement = &v1alpha1.Measurement{} // it has no vector yet
	} else { // of so many digits that no answer is at a limit
		p.Spec.Resources = append(p.Spec.Resources, demand(at, rapid.SampledFrom([]float64{0.13713, 0.41927, 0.73131}).Draw(t, "loading")))
	}
	if bound := rapid.SampledFrom([]float64{0, 1.2173, 1.6311}).Draw(t, "bound"); bound > 0 {
		bounded(p, bound)
	}
	if rapid.Bool().Draw(t, "important") {
		p.Spec.Importance = quantity(7)
	}
	w.set(in(rapid.SampledFrom(worldNamespaces).Draw(t, "namespace"), p))
}

func (w *world) set(p *v1alpha1.WorkloadProfile) {
	p.Generation = w.next()
	w.kept.index.OnUpdate(nil, p)
	w.profiles[p.Namespace+"/"+p.Name] = p
}

func (w *world) deleteProfile(t *rapid.T) {
	if len(w.profiles) == 0 {
		t.Skip("there is none")
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(w.profiles))).Draw(t, "name")
	w.kept.index.OnDelete(w.profiles[name])
	delete(w.profiles, name)
}

func (w *world) setNodes(servers map[string]int) {
	w.onNodes = nodeProfile(servers)
	w.onNodes.Generation = w.next()
	w.kept.index.OnUpdate(nil, w.onNodes)
}

func (w *world) label(namespace, mode string) {
	w.labels[namespace] = mode
	w.kept.modes.OnUpdate(nil, &corev1.Namespace{ObjectMeta: withLabel(namespace, v1alpha1.GuardLabel, mode)})
}

// pod returns a pod that comes.
func (w *world) pod(t *rapid.T) *corev1.Pod {
	name := fmt.Sprint("pod-", w.next())
	pod := in(rapid.SampledFrom(worldNamespaces).Draw(t, "namespace"), testPod(name, rapid.SampledFrom([]string{"a", "b", "c", "none"}).Draw(t, "app")))
	if rapid.Bool().Draw(t, "canary") {
		pod.Labels["track"] = "canary"
	}
	requesting(pod, rapid.SampledFrom([]string{"137m", "731m"}).Draw(t, "cpu"), "")
	return withMemory(pod, rapid.SampledFrom([]string{"137Mi", "731Mi"}).Draw(t, "memory"))
}

func withMemory(pod *corev1.Pod, request string) *corev1.Pod {
	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse(request)
	return pod
}

// come has a pod placed on a node.
func (w *world) come(t testingT, node fwk.NodeInfo, pod *corev1.Pod) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	node.AddPodInfo(info)
}

func (w *world) addPod(t *rapid.T) {
	node := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")]
	if len(node.GetPods()) > 4 {
		t.Skip("there are enough")
	}
	w.come(t, node, w.pod(t))
}

func (w *world) removePod(t *rapid.T) {
	node := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")]
	if len(node.GetPods()) == 0 {
		t.Skip("there is none")
	}
	pods := podsOf(node)
	if err := node.RemovePod(klog.Background(), pods[rapid.IntRange(0, len(pods)-1).Draw(t, "pod")]); err != nil {
		t.Fatal(err)
	}
}

func (w *world) addNode(t *rapid.T) {
	if len(w.nodes) > 4 {
		t.Skip("there are enough")
	}
	w.nodes = append(w.nodes, testNode(fmt.Sprint("node-", w.next()), rapid.IntRange(1, 2).Draw(t, "cores")))
}

func (w *world) removeNode(t *rapid.T) {
	if len(w.nodes) == 1 {
		t.Skip("there is one left")
	}
	at := rapid.IntRange(0, len(w.nodes)-1).Draw(t, "node")
	w.nodes = slices.Delete(slices.Clone(w.nodes), at, at+1)
}

// check compares what the plugin says of every kind of pod with what a new one says.
func (w *world) check(t *rapid.T) {
	for _, namespace := range worldNamespaces {
		for _, app := range []string{"a", "none"} {
			for _, canary := range []bool{false, true} {
				pod := in(namespace, withMemory(requesting(testPod("new", app), "137m", ""), "137Mi"))
				pod.UID = types.UID(fmt.Sprint("new-", w.next())) // it is another one each time
				if canary {
					pod.Labels["track"], pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = "canary", resource.MustParse("731Mi")
				}
				want, got := answer(t, w.plugin(t), pod, w.nodes), answer(t, w.kept, pod, w.nodes)
				if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(solverTolerance, 0)); diff != "" {
					t.Fatalf("%s/%s, canary %t: unexpected answers (-new +kept):\n%s", namespace, app, canary, diff)
				}
			}
		}
	}
}

// solverTolerance is by how much a risk may differ where pods are solved in another order, relatively. All other costs are sums
// in the order of the pods.
const solverTolerance = 1e-4

// answers are what a plugin says of a pod, node by node.
type answers struct {
	Codes []fwk.Code
	Costs []float64
}

// answer runs one scheduling cycle, in which all nodes are scored, too.
func answer(t testingT, d *Dilation, pod *corev1.Pod, nodes []fwk.NodeInfo) (a answers) {
	t.Helper()
	d.knows(nodes...)
	state := framework.NewCycleState()
	if _, status := d.PreFilter(t.Context(), state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, node := range nodes {
		a.Codes = append(a.Codes, d.Filter(t.Context(), state, pod, node).Code())
	}
	if status := d.PreScore(t.Context(), state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, node := range nodes {
		score, status := d.Score(t.Context(), state, pod, node)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		a.Costs = append(a.Costs, decodeCost(score))
	}
	return a
}

// What was found for one pod is said of the next of its kind, also when another profile has come for the first one.
func TestAdviceOutlivesThePodThatItWasFoundFor(t *testing.T) {
	t.Parallel()
	job := bounded(workload("job", demand("disk", 0.9)), 1.5)
	canary := bounded(workload("canary", demand("network", 0.1)), 1.5)
	canary.Spec.Selector.MatchLabels = map[string]string{"app": "job", "track": "canary"}
	d := guarded(t, nil, job)
	node := testNode("node", 4, testPod("there", "job"), testPod("beside", "job"))
	first := testPod("first", "job")
	first.Labels["track"] = "canary"
	for range 2 { // the first time the node is new
		filter(t, d, first, node)
	}
	d.index.OnAdd(canary, false)
	_, got := filter(t, d, testPod("second", "job"), node)
	_, want := filter(t, guarded(t, nil, job, canary), testPod("second", "job"), node)
	if got != want || got == "" {
		t.Errorf("advice %q, and of a new plugin %q", got, want)
	}
}
