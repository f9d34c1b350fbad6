package dilation

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/test/oracle"
)

// testingT is a test, a benchmark or a property: a *testing.T, *testing.B or *rapid.T.
type testingT interface {
	rapid.TB
	Context() context.Context
}

// defaultRules are the plugin's own for pods without a profile.
func defaultRules(t testingT) []config.RequestRule { return defaultArgs(t).Requests }

func defaultArgs(t testingT) *config.DilationArgs {
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// testPlugin returns a plugin for a cluster of 5,000 nodes that knows the given
// profiles.
func testPlugin(t testing.TB, profiles ...any) *Dilation {
	index := profile.NewIndex(defaultRules(t), logr.Discard())
	for _, p := range profiles {
		index.OnAdd(p, false)
	}
	return newPlugin(defaultArgs(t), index, clusterOf(5000), newWaiting(nil, logr.Discard()), logr.Discard())
}

// clusterOf is a cluster of so many nodes, all that the plugin asks about it.
func clusterOf(nodes int) fwk.SharedLister { return cluster{nodes: make([]fwk.NodeInfo, nodes)} }

type cluster struct {
	fwk.SharedLister
	fwk.NodeInfoLister
	nodes []fwk.NodeInfo
}

func (c cluster) NodeInfos() fwk.NodeInfoLister { return c }
func (c cluster) List() ([]fwk.NodeInfo, error) { return c.nodes, nil }

func (c cluster) Get(name string) (fwk.NodeInfo, error) {
	for _, node := range c.nodes {
		if node != nil && node.Node().Name == name {
			return node, nil
		}
	}
	return nil, fmt.Errorf("node %q is not there", name)
}

// workload returns a profile for the pods whose label app is its name.
func workload(name string, demands ...v1alpha1.ResourceDemand) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Generation: 1},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Resources: demands,
		},
	}
}

func demand(name string, loading float64) v1alpha1.ResourceDemand {
	return v1alpha1.ResourceDemand{Name: name, Loading: quantity(loading)}
}

func quantity(f float64) *resource.Quantity {
	q := resource.MustParse(strconv.FormatFloat(f, 'f', -1, 64))
	return &q
}

// nodeProfile gives the resources of all nodes their servers.
func nodeProfile(servers map[string]int) *v1alpha1.NodeProfile {
	p := &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "all", UID: "all", Generation: 1},
		Spec:       v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{}},
	}
	for name, n := range servers {
		p.Spec.Resources = append(p.Spec.Resources, v1alpha1.ResourceServers{Name: name, Servers: new(int32(n))})
	}
	return p
}

func testPod(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
	}
}

func testNode(name string, cores int, pods ...*corev1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(cores), resource.DecimalSI)}},
	})
	return info
}

