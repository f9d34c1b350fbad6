package invariant

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/chaos/link"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// ChangedOnce says that what a Remediation does to a pod is done once: the pod is evicted, or it has the amounts of the change once,
// and those of before once again. What no Remediation asks for is not done: Remediations and pods are watched apart, so that one may be seen
// after what is done for it.
type ChangedOnce struct {
	changes map[string]*change // by the UID of the Remediation
	pods    map[string]*corev1.Pod
	open    []unexplained
}

// unexplained is what was done for no Remediation that was seen by then.
type unexplained struct {
	what string
	// explain looks for the Remediation that it is for, and returns whether there is one, and what is wrong with it.
	explain func() (wrong []string, is bool)
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
		return c.explain()
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
			wrong = append(wrong, c.done(c.resized(pod, was, is, e.At))...)
		}
	}
	return wrong
}

// done returns what is wrong with what was done, once that is known.
func (c *ChangedOnce) done(u unexplained) []string {
	wrong, is := u.explain()
	if !is {
		c.open = append(c.open, u)
	}
	return wrong
}

// explain returns what is wrong with what was done for a Remediation that is known now.
func (c *ChangedOnce) explain() (wrong []string) {
	c.open = slices.DeleteFunc(c.open, func(u unexplained) bool {
		found, is := u.explain()
		wrong = append(wrong, found...)
		return is
	})
	return wrong
}

// Rest returns what was done for no Remediation.
func (c *ChangedOnce) Rest() (wrong []string) {
	for _, u := range c.open {
		wrong = append(wrong, u.what)
	}
	c.open = nil
	return wrong
}

// resized is a resize that was seen at a time.
func (c *ChangedOnce) resized(pod *corev1.Pod, was, is *corev1.Container, at time.Time) unexplained {
	what := fmt.Sprintf("container %s of pod %s/%s: limit %s, and %s before", is.Name, pod.Namespace, pod.Name, is.Resources.Limits.Cpu(), was.Resources.Limits.Cpu())
	return unexplained{what + ", for no Remediation that was started", func() ([]string, bool) {
		for _, r := range c.changes {
			if r.of.Spec.Pod.UID != string(pod.UID) || r.of.Spec.Change.Container != is.Name || !remediations.Started(r.of) || r.of.Status.StartTime.After(at) {
				continue
			}
			switch {
			case matches(r.of, was, is, false):
				if r.forward++; r.forward > 1 {
					return []string{fmt.Sprintf("%s, for Remediation %s for the %d. time", what, r.of.Name, r.forward)}, true
				}
				return nil, true
			case matches(r.of, was, is, true):
				if r.undone++; r.undone > 1 {
					return []string{fmt.Sprintf("%s, undoing Remediation %s for the %d. time", what, r.of.Name, r.undone)}, true
				}
				return nil, true
			}
		}
		return nil, false
	}}
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
	at := time.Now()
	return c.done(unexplained{what + ", for no Remediation", func() ([]string, bool) {
		of := c.moveOf(uid, at)
		if of == nil {
			return nil, false
		}
		of.evicted++
		return nil, true // to evict a pod that is going has no effect: it cannot be evicted twice
	}})
}

// moveOf returns the move of a pod that was there at a time, nil if there is none.
func (c *ChangedOnce) moveOf(uid string, at time.Time) *change {
	for _, r := range c.changes {
		if r.of.Spec.Change.Action == v1alpha1.ActionMove && r.of.Spec.Pod.UID == uid && !r.of.CreationTimestamp.After(at) {
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
