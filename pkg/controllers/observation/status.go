package observation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/profile"
)

const (
	// updateEvery is the shortest time between two writes to a profile. Rounds that come a little early count.
	updateEvery = time.Minute - 5*time.Second
	// writesPerSecond is how many statuses are written a second, since the last ones were, for a minute at most: in a cluster of many profiles
	// the others have their turn later.
	writesPerSecond = 20
	// renewAfter is the age from which on numbers are written though they hardly differ.
	renewAfter = time.Hour
	// forgetAfter is the age from which on an observation says nothing about now.
	forgetAfter = time.Hour
	// dropAfter is the age from which on it is no longer shown.
	dropAfter = observations.KeepUnseen
	// maxClasses is how many classes of nodes a status shows.
	maxClasses = 100
	// noticeable is the least change of a loading, a spread or an error that is written, and noticeablePart that of a number of
	// threads, as a fraction of it.
	noticeable, noticeablePart = 0.02, 0.1
)

// update writes the observations to the profiles that they change.
func (c *Controller) update(ctx context.Context) error {
	now := c.Clock.Now()
	if now.Sub(c.updated) < updateEvery {
		return nil
	}
	c.updated = now
	var profiles v1alpha1.WorkloadProfileList
	if err := c.Client.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing profiles: %w", err)
	}
	upkeep := c.keepUp(ctx, profiles.Items, now) // first: a status that is written makes a profile another one
	seen := map[client.ObjectKey][]class{}
	summaries := c.history.Summaries(now)
	for key, s := range summaries {
		seen[key.Profile] = append(seen[key.Profile], class{key.Class, s})
	}
	accuracies := c.history.Accuracies(now)
	var works map[types.NamespacedName][]analysis
	if c.Work != nil {
		c.Work.choose(profiles.Items)
		works = c.Work.analyze(now)
	}
	c.forgetWork(profiles.Items)
	snapshot := c.index.Snapshot()
	resources, atDisks := snapshot.Resources(), snapshot.KnownDisks()
	var changes []change
	for i := range profiles.Items {
		p := &profiles.Items[i]
		name := client.ObjectKeyFromObject(p)
		w, errs := profile.NewWorkload(p, resources)
		if len(errs) > 0 {
			continue // the scheduler does not use it
		}
		accuracy, predicted := accuracies[name]
		after := *p
		p.Status.DeepCopyInto(&after.Status)
		verdicts := c.judge(p, w, seen[name], atDisks)
		show(&after.Status, verdicts, metav1.NewTime(now))
		if p.Spec.Observation != nil {
			c.showRecommended(&after.Status, p, verdicts, atDisks, now)
		}
		if p.Spec.Observation != nil && p.Spec.Measurement == nil { // it follows the observations
			meta.RemoveStatusCondition(&after.Status.Conditions, v1alpha1.ConditionDrifted)
		} else {
			showDrift(&after.Status, p.Generation, verdicts, metav1.NewTime(now))
		}
		if predicted {
			after.Status.Accuracy = accuracyOf(&accuracy)
		}
		verdict := c.showWork(p, &after.Status, works[name], now) || driftDiffers(&p.Status, &after.Status)
		if verdict || differs(&p.Status, &after.Status) {
			changes = append(changes, change{p, &after, verdict})
		}
	}
	c.forget(summaries, now)
	again, err := statuses.All(ctx, c.Writers, c.Client, c.Recorder, c.mostUrgent(changes, c.mayWrite(now)))
	if err != nil || again.RequeueAfter > 0 { // another writer was faster
		c.updated = time.Time{} // so the next round tries again
	}
	return errors.Join(upkeep, err)
}

// mayWrite returns how many statuses may be written now, and takes note that they are.
func (c *Controller) mayWrite(now time.Time) int {
	since := max(0, min(time.Minute, now.Sub(c.wrote)))
	c.wrote = now
	return int(writesPerSecond * since.Seconds())
}

// change is a profile with another status.
type change struct {
	before, after *v1alpha1.WorkloadProfile
	// verdict says that a condition, or what is said of work, is another one.
	verdict bool
}

// written returns by when what the change replaces was observed, zero where more than numbers change.
func (c *change) written() (last time.Time) {
	if c.verdict {
		return time.Time{}
	}
	for _, o := range c.before.Status.Observations {
		if o.Time != nil && o.Time.After(last) {
			last = o.Time.Time
		}
	}
	return last
}

