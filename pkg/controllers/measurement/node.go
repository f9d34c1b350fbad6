package measurement

import (
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/model/loading"
)

// node is a node that the measurement may take place on, with its pods.
type node struct {
	object *corev1.Node
	// class is the NodeProfile that it follows, or v1alpha1.NoNodeProfile.
	class string
	// servers are those of the resources to measure, by name; declared are those of
	// them that the NodeProfile states for the whole class.
	servers, declared map[string]int
	// followers is how many running pods there follow the profile, and weight the
	// CPU that each of them requests, in thousandths.
	followers int
	weight    int64

	// looked reports whether the following fields are set.
	looked bool
	// pods are all pods on the node, also those that have ended.
	pods probejob.Pods
	// neighbours are the vectors of the pods there that are neither ours nor followers of the
	// profile; resources are the names of their components and capacity the servers of these
	// resources.
	neighbours []loading.Vector
	resources  []string
	capacity   []int
}

func (n *node) name() string { return n.object.Name }

// cores returns how many allocatable cores the node has, rounded to whole ones.
func (n *node) cores() int {
	return int(math.Round(n.object.Status.Allocatable.Cpu().AsApproximateFloat64()))
}

// usable reports whether Jobs can run on the node, and if not, why. The node may be nil.
func (n *node) usable() (ok bool, why string) {
	if n == nil {
		return false, "it is no longer there"
	}
	return probejob.Usable(n.object)
}

// alive reports whether the pods on the node keep running, and if not, why.
func (n *node) alive() (ok bool, why string) {
	if n == nil {
		return false, "it is no longer there"
	}
	return probejob.Alive(n.object)
}

// quiet reports whether no pods but those of measurements run on the node, and if some do,
// whose. Where followers belong to the step they do not count. Where neighbours are
// corrected for, every node is quiet.
func (n *node) quiet(s *sites, withFollowers bool) (ok bool, why string) {
	if s.settings.correct {
		return true, ""
	}
	others := n.pods.Foreign
	if withFollowers {
		others = slices.DeleteFunc(slices.Clone(others), func(p corev1.Pod) bool { return s.followers[p.UID] })
	}
	return probejob.Quiet(n.name(), others, s.home)
}

// measuredByOthers reports whether pods of another measurement run on the node: of one that
// goes on there, or has ended and whose pods have not yet. They end by themselves, unlike
// other pods: a measurement waits for them.
func (n *node) measuredByOthers() bool { return !probejob.AllEnded(n.pods.Measured) }

// leftover returns the name of a pod of ours on the node that has not ended and belongs to none of
// these Jobs, "" for none.
func (n *node) leftover(jobs map[string]bool) string {
	for i := range n.pods.Own {
		if pod := &n.pods.Own[i]; !probejob.Ended(pod) && !jobs[metav1.GetControllerOf(pod).Name] {
			return pod.Name
		}
	}
	return ""
}

// placedSince returns the name of a pod that was put on the node after a time, also if
// it has ended since; "" for none. Ours do not count, nor those
// that belong to the node, the cluster or Loadline, whose namespace is home.
func (n *node) placedSince(since time.Time, home string) string {
	others := slices.Concat(n.pods.Measured, n.pods.Foreign)
	for i := range others {
		pod := others[i].DeepCopy()
		if !scheduled(pod).After(since) {
			continue
		}
		pod.Status.Phase = corev1.PodRunning
		if quiet, _ := probejob.Quiet(n.name(), []corev1.Pod{*pod}, home); !quiet {
			return pod.Namespace + "/" + pod.Name
		}
	}
	return ""
}

// scheduled returns when a pod was put on its node.
func scheduled(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// room returns how much CPU is left for the pods of a measurement, in thousandths.
func (n *node) room() int64 {
	free := n.object.Status.Allocatable.Cpu().MilliValue()
	others := slices.Concat(n.pods.Measured, n.pods.Foreign)
	for i := range others {
		if probejob.Ended(&others[i]) {
			continue
		}
		requests := resourcehelper.PodRequests(&others[i], resourcehelper.PodResourcesOptions{})
		free -= requests.Cpu().MilliValue()
	}
	return max(free, 0)
}

// atNode says why a node cannot be measured on.
func atNode(name, why string) string { return fmt.Sprintf("%s: %s", name, why) }
