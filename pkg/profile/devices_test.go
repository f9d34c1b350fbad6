package profile_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
)

// withDevices is a NodeProfile for the nodes with app=name.
func withDevices(name string, devices ...v1alpha1.NodeDevices) *v1alpha1.NodeProfile {
	p := machines(name)
	p.Spec.Devices = devices
	return p
}

// gpus are that many GPUs of a node.
func gpus(count int32, sharing v1alpha1.DeviceSharing, interference ...v1alpha1.DeviceResource) v1alpha1.NodeDevices {
	return v1alpha1.NodeDevices{Name: "gpu", Count: &count, Sharing: sharing, Interference: interference}
}

// withGPUs returns the pod with a request of n GPUs.
func withGPUs(p *corev1.Pod, n string) *corev1.Pod {
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(n)}, Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(n)},
	}}}
	return p
}

// at returns the pod with the annotation of devices.
func at(p *corev1.Pod, devices string) *corev1.Pod {
	p.Annotations = map[string]string{v1alpha1.DevicesAnnotation: devices}
	return p
}

// trains is a profile whose pods are at a GPU all the time, with curves for two ways of sharing it.
func trains() *v1alpha1.WorkloadProfile {
	p := declared("train", demand("gpu", "1"))
	p.Spec.Interference = []v1alpha1.Interference{interferes("gpu-mps", "1", "1", "1.5"), interferes("gpu-turns", "1", "1", "3")}
	return p
}

// assignedOn assigns pods to the devices of a node, with the vectors that they have there.
func assignedOn(s *profile.Snapshot, n *corev1.Node, pods ...*corev1.Pod) (*profile.Assignment, error) {
	class := s.NodeClass(n)
	vectors := make([]loading.Vector, len(pods))
	for j, p := range pods {
		vectors[j] = s.VectorOn(class.Class(), p)
	}
	return s.Resources().Assign(n, class, pods, vectors)
}

// assigned assigns pods to the devices of a node of the profile, the only one.
func assigned(t *testing.T, p *v1alpha1.NodeProfile, n *corev1.Node, pods ...*corev1.Pod) (*profile.Assignment, error) {
	t.Helper()
	s := indexOf(p, trains()).Snapshot()
	if s.NodeClass(n) == nil {
		t.Fatalf("node %s does not follow %s", n.Name, p.Name)
	}
	return assignedOn(s, n, pods...)
}

