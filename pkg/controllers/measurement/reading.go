package measurement

import (
	"fmt"
	"math"
	"slices"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/model/experiment"
	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/pkg/probe/result"
)

// reading holds the reports of a step's Jobs that ended well.
type reading struct {
	step  *step
	round int
	probe *result.Run // nil without one
	// watches are the reports of the observers of the target's runs, or of its copies.
	watches []result.Watch
	// alone is how long the target took alone in this round, and latest when it last ran
	// alone, in nanoseconds; 0 where it did not.
	alone, latest float64
}

// flaw is why the runs of a step, which ended well, give no sample.
type flaw struct {
	// reason is that of the condition if it goes on like this.
	reason  string
	message string
	// hopeless reports whether another attempt would end like this one.
	hopeless bool
}

// sample returns the sample of the step.
func (r *reading) sample() (experiment.Sample, *flaw) {
	sample := experiment.Sample{Round: r.round, Step: r.step.id()}
	if r.probe != nil {
		sample.SelfDilation = r.probe.SelfDilation
	}
	switch {
	case r.step.kind == alone:
		sample.TargetNanos, sample.TargetCPUNanos = meanRun(r.watches)
		return sample, nil
	case r.step.kind == copies:
		return r.ofCopies(sample)
	case len(r.watches) == 0:
		return r.ofProbe(sample)
	default:
		return r.ofPair(sample)
	}
}

// meanRun returns how long a run of a target took that ran several times, one after the
// other, and how long its threads ran, 0 if that is not known of all runs.
func meanRun(watches []result.Watch) (nanos, threadNanos float64) {
	total, threads, known := int64(0), int64(0), true
	for _, w := range watches {
		total += w.UndisturbedNanos()
		ran, ok := w.ThreadNanos()
		threads += ran
		known = known && ok
	}
	runs := int64(len(watches))
	if !known {
		threads = 0
	}
	return float64(total / runs), float64(threads / runs)
}

// ofCopies adds how long copies of the target took. Where they did not begin and end at
// the same moment, the time that a copy was without the others counts as time alone.
func (r *reading) ofCopies(sample experiment.Sample) (experiment.Sample, *flaw) {
	from, to := int64(0), int64(math.MaxInt64)
	mean, elapsed := 0.0, 0.0
	for _, w := range r.watches {
		if w.BootID != r.watches[0].BootID {
			return sample, otherBoot()
		}
		from, to = max(from, w.Begin), min(to, w.End)
		mean += float64(w.UndisturbedNanos()) / float64(len(r.watches))
		elapsed += float64(w.End-w.Begin) / float64(len(r.watches))
	}
	together := float64(to-from) * mean / elapsed
	done := r.latest - (mean - together) // the work that a copy did while all were present, in its own time
	if together < mean/2 || done <= 0 {
		return sample, &flaw{reason: v1alpha1.ReasonTargetFailed, message: fmt.Sprintf(
			"the copies ran together for %v only, of %v: they are too short to begin at once", seconds(together), seconds(mean))}
	}
	sample.TargetNanos = r.latest * together / done
	return sample, nil
}

// ofProbe adds how fast a probe was that ran by itself or beside the pods that follow the
// profile, and how much slower than alone if the report says so.
func (r *reading) ofProbe(sample experiment.Sample) (experiment.Sample, *flaw) {
	from, to := r.probe.Series.Span()
	rate, ok := r.probe.Series.Rate(from+int64(settle), to)
	if !ok || rate <= 0 {
		return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the probe ran too short a time to tell how fast it was"}
	}
	sample.ProbeUnitsPerSecond = rate
	if r.step.kind == baseline {
		sample.ProbeComputing = r.computing(rate)
	}
	if r.step.resource.needsBaseline() {
		return sample, nil
	}
	undisturbed, ok := r.probe.UndisturbedPace()
	if !ok {
		return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the probe does not tell its processor time"}
	}
	got, ok := r.probe.Pace(from+int64(settle), to)
	if !ok || got <= 0 {
		return sample, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the probe got no time of a processor"}
	}
	dilation := undisturbed / got
	if dilation < probing.MinDilation {
		return sample, disturbed("the probe", dilation)
	}
	sample.ProbeDilation = dilation
	return sample, nil
}

