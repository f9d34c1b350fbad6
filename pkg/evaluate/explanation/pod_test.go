package explanation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
	"loadline.dev/loadline/test/given"
)

// pod is one with app=app, on a node unless that is empty.
func pod(name, app, node string, requests corev1.ResourceList) corev1.Pod {
	p := corev1.Pod{Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main"}}}}
	p.Namespace, p.Name, p.Labels = "shop", name, map[string]string{"app": app}
	p.Spec.Containers[0].Resources.Requests = requests
	return p
}

func cores(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}
}

// nodeNamed is one of one core.
func nodeNamed(name string) corev1.Node {
	n := corev1.Node{Status: corev1.NodeStatus{Allocatable: cores("1")}}
	n.Name, n.Labels = name, map[string]string{"zone": "a"}
	return n
}

// twoJobs are two jobs of the paper on one node, of the first of which is asked.
func twoJobs(t *testing.T) *Input {
	t.Helper()
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	filecomp := pod("filecomp-7", "filecomp", "worker-1", cores("500m"))
	filecomp.Spec.NodeSelector = map[string]string{"zone": "a"}
	return &Input{
		Pod: &filecomp, Pods: []corev1.Pod{filecomp, pod("io-0", "std-io", "worker-1", nil)},
		Nodes: []corev1.Node{nodeNamed("worker-1"), nodeNamed("worker-2")}, Ranked: true,
		Workloads: []v1alpha1.WorkloadProfile{
			given.Lasting(given.Workload("filecomp", 0, given.CPU("0.58"), given.Disk("0.42")), 78100, &v1alpha1.SLA{MaxDilation: given.Quantity("1.5")}),
			given.Workload("std-io", 0, given.Disk("1")),
		},
		Requests: args.Requests, Rules: "the defaults",
	}
}

// asked is an input with what the scheduler would say of its nodes.
func asked(t *testing.T, in *Input) *Input {
	t.Helper()
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
	if err != nil {
		t.Fatal(err)
	}
	in.Feasibility = filter
	return in
}

func TestAPodIsExplainedByWhatThePaperMeasured(t *testing.T) {
	t.Parallel()
	e, err := OfPod(asked(t, twoJobs(t)))
	if err != nil {
		t.Fatal(err)
	}
	// The dilation is that of the paper. Beside the other job the price is that of
	// Definition 2, 2 p'·p̄ = 2 · 0.42; on the empty node nothing is in the way.
	if math.Abs(*e.Dilation-1.42) > 1e-9 || *e.MaxDilation != 1.5 || *e.NeutralSeconds != 78.1 {
		t.Errorf("a dilation of %v, at most %v, of %v s", *e.Dilation, *e.MaxDilation, *e.NeutralSeconds)
	}
	var got []string
	for _, n := range e.Nodes {
		got = append(got, fmt.Sprintf("%d %s %.2f = %.2f + %.2f beside %d, here %t", n.Rank, n.Node, n.Cost, n.Waits, n.Inflicts, n.Pods, n.Here))
	}
	want := []string{"1 worker-2 0.00 = 0.00 + 0.00 beside 0, here false", "2 worker-1 0.84 = 0.42 + 0.42 beside 1, here true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected ranking (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(VectorSource{Source: profile.SourceDeclared, Profile: "shop/filecomp"}, e.Vector); diff != "" {
		t.Errorf("unexpected vector (-want +got):\n%s", diff)
	}
}