// scores runs one scheduling cycle's scoring.
func scores(t testingT, d *Dilation, pod *corev1.Pod, nodes []fwk.NodeInfo) (raw, normalized fwk.NodeScoreList) {
	t.Helper()
	d.knows(nodes...)
	state := framework.NewCycleState()
	if status := d.PreScore(t.Context(), state, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, node := range nodes {
		score, status := d.Score(t.Context(), state, pod, node)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		raw = append(raw, fwk.NodeScore{Name: node.Node().Name, Score: score})
	}
	normalized = slices.Clone(raw)
	if status := d.ScoreExtensions().NormalizeScore(t.Context(), state, pod, normalized); !status.IsSuccess() {
		t.Fatal(status)
	}
	return raw, normalized
}

// The raw cost of every node of 10,000 random clusters is ΔW by its definition,
// and the ranks of the nodes follow from it: one server and many, one thread
// and several, pressures equal to the loading and not.
func TestCostsAndRanksEqualBruteForceInRandomClusters(t *testing.T) {
	const clusters = 10_000
	random := rand.New(rand.NewPCG(1, 2))
	for range clusters {
		checkCluster(t, random)
		if t.Failed() {
			return
		}
	}
}

// checkCluster makes up a cluster and checks the scores of one pod on it.
func checkCluster(t *testing.T, random *rand.Rand) {
	names := []string{"cpu", "disk"}
	servers := []int{1 + random.IntN(4)*random.IntN(2), 1 + random.IntN(4)*random.IntN(2)}
	objects := []any{nodeProfile(map[string]int{names[0]: servers[0], names[1]: servers[1]})}
	vectors := map[string]loading.Vector{}
	for app := range 3 {
		p := workload(fmt.Sprintf("app-%d", app))
		left := 1.0
		var v loading.Vector
		for _, name := range names {
			fraction := math.Round(1e4*left*random.Float64()) / 1e4
			left -= fraction
			d := demand(name, fraction)
			threads := 1
			if name != "cpu" { // whose threads have the weight of their pod among them
				threads += random.IntN(2)
			}
			d.Threads = new(int32(threads))
			pressure := fraction
			if random.IntN(2) == 0 {
				pressure = math.Round(1e4*random.Float64()) / 1e4
				d.Pressure = quantity(pressure)
			}
			p.Spec.Resources = append(p.Spec.Resources, d)
			v = append(v, loading.Demand{Loading: fraction, Pressure: pressure, Threads: threads})
		}
		objects = append(objects, p)
		vectors[p.Name] = v
	}
	plugin := testPlugin(t, objects...)

	var nodes []fwk.NodeInfo
	var jobs [][]loading.Vector
	for n := range 2 + random.IntN(3) {
		var pods []*corev1.Pod
		var on []loading.Vector
		for k := range random.IntN(4) {
			app := fmt.Sprintf("app-%d", random.IntN(3))
			pods = append(pods, testPod(fmt.Sprintf("pod-%d-%d", n, k), app))
			on = append(on, vectors[app])
		}
		nodes = append(nodes, testNode(fmt.Sprintf("node-%d", n), 1, pods...))
		jobs = append(jobs, on)
	}
	candidate := vectors["app-0"]
	raw, normalized := scores(t, plugin, testPod("candidate", "app-0"), nodes)

	const rounding = 1e-10
	want := make([]float64, len(nodes))
	for n := range nodes {
		want[n] = oracle.TotalWait(servers, append(slices.Clone(jobs[n]), candidate)) - oracle.TotalWait(servers, jobs[n])
		if got := decodeCost(raw[n].Score); math.Abs(got-want[n]) > rounding {
			t.Errorf("servers %v, jobs %v, candidate %v: cost %v, brute force %v", servers, jobs[n], candidate, got, want[n])
		}
	}
	for a := range nodes {
		for b := range nodes {
			if want[a] < want[b]-rounding && (raw[a].Score >= raw[b].Score || normalized[a].Score < normalized[b].Score) {
				t.Errorf("node %d costs %v, node %d %v, but the scores are raw %v, normalized %v", a, want[a], b, want[b], raw, normalized)
			}
		}
		cheapest := !slices.ContainsFunc(raw, func(other fwk.NodeScore) bool { return other.Score < raw[a].Score })
		best := normalized[a].Score == fwk.MaxScore
		if cheapest && !best || best && want[a] > slices.Min(want)+rounding {
			t.Errorf("costs %v: node %d scores %d", want, a, normalized[a].Score)
		}
	}
}

func TestScoreAllocatesNothing(t *testing.T) {
	d := testPlugin(t, workload("job", demand("cpu", 0.4), demand("disk", 0.3)))
	node := testNode("node", 1, testPod("a", "job"), requesting(testPod("b", "none"), "2", ""))
	pod := requesting(testPod("c", "job"), "500m", "")
	nodes := []fwk.NodeInfo{node}
	scores(t, d, pod, nodes) // the first cycle prices the node
	state := framework.NewCycleState()
	d.PreScore(t.Context(), state, pod, nodes)
	if n := testing.AllocsPerRun(100, func() { d.Score(t.Context(), state, pod, node) }); n != 0 {
		t.Errorf("Score allocates %v times", n)
	}
}

func TestScoreWithoutPreScoreIsAnError(t *testing.T) {
	d := testPlugin(t)
	if _, status := d.Score(t.Context(), framework.NewCycleState(), testPod("a", "x"), testNode("node", 1)); status.Code() != fwk.Error {
		t.Errorf("got %v", status)
	}
}

// As the scheduler does it: the nodes of a cycle are scored in parallel, and
// nodes come, change and go between cycles. Meant for the race detector.
func TestNodesAreScoredInParallel(t *testing.T) {
	d := testPlugin(t, workload("job", demand("disk", 0.1)))
	for round := range 10 {
		var nodes []fwk.NodeInfo
		for n := range 20 {
			pods := make([]*corev1.Pod, round)
			for k := range pods {
				pods[k] = testPod(fmt.Sprintf("pod-%d", k), "job")
			}
			nodes = append(nodes, testNode(fmt.Sprintf("node-%d", 10*round+n), 1, pods...))
		}
		d.knows(nodes...)
		state, pod := framework.NewCycleState(), testPod("candidate", "job")
		d.PreScore(t.Context(), state, pod, nodes)
		var group sync.WaitGroup
		for _, node := range nodes {
			group.Go(func() {
				score, status := d.Score(t.Context(), state, pod, node)
				want := 2 * 0.1 * 0.1 * float64(round)
				if got := decodeCost(score); !status.IsSuccess() || math.Abs(got-want) > 1e-12 {
					t.Errorf("round %d: cost %v (%v), want %v", round, got, status, want)
				}
			})
		}
		group.Wait()
		if known := d.nodes.taken + len(d.nodes.added); known > 2*20+20 {
			t.Errorf("round %d: the table knows %d nodes of a cluster of 20", round, known)
		}
	}
}

func TestAPodThatComesToANodeRaisesItsPrice(t *testing.T) {
	d := testPlugin(t, workload("job", demand("disk", 0.5)))
	busy, idle := testNode("busy", 1), testNode("idle", 1)
	nodes := []fwk.NodeInfo{busy, idle}
	_, normalized := scores(t, d, testPod("first", "job"), nodes)
	if normalized[0].Score != fwk.MaxScore || normalized[1].Score != fwk.MaxScore {
		t.Errorf("two empty nodes: %v", normalized)
	}
	info, err := framework.NewPodInfo(testPod("first", "job"))
	if err != nil {
		t.Fatal(err)
	}
	busy.AddPodInfo(info) // as when the scheduler assumes a pod
	_, normalized = scores(t, d, testPod("second", "job"), nodes)
	if normalized[0].Score != fwk.MinScore || normalized[1].Score != fwk.MaxScore {
		t.Errorf("one busy node: %v", normalized)
	}
}

func TestAChangedProfileChangesThePrices(t *testing.T) {
	p := workload("job", demand("disk", 0.5))
	d := testPlugin(t, p)
	node := []fwk.NodeInfo{testNode("node", 1, testPod("a", "job"))}
	cost := func() float64 {
		raw, _ := scores(t, d, testPod("b", "job"), node)
		return decodeCost(raw[0].Score)
	}
	if got := cost(); got != 2*0.5*0.5 {
		t.Errorf("cost %v, want 2 p·p = 0.5", got)
	}
	next := p.DeepCopy()
	next.Generation++
	next.Spec.Resources[0].Loading = quantity(0.1)
	d.index.OnUpdate(p, next)
	if got := cost(); math.Abs(got-2*0.1*0.1) > 1e-15 {
		t.Errorf("cost %v after the change, want 0.02", got)
	}
}

// measuredOn adds what was measured of a workload on a class of nodes.
func measuredOn(p *v1alpha1.WorkloadProfile, class string, loadings map[string]float64) *v1alpha1.WorkloadProfile {
	v := v1alpha1.MeasuredVector{NodeProfile: class, Time: new(metav1.Now())}
	for _, name := range slices.Sorted(maps.Keys(loadings)) {
		q := quantity(loadings[name])
		v.Resources = append(v.Resources, v1alpha1.MeasuredLoading{Name: name, Loading: q, Pressure: q, Threads: new(int32(1))})
	}
	p.Spec.Measurement = &v1alpha1.Measurement{}
	p.Status.Measurements = append(p.Status.Measurements, v)
	return p
}

// A job computes on slow machines and waits for the disk on fast ones. On each
// node it, and its neighbours, count with the vector of the node's class.
func TestAPodIsScoredWithTheVectorOfTheNodesClass(t *testing.T) {
	job := measuredOn(workload("job", demand("disk", 0.25)), "fast", map[string]float64{"cpu": 0.5, "disk": 0.5})
	measuredOn(job, "slow", map[string]float64{"cpu": 1})
	classes := []string{"fast", "slow", "other"}
	profiles := []any{job}
	for _, class := range classes {
		p := nodeProfile(map[string]int{"cpu": 1})
		p.Name, p.Spec.Selector = class, &metav1.LabelSelector{MatchLabels: map[string]string{"class": class}}
		profiles = append(profiles, p)
	}
	d := testPlugin(t, profiles...)
	nodes := make([]fwk.NodeInfo, 0, len(classes)+1)
	for _, class := range append(classes, "none") {
		node := testNode("on-"+class, 1, testPod("at-"+class, "job"))
		node.Node().Labels = map[string]string{"class": class}
		nodes = append(nodes, node)
	}
	raw, _ := scores(t, d, testPod("candidate", "job"), nodes)
	want := []float64{2 * (0.5*0.5 + 0.5*0.5), 2, 2 * 0.25 * 0.25, 2 * 0.25 * 0.25} // 2 p·p
	for n := range nodes {
		if got := decodeCost(raw[n].Score); math.Abs(got-want[n]) > 1e-12 {
			t.Errorf("%s: cost %v, want %v", raw[n].Name, got, want[n])
		}
	}

	state, pod := framework.NewCycleState(), testPod("candidate", "job")
	d.PreScore(t.Context(), state, pod, nodes) // takes in the prices of the cycle before
	if n := testing.AllocsPerRun(100, func() {
		for _, node := range nodes {
			d.Score(t.Context(), state, pod, node)
		}
	}); n != 0 {
		t.Errorf("Score allocates %v times", n)
	}
}

// interfering adds an effect to a profile: it computes twice as long beside a pressure of 1.
func interfering(p *v1alpha1.WorkloadProfile, resource string, pressure float64) *v1alpha1.WorkloadProfile {
	p.Spec.Interference = append(p.Spec.Interference, v1alpha1.Interference{
		Name: resource, Pressure: quantity(pressure), Curve: []v1alpha1.CurvePoint{{Pressure: quantity(1), Inflation: quantity(2)}},
	})
	return p
}

// Nodes with cores to spare differ by who presses on their caches.
func TestAPodGoesWhereTheCacheIsFree(t *testing.T) {
	d := testPlugin(t,
		interfering(workload("router", demand("cpu", 1)), "llc", 0.25),
		interfering(workload("scan", demand("cpu", 1)), "llc", 0.75),
		workload("count", demand("cpu", 1)),
	)
	nodes := []fwk.NodeInfo{
		testNode("scanned", 4, testPod("a", "scan")), testNode("counting", 4, testPod("b", "count")), testNode("routing", 4, testPod("c", "router")),
	}
	raw, normalized := scores(t, d, testPod("candidate", "router"), nodes)
	for n, want := range []float64{0.75 + 0.25, 0, 0.25 + 0.25} { // suffered and inflicted
		if got := decodeCost(raw[n].Score); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: cost %v, want %v", raw[n].Name, got, want)
		}
	}
	if normalized[1].Score != fwk.MaxScore || normalized[0].Score >= normalized[2].Score {
		t.Errorf("the scores are %v", normalized)
	}
	state, pod := framework.NewCycleState(), testPod("candidate", "router")
	d.PreScore(t.Context(), state, pod, nodes)
	if n := testing.AllocsPerRun(100, func() { d.Score(t.Context(), state, pod, nodes[0]) }); n != 0 {
		t.Errorf("Score allocates %v times", n)
	}
}

