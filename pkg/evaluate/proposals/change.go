package proposals

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// actions are the kinds of changes as plans have them, and as the API does.
var actions = map[plan.Action]string{
	plan.RaiseRequest: v1alpha1.ActionRaiseRequest,
	plan.LowerRequest: v1alpha1.ActionLowerRequest,
	plan.RaiseLimit:   v1alpha1.ActionRaiseLimit,
	plan.MovePod:      v1alpha1.ActionMove,
}

// actionOf returns the kind of a change as plans have it.
func actionOf(r *v1alpha1.Remediation) plan.Action {
	for a, name := range actions {
		if name == r.Spec.Change.Action {
			return a
		}
	}
	return plan.Action(r.Spec.Change.Action)
}

// Change returns the change of a Remediation as plans have it.
func Change(r *v1alpha1.Remediation) *plan.Change {
	spec := &r.Spec
	c := &plan.Change{
		Action: actionOf(r), Pod: r.Namespace + "/" + spec.Pod.Name, Workload: "Pod " + r.Namespace + "/" + spec.Pod.Name, Node: spec.Pod.Node,
		To: spec.Change.ToNode, Container: spec.Change.Container,
	}
	if w := spec.Workload; w != nil {
		c.Workload = w.Kind + " " + r.Namespace + "/" + w.Name
	}
	if a := spec.Change.Request; a != nil {
		c.WasRequest, c.Request = a.From, a.To
	}
	if a := spec.Change.Limit; a != nil {
		c.WasLimit, c.Limit = a.From, a.To
	}
	return c
}

// Now returns the pod of a change as it is since, as namespace/name: that in the place of a pod that was evicted, if there is one.
func Now(r *v1alpha1.Remediation) string { return r.Namespace + "/" + podSince(r).Name }

// podSince returns the pod of a change as it is since.
func podSince(r *v1alpha1.Remediation) *v1alpha1.RemediationPod {
	if r.Status.Replacement != nil {
		return r.Status.Replacement
	}
	return &r.Spec.Pod
}

// Before returns the pod of a change as it was before, given the one as it is since. That of a move had what the pod in its place has.
func Before(r *v1alpha1.Remediation, since *corev1.Pod) *corev1.Pod {
	change := &r.Spec.Change
	if change.Action != v1alpha1.ActionMove {
		had := disruption.ContainerCPU{Container: change.Container}
		if change.Request != nil {
			had.Request = change.Request.From
		}
		if change.Limit != nil {
			had.Limit = change.Limit.From
		}
		return disruption.Resized(since, []disruption.ContainerCPU{had})
	}
	was := since.DeepCopy()
	was.Name, was.UID, was.Spec.NodeName = r.Spec.Pod.Name, types.UID(r.Spec.Pod.UID), r.Spec.Pod.Node
	was.Status.ContainerStatuses, was.Status.InitContainerStatuses = nil, nil // they are of other containers
	return was
}

// key tells changes apart. The policy that a change is proposed for is part of it: that of a Remediation stays.
type key struct {
	policy, uid, action, container, to string
	request, limit                     int64
}

func keyOf(r *v1alpha1.Remediation) key {
	c := &r.Spec.Change
	return key{
		policy: r.Spec.Policy, uid: r.Spec.Pod.UID, action: c.Action, container: c.Container, to: c.ToNode,
		request: milli(c.Request), limit: milli(c.Limit),
	}
}

func milli(c *v1alpha1.CPUChange) int64 {
	if c == nil || c.To == nil {
		return 0
	}
	return c.To.MilliValue()
}

const (
	// longestPodPart is how much of a pod's name is part of that of its changes: names have 253 characters at most.
	longestPodPart = 200
	hashBytes      = 5
)

// name returns the name of a change. All that it does is part of it, so that it is the same whenever the change is proposed; taken are the
// names of others, such as those that were made of the same change and are complete.
func name(r *v1alpha1.Remediation, taken map[types.NamespacedName]bool) string {
	pod := r.Spec.Pod.Name
	base := strings.TrimRight(pod[:min(len(pod), longestPodPart)], "-.") + "-" + words[r.Spec.Change.Action]
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%+v %d", keyOf(r), n))
		full := base + "-" + hex.EncodeToString(sum[:hashBytes])
		if !taken[types.NamespacedName{Namespace: r.Namespace, Name: full}] {
			return full
		}
	}
}

// words are the kinds of changes in names.
var words = map[string]string{
	v1alpha1.ActionRaiseRequest: "raise-request",
	v1alpha1.ActionLowerRequest: "lower-request",
	v1alpha1.ActionRaiseLimit:   "raise-limit",
	v1alpha1.ActionMove:         "move",
}

// cpuChange returns how an amount changes, nil where it stays; sayable reports whether the API can say it: a pod is not given an amount
// that it had not.
func cpuChange(was, to *resource.Quantity) (change *v1alpha1.CPUChange, sayable bool) {
	switch {
	case to == nil:
		return nil, true
	case was == nil || was.Sign() <= 0 || to.Sign() <= 0:
		return nil, false
	}
	return &v1alpha1.CPUChange{From: new(was.DeepCopy()), To: new(to.DeepCopy())}, true
}

// byPrediction orders changes by what they are predicted to win, the most first.
func byPrediction(all []*v1alpha1.Remediation) {
	slices.SortFunc(all, func(a, b *v1alpha1.Remediation) int {
		return cmp.Or(b.Spec.Prediction.Win.Cmp(*a.Spec.Prediction.Win), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