// mostUrgent returns as many of some changes as may be made: first those of which more than numbers change, and of profiles that show no
// observations yet, then those of what was written the longest ago. The others are decided on again.
func (c *Controller) mostUrgent(changes []change, most int) []statuses.Change {
	if len(changes) > most {
		slices.SortStableFunc(changes, func(a, b change) int { return a.written().Compare(b.written()) })
		c.log.V(1).Info("More statuses are to be written than may be at a time", "statuses", len(changes), "written", most)
		for _, later := range changes[most:] {
			for _, o := range later.after.Status.Observations {
				delete(c.recommended, observations.Key{Profile: client.ObjectKeyFromObject(later.after), Class: o.NodeProfile})
			}
		}
		changes = changes[:most]
	}
	some := make([]statuses.Change, len(changes))
	for i := range changes {
		some[i] = statuses.Change{Before: changes[i].before, After: changes[i].after}
	}
	return some
}

// showRecommended updates the recommendations of a status, given the classes of nodes with disks that are known.
func (c *Controller) showRecommended(
	status *v1alpha1.WorkloadProfileStatus, p *v1alpha1.WorkloadProfile, verdicts []observations.Verdict, disks sets.Set[string], now time.Time,
) {
	for i := range status.Observations {
		o := &status.Observations[i]
		o.Recommended = recommendedIn(p, o.NodeProfile)
		k := slices.IndexFunc(verdicts, func(v observations.Verdict) bool { return v.Class == o.NodeProfile })
		if k >= 0 && verdicts[k].CPU.Enough() {
			o.Recommended = c.recommend(p, &verdicts[k], disks.Has(o.NodeProfile), now)
		}
	}
}

// class holds the observations on the nodes of a class.
type class struct {
	name    string
	summary observations.Summary
}

// judge returns the verdicts on the observations of a profile, in the order of the classes' names, given those with disks that are known. A
// manager that has just begun goes on from the condition.
func (c *Controller) judge(p *v1alpha1.WorkloadProfile, w *profile.Workload, seen []class, disks sets.Set[string]) []observations.Verdict {
	slices.SortFunc(seen, func(a, b class) int { return cmp.Compare(a.name, b.name) })
	var verdicts []observations.Verdict
	for _, s := range seen {
		key := observations.Key{Profile: nameOf(w), Class: s.name}
		before, known := c.drifted[key]
		if !known && meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionDrifted) {
			before = []string{string(corev1.ResourceCPU), observed.Disk}
		}
		use := w.On(s.name)
		if use != nil && use.Observed != nil {
			use = nil // it is the observed vector
		}
		v := observations.Judge(observations.Class{Name: s.name, Disk: disks.Has(s.name)}, use, s.summary, before)
		if len(v.Compared) > 0 {
			c.drifted[key] = v.Drifted()
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// forget drops the verdicts on profiles that are no longer observed, and the nodes that are not.
func (c *Controller) forget(seen map[observations.Key]observations.Summary, now time.Time) {
	names := sets.New[types.NamespacedName]()
	for key := range seen {
		names.Insert(key.Profile)
	}
	gone := func(key observations.Key) bool {
		_, is := seen[key]
		return !is
	}
	maps.DeleteFunc(c.drifted, func(key observations.Key, _ []string) bool { return gone(key) })
	maps.DeleteFunc(c.recommended, func(key observations.Key, _ time.Time) bool { return gone(key) })
	c.mutex.Lock()
	defer c.mutex.Unlock()
	maps.DeleteFunc(c.priors, func(name types.NamespacedName, _ observations.Recommended) bool { return !names.Has(name) })
	for node, last := range c.predicted {
		if now.Sub(last) > 2*predictEvery {
			delete(c.predicted, node)
		}
	}
}

// show updates a status from the observations that are long enough to say anything.
func show(status *v1alpha1.WorkloadProfileStatus, verdicts []observations.Verdict, now metav1.Time) {
	for i := range verdicts {
		v := &verdicts[i]
		if !v.CPU.Enough() {
			continue
		}
		var before *resource.Quantity
		status.Observations = slices.DeleteFunc(status.Observations, func(o v1alpha1.WorkloadObservation) bool {
			if o.NodeProfile != v.Class {
				return false
			}
			before = o.BurstMillis
			return true
		})
		next := observationOf(v)
		next.BurstMillis = burstMillis(before, v.Burst)
		status.Observations = append(status.Observations, next)
	}
	status.Observations = slices.DeleteFunc(status.Observations, func(o v1alpha1.WorkloadObservation) bool { return age(o.Time, now) > dropAfter })
	slices.SortFunc(status.Observations, func(a, b v1alpha1.WorkloadObservation) int { return b.Time.Compare(a.Time.Time) })
	status.Observations = status.Observations[:min(len(status.Observations), maxClasses)]
	slices.SortFunc(status.Observations, func(a, b v1alpha1.WorkloadObservation) int { return cmp.Compare(a.NodeProfile, b.NodeProfile) })
}

// showDrift updates the condition Drifted. Without enough observations the condition is unchanged while it is about this
// generation, and its observations are recent.
func showDrift(status *v1alpha1.WorkloadProfileStatus, generation int64, verdicts []observations.Verdict, now metav1.Time) {
	drifted := observations.Drifted(verdicts)
	if drifted.Status == metav1.ConditionUnknown {
		old := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionDrifted)
		recent := slices.ContainsFunc(status.Observations, func(o v1alpha1.WorkloadObservation) bool { return age(o.Time, now) <= forgetAfter })
		if old == nil && len(status.Observations) == 0 || old != nil && old.ObservedGeneration == generation && recent {
			return
		}
	}
	condition.Set(&status.Conditions, generation, now, drifted)
}

func age(t *metav1.Time, now metav1.Time) time.Duration {
	if t == nil {
		return math.MaxInt64
	}
	return now.Sub(t.Time)
}

// observationOf returns a verdict's summary as a status shows it.
func observationOf(v *observations.Verdict) v1alpha1.WorkloadObservation {
	o := v1alpha1.WorkloadObservation{
		NodeProfile: v.Class, CPULoading: rounded(v.CPU.Mean), CPULoadingSpread: rounded(v.CPU.Spread), Threads: rounded(v.Threads),
		Pods: new(int32(v.Pods)), ObservedSeconds: new(int64(math.Round(v.Seconds))), Time: new(metav1.NewTime(v.Last)),
	}
	if v.Disk.Enough() {
		o.DiskLoading, o.DiskLoadingSpread = rounded(v.Disk.Mean), rounded(v.Disk.Spread)
	}
	return o
}

// burstMillis returns the burst to show after another one, given the observed one in seconds, 0 for none; nil for none.
func burstMillis(before *resource.Quantity, observed float64) *resource.Quantity {
	const perSecond = 1000
	was := 0.0
	if before != nil {
		was = before.AsApproximateFloat64()
	}
	if millis := rounded(observations.Burst(was, perSecond*observed)); !millis.IsZero() {
		return millis
	}
	return nil
}

func accuracyOf(a *observations.Accuracy) *v1alpha1.PredictionAccuracy {
	return &v1alpha1.PredictionAccuracy{
		MeanRelativeError: rounded(a.MeanError), Predictions: new(int32(min(a.Predictions, math.MaxInt32))), Time: new(metav1.NewTime(a.Last)),
	}
}

// rounded returns a number with three decimals. It is bounded, since gauges may lie.
func rounded(f float64) *resource.Quantity {
	const limit = 1e6
	return profile.Fraction(math.Round(1000*min(f, limit)) / 1000)
}

// driftDiffers reports whether the verdict on drift is another one.
func driftDiffers(before, after *v1alpha1.WorkloadProfileStatus) bool {
	was, is := meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionDrifted), meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionDrifted)
	return (was == nil) != (is == nil) || is != nil && (was.Status != is.Status || was.Reason != is.Reason || was.ObservedGeneration != is.ObservedGeneration)
}