// Until a vector is measured, and where none is declared, pods are scored and
// signed by their requests.
func TestAPodWhoseVectorIsNotMeasuredYetCountsByItsRequests(t *testing.T) {
	job := workload("job")
	job.Spec.Measurement = &v1alpha1.Measurement{}
	d := testPlugin(t, job)
	small, large := testPod("small", "job"), testPod("large", "job")
	large.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
	}}}
	nodes := []fwk.NodeInfo{testNode("node", 1, testPod("neighbour", "other"))}
	cost := func(pod *corev1.Pod) int64 {
		raw, _ := scores(t, d, pod, nodes)
		return raw[0].Score
	}
	if a, b := cost(small), cost(testPod("unprofiled", "none")); a != b {
		t.Errorf("costs %v, and %v without a profile", decodeCost(a), decodeCost(b))
	}
	a, _ := d.SignPod(t.Context(), small)
	b, _ := d.SignPod(t.Context(), large)
	if fmt.Sprint(a) == fmt.Sprint(b) {
		t.Errorf("pods of different requests share the signature %v", a)
	}

	d.index.OnUpdate(job, measuredOn(job.DeepCopy(), "fast", map[string]float64{"disk": 0.5}))
	if a, b := cost(small), cost(large); a != b {
		t.Errorf("measured, and the costs are %v and %v by requests", decodeCost(a), decodeCost(b))
	}
	a, _ = d.SignPod(t.Context(), small)
	b, _ = d.SignPod(t.Context(), testPod("other", "job"))
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("pods of one measured profile have the signatures %v and %v", a, b)
	}
}

