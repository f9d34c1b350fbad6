package measurement

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/model/contention/probing"
	"loadline.dev/loadline/pkg/probe/report"
)

// flaw is why the runs of a step, which ended well, tell nothing.
type flaw struct {
	// reason is that of the condition if it goes on like this.
	reason  string
	message string
	// hopeless tells that another attempt would end like this one.
	hopeless bool
}

// sample reads what a step has told.
func (in *input) sample(s *step, runs []run) (v1alpha1.MeasurementSample, *flaw) {
	m := in.profile.Status.Measuring
	sample := v1alpha1.MeasurementSample{Round: new(*m.Round), Step: s.name()}
	var probe *report.Run
	var watches []report.Watch
	for _, r := range runs {
		left := in.outcomes[r.job.Name].Messages
		if r.role == roleProbe {
			run, err := report.ParseRun(left[probejob.ProbeContainer])
			if err != nil {
				return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: fmt.Sprintf("the result of the probe cannot be read: %v", err)}
			}
			probe = &run
			continue
		}
		watch, err := report.ParseWatch(left[probejob.WatchContainer])
		if err != nil {
			return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: fmt.Sprintf("the result of the observer beside the target cannot be read: %v", err)}
		}
		if _, ok := watch.Elapsed(); !ok {
			return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the observer did not see the target begin and end"}
		}
		watches = append(watches, watch)
	}
	if probe != nil && probe.SelfDilation > 0 {
		sample.SelfDilation = quantity(probe.SelfDilation)
	}
	switch {
	case s.kind == alone:
		sample.TargetNanos, sample.TargetCPUNanos = ofOneRun(watches)
		return sample, nil
	case s.kind == copies:
		return in.sampleOfCopies(sample, watches)
	case len(watches) == 0:
		return sampleOfRate(sample, s, probe)
	default:
		return in.sampleOfPair(sample, s, probe, watches)
	}
}

// ofOneRun returns how long a target took that ran several times, one after the other,
// and how long its threads ran: per run, the latter nil if it is not known of all.
func ofOneRun(watches []report.Watch) (took, ran *int64) {
	times, processor := int64(0), int64(0)
	known := true
	for i := range watches {
		times += *given(&watches[i])
		one := computed(&watches[i])
		if known = known && one != nil; known {
			processor += *one
		}
	}
	runs := int64(len(watches))
	if !known {
		return new(times / runs), nil
	}
	return new(times / runs), new(processor / runs)
}

// sampleOfCopies tells how long copies of the target took. Where they did not begin
// and end at the same moment, the time that a copy was without the others counts as
// time alone.
func (in *input) sampleOfCopies(sample v1alpha1.MeasurementSample, watches []report.Watch) (v1alpha1.MeasurementSample, *flaw) {
	from, to := int64(0), int64(math.MaxInt64)
	mean, elapsed := 0.0, 0.0
	for i := range watches {
		w := &watches[i]
		if w.BootID != watches[0].BootID {
			return sample, otherBoot
		}
		from, to = max(from, w.Begin), min(to, w.End)
		mean += float64(*given(w)) / float64(len(watches))
		elapsed += float64(w.End-w.Begin) / float64(len(watches))
	}
	neutral, together := expectedTime(in.profile.Status.Measuring.Samples), float64(to-from)*mean/elapsed
	done := neutral - (mean - together) // what a copy did while all were there, in its own time
	if together < mean/2 || done <= 0 {
		return sample, &flaw{reason: v1alpha1.ReasonTargetFailed, message: fmt.Sprintf(
			"the copies ran together for %v only, of %v: they are too short to begin at once", seconds(together), seconds(mean))}
	}
	sample.TargetNanos = new(int64(neutral * together / done))
	return sample, nil
}

// given returns how long a target took that began and ended, in nanoseconds, without the
// time in which a hypervisor kept the processors from the node, and that in which it
// waited for the observer: the observer's while the target could have run. It is 1 at
// least.
func given(w *report.Watch) *int64 {
	return new(max(1, w.End-w.Begin-w.StolenNanos-int64(w.Ready()*float64(w.ObserverNanos))))
}

// unobserved returns what the pace of a probe beside the target would have been without
// the observer. A probe of the CPU lost to it what it ran while the target did not want to;
// while the target did, both of them waited, which is time that would not have been.
func unobserved(pace float64, probe *report.Run, w *report.Watch) float64 {
	all, ok := probe.UndisturbedPace()
	if !ok {
		return pace
	}
	observing, ready := float64(w.ObserverNanos)/float64(w.End-w.Begin), w.Ready()
	return (pace + all*observing*(1-ready)) / (1 - observing*ready)
}

// computed returns how long the threads of a target ran, in nanoseconds, nil if that is
// not known of all.
func computed(w *report.Watch) *int64 {
	if !w.Complete || w.CPUNanos == 0 {
		return nil
	}
	return new(w.CPUNanos)
}

// otherBoot says that the times of a step cannot be compared.
var otherBoot = &flaw{reason: v1alpha1.ReasonInterrupted, message: "the node was booted in between"}

