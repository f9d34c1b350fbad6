package profile_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// noon is a time to be created at.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// app selects the label app=name.
func app(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// declared is a WorkloadProfile in namespace shop, for the pods with app=name.
func declared(name string, demands ...v1alpha1.ResourceDemand) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid of " + name), Generation: 1, CreationTimestamp: metav1.NewTime(noon),
		},
		Spec: v1alpha1.WorkloadProfileSpec{Selector: app(name), Resources: demands},
	}
}

// demand returns a demand of threads that spend the given fraction of their time at the resource.
func demand(name, fraction string) v1alpha1.ResourceDemand {
	return v1alpha1.ResourceDemand{Name: name, Loading: quantity(fraction)}
}

// measured returns the profile with its vector measured, and these found so far.
func measured(p *v1alpha1.WorkloadProfile, vectors ...v1alpha1.MeasuredVector) *v1alpha1.WorkloadProfile {
	p.Spec.Measurement, p.Status.Measurements = &v1alpha1.Measurement{}, vectors
	return p
}

// on is a measured vector of a class of nodes at a time.
func on(class string, at time.Time, resources ...v1alpha1.MeasuredLoading) v1alpha1.MeasuredVector {
	return v1alpha1.MeasuredVector{NodeProfile: class, Time: new(metav1.NewTime(at)), Resources: resources}
}

// found is a measured component, of one thread.
func found(name, loading, pressure string) v1alpha1.MeasuredLoading {
	return v1alpha1.MeasuredLoading{Name: name, Loading: quantity(loading), Pressure: quantity(pressure), Threads: new(int32(1))}
}

// calibrated returns the profile with a calibrated resource, and its servers if
// they are found.
func calibrated(p *v1alpha1.NodeProfile, name string, servers ...int32) *v1alpha1.NodeProfile {
	if p.Spec.Calibration == nil {
		p.Spec.Calibration = &v1alpha1.Calibration{}
	}
	p.Spec.Calibration.Resources = append(p.Spec.Calibration.Resources, v1alpha1.ProbedResource{Name: name})
	for _, n := range servers {
		p.Status.Resources = []v1alpha1.CalibratedResource{{Name: name, Servers: &n, Time: new(metav1.NewTime(noon))}}
	}
	return p
}

// machines is a NodeProfile for the nodes with app=name.
func machines(name string, servers ...v1alpha1.ResourceServers) *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid of " + name), Generation: 1, CreationTimestamp: metav1.NewTime(noon)},
		Spec:       v1alpha1.NodeProfileSpec{Selector: app(name), Resources: servers},
	}
}

func servers(name string, n int32) v1alpha1.ResourceServers {
	return v1alpha1.ResourceServers{Name: name, Servers: new(n)}
}

func quantity(s string) *resource.Quantity { return new(resource.MustParse(s)) }

// changed returns the object with its spec changed, as the API server counts it.
func changed(p *v1alpha1.WorkloadProfile, change func(*v1alpha1.WorkloadProfile)) *v1alpha1.WorkloadProfile {
	p = p.DeepCopy()
	p.Generation++
	change(p)
	return p
}

// pod is a pod in namespace shop with the label app=name.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name + "-0", Labels: map[string]string{"app": name}}}
}

// node is a node with the label app=name and that much allocatable cpu.
func node(name, cpu string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-0", Labels: map[string]string{"app": name}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
	}
}

// cpuRule makes a thread of each core that a pod requests.
var cpuRule = config.RequestRule{Resource: "cpu", Request: corev1.ResourceCPU, PerThread: 1, Utilization: 1, Minimum: 0.1}

// indexOf returns an index of the profiles.
func indexOf(profiles ...any) *profile.Index {
	x := profile.NewIndex([]config.RequestRule{cpuRule}, logr.Discard())
	for _, p := range profiles {
		x.OnAdd(p, true)
	}
	return x
}

// valid returns the workload ready for use among the resources of the nodes.
func valid(t testing.TB, p *v1alpha1.WorkloadProfile, nodes ...*v1alpha1.NodeProfile) *profile.Workload {
	t.Helper()
	var classes []*profile.NodeClass
	for _, n := range nodes {
		class, errs := profile.NewNodeClass(n)
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		classes = append(classes, class)
	}
	w, errs := profile.NewWorkload(p, profile.NewResources(classes))
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return w
}

// messages returns the texts of the errors, in order.
func messages(errs field.ErrorList) []string {
	all := make([]string, len(errs))
	for i, err := range errs {
		all[i] = err.Error()
	}
	return all
}

// Rules that are those of Kubernetes.
const (
	notALabel = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
		"and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
	notAValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " +
		"an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
