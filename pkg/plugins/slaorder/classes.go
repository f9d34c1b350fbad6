package slaorder

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/model/sizing"
	"loadline.dev/loadline/pkg/profile"
)

// class is the pods that follow one WorkloadProfile with a promised response time.
type class struct {
	types.NamespacedName
	sla     sizing.SLA
	neutral float64 // seconds, 0 if unknown
	shown   bool    // as a metric

	bits  atomic.Uint64 // of the urgency, a float64
	ended window        // guarded by classes.mu
}

// urgency returns what classes are ordered by, the largest first: G(SLA) or P. Pods
// without a class, nil, come last.
func (c *class) urgency() float64 {
	if c == nil {
		return math.Inf(-1)
	}
	return math.Float64frombits(c.bits.Load())
}

func (c *class) setUrgency(u float64) { c.bits.Store(math.Float64bits(u)) }

// demand returns G(SLA): infinite if no number of servers meets the SLA, 0 if the
// neutral time is not known.
func (c *class) demand() float64 {
	if c.neutral == 0 {
		return 0
	}
	g, err := sizing.Class{Service: 1 / c.neutral, SLA: c.sla}.MeanServers()
	if _, infeasible := errors.AsType[*sizing.InfeasibleError](err); infeasible {
		return math.Inf(1)
	}
	if err != nil {
		return 0 // of an SLA that no service time fits, since profiles are valid
	}
	return g
}

// classes are those of all profiles.
type classes struct {
	discipline config.Discipline
	width      time.Duration // of the parts of windows
	index      *profile.Index
	clock      clock.PassiveClock

	current atomic.Pointer[known]

	mu     sync.Mutex
	byName map[types.NamespacedName]*class
}

// known is the classes of one state of the profiles. It is immutable.
type known struct {
	snapshot *profile.Snapshot
	of       map[*profile.Workload]*class
}

func newClasses(d config.Discipline, window time.Duration, index *profile.Index, clk clock.PassiveClock) *classes {
	c := &classes{discipline: d, width: window / windowParts, index: index, clock: clk, byName: map[types.NamespacedName]*class{}}
	c.current.Store(&known{snapshot: &profile.Snapshot{}, of: map[*profile.Workload]*class{}}) // of no profile yet
	return c
}

// of returns the class of a pod, nil if it has none.
func (c *classes) of(pod *corev1.Pod) *class {
	k := c.current.Load()
	if w := k.snapshot.Workload(pod); w != nil {
		return k.of[w]
	}
	return nil
}

// refresh takes in the profiles, and returns the namespaces in which any has changed since the last time. It takes time in the
// number of their profiles, and little in that of all classes, unless classes change that metrics show.
func (c *classes) refresh() (changed sets.Set[string]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, snapshot := c.current.Load(), c.index.Snapshot()
	changed = sets.New(snapshot.Changed(last.snapshot)...)
	if len(changed) == 0 {
		return nil
	}
	next := &known{snapshot: snapshot, of: maps.Clone(last.of)}
	others := false // whether there are other classes now
	for namespace := range changed {
		others = c.replace(namespace, last, next) || others
	}
	c.current.Store(next)
	if others {
		c.show()
	}
	return changed
}

// replace has the classes of a namespace follow its profiles, and reports whether any is another one now.
func (c *classes) replace(namespace string, last, next *known) (others bool) {
	old := map[types.NamespacedName]*class{}
	for w := range last.snapshot.WorkloadsIn(namespace) {
		if one := last.of[w]; one != nil {
			old[one.NamespacedName] = one
			delete(c.byName, one.NamespacedName)
			delete(next.of, w)
		}
	}
	n := 0
	for w := range next.snapshot.WorkloadsIn(namespace) {
		if w.SLA != nil {
			one := c.next(w, old)
			next.of[w], c.byName[one.NamespacedName] = one, one
			others = others || one != old[one.NamespacedName]
			n++
		}
	}
	return others || n != len(old)
}

// next returns the class of a profile: the one that it had if what it promises is the
// same, else one that has counted the same pods if the time that it promises is.
func (c *classes) next(w *profile.Workload, old map[types.NamespacedName]*class) *class {
	name := types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
	had := old[name]
	if had != nil && had.sla == *w.SLA && had.neutral == w.NeutralSeconds {
		return had
	}
	one := &class{NamespacedName: name, sla: *w.SLA, neutral: w.NeutralSeconds}
	if had != nil && had.sla.Within == one.sla.Within {
		one.ended = had.ended
	}
	if c.discipline == config.HOL {
		one.setUrgency(one.demand())
	}
	return one
}

// done counts a pod that took a time from its creation to its end, at a moment.
func (c *classes) done(pod *corev1.Pod, took time.Duration, at time.Time) {
	of := c.of(pod)
	if of == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if of = c.byName[of.NamespacedName]; of == nil {
		return // the profile is gone
	}
	now := partOf(c.clock.Now(), c.width)
	of.ended.count(min(partOf(at, c.width), now), now, took.Seconds() <= of.sla.Within)
	c.judge(of, now)
}

// advance moves the windows of all classes up to now.
func (c *classes) advance() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := partOf(c.clock.Now(), c.width)
	for _, one := range c.byName {
		if one.ended.parts != nil {
			c.judge(one, now)
		}
	}
}

// judge compares what a class attained with what it promises.
func (c *classes) judge(one *class, now int64) {
	met, total := one.ended.sum(now)
	if c.discipline == config.PDP {
		p := 0.0
		if total > 0 {
			p = one.sla.Probability - float64(met)/float64(total)
		}
		one.setUrgency(p)
	}
	if one.shown {
		reportAttained(one, met, total)
	}
}

// show chooses the classes that metrics are about.
func (c *classes) show() {
	all := make([]*class, 0, len(c.byName))
	for _, one := range c.byName {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *class) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	forgetClasses()
	now := partOf(c.clock.Now(), c.width)
	for i, one := range all {
		if one.shown = i < maxShown; one.shown {
			reportTarget(one)
		}
		c.judge(one, now)
	}
}

// named returns counts of pods by the name that metrics show their class under. Pods
// without such a class are always there, also if there are none.
func (c *classes) named(counts map[*class]waits) map[types.NamespacedName]waits {
	c.mu.Lock()
	defer c.mu.Unlock()
	byName := map[types.NamespacedName]waits{others: {}}
	for of, n := range counts {
		name := others
		if of != nil && of.shown {
			name = of.NamespacedName
		}
		sum := byName[name]
		sum.add(n)
		byName[name] = sum
	}
	return byName
}