// sampleOfRate tells how fast a probe was that ran by itself or beside the pods that
// follow the profile, and how much slower than alone if it knows.
func sampleOfRate(sample v1alpha1.MeasurementSample, s *step, probe *report.Run) (v1alpha1.MeasurementSample, *flaw) {
	from, to := probe.Series.Span()
	rate, ok := probe.Series.Rate(from+int64(settle), to)
	if !ok || rate <= 0 {
		return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the probe ran too short a time to tell how fast it was"}
	}
	sample.ProbeUnitsPerSecond = quantity(rate)
	if s.kind == baseline {
		sample.ProbeComputing = computing(s.resource, probe, rate)
	}
	if s.resource.needsBaseline() {
		return sample, nil
	}
	alone, ok := probe.UndisturbedPace()
	if !ok {
		return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the probe does not tell its processor time"}
	}
	got, ok := probe.Pace(from+int64(settle), to)
	if !ok || got <= 0 {
		return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the probe got no time of a processor"}
	}
	dilation := alone / got
	if dilation < probing.MinDilation {
		return sample, disturbed("the probe", dilation)
	}
	sample.ProbeDilation = quantity(dilation)
	return sample, nil
}

// sampleOfPair tells how much a probe and the runs of the target slowed each other down.
func (in *input) sampleOfPair(sample v1alpha1.MeasurementSample, s *step, probe *report.Run, watches []report.Watch) (v1alpha1.MeasurementSample, *flaw) {
	from, to := probe.Series.Span()
	for i := range watches {
		if probe.BootID != watches[i].BootID {
			return sample, otherBoot
		}
	}
	first, last := &watches[0], &watches[len(watches)-1]
	if first.Begin < from || first.Begin >= to {
		return sample, &flaw{reason: v1alpha1.ReasonInterrupted, message: "the probe did not run while the target did"}
	}
	var before []float64
	for _, w := range [][2]int64{{from, first.Begin - int64(settle)}, {last.End + int64(settle), to}} {
		if rate, ok := probe.Pace(w[0], w[1]); ok && rate > 0 {
			before = append(before, rate)
		}
	}
	between := besideRuns(probe, watches, to)
	switch {
	case between <= 0:
		return sample, &flaw{reason: v1alpha1.ReasonTargetFailed, hopeless: true, message: fmt.Sprintf(
			"the target ended after %v, too soon to tell how much it slows a probe down; measure one that runs for some seconds", seconds(float64(first.End-first.Begin)))}
	case len(before) == 0:
		return sample, &flaw{reason: v1alpha1.ReasonInterrupted, message: "the probe did not run long enough without the target"}
	}
	alone := 0.0
	for _, rate := range before {
		alone += rate / float64(len(before))
	}
	dilation := alone / between
	if dilation < probing.MinDilation {
		return sample, disturbed("the probe", dilation)
	}
	sample.ProbeDilation, sample.ProbeComputing = quantity(dilation), computing(s.resource, probe, alone)
	return in.besideProbe(sample, watches, to)
}

// besideRuns returns the pace of a probe that ended at some time while the target ran,
// without the observers, 0 where the runs are too short to tell.
func besideRuns(probe *report.Run, watches []report.Watch, to int64) float64 {
	done, time := 0.0, 0.0
	for i := range watches {
		w := &watches[i]
		end := min(w.End, to)
		if pace, ok := probe.PaceInside(w.Begin, end); ok && pace > 0 {
			done += unobserved(pace, probe, w) * float64(end-w.Begin)
			time += float64(end - w.Begin)
		}
	}
	if time == 0 {
		return 0
	}
	return done / time
}

// besideProbe adds how long a run of the target took beside the probe, by those that
// ended before the probe did, where it is known how long it takes alone.
func (in *input) besideProbe(sample v1alpha1.MeasurementSample, watches []report.Watch, to int64) (v1alpha1.MeasurementSample, *flaw) {
	m := in.profile.Status.Measuring
	neutral := sampleOf(m.Samples, *m.Round, "alone")
	whole := slices.DeleteFunc(slices.Clone(watches), func(w report.Watch) bool { return w.End > to })
	if neutral == nil || neutral.TargetNanos == nil || len(whole) == 0 {
		return sample, nil
	}
	took, ran := ofOneRun(whole)
	if ratio := float64(*took) / float64(*neutral.TargetNanos); ratio < probing.MinDilation {
		return sample, disturbed("the target", ratio)
	}
	sample.TargetNanos, sample.TargetCPUNanos = took, ran
	return sample, nil
}

// computing returns the fraction of its time that each worker of a probe computes while
// it does so many units per second, nil where that is no part of another resource.
func computing(r *probed, probe *report.Run, unitsPerSecond float64) *resource.Quantity {
	if !r.waits() || probe.Units == 0 {
		return nil
	}
	each := float64(probe.CPUNanos) / 1e9 / float64(probe.Units)
	return quantity(min(1, each*unitsPerSecond/float64(probe.Intensity)))
}

// disturbed says that something else must have happened on the node.
func disturbed(who string, dilation float64) *flaw {
	return &flaw{reason: v1alpha1.ReasonInconsistent, message: fmt.Sprintf(
		"%s took %.2f times as long in company as alone; something else must have kept the node busy meanwhile", who, dilation)}
}

// sampleOf returns the sample of a step of a round, nil if there is none.
func sampleOf(samples []v1alpha1.MeasurementSample, round int32, step string) *v1alpha1.MeasurementSample {
	for i := range samples {
		if s := &samples[i]; *s.Round == round && s.Step == step {
			return s
		}
	}
	return nil
}

// quantity returns a number with six significant digits.
func quantity(x float64) *resource.Quantity {
	digits := 6
	if x != 0 {
		digits = max(0, 5-int(math.Floor(math.Log10(math.Abs(x)))))
	}
	q := resource.MustParse(fmt.Sprintf("%.*f", min(digits, 9), x))
	return &q
}

// seconds returns a duration for people.
func seconds(nanos float64) time.Duration { return time.Duration(nanos).Round(10 * time.Millisecond) }
