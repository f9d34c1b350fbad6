package observation

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/model/inflation"
	"loadline.dev/loadline/pkg/text"
)

const (
	// analyzeEvery is the shortest time between two analyses of a key, and maxAnalyzed how many keys are analyzed at a time, which takes 0.2 s
	// for the largest.
	analyzeEvery, maxAnalyzed = 3 * time.Minute, 20
	// keepWork is for how long what was observed of work is shown as that of now.
	keepWork = 10 * time.Minute
	// beginning is for how much longer the manager that has just begun keeps what another one showed.
	beginning = 15 * time.Minute
	// maxWorkClasses is how many classes of nodes a status shows.
	maxWorkClasses = 20
)

// analysis is what became of the analysis of a class of nodes.
type analysis struct {
	class    string
	estimate *inflations.Estimate
	err      error
}

// analyze analyzes the keys that are due, those that were analyzed the longest ago first.
func (w *WorkReader) analyze(now time.Time) map[types.NamespacedName][]analysis {
	keys := w.history.Keys(now)
	w.mutex.Lock()
	last := map[inflations.Key]time.Time{}
	for _, key := range keys {
		last[key] = w.analyzed[key]
	}
	w.analyzed = last
	w.mutex.Unlock()
	keys = slices.DeleteFunc(keys, func(key inflations.Key) bool { return now.Sub(last[key]) < analyzeEvery })
	slices.SortFunc(keys, func(a, b inflations.Key) int {
		return cmp.Or(last[a].Compare(last[b]), cmp.Compare(a.Profile.String(), b.Profile.String()), cmp.Compare(a.Class, b.Class))
	})
	all := map[types.NamespacedName][]analysis{}
	for _, key := range keys[:min(len(keys), maxAnalyzed)] {
		e, err := w.history.Estimate(key)
		all[key.Profile] = append(all[key.Profile], analysis{key.Class, e, err})
		last[key] = now
	}
	return all
}

// why returns why the last reading of a pod of a profile failed, and whether its counter is read at all.
func (w *WorkReader) why(name types.NamespacedName) (failed string, chosen bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.failed[name], w.counters[name] != nil
}

// showWork updates what a status says of work, and reports whether that is worth writing.
func (c *Controller) showWork(p *v1alpha1.WorkloadProfile, status *v1alpha1.WorkloadProfileStatus, analyses []analysis, now time.Time) bool {
	if p.Spec.Work == nil {
		gone := len(status.Work) > 0
		status.Work = nil
		return meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionWorkObserved) || gone
	}
	if c.Work == nil {
		return false
	}
	differs, unrelated := false, false
	for i := range analyses {
		a := &analyses[i]
		unrelated = unrelated || errors.Is(a.err, inflation.ErrUnrelated)
		if a.err != nil {
			continue
		}
		o := inflations.Observation(a.class, p.Namespace, a.estimate)
		if now.Sub(o.Time.Time) > keepWork {
			continue
		}
		c.Metrics.work(p, &o)
		at := slices.IndexFunc(status.Work, func(before v1alpha1.WorkObservation) bool { return before.NodeProfile == a.class })
		switch {
		case at < 0:
			status.Work, differs = append(status.Work, o), true
		case inflations.Differs(&status.Work[at], &o):
			status.Work[at], differs = o, true
		}
		c.workSeen[client.ObjectKeyFromObject(p)] = now
	}
	if over := len(status.Work) - maxWorkClasses; over > 0 {
		slices.SortFunc(status.Work, func(a, b v1alpha1.WorkObservation) int { return a.Time.Compare(b.Time.Time) })
		status.Work = status.Work[over:]
	}
	slices.SortFunc(status.Work, func(a, b v1alpha1.WorkObservation) int { return cmp.Compare(a.NodeProfile, b.NodeProfile) })
	return c.showWorkCondition(p, status, unrelated, now) || differs
}

