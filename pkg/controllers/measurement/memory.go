package measurement

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// memory is the state kept between plans besides the status.
type memory struct {
	// setbacks are the failures that are waited after, by class of nodes.
	setbacks map[string]probejob.Failure
	// probe is the Job of a probe that was seen running, and since when.
	probe types.UID
	since time.Time
	// resume is when a step whose last attempt was lost may begin again.
	resume time.Time
	// denied says which right the manager lacks to run the Jobs of the measurement in progress, "" for none.
	denied string
}

// with returns the memory with a failure to wait after.
func (m memory) with(class string, back probejob.Failure) memory {
	m.setbacks = maps.Clone(m.setbacks)
	if m.setbacks == nil {
		m.setbacks = map[string]probejob.Failure{}
	}
	m.setbacks[class] = back
	m.denied = ""
	return m
}

// lacking returns the memory with the right that the manager lacks.
func (m memory) lacking(denied string) memory {
	m.denied = denied
	return m
}

// without returns the memory without the failure of a class.
func (m memory) without(class string) memory {
	m.setbacks = maps.Clone(m.setbacks)
	delete(m.setbacks, class)
	return m
}

// sawRunning returns the memory with the Job of a probe that runs, and since when. The
// node's clock may be wrong, and then the first look counts.
func (m memory) sawRunning(probe types.UID, started, now time.Time) memory {
	if m.probe == probe {
		return m
	}
	m.probe, m.since = probe, now
	if started.Before(now) {
		m.since = started
	}
	return m
}

// resumingAt returns the memory with when the current step may begin again.
func (m memory) resumingAt(when time.Time) memory {
	m.resume = when
	return m
}

// failures are the reasons of the condition that are waited after.
var failures = []string{
	v1alpha1.ReasonTargetFailed, v1alpha1.ReasonProbeFailed, v1alpha1.ReasonUnsaturated,
	v1alpha1.ReasonInconsistent, v1alpha1.ReasonInterrupted,
}

// recall returns the memory of a profile. A manager that has just started finds a failure in the
// condition, and treats it as one of this moment.
func recall(memories *probejob.Memory[memory], in *input) memory {
	if known, ok := memories.Recall(in.profile); ok {
		return known
	}
	c := meta.FindStatusCondition(in.profile.Status.Conditions, v1alpha1.ConditionMeasured)
	if c == nil || in.profile.Status.Measuring != nil || c.ObservedGeneration != in.profile.Generation || !slices.Contains(failures, c.Reason) {
		return memory{}
	}
	message, _, _ := strings.Cut(c.Message, soFar)
	for _, class := range in.classes() {
		if question := in.questions[class]; question != "" && !in.fresh(class) {
			back := probejob.Failure{Question: question, Reason: c.Reason, Message: message, InARow: 1, Until: in.now.Add(firstRetry)}
			return memory{setbacks: map[string]probejob.Failure{class: back}}
		}
	}
	return memory{}
}

// looks are the recent readings of nodes. The zero value is empty.
type looks struct {
	mu sync.Mutex
	at map[string]look
}

// look is the pods that were on a node at a time.
type look struct {
	pods []corev1.Pod
	when time.Time
}

// recently is the time for which a look counts where a site is looked for.
const recently = 10 * time.Second

func (l *looks) keep(node string, pods []corev1.Pod, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = map[string]look{}
	}
	for name, old := range l.at {
		if now.Sub(old.when) > recently {
			delete(l.at, name)
		}
	}
	l.at[node] = look{pods, now}
}

func (l *looks) recent(node string, now time.Time) ([]corev1.Pod, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, ok := l.at[node]
	return seen.pods, ok && now.Sub(seen.when) <= recently
}