// ofPair adds how much a probe and the runs of the target slowed each other down.
func (r *reading) ofPair(sample experiment.Sample) (experiment.Sample, *flaw) {
	from, to := r.probe.Series.Span()
	for _, w := range r.watches {
		if r.probe.BootID != w.BootID {
			return sample, otherBoot()
		}
	}
	first, last := r.watches[0], r.watches[len(r.watches)-1]
	if first.Begin < from || first.Begin >= to {
		return sample, &flaw{reason: v1alpha1.ReasonInterrupted, message: "the probe did not run while the target did"}
	}
	var without []float64 // paces before and after the target
	for _, w := range [][2]int64{{from, first.Begin - int64(settle)}, {last.End + int64(settle), to}} {
		if pace, ok := r.probe.Pace(w[0], w[1]); ok && pace > 0 {
			without = append(without, pace)
		}
	}
	beside, ok := r.probe.PaceBeside(r.watches, to)
	switch {
	case !ok || beside <= 0:
		return sample, &flaw{reason: v1alpha1.ReasonTargetFailed, hopeless: true, message: fmt.Sprintf(
			"the target ended after %v, too soon to tell how much it slows a probe down; measure one that runs for some seconds", seconds(float64(first.End-first.Begin)))}
	case len(without) == 0:
		return sample, &flaw{reason: v1alpha1.ReasonInterrupted, message: "the probe did not run long enough without the target"}
	}
	mean := 0.0
	for _, pace := range without {
		mean += pace / float64(len(without))
	}
	dilation := mean / beside
	if dilation < probing.MinDilation {
		return sample, disturbed("the probe", dilation)
	}
	sample.ProbeDilation, sample.ProbeComputing = dilation, r.computing(mean)
	return r.besideProbe(sample, to)
}

// besideProbe adds how long a run of the target took beside the probe, by those that
// ended before the probe did, where it is known how long it takes alone.
func (r *reading) besideProbe(sample experiment.Sample, to int64) (experiment.Sample, *flaw) {
	whole := slices.DeleteFunc(slices.Clone(r.watches), func(w result.Watch) bool { return w.End > to })
	if r.alone == 0 || len(whole) == 0 {
		return sample, nil
	}
	took, ran := meanRun(whole)
	if ratio := took / r.alone; ratio < probing.MinDilation {
		return sample, disturbed("the target", ratio)
	}
	sample.TargetNanos, sample.TargetCPUNanos = took, ran
	return sample, nil
}

// computing returns the fraction of its time that each worker of the probe computes while
// they do a number of units per second, nil where that is no part of another resource.
func (r *reading) computing(unitsPerSecond float64) *float64 {
	fraction, ok := r.probe.Computing(unitsPerSecond)
	if !r.step.resource.waits() || !ok {
		return nil
	}
	return &fraction
}

// otherBoot says that the times of a step cannot be compared.
func otherBoot() *flaw {
	return &flaw{reason: v1alpha1.ReasonInterrupted, message: "the node was booted in between"}
}

// disturbed says that something else must have happened on the node.
func disturbed(who string, dilation float64) *flaw {
	return &flaw{reason: v1alpha1.ReasonInconsistent, message: fmt.Sprintf(
		"%s took %.2f times as long in company as alone; something else must have kept the node busy meanwhile", who, dilation)}
}

// seconds returns a duration for people.
func seconds(nanos float64) time.Duration { return time.Duration(nanos).Round(10 * time.Millisecond) }

// sample returns the sample of the current step.
func (p *completed) sample() (experiment.Sample, *flaw) {
	r, flaw := p.read()
	if flaw != nil {
		return experiment.Sample{}, flaw
	}
	return r.sample()
}

// read parses the reports of the current step.
func (p *completed) read() (*reading, *flaw) {
	m := p.profile.Status.Measuring
	round := int(*m.Round)
	r := &reading{step: p.current(), round: round, latest: expectedTime(m.Samples)}
	r.alone = experiment.Find(fromStatus(m.Samples), round, experiment.Alone).TargetNanos
	for _, job := range p.runs {
		messages := p.outcomes[job.job.Name].Messages
		if job.role == roleProbe {
			probe, err := result.ParseRun(messages[probejob.ProbeContainer])
			if err != nil {
				return nil, &flaw{reason: v1alpha1.ReasonProbeFailed, message: fmt.Sprintf("the result of the probe cannot be read: %v", err)}
			}
			r.probe = &probe
			continue
		}
		watch, err := result.ParseWatch(messages[probejob.WatchContainer])
		if err != nil {
			return nil, &flaw{reason: v1alpha1.ReasonProbeFailed, message: fmt.Sprintf("the result of the observer beside the target cannot be read: %v", err)}
		}
		if _, ok := watch.Elapsed(); !ok {
			return nil, &flaw{reason: v1alpha1.ReasonProbeFailed, message: "the observer did not see the target begin and end"}
		}
		r.watches = append(r.watches, watch)
	}
	return r, nil
}