// showWorkCondition updates the condition, and reports whether it says something else.
func (c *Controller) showWorkCondition(p *v1alpha1.WorkloadProfile, status *v1alpha1.WorkloadProfileStatus, unrelated bool, now time.Time) bool {
	name := client.ObjectKeyFromObject(p)
	failed, chosen := c.Work.why(name)
	before := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionWorkObserved)
	if _, known := c.workSeen[name]; !known { // a manager that has just begun has read nothing yet
		c.workSeen[name] = time.Time{}
		if before != nil && before.Status == metav1.ConditionTrue {
			c.workSeen[name] = now.Add(beginning)
		}
	}
	next := metav1.Condition{Type: v1alpha1.ConditionWorkObserved, Status: metav1.ConditionFalse}
	switch {
	case now.Sub(c.workSeen[name]) <= keepWork:
		next.Status, next.Reason, next.Message = metav1.ConditionTrue, v1alpha1.ReasonWorkRead, "status.work has what was read"
	case !chosen:
		next.Reason, next.Message = v1alpha1.ReasonWorkUnreadable, "the counters of a bounded number of profiles are read: 10 of a namespace by their names, 200 in all"
	case failed == errNoPrometheus.Error():
		next.Reason, next.Message = v1alpha1.ReasonWorkNoPrometheus, failed
	case failed != "":
		next.Reason, next.Message = v1alpha1.ReasonWorkUnreadable, text.Abridge(text.Printable(failed), 500)
	case unrelated:
		next.Reason, next.Message = v1alpha1.ReasonWorkUnrelated, "the CPU time of the pods does not rise with what is counted: name a counter of their work"
	default:
		next.Reason, next.Message = v1alpha1.ReasonWorkTooShort, "the counter was not read for long enough: a quarter of an hour of work is needed"
	}
	if before != nil && before.Reason == next.Reason && before.ObservedGeneration == p.Generation {
		return false // whatever pod the message names
	}
	if before != nil && before.Reason == v1alpha1.ReasonWorkUnrelated && next.Reason == v1alpha1.ReasonWorkTooShort {
		return false // it is analyzed now and then only
	}
	condition.Set(&status.Conditions, p.Generation, metav1.NewTime(now), next)
	return true
}

// workMetrics show the inflations of profiles.
type workMetrics struct{ inflation, quiet *prometheus.GaugeVec }

func newWorkMetrics(register promauto.Factory) workMetrics {
	labels := []string{"profile_namespace", "profile", "node_profile"}
	return workMetrics{
		inflation: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_work_inflation",
			Help: "How many times as many CPU seconds a unit of work of the pods of a WorkloadProfile takes as when quiet, on the nodes of a class.",
		}, labels),
		quiet: register.NewGaugeVec(prometheus.GaugeOpts{
			Name: "loadline_work_quiet_cpu_seconds",
			Help: "How many CPU seconds a unit of work of the pods of a WorkloadProfile takes when quiet, on the nodes of a class.",
		}, labels),
	}
}

func (m *Metrics) work(p *v1alpha1.WorkloadProfile, o *v1alpha1.WorkObservation) {
	m.quiet.WithLabelValues(p.Namespace, p.Name, o.NodeProfile).Set(o.Quiet.Value.AsApproximateFloat64())
	if o.Inflation == nil {
		m.inflation.DeleteLabelValues(p.Namespace, p.Name, o.NodeProfile)
		return
	}
	m.inflation.WithLabelValues(p.Namespace, p.Name, o.NodeProfile).Set(o.Inflation.Value.AsApproximateFloat64())
}

func (m *Metrics) forgetWork(name types.NamespacedName) {
	labels := prometheus.Labels{"profile_namespace": name.Namespace, "profile": name.Name}
	m.quiet.DeletePartialMatch(labels)
	m.inflation.DeletePartialMatch(labels)
}

// forgetWork forgets the profiles that are gone or have no work counter any more.
func (c *Controller) forgetWork(profiles []v1alpha1.WorkloadProfile) {
	there := sets.New[types.NamespacedName]()
	for i := range profiles {
		if profiles[i].Spec.Work != nil {
			there.Insert(client.ObjectKeyFromObject(&profiles[i]))
		}
	}
	for name := range c.workSeen {
		if !there.Has(name) {
			delete(c.workSeen, name)
			c.Metrics.forgetWork(name)
		}
	}
}