func TestAnExplanationAddsUp(t *testing.T) {
	t.Parallel()
	in := twoJobs(t)
	in.Pods = append(in.Pods, pod("web", "web", "worker-1", cores("2500m")), pod("io-1", "std-io", "worker-2", nil))
	for i := range in.Pods[:3] {
		in.Pod = &in.Pods[i]
		e, err := OfPod(asked(t, in))
		if err != nil {
			t.Fatal(err)
		}
		waits, inflicts, owed := 1.0, 0.0, 0.0
		for _, r := range e.Resources {
			waits += r.Waits
			inflicts += r.Inflicts
			if sum := total(r.Because); math.Abs(sum-r.Waits) > 1e-9 {
				t.Errorf("%s: the blame for %s adds up to %v, not %v", e.Pod, r.Name, sum, r.Waits)
			}
			if sum := total(r.On); math.Abs(sum-r.Inflicts) > 1e-9 {
				t.Errorf("%s: what it inflicts at %s adds up to %v, not %v", e.Pod, r.Name, sum, r.Inflicts)
			}
		}
		if math.Abs(waits-*e.Dilation) > 1e-9 || waits <= 1 {
			t.Errorf("%s: the waits add up to %v, the dilation is %v", e.Pod, waits, *e.Dilation)
		}
		for _, n := range e.Neighbours {
			owed += n.Dilation - n.Without
		}
		if inflicts <= 0 || owed <= 0 {
			t.Errorf("%s: it inflicts %v, and others would be faster by %v without it", e.Pod, inflicts, owed)
		}
		for i, n := range e.Nodes {
			if math.Abs(n.Waits+n.Inflicts-n.Cost) > 1e-12 || n.Waits < 0 || n.Inflicts < 0 {
				t.Errorf("%s on %s: %v waited and %v inflicted do not make %v", e.Pod, n.Node, n.Waits, n.Inflicts, n.Cost)
			}
			if i > 0 && n.Rank > 0 && (n.Rank < e.Nodes[i-1].Rank || n.Cost < e.Nodes[i-1].Cost) {
				t.Errorf("%s: %+v stands below %+v", e.Pod, n, e.Nodes[i-1])
			}
		}
	}
}

func total(parts []Part) (sum float64) {
	for _, p := range parts {
		sum += p.Dilation
	}
	return sum
}

// Two pods on two cores do not wait for each other, and share a cache: the explanation names it, and the ranking prefers
// a node where the pod has it to itself.
func TestAPodThatIsSlowedDownByACacheIsExplainedByIt(t *testing.T) {
	t.Parallel()
	in := twoJobs(t)
	in.Pods[1] = pod("scan-0", "scan", "worker-1", nil)
	interferes := func(p v1alpha1.WorkloadProfile, pressure string, curve ...v1alpha1.CurvePoint) v1alpha1.WorkloadProfile {
		p.Spec.Interference = []v1alpha1.Interference{{Name: "llc", Pressure: given.Quantity(pressure), Curve: curve}}
		return p
	}
	in.Workloads = []v1alpha1.WorkloadProfile{
		interferes(given.Workload("filecomp", 0, given.CPU("1")), "0.2", v1alpha1.CurvePoint{Pressure: given.Quantity("1"), Inflation: given.Quantity("2")}),
		interferes(given.Workload("scan", 0, given.CPU("1")), "0.5"),
	}
	for i := range in.Nodes {
		in.Nodes[i].Status.Allocatable = cores("2")
	}
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	want := []Resource{
		{Name: "llc", Domains: 1, Pressure: 0.2, Threads: 1, Waits: 0.5, Because: []Part{{"shop/scan-0", 0.5}}},
		{Name: "cpu", Servers: 2, Loading: 1, Pressure: 1, Threads: 1},
	}
	if diff := cmp.Diff(want, e.Resources, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("unexpected resources (-want +got):\n%s", diff)
	}
	if math.Abs(*e.Dilation-1.5) > 1e-9 || e.Nodes[0].Node != "worker-2" || math.Abs(e.Nodes[1].At("llc")-0.5) > 1e-9 || e.Nodes[0].At("llc") != 0 {
		t.Errorf("a dilation of %v, ranked %+v", *e.Dilation, e.Nodes)
	}
}

func TestANodeThatDoesNotFitSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*corev1.Node)
		want   string
	}{
		"fits":      {func(*corev1.Node) {}, ""},
		"cordoned":  {func(n *corev1.Node) { n.Spec.Unschedulable = true }, "node(s) were unschedulable"},
		"elsewhere": {func(n *corev1.Node) { n.Labels["zone"] = "b" }, "node(s) didn't match Pod's node affinity/selector"},
		"tainted": {func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}, "node(s) had untolerated taint(s): gpu:NoSchedule"},
		"rather not": {func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectPreferNoSchedule}}
		}, ""},
		"too small":       {func(n *corev1.Node) { n.Status.Allocatable = cores("250m") }, "Insufficient cpu: the pod requests 500m, and 250m is left"},
		"taken":           {func(n *corev1.Node) { n.Name = "worker-3" }, "Insufficient cpu: the pod requests 500m, and 400m is left"},
		"more than taken": {func(n *corev1.Node) { n.Name, n.Status.Allocatable = "worker-3", cores("100m") }, "Insufficient cpu: the pod requests 500m, and 0 is left"},
		"full": {
			func(n *corev1.Node) {
				n.Name, n.Status.Allocatable[corev1.ResourcePods] = "worker-3", resource.MustParse("1")
			},
			"Too many pods: it runs 1, as many as it may; Insufficient cpu: the pod requests 500m, and 400m is left",
		},
	} {
		in := twoJobs(t)
		ended := pod("ended", "web", "worker-2", cores("1"))
		ended.Status.Phase = corev1.PodSucceeded
		in.Pods = append(in.Pods, pod("web-0", "web", "worker-3", cores("600m")), ended)
		test.change(&in.Nodes[1])
		e, err := OfPod(asked(t, in))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(e.Nodes, func(n RankedNode) bool { return !n.Here })
		if got := e.Nodes[i].DoesNotFit; got != test.want || (e.Nodes[i].Rank == 0) != (test.want != "") {
			t.Errorf("%s: the node has rank %d: %q, want %q", name, e.Nodes[i].Rank, got, test.want)
		}
	}
}

