// Package given makes the profiles that tests of the packages below evaluate begin
// with.
package given

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Two times of one day.
var (
	Noon    = metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
	Evening = metav1.NewTime(Noon.Add(6 * time.Hour))
)

// Quantity reads a quantity.
func Quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

// Selector selects what has a label.
func Selector(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// Workload is a profile for the pods with app=name, as old at noon as its age.
func Workload(name string, age time.Duration, demands ...v1alpha1.ResourceDemand) v1alpha1.WorkloadProfile {
	return v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 3, CreationTimestamp: metav1.NewTime(Noon.Add(-age))},
		Spec:       v1alpha1.WorkloadProfileSpec{Selector: Selector("app", name), Resources: demands},
	}
}

// Lasting returns the profile with a neutral time and an SLA.
func Lasting(p v1alpha1.WorkloadProfile, millis int64, sla *v1alpha1.SLA) v1alpha1.WorkloadProfile {
	p.Spec.NeutralMillis, p.Spec.SLA = &millis, sla
	return p
}

// CPU is a demand at the cpu.
func CPU(loading string) v1alpha1.ResourceDemand { return demand("cpu", loading) }

// Disk is a demand at the disk.
func Disk(loading string) v1alpha1.ResourceDemand { return demand("disk", loading) }

func demand(name, loading string) v1alpha1.ResourceDemand {
	return v1alpha1.ResourceDemand{Name: name, Loading: Quantity(loading)}
}

// Measured returns the profile with its vector measured, and these found so far.
func Measured(p v1alpha1.WorkloadProfile, vectors ...v1alpha1.MeasuredVector) v1alpha1.WorkloadProfile {
	p.Spec.Measurement, p.Status.Measurements = &v1alpha1.Measurement{}, vectors
	return p
}

// On is what was measured on a class of nodes at a time.
func On(class string, at metav1.Time, millis int64, resources ...v1alpha1.MeasuredLoading) v1alpha1.MeasuredVector {
	return v1alpha1.MeasuredVector{NodeProfile: class, Time: &at, NeutralMillis: &millis, Resources: resources}
}

// Found is a measured component, of one thread.
func Found(name, loading string) v1alpha1.MeasuredLoading {
	return v1alpha1.MeasuredLoading{Name: name, Loading: Quantity(loading), Pressure: Quantity(loading), Threads: new(int32(1))}
}

// Class is a profile for the nodes with class=name.
func Class(name string, servers ...v1alpha1.ResourceServers) v1alpha1.NodeProfile {
	return v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 2, CreationTimestamp: Noon},
		Spec:       v1alpha1.NodeProfileSpec{Selector: Selector("class", name), Resources: servers},
	}
}

// GPUs is how many GPUs nodes have.
func GPUs(n int32) v1alpha1.ResourceServers {
	return v1alpha1.ResourceServers{Name: "gpu", Servers: new(n)}
}

// Calibrated returns the profile with resources to calibrate.
func Calibrated(p v1alpha1.NodeProfile, names ...string) v1alpha1.NodeProfile {
	p.Spec.Calibration = &v1alpha1.Calibration{}
	for _, name := range names {
		p.Spec.Calibration.Resources = append(p.Spec.Calibration.Resources, v1alpha1.ProbedResource{Name: name})
	}
	return p
}

// Serving returns the profile with the servers that a calibration found; 0 is one
// that could not.
func Serving(p v1alpha1.NodeProfile, name string, servers int32) v1alpha1.NodeProfile {
	r := v1alpha1.CalibratedResource{Name: name, Time: &Noon}
	if servers > 0 {
		r.Servers = &servers
	}
	p.Status.Resources = append(p.Status.Resources, r)
	return p
}