// requesting sets the CPU request of a pod, and its limit where there is one.
func requesting(pod *corev1.Pod, request, limit string) *corev1.Pod {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}}
	if limit != "" {
		r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	pod.Spec.Containers = []corev1.Container{{Resources: r}}
	return pod
}

// A pod of little weight suffers from one of much, and one of much from none. Of two pods of one vector that one is the
// better neighbour that weighs as much.
func TestRequestsDecideAmongNodesOfEqualLoad(t *testing.T) {
	t.Parallel()
	d := testPlugin(t, workload("job", demand("cpu", 0.8)))
	nodes := []fwk.NodeInfo{
		testNode("small", 1, requesting(testPod("small", "job"), "100m", "")),
		testNode("large", 1, requesting(testPod("large", "job"), "2", "")),
	}
	for request, want := range map[string]int{"100m": 0, "2": 1} {
		raw, _ := scores(t, d, requesting(testPod("candidate", "job"), request, ""), nodes)
		if other := 1 - want; raw[want].Score >= raw[other].Score {
			t.Errorf("a pod that requests %s costs %v beside its equal, %v beside the other", request, decodeCost(raw[want].Score), decodeCost(raw[other].Score))
		}
	}
}

func TestALimitKeepsAPodOutOfTheWay(t *testing.T) {
	t.Parallel()
	d := testPlugin(t, workload("job", demand("cpu", 1)))
	nodes := []fwk.NodeInfo{
		testNode("limited", 1, requesting(testPod("limited", "job"), "100m", "200m")),
		testNode("free", 1, requesting(testPod("free", "job"), "100m", "")),
	}
	raw, _ := scores(t, d, requesting(testPod("candidate", "job"), "100m", ""), nodes)
	if limited, free := decodeCost(raw[0].Score), decodeCost(raw[1].Score); math.Abs(limited/free-0.2) > 1e-9 {
		t.Errorf("costs %v beside a pod that has a fifth of a core, %v beside one without a limit", limited, free)
	}
}

