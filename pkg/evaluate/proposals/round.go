package proposals

import (
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

const (
	// Most is how many changes are proposed at a time.
	Most = 100
	// remembered is for how long a change that failed, was rolled back or was rejected is not proposed again of the same pod, as long as
	// its Remediation is kept.
	remembered = 24 * time.Hour
	// leastAbove is the dilation from which on pods are helped if policies have a lower one: plans want one above 1.
	leastAbove = 1.01
)

// Input is what proposals are made of.
type Input struct {
	// Policies are in the order in which they go, as [remediations.CompileAll] has them.
	Policies []*remediations.Policy
	// Namespaces are all of the cluster, and Pods all that have not ended.
	Namespaces []corev1.Namespace
	Pods       []corev1.Pod
	// Remediations are all of the cluster.
	Remediations []v1alpha1.Remediation
	// Schedulers are the names of the schedulers whose pods are moved: others may place them anywhere.
	Schedulers sets.Set[string]
	// Observed are the nodes that were observed for long enough to plan with.
	Observed sets.Set[string]
	// Resizable reports whether the API server lets pods be resized: if not, they are only moved.
	Resizable bool
	// Namespace is the one whose label stops changes of all pods.
	Namespace string
	Now       time.Time
}

// Round is what is known of proposals before there is a plan.
type Round struct {
	*Input

	labels  map[string]labels.Set // of namespaces
	stopped sets.Set[string]      // namespaces whose pods are left alone
	pods    map[string]*corev1.Pod
	// open are the proposals that are not started, by the UIDs of their pods. Of them, frozen are those that stay as they are for now, and
	// first those that the plan begins with.
	open   map[string][]*v1alpha1.Remediation
	frozen map[*v1alpha1.Remediation]bool
	first  []*v1alpha1.Remediation
	// busy are the nodes, and the pods by their UIDs, with a change that is running.
	busyNodes, busyPods sets.Set[string]
	// ended is when the last change of a workload was complete, Now for one that is running.
	ended map[workload]time.Time
	// unwanted are changes that did not come true of late.
	unwanted map[kind]bool
}

// workload is what cool-downs count by.
type workload struct {
	namespace string
	v1alpha1.WorkloadReference
}

// kind is a kind of change of a pod, by its UID.
type kind struct{ uid, action string }

// New returns a round. The input must not change while it is in use.
func New(in *Input) *Round {
	r := &Round{
		Input: in, labels: map[string]labels.Set{}, stopped: sets.New[string](), pods: make(map[string]*corev1.Pod, len(in.Pods)),
		open: map[string][]*v1alpha1.Remediation{}, busyNodes: sets.New[string](), busyPods: sets.New[string](), ended: map[workload]time.Time{},
		unwanted: map[kind]bool{}, frozen: map[*v1alpha1.Remediation]bool{},
	}
	for i := range in.Namespaces {
		n := &in.Namespaces[i]
		r.labels[n.Name] = n.Labels
		if remediations.Stopped(n.Labels) {
			r.stopped.Insert(n.Name)
		}
	}
	for i := range in.Pods {
		r.pods[string(in.Pods[i].UID)] = &in.Pods[i]
	}
	var open []*v1alpha1.Remediation
	for i := range in.Remediations {
		switch c := &in.Remediations[i]; {
		case !c.DeletionTimestamp.IsZero():
		case remediations.Running(c):
			r.takeRunning(c)
		case remediations.Complete(c):
			r.takeComplete(c)
		default:
			open = append(open, c)
		}
	}
	byPrediction(open)
	for _, c := range open {
		r.takeOpen(c)
	}
	return r
}

func (r *Round) takeRunning(c *v1alpha1.Remediation) {
	r.busyNodes.Insert(remediations.Nodes(c)...)
	r.busyPods.Insert(c.Spec.Pod.UID, podSince(c).UID)
	r.ended[workloadOf(c)] = r.Now
}

func (r *Round) takeComplete(c *v1alpha1.Remediation) {
	if c.Status.CompletionTime == nil {
		return
	}
	ended := c.Status.CompletionTime.Time
	if w := workloadOf(c); remediations.Started(c) && ended.After(r.ended[w]) {
		r.ended[w] = ended
	}
	switch remediations.Step(c) {
	case v1alpha1.ReasonFailed, v1alpha1.ReasonRolledBack, v1alpha1.ReasonRejected:
		if r.Now.Sub(ended) < remembered {
			r.unwanted[kind{podSince(c).UID, c.Spec.Change.Action}] = true
			r.unwanted[kind{c.Spec.Pod.UID, c.Spec.Change.Action}] = true
		}
	}
}

// takeOpen takes a proposal that is not started. It stays as it is while its pod is gone, which ends it, while changes of its namespace are
// stopped, and while its nodes are not observed or another change is running there: then it is not known what it wins.
func (r *Round) takeOpen(c *v1alpha1.Remediation) {
	uid := c.Spec.Pod.UID
	r.open[uid] = append(r.open[uid], c)
	pod := r.pods[uid]
	switch {
	case pod == nil, r.halted(pod.Namespace), r.busyPods.Has(uid), r.busyNodes.HasAny(remediations.Nodes(c)...), !r.Observed.HasAll(remediations.Nodes(c)...):
		r.frozen[c] = true
	case r.policyOf(pod) != nil && r.policyOf(pod).Name == c.Spec.Policy:
		r.first = append(r.first, c)
	}
}

// halted reports whether changes of the pods of a namespace are stopped by a label.
func (r *Round) halted(namespace string) bool { return r.stopped.HasAny(namespace, r.Namespace) }

// policyOf returns the policy that a pod belongs to, nil for none.
func (r *Round) policyOf(pod *corev1.Pod) *remediations.Policy {
	return remediations.Responsible(r.Policies, &remediations.Pod{
		Namespace: pod.Namespace, NamespaceLabels: r.labels[pod.Namespace], Labels: pod.Labels, PriorityClass: pod.Spec.PriorityClassName,
	})
}

// Options sets which changes a plan may have: those that policies allow now, each for itself, beginning with what is proposed already.
func (r *Round) Options(o *plan.Options) {
	o.Above, o.Max, o.Alone, o.InPlace, o.Permits = Above(r.Policies), max(1, Most-len(r.frozen)), true, true, r.permits
	o.Record = Record(r.Remediations)
	if !r.Resizable {
		o.Allow = []plan.Action{plan.MovePod}
	}
	for _, c := range r.first {
		o.First = append(o.First, *Change(c))
	}
	if o.Feasibility != nil {
		o.Feasibility = &spared{o.Feasibility, r.busyNodes}
	}
}

// Above returns the dilation from which on policies have pods helped: the smallest of theirs.
func Above(policies []*remediations.Policy) float64 {
	if len(policies) == 0 {
		return remediations.SettingsOf(&v1alpha1.RemediationPolicySpec{}).Above
	}
	above := policies[0].Above
	for _, p := range policies {
		above = min(above, p.Above)
	}
	return max(leastAbove, above)
}

// permits reports whether a kind of change of a pod may be proposed, or stay.
func (r *Round) permits(pod *corev1.Pod, a plan.Action) bool {
	uid := string(pod.UID)
	p := r.policyOf(pod)
	switch {
	case p == nil, !p.Allows(actions[a]), r.halted(pod.Namespace):
		return false
	case r.busyPods.Has(uid), r.busyNodes.Has(pod.Spec.NodeName), r.unwanted[kind{uid, actions[a]}]:
		return false
	case age(pod, r.Now) < p.MinPodAge:
		return false
	case a == plan.MovePod && !r.Schedulers.Has(pod.Spec.SchedulerName), a != plan.MovePod && !resizes(pod, a):
		return false
	}
	open := r.open[uid]
	for _, c := range open {
		if c.Spec.Change.Action == actions[a] {
			return !r.frozen[c]
		}
	}
	return !r.waits(uid) && !r.cooling(pod, p)
}

// waits reports whether a proposal for a pod stays as it is for now.
func (r *Round) waits(uid string) bool {
	return slices.ContainsFunc(r.open[uid], func(c *v1alpha1.Remediation) bool { return r.frozen[c] })
}

// Movable returns the pods that may be moved, as far as policies and their schedulers say.
func (r *Round) Movable() iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for i := range r.Pods {
			if r.permits(&r.Pods[i], plan.MovePod) && !yield(&r.Pods[i]) {
				return
			}
		}
	}
}

