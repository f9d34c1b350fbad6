package tracereplay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/evaluate/replays"
)

const (
	// maxRounds is how many times a run is begun whose result gets lost.
	maxRounds = 3
	// recheckAfter is the time until state that is not watched is read again.
	recheckAfter = slots.Every
)

// input holds the inputs of a plan.
type input struct {
	replay    *v1alpha1.TraceReplay
	workloads []v1alpha1.WorkloadProfile // of the namespace
	nodes     []v1alpha1.NodeProfile
	// namespaceGoes reports whether the namespace is being deleted. What else there is was not read then.
	namespaceGoes bool
	// obstacle names a missing or blocking object, "" for none.
	obstacle string
	// What was made so far.
	question *corev1.ConfigMap // nil before the first round
	results  []*corev1.ConfigMap
	report   *corev1.ConfigMap // nil before the end
	jobs     []batchv1.Job     // one per round, the oldest first
	pods     []corev1.Pod      // of the Jobs
	worker   *Worker
	version  string // of the manager
	now      metav1.Time
}

// plan holds the actions, in this order.
type plan struct {
	writes []write
	start  *batchv1.Job // to create
	status v1alpha1.TraceReplayStatus
	remove []client.Object
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
	// seconds is how long each of the runs took that this plan is the first to
	// count.
	seconds []float64
}

// ended reports whether a replay has come to its end, good or bad.
func ended(replay *v1alpha1.TraceReplay) bool { return replay.Status.CompletionTime != nil }

// decide plans the next step of a replay. It is pure: the same input gives the same plan. Errors of
// the replay go to its status, and so do objects that the controller cannot have made: trying again
// would not help.
func decide(in *input) (*plan, error) {
	p := &plan{}
	in.replay.Status.DeepCopyInto(&p.status)
	if ended(in.replay) || in.namespaceGoes {
		// Kubernetes deletes the pods of a namespace before all else. A Job with a limit of failures per index lets go of a pod that
		// failed only once another one is in its place, which the namespace does not take any more, or once the Job is deleted.
		p.remove = in.made()
		return p, nil
	}
	p.status.ObservedGeneration = new(in.replay.Generation)

	asked := ask(in.replay, in.workloads, in.nodes)
	if in.question != nil {
		var err error
		if asked, err = readQuestion(in.question, in.replay); err != nil {
			p.pend(in, tampered("ConfigMap", in.question.Name, err))
			return p, nil
		}
	}
	replayer, err := asked.replayer()
	if err != nil {
		p.refuse(in, err)
		return p, nil
	}
	written, err := asked.configMap(in.replay)
	if err != nil {
		p.refuse(in, err)
		return p, nil
	}
	if in.obstacle != "" {
		p.pend(in, in.obstacle)
		return p, nil
	}
	if in.question == nil {
		p.writes = append(p.writes, write{after: written})
	}
	return p, p.advance(in, replayer)
}

// advance decides on a replay that can go on: whether to wait for runs, to begin
// some, or to come to an end.
func (p *plan) advance(in *input, replayer *replays.Replay) error {
	t, bad, err := count(in.results, in.jobs, in.pods, len(replayer.Runs()))
	if err != nil {
		p.writes = nil
		p.pend(in, tampered("Job", bad, err))
		return nil
	}
	for _, run := range slices.Sorted(maps.Keys(t.seconds)) {
		p.seconds = append(p.seconds, t.seconds[run])
	}
	runs := replayer.Runs()
	missing := t.missing(seedMajor(runs))
	if len(missing) == 0 {
		return p.end(in, replayer, t)
	}
	if in.goingOn() {
		if hopeless(runs, t) {
			t.giveUp(missing, failure{message: "not tried, for no policy can do with this input"})
			return p.end(in, replayer, t)
		}
		return p.goOn(in, replayer, t)
	}
	left := in.left()
	if left < time.Second || in.overdue() {
		t.giveUp(missing, failure{message: fmt.Sprintf("it had not ended after %v, the --replay-timeout of loadline-manager", in.worker.Timeout)})
		return p.end(in, replayer, t)
	}
	if len(in.jobs) >= maxRounds {
		t.giveUp(missing, failure{message: fmt.Sprintf("its result was lost %d times", maxRounds)})
		return p.end(in, replayer, t)
	}
	p.start = in.worker.job(in.replay, in.freeRound(), missing, left)
	if p.status.StartTime == nil {
		p.status.StartTime = new(in.now)
	}
	return p.goOn(in, replayer, t)
}

// seedMajor returns the numbers of the runs, the first seed of every policy
// first: early results are of all policies.
func seedMajor(runs []replays.Run) []int {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(runs[a].Seed, runs[b].Seed) })
	return order
}

