package sharetree

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

// Answers are the latest results of each tree. The controller of ShareTrees keeps them; that of
// WorkloadProfiles writes them, with the rest of a profile's status, so that a new profile costs
// one request and the two controllers never conflict. They are safe for concurrent use. A nil
// *Answers leaves all conditions unchanged.
type Answers struct {
	mu      sync.Mutex
	of      map[string]computed // by the name of the tree
	changed chan event.GenericEvent
}

// computed is the outcome of one computation of a tree.
type computed struct {
	answer  *shares.TreeAnswer
	why     error
	members map[types.NamespacedName]member
	// steady reports whether the numbers are worth writing to profiles about which they
	// say the same as before. While profiles join a tree, each changes the numbers of
	// all others.
	steady bool
	// written is when the outcome was steady last.
	written time.Time
}

// member is the state in which a profile was part of a computation.
type member struct {
	uid        types.UID
	generation int64
}

func stateOf(p *v1alpha1.WorkloadProfile) member { return member{p.UID, p.Generation} }

// maxUnsteady is for how long numbers that say the same as before may stay unwritten
// while profiles keep joining and leaving a tree.
const maxUnsteady = time.Minute

// pendingEvents is how many namespaces may wait to be decided on again before the
// controller of ShareTrees waits, too.
const pendingEvents = 1024

// NewAnswers returns no answers.
func NewAnswers() *Answers {
	return &Answers{of: map[string]computed{}, changed: make(chan event.GenericEvent, pendingEvents)}
}

// Changed returns a channel of the namespaces with profiles whose answer has changed.
func (a *Answers) Changed() <-chan event.GenericEvent { return a.changed }

// Apply sets the condition SLAAttainable of a profile, or removes it from one in no tree. It
// reports false, and changes nothing, where the tree was not yet computed with the present state of
// the profile: Changed says when it was.
func (a *Answers) Apply(p *v1alpha1.WorkloadProfile, now metav1.Time) (known bool) {
	if a == nil {
		return true
	}
	if p.Spec.FairShare == nil {
		p.Status.Conditions = shares.SLAAttainable(p, nil, nil, now)
		return true
	}
	a.mu.Lock()
	c := a.of[p.Spec.FairShare.Tree]
	a.mu.Unlock()
	if state, is := c.members[client.ObjectKeyFromObject(p)]; !is || state != stateOf(p) {
		return false
	}
	after := shares.SLAAttainable(p, c.answer, c.why, now)
	if !c.steady && sameVerdict(condition(p.Status.Conditions), condition(after)) {
		return true
	}
	p.Status.Conditions = after
	return true
}

func condition(all []metav1.Condition) *metav1.Condition {
	return meta.FindStatusCondition(all, v1alpha1.ConditionSLAAttainable)
}

// sameVerdict reports whether a condition says the same as it did, but for the numbers of
// its message.
func sameVerdict(was, is *metav1.Condition) bool {
	return was != nil && is != nil && was.Status == is.Status && was.Reason == is.Reason && was.ObservedGeneration == is.ObservedGeneration
}

// keep replaces the answer of a tree and reports whether it is steady: the same profiles
// as last time gave it, or it is time to write it all the same.
func (a *Answers) keep(tree string, answer *shares.TreeAnswer, why error, profiles []v1alpha1.WorkloadProfile, now time.Time) (steady bool) {
	members := make(map[types.NamespacedName]member, len(profiles))
	for i := range profiles {
		members[client.ObjectKeyFromObject(&profiles[i])] = stateOf(&profiles[i])
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.of[tree]
	c := computed{answer: answer, why: why, members: members, written: last.written}
	c.steady = maps.Equal(last.members, members) || now.Sub(last.written) > maxUnsteady
	if c.steady {
		c.written = now
	}
	a.of[tree] = c
	return c.steady
}

// announce sends the namespaces of profiles to Changed.
func (a *Answers) announce(ctx context.Context, profiles []v1alpha1.WorkloadProfile) error {
	namespaces := sets.New[string]()
	for i := range profiles {
		namespaces.Insert(profiles[i].Namespace)
	}
	for namespace := range namespaces {
		select {
		case a.changed <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
