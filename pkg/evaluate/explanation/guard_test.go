package explanation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/given"
)

// labelled is a namespace whose label says what the guard does there.
func labelled(name, mode string) corev1.Namespace {
	ns := corev1.Namespace{}
	ns.Name, ns.Labels = name, map[string]string{v1alpha1.GuardLabel: mode}
	return ns
}

// On worker-1 of paperCluster both pods are dilated 1.42 times, and that which is there may be 1.3 times.
func TestTheGuardBindsByTheModeOfTheNamespace(t *testing.T) {
	t.Parallel()
	const refused = "would slow shop/io-0 down 1.42×, more than its limit of 1.30×, because of disk"
	off, warn, enforce := configv1alpha1.GuardOff, configv1alpha1.GuardWarn, configv1alpha1.GuardEnforce
	for name, test := range map[string]struct {
		mode       configv1alpha1.GuardMode
		labels     []corev1.Namespace
		schedulers []string
		refused    bool
		warned     bool
	}{
		"nothing known":               {"", nil, nil, false, false},
		"off":                         {off, nil, nil, false, false},
		"warn":                        {warn, nil, nil, false, true},
		"enforce":                     {enforce, nil, nil, true, false},
		"enforced by the label":       {off, []corev1.Namespace{labelled("shop", "enforce")}, nil, true, false},
		"off by the label":            {enforce, []corev1.Namespace{labelled("shop", "off")}, nil, false, false},
		"the label of another":        {enforce, []corev1.Namespace{labelled("etl", "off")}, nil, true, false},
		"a wrong label":               {enforce, []corev1.Namespace{labelled("shop", "Off")}, nil, true, false},
		"a scheduler without a guard": {enforce, []corev1.Namespace{labelled("shop", "enforce")}, []string{"loadline"}, false, false},
		"that of the pod":             {enforce, nil, []string{"default-scheduler"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := paperCluster(t)
			in.Nodes = append(in.Nodes, nodeNamed("worker-2"))
			in.Pods = append(in.Pods, pod("other", "other", "worker-2", nil)) // without a limit, so that worker-2 costs the same
			in.Workloads = append(in.Workloads, given.Workload("other", 0, given.Disk("1")))
			in.Ranked, in.GuardMode, in.Namespaces, in.Schedulers = true, test.mode, test.labels, test.schedulers
			e, err := Simulate(asked(t, in), applied("Job", "filecomp", "filecomp"))
			if err != nil {
				t.Fatal(err)
			}
			destination, fits, why := "worker-1", 2, ""
			if test.refused {
				destination, fits, why = "worker-2", 1, refused
			}
			i := slices.IndexFunc(e.Nodes, func(n RankedNode) bool { return n.Node == "worker-1" })
			n := &e.Nodes[i]
			if e.Node != destination || e.Simulation.Fits != fits || n.Refused != why || (n.Rank == 0) != test.refused {
				t.Errorf("it goes to %s of %d, and worker-1 is %+v", e.Node, e.Simulation.Fits, n)
			}
			if got := len(n.Exceeded) == 1 && n.Exceeded[0].Reason == refused; got != (test.refused || test.warned) {
				t.Errorf("exceeded: %+v", n.Exceeded)
			}
			if wrong := strings.Join(e.IgnoredAnnotations, ""); (wrong != "") != (name == "a wrong label") {
				t.Errorf("ignored: %q", wrong)
			}
		})
	}
}