func TestPodsGetTheDeviceWithTheFewest(t *testing.T) {
	t.Parallel()
	late, annotated := pod("train"), at(pod("train"), " gpu-0")
	late.CreationTimestamp = metav1.NewTime(noon.Add(time.Hour))
	got, err := assigned(t, withDevices("big", gpus(3, v1alpha1.SharingTimeSliced)), node("big", "8"), late, pod("train"), pod("web"), pod("train"), annotated, pod("train"))
	if err != nil {
		t.Fatal(err)
	}
	// The one with an annotation is at gpu-0, the others follow in the order in which they were created.
	want := [][]profile.Device{{{Kind: "gpu", Number: 1}}, {{Kind: "gpu", Number: 1}}, nil, {{Kind: "gpu", Number: 2}}, {{Kind: "gpu", Number: 0}}, {{Kind: "gpu", Number: 0}}}
	if diff := cmp.Diff(want, got.Devices); diff != "" {
		t.Errorf("unexpected devices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, true, false, true, false, true}, got.Assumed); diff != "" {
		t.Errorf("unexpected assumptions (-want +got):\n%s", diff)
	}
}

func TestWhatAPodRequestsSaysWhetherItUsesADevice(t *testing.T) {
	t.Parallel()
	kind := gpus(1, v1alpha1.SharingTimeSliced)
	kind.Count, kind.ExtendedResource, kind.Replicas = nil, "nvidia.com/gpu", new(int32(4))
	advertising := node("big", "8")
	advertising.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("8") // two, four times each
	got, err := assigned(t, withDevices("big", kind), advertising, withGPUs(pod("train"), "1"), pod("train"), withGPUs(pod("web"), "1"), withGPUs(pod("train"), "2"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"[gpu-0]", "[]", "[gpu-1]", "[gpu-0]"}, names(got)); diff != "" {
		t.Errorf("unexpected devices (-want +got):\n%s", diff)
	}
	at := index(t, "gpu", withDevices("big", kind))
	if v := got.Vectors[1][at]; v != (loading.Demand{}) {
		t.Errorf("a pod that requests no GPU is at one: %+v", v)
	}
	if diff := cmp.Diff([]profile.DeviceKind{{Name: "gpu", Count: 2, Sharing: "TimeSliced"}}, got.Kinds()); diff != "" {
		t.Errorf("unexpected devices of the node (-want +got):\n%s", diff)
	}
	none, err := assigned(t, withDevices("big", kind), node("big", "8"), withGPUs(pod("train"), "1"))
	if err != nil || len(none.Kinds()) > 0 || len(none.Devices[0]) > 0 {
		t.Errorf("a node that advertises no GPU has %+v, used by %v (%v)", none.Kinds(), none.Devices, err)
	}
}

// names writes the devices of each pod.
func names(t *profile.Assignment) []string {
	var all []string
	for _, devices := range t.Devices {
		all = append(all, fmt.Sprint(devices))
	}
	return all
}

// index returns that of a resource in vectors.
func index(t *testing.T, name string, p *v1alpha1.NodeProfile) int {
	t.Helper()
	for i, n := range indexOf(p, trains()).Snapshot().Resources().Names() {
		if n == name {
			return i
		}
	}
	t.Fatalf("there is no resource %s", name)
	return -1
}

// Two jobs that are at a device all the time take as long as its way of sharing has it: alike where it is whole, twice as
// long in turns, and as their curve of that way says otherwise.
func TestEachWayOfSharingHasItsVector(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		devices v1alpha1.NodeDevices
		want    float64
	}{
		"whole":                    {gpus(1, ""), 1},
		"whole, by its name":       {gpus(1, v1alpha1.SharingExclusive), 1},
		"in turns":                 {gpus(1, v1alpha1.SharingTimeSliced), 2},
		"in turns, as measured":    {gpus(1, v1alpha1.SharingTimeSliced, "gpu-turns"), 3},
		"at once":                  {gpus(1, v1alpha1.SharingConcurrent, "gpu-mps"), 1.5},
		"a resource of both kinds": {gpus(1, v1alpha1.SharingConcurrent, "gpu-mps", "gpu-turns"), 3.5},
		"a device each":            {gpus(2, v1alpha1.SharingConcurrent, "gpu-mps"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Another class lists all resources, so that vectors have them all.
			other := withDevices("other", gpus(1, v1alpha1.SharingConcurrent, "gpu-mps", "gpu-turns"))
			s := indexOf(withDevices("big", test.devices), other, trains()).Snapshot()
			n := node("big", "8")
			got, err := assignedOn(s, n, pod("train"), pod("train"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := contention.Predict(got.Vectors, s.Servers(n), queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for j, dilation := range p.Dilations {
				if math.Abs(dilation-test.want) > 1e-6 {
					t.Errorf("pod %d is dilated %v, want %v", j, dilation, test.want)
				}
			}
		})
	}
}

// The scheduler's price is that of the device which the pod would get, with the vector of the node's class.
func TestPricesAreOfTheDeviceThatANewcomerGets(t *testing.T) {
	t.Parallel()
	s := indexOf(
		withDevices("big", gpus(2, v1alpha1.SharingTimeSliced)), withDevices("mps", gpus(1, v1alpha1.SharingConcurrent, "gpu-mps")), machines("small", servers("cpu", 2)), trains(),
	).Snapshot()
	price := func(name string, candidate *corev1.Pod, pods ...*corev1.Pod) float64 {
		n := node(name, "8")
		class := s.NodeClass(n)
		prices, err := s.Prices(n, class, s.Follow(pods))
		if err != nil {
			t.Fatal(err)
		}
		alone, among := prices.Of(s.Candidate(class, candidate)), prices.Of(s.Candidates(candidate).On(class))
		if alone != among {
			t.Errorf("on %s the pod costs %v, and %v among all classes", name, alone, among)
		}
		return alone
	}
	train := pod("train")
	for name, test := range map[string]struct{ got, want float64 }{
		"an empty node":                         {price("big", train), 0},
		"one of two devices is free":            {price("big", train, train), 0},
		"both devices have one":                 {price("big", train, train, train), 2},
		"the annotated ones leave a device":     {price("big", train, at(pod("train"), "gpu-1"), at(pod("train"), "gpu-1")), 0},
		"a pod that uses no device":             {price("big", pod("web"), train, train), 0},
		"at once, by the curve":                 {price("mps", train, train), 1},
		"nodes without devices have a resource": {price("small", train, train), 2},
	} {
		if math.Abs(test.got-test.want) > 1e-9 {
			t.Errorf("%s: the pod costs %v, want %v", name, test.got, test.want)
		}
	}
}

func TestAWrongAnnotationIsAnErrorAndIgnored(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gpu":         `pod shop/train-0: annotation loadline.dev/devices: "gpu" is not the name of a device, such as gpu-0`,
		"gpu-x":       `pod shop/train-0: annotation loadline.dev/devices: "gpu-x" is not the name of a device, such as gpu-0`,
		"gpu-2":       `pod shop/train-0: annotation loadline.dev/devices: "gpu-2" is not one of the devices of the node: gpu-0 to gpu-1`,
		"gpu--1":      `pod shop/train-0: annotation loadline.dev/devices: "gpu--1" is not one of the devices of the node: gpu-0 to gpu-1`,
		"fpga-0":      `pod shop/train-0: annotation loadline.dev/devices: "fpga-0" is not one of the devices of the node: gpu-0 to gpu-1`,
		"gpu-0,gpu-1": `pod shop/train-0: annotation loadline.dev/devices: "gpu-1" is a second device of its kind: a pod uses one`,
		"gpu-0,":      `pod shop/train-0: annotation loadline.dev/devices: "" is not the name of a device, such as gpu-0`,
	} {
		got, err := assigned(t, withDevices("big", gpus(2, v1alpha1.SharingTimeSliced)), node("big", "8"), at(pod("train"), text))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
		if diff := cmp.Diff([]string{"[gpu-0]"}, names(got)); diff != "" || !got.Assumed[0] {
			t.Errorf("%s: the pod is not where it is assumed to be: %s", text, diff)
		}
	}
}

func TestDevicesThatAreInvalidAreRefused(t *testing.T) {
	t.Parallel()
	extended := func(name string, sharing v1alpha1.DeviceSharing) v1alpha1.NodeDevices {
		return v1alpha1.NodeDevices{Name: "gpu", ExtendedResource: name, Sharing: sharing}
	}
	replicated := gpus(1, "")
	replicated.Replicas = new(int32(4))
	tooMany := gpus(1, v1alpha1.SharingTimeSliced)
	tooMany.Replicas = new(int32(1025))
	for name, test := range map[string]struct {
		devices []v1alpha1.NodeDevices
		want    string
	}{
		"no count":                   {[]v1alpha1.NodeDevices{{Name: "gpu"}}, "spec.devices[0].count: Required value: say how many devices a node has, or under extendedResource as what it advertises them, such as nvidia.com/gpu"},
		"no device":                  {[]v1alpha1.NodeDevices{gpus(0, "")}, "spec.devices[0].count: Invalid value: 0: is not between 1 and 64"},
		"too many":                   {[]v1alpha1.NodeDevices{gpus(65, "")}, "spec.devices[0].count: Invalid value: 65: is not between 1 and 64"},
		"one name twice":             {[]v1alpha1.NodeDevices{gpus(1, ""), gpus(1, "")}, `spec.devices[1].name: Duplicate value: "gpu"`},
		"a resource of the node":     {[]v1alpha1.NodeDevices{gpus(1, "", "memory-bandwidth")}, `spec.devices[0].interference[0]: Invalid value: "memory-bandwidth": is a resource of the node: give that of the device another name, such as gpu or gpu-memory-bandwidth`},
		"a name that is listed":      {[]v1alpha1.NodeDevices{gpus(1, "", "nic")}, `spec.devices[0].interference[0]: Duplicate value: "nic"`},
		"a Unicode name":             {[]v1alpha1.NodeDevices{gpus(1, "", "größe")}, `spec.devices[0].interference[0]: Invalid value: "größe": ` + notALabel},
		"nothing to share":           {[]v1alpha1.NodeDevices{gpus(1, v1alpha1.SharingConcurrent)}, "spec.devices[0].interference: Required value: list what the pods of a Concurrent device share, such as gpu-memory-bandwidth: without it none would slow another one down"},
		"another way to share":       {[]v1alpha1.NodeDevices{gpus(1, "MPS")}, `spec.devices[0].sharing: Unsupported value: "MPS": supported values: "Concurrent", "Exclusive", "TimeSliced"`},
		"shared MIG slices":          {[]v1alpha1.NodeDevices{extended("nvidia.com/mig-1g.10gb", v1alpha1.SharingTimeSliced)}, `spec.devices[0].sharing: Invalid value: "TimeSliced": MIG slices are not shared: leave sharing out, or write Exclusive`},
		"replicas of what is whole":  {[]v1alpha1.NodeDevices{replicated}, "spec.devices[0].replicas: Invalid value: 4: is for devices that are shared: set sharing to TimeSliced or Concurrent, or leave replicas out"},
		"too many replicas":          {[]v1alpha1.NodeDevices{tooMany}, "spec.devices[0].replicas: Invalid value: 1025: is not between 1 and 1024"},
		"a whole MIG slice is valid": {[]v1alpha1.NodeDevices{extended("nvidia.com/mig-1g.10gb", "")}, ""},
	} {
		p := machines("big", servers("nic", 1))
		p.Spec.Devices = test.devices
		_, errs := profile.NewNodeClass(p)
		want := []string{}
		if test.want != "" {
			want = append(want, test.want)
		}
		if diff := cmp.Diff(want, messages(errs)); diff != "" {
			t.Errorf("%s: unexpected errors (-want +got):\n%s", name, diff)
		}
	}
}