// hopeless reports whether the input is bad for every policy, so that further
// seeds would only fail like the ones before them.
func hopeless(runs []replays.Run, t *tally) bool {
	if len(t.results) > 0 {
		return false
	}
	bad := map[string]bool{}
	for i, run := range runs {
		bad[run.Policy] = bad[run.Policy] || t.failures[i].badInput
	}
	for _, is := range bad {
		if !is {
			return false
		}
	}
	return true
}

// goingOn reports whether the latest Job has not finished.
func (in *input) goingOn() bool {
	return len(in.jobs) > 0 && !jobstatus.Finished(&in.jobs[len(in.jobs)-1])
}

// left returns how much of its time a replay has left.
func (in *input) left() time.Duration {
	if in.replay.Status.StartTime == nil {
		return in.worker.Timeout
	}
	return in.worker.Timeout - in.now.Sub(in.replay.Status.StartTime.Time)
}

// overdue reports whether the latest Job was ended because it took too long.
func (in *input) overdue() bool {
	return len(in.jobs) > 0 && slices.ContainsFunc(in.jobs[len(in.jobs)-1].Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue && c.Reason == batchv1.JobReasonDeadlineExceeded
	})
}

// freeRound returns the least number of a round that has no Job.
func (in *input) freeRound() int {
	for round := 1; ; round++ {
		name := jobName(in.replay.Name, round)
		if !slices.ContainsFunc(in.jobs, func(j batchv1.Job) bool { return j.Name == name }) {
			return round
		}
	}
}

// made lists the objects that the controller has made, except the report. The Jobs are last: while
// one is left, something may be left.
func (in *input) made() []client.Object {
	var objects []client.Object
	if in.question != nil {
		objects = append(objects, in.question)
	}
	for _, c := range in.results {
		objects = append(objects, c)
	}
	for i := range in.jobs {
		objects = append(objects, &in.jobs[i])
	}
	return objects
}

// pend reports the reason for which a replay waits.
func (p *plan) pend(in *input, why string) {
	p.setComplete(in, metav1.ConditionFalse, v1alpha1.ReasonPending, why)
	p.again = recheckAfter
}

// deny replaces the plan for a replay by one that waits, as the manager lacks a right.
func (p *plan) deny(in *input, why string) {
	*p = plan{}
	in.replay.Status.DeepCopyInto(&p.status)
	p.status.ObservedGeneration = new(in.replay.Generation)
	p.pend(in, why)
}

// refuse reports the errors of a replay and cleans up. The replay begins when a change of the
// profiles corrects them.
func (p *plan) refuse(in *input, why error) {
	p.setComplete(in, metav1.ConditionFalse, v1alpha1.ReasonInvalid, why.Error())
	p.remove = in.made()
}

// goOn reports progress, and keeps the results that there are.
func (p *plan) goOn(in *input, replayer *replays.Replay, t *tally) error {
	p.writes = append(p.writes, storeResults(in.replay, in.results, t.further)...)
	p.summarize(replayer, t)
	p.status.Best = "" // the best policy so far says little
	p.setComplete(in, metav1.ConditionFalse, v1alpha1.ReasonRunning, progress(t, len(replayer.Runs())))
	return nil
}

// end reports the results, and cleans up.
func (p *plan) end(in *input, replayer *replays.Replay, t *tally) error {
	answer := p.summarize(replayer, t)
	status, reason, message := verdict(replayer.Runs(), t, p.status.Best)
	p.writes = nil // the report holds all
	if answer != nil {
		r, err := reportOn(in, answer)
		if err != nil {
			return err
		}
		p.writes = append(p.writes, write{before: in.report, after: r.stored})
		p.status.Report = &v1alpha1.ConfigMapKey{Name: r.stored.Name, Key: r.results}
		message += r.lacks
	}
	p.setComplete(in, status, reason, message)
	p.status.CompletionTime = new(in.now)
	p.remove = in.made()
	return nil
}

// summarize brings the numbers of the status up to date. The answer is nil
// while no run has ended well.
func (p *plan) summarize(replayer *replays.Replay, t *tally) *replays.Answer {
	p.status.Runs = &v1alpha1.ReplayRuns{
		Total:     new(int32(len(replayer.Runs()))),
		Succeeded: new(int32(len(t.results))),
		Active:    new(t.active),
		Failed:    new(int32(len(t.failures))),
	}
	if len(t.results) == 0 {
		return nil
	}
	answer := replayer.Merge(t.results)
	replayer.Status(&p.status, answer)
	return answer
}

// setComplete sets the condition Complete.
func (p *plan) setComplete(in *input, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionComplete, Status: status, Reason: reason, Message: condition.Message(message),
		ObservedGeneration: in.replay.Generation, LastTransitionTime: in.now,
	})
}