func TestNormalizeScore(t *testing.T) {
	for name, test := range map[string]struct {
		costs []float64
		want  []int64
	}{
		"costs in between are linear":                    {[]float64{0, 1, 2}, []int64{100, 50, 0}},
		"one cost gives the highest score":               {[]float64{3, 3}, []int64{100, 100}},
		"no cost at all":                                 {[]float64{0, 0}, []int64{100, 100}},
		"one node":                                       {[]float64{7}, []int64{100}},
		"no nodes":                                       {nil, nil},
		"only the lowest cost gets the highest":          {[]float64{1, 1.000001, 1e9}, []int64{100, 99, 0}},
		"rounding errors are no difference":              {[]float64{0.1 + 0.2, 0.3, 1}, []int64{100, 100, 0}},
		"small costs count as much as large ones":        {[]float64{1e-300, 3e-300}, []int64{100, 0}},
		"costs a hundredth apart are in different order": {[]float64{0.25, 0, 1}, []int64{75, 100, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var list fwk.NodeScoreList
			for _, cost := range test.costs {
				list = append(list, fwk.NodeScore{Score: encodeCost(cost)})
			}
			(&Dilation{}).NormalizeScore(t.Context(), nil, nil, list)
			var got []int64
			for _, s := range list {
				got = append(got, s.Score)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestSignPodTellsApartWhatScoresDifferently(t *testing.T) {
	d := testPlugin(t, workload("job", demand("disk", 0.5)), workload("other", demand("disk", 0.5)))
	sign := func(pod *corev1.Pod) any {
		fragments, status := d.SignPod(t.Context(), pod)
		if !status.IsSuccess() || len(fragments) != 1 {
			t.Fatalf("got %v, %v", fragments, status)
		}
		return fmt.Sprintf("%+v", fragments[0])
	}
	small, large := testPod("small", "none"), testPod("large", "none")
	large.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
	}}}
	if a, b := sign(testPod("a", "job")), sign(testPod("b", "job")); a != b {
		t.Errorf("two pods of one profile: %v and %v", a, b)
	}
	if a, b := sign(testPod("a", "job")), sign(testPod("b", "other")); a == b {
		t.Errorf("pods of two profiles share %v", a)
	}
	if a, b := sign(small), sign(large); a == b {
		t.Errorf("pods of different requests share %v", a)
	}
	for _, other := range []*corev1.Pod{requesting(testPod("b", "job"), "1", ""), requesting(testPod("b", "job"), "100m", "300m")} {
		if a, b := sign(requesting(testPod("a", "job"), "100m", "")), sign(other); a == b {
			t.Errorf("pods of different weights or limits share %v", a)
		}
	}
}

// The signature of a pod changes with the profile that it follows, and with those of the nodes, and with no other.
func TestTheSignatureOfAPodOutlivesChangesOfOtherProfiles(t *testing.T) {
	t.Parallel()
	job, other, canary := workload("job", demand("disk", 0.5)), workload("other", demand("disk", 0.5)), workload("canary", demand("disk", 0.1))
	canary.Spec.Selector.MatchLabels = map[string]string{"app": "job", "track": "canary"}
	heavier := func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Loading = quantity(0.6) }
	for name, test := range map[string]struct {
		change any
		want   bool // that it is another one
	}{
		"its profile":                     {changed(job, heavier), true},
		"a more specific one":             {canary, true},
		"one of the nodes":                {nodeProfile(map[string]int{"disk": 2}), true},
		"another one of its namespace":    {changed(other, heavier), false},
		"one of another namespace":        {in("foreign", workload("job", demand("disk", 0.1))), false},
		"one for pods that follow none":   {workload("none", demand("disk", 0.1)), false},
		"the same state of its profile":   {job, false},
		"an invalid one of its namespace": {changed(other, func(p *v1alpha1.WorkloadProfile) { p.Spec.Selector = nil }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testPlugin(t, job, other)
			pod := testPod("new", "job")
			pod.Labels["track"] = "canary"
			sign := func() string {
				fragments, status := d.SignPod(t.Context(), pod)
				if !status.IsSuccess() {
					t.Fatal(status)
				}
				return fmt.Sprint(fragments)
			}
			before := sign()
			d.index.OnUpdate(nil, test.change)
			if after := sign(); (after != before) != test.want {
				t.Errorf("the signature is %s, was %s", after, before)
			}
		})
	}
}
