// Package profiles answers WorkloadProfiles and NodeProfiles: whether they are in use, what follows them, and which other profile
// wins where several match. What it returns is the status of each.
package profiles

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/profile"
)

// WorkloadProfiles returns the status of each of the profiles of one namespace,
// given the labels of the pods there and the profiles of the cluster's nodes.
// Conditions that stay as they are keep their time; others change at now. What
// measurements write stays as it is.
func WorkloadProfiles(profiles []v1alpha1.WorkloadProfile, pods []labels.Set, nodes []v1alpha1.NodeProfile, now metav1.Time) []v1alpha1.WorkloadProfileStatus {
	var classes []*profile.NodeClass
	for i := range nodes {
		if class, errs := profile.NewNodeClass(&nodes[i]); len(errs) == 0 {
			classes = append(classes, class)
		}
	}
	resources := profile.NewResources(classes)

	var workloads []*profile.Workload
	invalid := make([]field.ErrorList, len(profiles))
	for i := range profiles {
		w, errs := profile.NewWorkload(&profiles[i], resources)
		if invalid[i] = errs; len(errs) == 0 {
			workloads = append(workloads, w)
		}
	}
	following := follow(workloads, pods, func(w *profile.Workload) string { return w.Name })
	byName := make(map[string]*profile.Workload, len(workloads))
	for _, w := range workloads {
		byName[w.Name] = w
	}

	statuses := make([]v1alpha1.WorkloadProfileStatus, len(profiles))
	for i := range profiles {
		p, status := &profiles[i], &statuses[i]
		profiles[i].Status.DeepCopyInto(status)
		status.ObservedGeneration = new(p.Generation)
		status.Resources, status.NeutralMillis = nil, nil
		var ready metav1.Condition
		if w := byName[p.Name]; w == nil {
			ready = notReady(invalid[i])
		} else {
			ready = workloadReady(p, w)
			if text := FollowsAll(p.Spec.Selector, "pod", "namespace"); text != "" {
				ready.Message += "; " + text
			}
			status.Resources = loadings(w.On(profile.AnyClass))
			if n := profile.NeutralMillis(p, profile.AnyClass); n != nil {
				status.NeutralMillis = new(*n)
			}
		}
		f := following.followersOf(p.Name)
		status.Pods = new(f.count)
		ready = following.withLimits(ready, p.Name, "pod", "namespace")
		condition.Set(&status.Conditions, p.Generation, now, ready, f.conflicted("pod"))
	}
	return statuses
}

// NodeProfiles returns the status of each of the profiles of a cluster's nodes,
// given the labels of the nodes. What calibrations write stays as it is.
func NodeProfiles(profiles []v1alpha1.NodeProfile, nodes []labels.Set, now metav1.Time) []v1alpha1.NodeProfileStatus {
	var classes []*profile.NodeClass
	byName := map[string]*profile.NodeClass{}
	invalid := make([]field.ErrorList, len(profiles))
	for i := range profiles {
		class, errs := profile.NewNodeClass(&profiles[i])
		if invalid[i] = errs; len(errs) == 0 {
			classes = append(classes, class)
			byName[class.Name] = class
		}
	}
	following := follow(classes, nodes, func(c *profile.NodeClass) string { return c.Name })

	statuses := make([]v1alpha1.NodeProfileStatus, len(profiles))
	for i := range profiles {
		p, status := &profiles[i], &statuses[i]
		profiles[i].Status.DeepCopyInto(status)
		status.ObservedGeneration = new(p.Generation)
		status.Servers = nil
		var ready metav1.Condition
		if class := byName[p.Name]; class == nil {
			ready = notReady(invalid[i])
		} else {
			ready = classReady(p)
			if text := FollowsAll(p.Spec.Selector, "node", "cluster"); text != "" {
				ready.Message += "; " + text
			}
			status.Servers = serversInUse(class, p)
		}
		f := following.followersOf(p.Name)
		status.Nodes = new(f.count)
		ready = following.withLimits(ready, p.Name, "node", "cluster")
		condition.Set(&status.Conditions, p.Generation, now, ready, f.conflicted("node"))
	}
	return statuses
}

// loadings returns a vector as a status shows it, nil if there is none.
func loadings(v *profile.InUse) []v1alpha1.ResourceLoading {
	if v == nil {
		return nil
	}
	list := make([]v1alpha1.ResourceLoading, 0, len(v.Demands))
	for _, d := range v.Demands {
		if d.Effect != nil {
			continue // is in the spec
		}
		l := v1alpha1.ResourceLoading{
			Name: d.Resource, Loading: profile.Fraction(d.Loading), Pressure: profile.Fraction(d.Pressure), Threads: new(int32(d.Threads)),
		}
		if d.Sensitivity != 0 {
			l.Sensitivity = profile.Fraction(d.Sensitivity)
		}
		list = append(list, l)
	}
	return list
}

// serversInUse returns the servers of a class as its status shows them.
func serversInUse(c *profile.NodeClass, p *v1alpha1.NodeProfile) []v1alpha1.ResourceServers {
	var list []v1alpha1.ResourceServers
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if slices.ContainsFunc(p.Spec.Interference, func(r v1alpha1.ResourceDomains) bool { return r.Name == name }) {
			continue // has no servers
		}
		list = append(list, v1alpha1.ResourceServers{Name: name, Servers: new(int32(c.Servers[name]))})
	}
	return list
}
