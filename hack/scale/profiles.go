package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// profiles returns a profile of all nodes, and profiles of the first workloads of a cluster, at most some: every second one follows what
// gauges observe.
func profiles(pods []corev1.Pod, most int) []client.Object {
	all := []client.Object{&v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "all"},
		Spec: v1alpha1.NodeProfileSpec{
			Selector: &metav1.LabelSelector{}, Resources: []v1alpha1.ResourceServers{{Name: "disk", Servers: new(int32(2))}},
		},
	}}
	seen := sets.New[string]()
	for i := range pods {
		app := pods[i].Labels["app"]
		if seen.Len() == most {
			break
		}
		if seen.Has(app) {
			continue
		}
		seen.Insert(app)
		p := &v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: pods[i].Namespace, Name: app},
			Spec: v1alpha1.WorkloadProfileSpec{
				Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
				Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.3"))}},
			},
		}
		if seen.Len()%2 == 0 {
			p.Spec.Resources = nil
			p.Spec.Observation = &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
		}
		all = append(all, p)
	}
	return all
}
