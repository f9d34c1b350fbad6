package invariant

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// State is all that is in a cluster.
type State struct {
	Now              time.Time
	Namespaces       []corev1.Namespace
	Nodes            []corev1.Node
	Pods             []corev1.Pod
	Deployments      []appsv1.Deployment
	StatefulSets     []appsv1.StatefulSet
	Jobs             []batchv1.Job
	WorkloadProfiles []v1alpha1.WorkloadProfile
	NodeProfiles     []v1alpha1.NodeProfile
	PoolPlans        []v1alpha1.PoolPlan
	ShareTrees       []v1alpha1.ShareTree
	TraceReplays     []v1alpha1.TraceReplay
	Policies         []v1alpha1.RemediationPolicy
	Remediations     []v1alpha1.Remediation
	Rates            map[string]float64 // what Prometheus answers now, by the query
	Bare             sets.Set[string]   // pods that no controller has, which must be there, by namespace and name
}

// Settled is an invariant of a cluster in which nothing has failed for a while.
type Settled struct {
	// Name is a short sentence that says what is so.
	Name string
	// Broken returns what is not so.
	Broken func(*State) []string
}

// AllSettled returns all of them.
func AllSettled() []Settled {
	return []Settled{
		{"no pod is lost: each is there, and runs", EveryPodRuns},
		{"no object is left behind", NothingLeft},
		{"the statuses of WorkloadProfiles and NodeProfiles say what is", ProfilesTrue},
		{"the statuses of PoolPlans say what is", PoolPlansTrue},
		{"the statuses of ShareTrees say what is", ShareTreesTrue},
		{"the statuses of Remediations and their policies say what is", RemediationsTrue},
		{"the statuses of TraceReplays say what is", ReplaysTrue},
		{"measurements that go on have a Job, or wait for a turn", MeasurementsTrue},
	}
}

// names returns the namespace and name of an object.
func names(o client.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// EveryPodRuns returns the pods that are missing, are on no node, or do not run there.
func EveryPodRuns(s *State) (broken []string) {
	missing := s.Bare.Clone()
	running := map[types.UID]int32{} // by the UID of the controller
	for i := range s.Pods {
		pod := &s.Pods[i]
		missing.Delete(names(pod))
		if terminated(pod) {
			continue
		}
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			for _, owner := range pod.OwnerReferences {
				running[owner.UID]++
			}
			continue
		}
		broken = append(broken, fmt.Sprintf("pod %s does not run: %s on node %q%s", names(pod), pod.Status.Phase, pod.Spec.NodeName, unscheduled(pod)))
	}
	for _, name := range sets.List(missing) {
		broken = append(broken, fmt.Sprintf("pod %s is gone", name))
	}
	for i := range s.StatefulSets {
		if set := &s.StatefulSets[i]; running[set.UID] != *set.Spec.Replicas {
			broken = append(broken, fmt.Sprintf("StatefulSet %s has %d pods that run, and should have %d", names(set), running[set.UID], *set.Spec.Replicas))
		}
	}
	for i := range s.Deployments {
		if d := &s.Deployments[i]; d.Status.ReadyReplicas != *d.Spec.Replicas || d.Status.ObservedGeneration != d.Generation {
			broken = append(broken, fmt.Sprintf("Deployment %s has %d pods that are ready, and should have %d", names(d), d.Status.ReadyReplicas, *d.Spec.Replicas))
		}
	}
	return broken
}

// unscheduled says why a pod is on no node, as far as it is known.
func unscheduled(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return ": " + c.Message
		}
	}
	return ""
}

// leave is how long an object may take to go.
const leave = 20 * time.Second

// NothingLeft returns the objects that are being deleted and do not go, and the Jobs of Loadline that are for nothing.
func NothingLeft(s *State) (broken []string) {
	for _, o := range s.objects() {
		if t := o.GetDeletionTimestamp(); t != nil && s.Now.Sub(t.Time) > leave {
			broken = append(broken, fmt.Sprintf("%T %s is being deleted since %s and has the finalizers %v", o, names(o), t.Format(time.TimeOnly), o.GetFinalizers()))
		}
	}
	for i := range s.Jobs {
		if why := s.uselessJob(&s.Jobs[i]); why != "" {
			broken = append(broken, fmt.Sprintf("Job %s is left behind: %s", names(&s.Jobs[i]), why))
		}
	}
	return broken
}

// objects returns all objects.
func (s *State) objects() (all []client.Object) {
	all = slices.Concat(
		each(s.Namespaces), each(s.Nodes), each(s.Pods), each(s.Deployments), each(s.StatefulSets), each(s.Jobs), each(s.WorkloadProfiles), each(s.NodeProfiles),
		each(s.PoolPlans), each(s.ShareTrees), each(s.TraceReplays), each(s.Policies), each(s.Remediations))
	slices.SortStableFunc(all, func(a, b client.Object) int { return cmp.Compare(names(a), names(b)) })
	return all
}

// each returns the objects of a list.
func each[T any, P interface {
	*T
	client.Object
}](list []T) []client.Object {
	all := make([]client.Object, len(list))
	for i := range list {
		all[i] = P(&list[i])
	}
	return all
}

// uselessJob says why a Job of Loadline is for nothing, "" where it is not or is no Job of Loadline.
func (s *State) uselessJob(job *batchv1.Job) string {
	if uid, is := job.Labels[probejob.MeasurementKey]; is {
		for i := range s.WorkloadProfiles {
			p := &s.WorkloadProfiles[i]
			if string(p.UID) != uid {
				continue
			}
			if p.Status.Measuring == nil {
				return "nothing is measured for its profile"
			}
			return ""
		}
		for i := range s.NodeProfiles {
			if string(s.NodeProfiles[i].UID) == uid {
				return ""
			}
		}
		return "its profile is gone"
	}
	for _, owner := range job.OwnerReferences {
		if owner.Kind == "TraceReplay" && !slices.ContainsFunc(s.TraceReplays, func(r v1alpha1.TraceReplay) bool { return r.UID == owner.UID }) {
			return "its TraceReplay is gone"
		}
	}
	return ""
}

// MeasurementsTrue returns the profiles that say that they are measured on a node that is gone, and not that this waits.
func MeasurementsTrue(s *State) (broken []string) {
	nodes := sets.New[string]()
	for i := range s.Nodes {
		nodes.Insert(s.Nodes[i].Name)
	}
	for i := range s.WorkloadProfiles {
		p := &s.WorkloadProfiles[i]
		c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionMeasured)
		waits := c != nil && c.Reason != v1alpha1.ReasonMeasuring && c.Reason != v1alpha1.ReasonStale
		if m := p.Status.Measuring; m != nil && m.Node != "" && !nodes.Has(m.Node) && !waits {
			broken = append(broken, fmt.Sprintf("WorkloadProfile %s is measured on node %s, which is gone", names(p), m.Node))
		}
	}
	return broken
}
