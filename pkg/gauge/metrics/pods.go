package metrics

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Which pods wait most is judged by a mean over intervals, so that the pods with series of their own seldom change.
const (
	// fading is how much of an earlier interval counts in the next.
	fading = 0.9
	// margin is how many times more a pod must wait than another to take the place of its series.
	margin = 2
)

// series are those of a pod.
type series struct {
	labels prometheus.Labels
	// waited is the mean of how long the pod waited per interval, in seconds.
	waited float64
}

// labelsOf returns the labels of a pod.
func labelsOf(p *usage.Pod) prometheus.Labels {
	if p.Name == "" {
		return prometheus.Labels{"namespace": Unknown, "pod": p.UID}
	}
	return prometheus.Labels{"namespace": p.Namespace, "pod": p.Name}
}

// addPods adds the pods of an interval to their series, or to those of the others.
func (m *Metrics) addPods(v *usage.Interval) {
	m.dropGone(v.Pods)
	m.choose(v.Pods)
	others := prometheus.Labels{"namespace": Others, "pod": Others}
	summed := 0
	m.dilation.Reset()
	for i := range v.Pods {
		p := &v.Pods[i]
		labels := others
		if s := m.shown[p.UID]; s != nil {
			labels = s.labels
			m.dilation.With(labels).Set(p.Dilation)
		} else {
			summed++
		}
		m.counters.add(labels, &p.Times)
		if !v.BlockedUnknown && p.BlockedBy != usage.ByNothing {
			m.counters.blocked.With(labels).Add(p.Blocked)
		}
	}
	m.summed.Set(float64(summed))
}

// dropGone drops the series of pods that are gone, and of those that have got a name.
func (m *Metrics) dropGone(pods []usage.Pod) {
	labels := make(map[string]prometheus.Labels, len(pods))
	for i := range pods {
		labels[pods[i].UID] = labelsOf(&pods[i])
	}
	for uid, s := range m.shown {
		if now, is := labels[uid]; !is || now["pod"] != s.labels["pod"] || now["namespace"] != s.labels["namespace"] {
			m.drop(uid)
		}
	}
}

// drop drops the series of a pod.
func (m *Metrics) drop(uid string) {
	s := m.shown[uid]
	delete(m.shown, uid)
	for _, other := range m.shown { // such as its successor in a StatefulSet
		if other.labels["pod"] == s.labels["pod"] && other.labels["namespace"] == s.labels["namespace"] {
			return
		}
	}
	m.counters.drop(s.labels)
}

// choose decides which pods have series of their own: up to the limit, and a pod replaces another only if it waits much
// more.
func (m *Metrics) choose(pods []usage.Pod) {
	var hidden []*usage.Pod
	for i := range pods {
		p := &pods[i]
		if s := m.shown[p.UID]; s != nil {
			s.waited = fading*s.waited + (1-fading)*p.Wait
			continue
		}
		hidden = append(hidden, p)
	}
	slices.SortStableFunc(hidden, func(a, b *usage.Pod) int { return cmp.Compare(b.Wait, a.Wait) })
	var least []string // of the pods shown, by least waiting
	if len(m.shown)+len(hidden) > m.options.MaxPods {
		least = m.byWaiting()
	}
	for _, p := range hidden {
		if len(m.shown) >= m.options.MaxPods {
			if len(least) == 0 || p.Wait <= margin*m.shown[least[0]].waited {
				return
			}
			m.drop(least[0])
			least = least[1:]
		}
		m.shown[p.UID] = &series{labels: labelsOf(p), waited: p.Wait}
	}
}

// byWaiting returns the UIDs of the pods that are shown, those first that wait least.
func (m *Metrics) byWaiting() []string {
	uids := make([]string, 0, len(m.shown))
	for uid := range m.shown {
		uids = append(uids, uid)
	}
	slices.SortFunc(uids, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.shown[a].waited, m.shown[b].waited), cmp.Compare(a, b))
	})
	return uids
}

// add adds times to the counters with some labels, but for blocked times, which are not always known.
func (c *perPod) add(labels prometheus.Labels, t *usage.Times) {
	c.run.With(labels).Add(t.Run)
	c.wait.With(labels).Add(t.Wait)
	c.throttled.With(labels).Add(t.Throttled)
}

// drop drops the counters with some labels.
func (c *perPod) drop(labels prometheus.Labels) {
	for _, v := range []*prometheus.CounterVec{c.run, c.wait, c.throttled, c.blocked} {
		v.Delete(labels)
	}
}
