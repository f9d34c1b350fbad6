package invariant

import (
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/chaos/link"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// ChangedOnce says that what a Remediation does to a pod is done once: the pod is evicted, or it has the amounts of the change once,
// and those of before once again. What no Remediation asks for is not done.
type ChangedOnce struct {
	changes map[string]*change // by the UID of the Remediation
	pods    map[string]*corev1.Pod
}

// change is a Remediation, and what was done for it.
type change struct {
	of              *v1alpha1.Remediation
	evicted         int
	forward, undone int
}

// NewChangedOnce returns the rule, which has seen nothing.
func NewChangedOnce() *ChangedOnce {
	return &ChangedOnce{changes: map[string]*change{}, pods: map[string]*corev1.Pod{}}
}

// Name says what is so.
func (*ChangedOnce) Name() string { return "no change is made twice" }

// Event follows Remediations, and the CPU of the containers of pods.
func (c *ChangedOnce) Event(e Event) []string {
	switch o := e.Object.(type) {
	case *v1alpha1.Remediation:
		if c.changes[string(o.UID)] == nil {
			c.changes[string(o.UID)] = &change{}
		}
		c.changes[string(o.UID)].of = o
	case *corev1.Pod:
		return c.pod(e, o)
	}
	return nil
}

func (c *ChangedOnce) pod(e Event, pod *corev1.Pod) (wrong []string) {
	before := c.pods[string(pod.UID)]
	if e.Deleted {
		delete(c.pods, string(pod.UID))
		return nil
	}
	c.pods[string(pod.UID)] = pod
	if before == nil {
		return nil
	}
	for i := range pod.Spec.Containers {
		was, is := &before.Spec.Containers[i], &pod.Spec.Containers[i]
		if was.Resources.Requests.Cpu().Cmp(*is.Resources.Requests.Cpu()) != 0 || was.Resources.Limits.Cpu().Cmp(*is.Resources.Limits.Cpu()) != 0 {
			wrong = append(wrong, c.resized(pod, was, is)...)
		}
	}
	return wrong
}

// resized finds the Remediation that a resize is for.
func (c *ChangedOnce) resized(pod *corev1.Pod, was, is *corev1.Container) []string {
	what := fmt.Sprintf("container %s of pod %s/%s: limit %s, and %s before", is.Name, pod.Namespace, pod.Name, is.Resources.Limits.Cpu(), was.Resources.Limits.Cpu())
	for _, r := range c.changes {
		if r.of.Spec.Pod.UID != string(pod.UID) || r.of.Spec.Change.Container != is.Name || !remediations.Started(r.of) {
			continue
		}
		switch {
		case matches(r.of, was, is, false):
			if r.forward++; r.forward > 1 {
				return []string{fmt.Sprintf("%s, for Remediation %s for the %d. time", what, r.of.Name, r.forward)}
			}
			return nil
		case matches(r.of, was, is, true):
			if r.undone++; r.undone > 1 {
				return []string{fmt.Sprintf("%s, undoing Remediation %s for the %d. time", what, r.of.Name, r.undone)}
			}
			return nil
		}
	}
	return []string{what + ", for no Remediation that was started"}
}

// matches reports whether a container was changed as a Remediation says, or back.
func matches(r *v1alpha1.Remediation, was, is *corev1.Container, back bool) bool {
	if back {
		was, is = is, was
	}
	fits := func(c *v1alpha1.CPUChange, was, is corev1.ResourceList) bool {
		if c == nil {
			return was.Cpu().Cmp(*is.Cpu()) == 0
		}
		return c.From.Cmp(*was.Cpu()) == 0 && c.To.Cmp(*is.Cpu()) == 0
	}
	return fits(r.Spec.Change.Limit, was.Resources.Limits, is.Resources.Limits) && fits(r.Spec.Change.Request, was.Resources.Requests, is.Resources.Requests)
}

// Request judges evictions.
func (c *ChangedOnce) Request(r link.Passed) []string {
	p, is := podPath(r.Path)
	if !is || p.subresource != "eviction" || r.Method != http.MethodPost || !succeeded(&r) {
		return nil
	}
	what := fmt.Sprintf("%s evicted pod %s/%s", r.Client, p.namespace, p.pod)
	uid, err := precondition(r.Body)
	if err != nil {
		return []string{what + ": " + err.Error()}
	}
	of := c.moveOf(uid)
	if of == nil {
		return []string{what + ", for no Remediation"}
	}
	of.evicted++
	return nil // to evict a pod that is going has no effect: it cannot be evicted twice
}

// moveOf returns the move of a pod, nil if there is none.
func (c *ChangedOnce) moveOf(uid string) *change {
	for _, r := range c.changes {
		if r.of.Spec.Change.Action == v1alpha1.ActionMove && r.of.Spec.Pod.UID == uid {
			return r
		}
	}
	return nil
}

// precondition returns the UID of the pod that an eviction is for.
func precondition(body []byte) (string, error) {
	object, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), slices.Clone(body))
	if err != nil {
		return "", err
	}
	e, is := object.(*policyv1.Eviction)
	if !is || e.DeleteOptions == nil || e.DeleteOptions.Preconditions == nil || e.DeleteOptions.Preconditions.UID == nil {
		return "", fmt.Errorf("the eviction is of any pod with the name: %T", object)
	}
	return string(*e.DeleteOptions.Preconditions.UID), nil
}