// differs reports whether the numbers of a status are worth writing: whether they differ noticeably, or those that were written are old.
func differs(before, after *v1alpha1.WorkloadProfileStatus) bool {
	if !slices.EqualFunc(before.Observations, after.Observations, alike) {
		return true
	}
	old, next := before.Accuracy, after.Accuracy
	return next != nil && (old == nil || !near(old.MeanRelativeError, next.MeanRelativeError, noticeable) || old.Time == nil || age(old.Time, *next.Time) > renewAfter)
}

// alike reports whether two observations of a class say about the same.
func alike(a, b v1alpha1.WorkloadObservation) bool {
	return a.NodeProfile == b.NodeProfile && ptr.Equal(a.Pods, b.Pods) &&
		equality.Semantic.DeepEqual(a.Recommended, b.Recommended) && equality.Semantic.DeepEqual(a.BurstMillis, b.BurstMillis) &&
		near(a.CPULoading, b.CPULoading, noticeable) && near(a.CPULoadingSpread, b.CPULoadingSpread, noticeable) &&
		bothNear(a.DiskLoading, b.DiskLoading, noticeable) && bothNear(a.DiskLoadingSpread, b.DiskLoadingSpread, noticeable) &&
		a.Threads != nil && near(a.Threads, b.Threads, noticeablePart*a.Threads.AsApproximateFloat64()) &&
		a.Time != nil && b.Time != nil && b.Time.Sub(a.Time.Time) <= renewAfter
}

func near(a, b *resource.Quantity, within float64) bool {
	return a != nil && b != nil && math.Abs(a.AsApproximateFloat64()-b.AsApproximateFloat64()) <= within
}

// bothNear reports whether two numbers are near, or both are absent.
func bothNear(a, b *resource.Quantity, within float64) bool {
	return a == nil && b == nil || near(a, b, within)
}