func TestWhetherTheSchedulerGoesByDilationMayNotBeKnown(t *testing.T) {
	t.Parallel()
	yes, no := new(true), new(false)
	for name, test := range map[string]struct {
		schedulers []string
		want       *bool
	}{
		"not known":   {nil, nil},
		"by none":     {[]string{}, no},
		"by another":  {[]string{"loadline"}, no},
		"by this one": {[]string{"loadline", "default-scheduler"}, yes},
	} {
		in := twoJobs(t)
		in.Schedulers = test.schedulers
		e, err := OfPod(asked(t, in))
		if diff := cmp.Diff(test.want, e.ByDilation); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", name, err, diff)
		}
	}
}

func TestWhatCannotBeExplainedSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Input)
		want   string
	}{
		"a pod that has ended": {func(in *Input) { in.Pod.Status.Phase = corev1.PodFailed }, "pod shop/filecomp-7 has ended (Failed): explain is about pods that run or wait for a node"},
		"a node that is gone":  {func(in *Input) { in.Nodes = in.Nodes[1:] }, `pod shop/filecomp-7 is on node "worker-1", which is not there: give the Node, too`},
	} {
		in := twoJobs(t)
		test.change(in)
		if _, err := OfPod(asked(t, in)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}

// The package of the vectors and this one must agree on what no class is.
func TestAPodOnNoNodeHasTheVectorOfAnyClass(t *testing.T) {
	t.Parallel()
	found := given.Found("cpu", "0.5")
	found.LoadingError = given.Quantity("0.03")
	waiting := pod("sort-1", "sort", "", nil)
	in := &Input{Pod: &waiting, Workloads: []v1alpha1.WorkloadProfile{given.Measured(given.Workload("sort", 0), given.On("big", given.Noon, 1000, found))}}
	s := newExplainer(in, in.Pod).source(in.Pod, profile.AnyClass)
	if s.Source != profile.SourceMeasured || s.Profile != text.QualifiedName(&in.Workloads[0]) || *s.Error != 0.03 {
		t.Errorf("the vector is of %+v", s)
	}
}

// A pod whose vector follows what is observed waits at the disk by that, and the margin is that of its least certain loading.
func TestAVectorThatFollowsWhatIsObservedIsExplainedAtTheDiskToo(t *testing.T) {
	t.Parallel()
	in := twoJobs(t)
	in.Workloads[0].Spec.Resources, in.Workloads[0].Spec.Observation = nil, &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
	in.Workloads[0].Status.Observations = []v1alpha1.WorkloadObservation{{
		NodeProfile: v1alpha1.NoNodeProfile, Time: new(given.Noon), ObservedSeconds: new(int64(3000)), CPULoadingSpread: given.Quantity("0.05"), DiskLoadingSpread: given.Quantity("0.1"),
		Recommended: &v1alpha1.RecommendedLoading{CPULoading: given.Quantity("0.58"), DiskLoading: given.Quantity("0.42"), Threads: new(int32(1))},
	}}
	e, err := OfPod(asked(t, in))
	if err != nil {
		t.Fatal(err)
	}
	const margin = 0.0196 // 1.96 · 0.1/√100
	if v := e.Vector; v.Source != profile.SourceObserved || v.Error == nil || math.Abs(*v.Error-margin) > 1e-12 {
		t.Errorf("the vector is of %+v", v)
	}
	loadings := map[string]float64{}
	for _, r := range e.Resources {
		loadings[r.Name] = r.Loading
	}
	if diff := cmp.Diff(map[string]float64{"cpu": 0.58, "disk": 0.42}, loadings); diff != "" {
		t.Errorf("loadings (-want +got):\n%s", diff)
	}
}
