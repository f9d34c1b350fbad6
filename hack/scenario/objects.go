package scenario

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Labels of pods by their application, and of nodes by their size.
const (
	applicationLabel = "scenario.test/application"
	sizeLabel        = "scenario.test/size"
)

// Namespace returns the namespace of the pods and their profiles.
func (s *Scenario) Namespace() string {
	name := "scenario-" + strconv.FormatUint(s.Seed, 10)
	if s.ProfileSet != "" {
		name += "-" + s.ProfileSet
	}
	return name
}

// NodeObjects returns the nodes.
func (s *Scenario) NodeObjects() []*corev1.Node {
	var objects []*corev1.Node
	for _, n := range s.Nodes {
		objects = append(objects, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{sizeLabel: n.Size.Name}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewQuantity(int64(n.Size.Servers[CPU]), resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(n.Size.MiB<<20, resource.BinarySI),
				corev1.ResourcePods:   resource.MustParse("110"),
			}},
		})
	}
	return objects
}

// NodeProfiles returns a profile for each size of the nodes.
func (s *Scenario) NodeProfiles() []*v1alpha1.NodeProfile {
	var profiles []*v1alpha1.NodeProfile
	seen := map[*Size]bool{}
	for _, n := range s.Nodes {
		size := n.Size
		if seen[size] {
			continue
		}
		seen[size] = true
		p := &v1alpha1.NodeProfile{
			ObjectMeta: metav1.ObjectMeta{Name: size.Name},
			Spec:       v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{sizeLabel: size.Name}}},
		}
		for i, servers := range size.Servers {
			p.Spec.Resources = append(p.Spec.Resources, v1alpha1.ResourceServers{Name: Resources[i], Servers: new(int32(servers))})
		}
		profiles = append(profiles, p)
	}
	return profiles
}

// WorkloadProfiles returns a profile for each application that has one.
func (s *Scenario) WorkloadProfiles() []*v1alpha1.WorkloadProfile {
	var profiles []*v1alpha1.WorkloadProfile
	for _, a := range s.Applications {
		if a.Declared == nil {
			continue
		}
		p := &v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(), Name: a.Name},
			Spec: v1alpha1.WorkloadProfileSpec{
				Selector: &metav1.LabelSelector{MatchLabels: a.labels()},
				SLA:      &v1alpha1.SLA{MaxDilation: new(quantity(a.Class.MaxDilation))},
			},
		}
		for i, d := range a.Declared {
			if d.Loading > 0 {
				p.Spec.Resources = append(p.Spec.Resources, v1alpha1.ResourceDemand{
					Name: Resources[i], Loading: new(quantity(d.Loading)), Threads: new(int32(d.Threads)),
				})
			}
		}
		profiles = append(profiles, p)
	}
	return profiles
}

// Services returns a Service for each application that has one.
func (s *Scenario) Services() []*corev1.Service {
	var services []*corev1.Service
	for _, a := range s.Applications {
		if a.Class.Service {
			services = append(services, &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(), Name: a.Name},
				Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: a.labels()},
			})
		}
	}
	return services
}

// PodObject returns a pod for a scheduler.
func (s *Scenario) PodObject(p *Pod, scheduler string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(), Name: p.Name, Labels: p.Application.labels()},
		Spec: corev1.PodSpec{
			SchedulerName: scheduler,
			Containers: []corev1.Container{{
				Name: "main", Image: "scenario.test/none",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU:    *resource.NewMilliQuantity(p.Application.MilliCPU, resource.DecimalSI),
					corev1.ResourceMemory: *resource.NewQuantity(p.Application.MiB<<20, resource.BinarySI),
				}},
			}},
		},
	}
}

func (a *Application) labels() map[string]string { return map[string]string{applicationLabel: a.Name} }

// quantity returns a number of at most three decimals as the API writes it.
func quantity(x float64) resource.Quantity {
	return *resource.NewMilliQuantity(int64(x*1000+0.5), resource.DecimalSI)
}

// Describe says how large the cluster is at the first step, and how full: how much CPU would be used if no pod waited.
func (s *Scenario) Describe() string {
	present := s.Present(0)
	cpu, used := int64(0), 0.0
	for _, i := range present {
		a := s.Pods[i].Application
		cpu += a.MilliCPU
		used += a.Vector[CPU].Loading * float64(a.Vector[CPU].Threads) * 1000
	}
	milli := float64(s.Cores()) * 1000
	return fmt.Sprintf("%d nodes with %d cores, and %d pods of %d applications: %.0f %% of the CPU is requested, %.0f %% used",
		len(s.Nodes), s.Cores(), len(present), len(s.Applications), 100*float64(cpu)/milli, 100*used/milli)
}