// Moves reports whether some pod may be moved.
func (r *Round) Moves() bool {
	for range r.Movable() {
		return true
	}
	return false
}

// cooling reports whether a workload is left alone after a change of one of its pods, or while one is made.
func (r *Round) cooling(pod *corev1.Pod, p *remediations.Policy) bool {
	ended, changed := r.ended[workload{pod.Namespace, reference(pod)}]
	return changed && r.Now.Sub(ended) < max(p.CoolDown, 1)
}

// age returns for how long a pod has been running.
func age(pod *corev1.Pod, now time.Time) time.Duration {
	if pod.Status.Phase != corev1.PodRunning || pod.Status.StartTime == nil {
		return -1
	}
	return now.Sub(pod.Status.StartTime.Time)
}

// resizes reports whether the API can say a change of a request or limit of a pod: that of a container, which has one already.
func resizes(pod *corev1.Pod, a plan.Action) bool {
	if pod.Spec.Resources != nil {
		return false
	}
	if a == plan.RaiseLimit {
		return true
	}
	_, request, _ := cgroup.Largest(pod)
	return request != nil && request.Sign() > 0
}

// reference names the workload of a pod, or itself if nothing owns it.
func reference(pod *corev1.Pod) v1alpha1.WorkloadReference {
	kind, name := workloads.Owner(pod)
	owner := metav1.GetControllerOf(pod)
	if owner == nil || kind == "Pod" {
		return v1alpha1.WorkloadReference{Kind: "Pod", Name: pod.Name}
	}
	return v1alpha1.WorkloadReference{APIVersion: owner.APIVersion, Kind: kind, Name: name}
}

// workloadOf returns the workload of a change.
func workloadOf(c *v1alpha1.Remediation) workload {
	if c.Spec.Workload == nil {
		return workload{c.Namespace, v1alpha1.WorkloadReference{Kind: "Pod", Name: c.Spec.Pod.Name}}
	}
	return workload{c.Namespace, *c.Spec.Workload}
}