func TestWhereTheGuardRefusesAllNodesItIsSaidWhatMakesRoom(t *testing.T) {
	t.Parallel()
	in := paperCluster(t)
	in.GuardMode = configv1alpha1.GuardEnforce
	in.Nodes = append(in.Nodes, nodeNamed("worker-2"))
	in.Nodes[1].Spec.Unschedulable = true
	m := applied("Job", "filecomp", "filecomp")
	e, err := Simulate(asked(t, in), m)
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Simulation; e.Node != "" || s.Fits != 0 || !slices.Equal(s.Refused, []string{"worker-1"}) || e.Nodes[0].Node != "worker-1" || e.Nodes[1].DoesNotFit == "" || e.Nodes[1].Exceeded != nil {
		t.Errorf("it goes to %q: %+v, %+v", e.Node, s, e.Nodes)
	}
	if want := []string{"worker-1 without shop/io-0"}; !slices.Equal(e.MakesRoom, want) {
		t.Errorf("what makes room: %q, want %q", e.MakesRoom, want)
	}
	want := Exceeded{
		Pod: "shop/io-0", MaxDilation: 1.3, GuardMode: configv1alpha1.GuardEnforce, Resource: "disk", Because: "shop/filecomp",
		Before: new(1.0), Dilation: 1.42, Reason: "would slow shop/io-0 down 1.42×, more than its limit of 1.30×, because of disk",
	}
	rounded := cmp.Transformer("rounded", func(f float64) string { return fmt.Sprintf("%.6f", f) })
	if diff := cmp.Diff([]Exceeded{want}, e.Nodes[0].Exceeded, rounded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	waiting := m.Workload.Pod
	in.Pod, in.Ranked = &waiting, true
	if e, err = OfPod(asked(t, in)); err != nil || !slices.Equal(e.MakesRoom, []string{"worker-1 without shop/io-0"}) {
		t.Errorf("of a pod that waits: %v, %v", e, err)
	}
	in.Nodes[1].Spec.Unschedulable = false // there it fits
	if e, err = OfPod(asked(t, in)); err != nil || e.MakesRoom != nil || e.Nodes[0].Node != "worker-2" {
		t.Errorf("with a node that takes it: %v, %v", e, err)
	}
}

func TestALimitThatIsExceededAnywayRefusesNoPodThatDoesNotAddToIt(t *testing.T) {
	t.Parallel()
	for app, refused := range map[string]bool{"std-io": true, "compute": false} {
		in := paperCluster(t)
		in.GuardMode = configv1alpha1.GuardEnforce
		in.Pods = append(in.Pods, pod("io-1", "std-io", "worker-1", nil))
		m := applied("Pod", "new", app)
		m.Workloads = []v1alpha1.WorkloadProfile{given.Workload("compute", 0, given.CPU("1"))}
		e, err := Simulate(asked(t, in), m)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Simulation.Refused != nil; got != refused {
			t.Errorf("%s: refused: %t", app, got)
		}
	}
}

// A namespace in the manifest replaces that of the cluster.
func TestTheNamespaceOfTheManifestCounts(t *testing.T) {
	t.Parallel()
	in, m := paperCluster(t), applied("Job", "filecomp", "filecomp")
	in.Namespaces, m.Namespaces = []corev1.Namespace{labelled("shop", "off")}, []corev1.Namespace{labelled("shop", "enforce")}
	e, err := Simulate(asked(t, in), m)
	if err != nil || e.Simulation.Fits != 0 || e.GuardMode != configv1alpha1.GuardOff {
		t.Errorf("got %+v, %v", e, err)
	}
}

// The node that a pod is on is not refused to it, whatever it does there.
func TestThePodsOwnNodeIsNotRefused(t *testing.T) {
	t.Parallel()
	in := twoJobs(t)
	in.GuardMode = configv1alpha1.GuardEnforce
	in.Workloads[1].Spec.SLA = &v1alpha1.SLA{MaxDilation: given.Quantity("1.3")}
	e, err := OfPod(asked(t, in))
	if err != nil || !e.Nodes[1].Here || e.Nodes[1].Rank != 2 || e.Nodes[1].Refused != "" {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestANodeThatCannotBePredictedIsJudgedByItsWorstCase(t *testing.T) {
	t.Parallel()
	for mode, want := range map[configv1alpha1.GuardMode]string{
		configv1alpha1.GuardEnforce: "might slow shop/io-0 down up to 1.72×, more than its limit of 1.30×", configv1alpha1.GuardWarn: "", configv1alpha1.GuardOff: "",
	} {
		in := paperCluster(t)
		in.Pods[0].Spec.Containers = nil
		waiting := applied("Job", "filecomp", "filecomp").Workload.Pod
		in.Pod, in.Ranked, in.GuardMode = &waiting, true, mode
		e, err := OfPod(asked(t, in))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Nodes[0].Refused; (got != "") != (want != "") || !strings.HasPrefix(got, want) || (e.MakesRoom != nil) != (want != "") {
			t.Errorf("%s: refused: %q, what makes room: %v", mode, got, e.MakesRoom)
		}
	}
}

// Pods without an annotation get devices in the order in which they were created: a pod that is simulated is the last.
func TestASimulatedPodGetsTheDeviceThatIsFree(t *testing.T) {
	t.Parallel()
	in := paperCluster(t)
	gpu := corev1.ResourceList{"cpu": resource.MustParse("1"), "nvidia.com/gpu": resource.MustParse("1")}
	in.Nodes[0].Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("8"), "nvidia.com/gpu": resource.MustParse("4")}
	class := v1alpha1.NodeProfile{}
	class.Name, class.Spec.Selector = "gpus", given.Selector("zone", "a")
	class.Spec.Devices = []v1alpha1.NodeDevices{{Name: "gpu", Count: new(int32(2)), ExtendedResource: "nvidia.com/gpu", Sharing: v1alpha1.SharingTimeSliced}}
	train := given.Workload("train", 0, v1alpha1.ResourceDemand{Name: "gpu", Loading: given.Quantity("1")})
	in.Classes, in.Workloads = []v1alpha1.NodeProfile{class}, append(in.Workloads, train)
	in.Pods = []corev1.Pod{pod("a", "train", "worker-1", gpu)}
	in.Pods[0].CreationTimestamp = given.Noon
	m := applied("Pod", "new", "train")
	m.Workload.Pod.Spec.Containers[0].Resources.Requests = gpu
	e, err := Simulate(asked(t, in), m)
	if err != nil || len(e.Devices) != 1 || e.Devices[0].Name != "gpu-1" || e.Devices[0].With != nil {
		t.Errorf("got %+v, %v", e.Devices, err)
	}
}
