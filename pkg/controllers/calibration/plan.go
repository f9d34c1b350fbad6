package calibration

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

const (
	// maxAttempts is how often a calibration is begun whose runs are lost.
	maxAttempts = 3
	// attemptsApart is how long after the first attempt the second begins at the
	// soonest; the third waits three times as long.
	attemptsApart = 15 * time.Second
	// pause is how long a resource is left alone whose calibration failed.
	pause = 10 * time.Minute
	// watchEvery is how often the controller looks at the node of a calibration
	// that goes on, waitEvery how often it looks for one to begin on.
	watchEvery = 10 * time.Second
	waitEvery  = 30 * time.Second
)

// plan is what to do, in this order. Nothing changes it once it is made.
type plan struct {
	status v1alpha1.NodeProfileStatus
	start  *batchv1.Job
	remove []batchv1.Job
	// hold is true while the node is taken.
	hold bool
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
	// ended is set when a calibration came to an end.
	ended *ending
}

// ending is how a calibration ended.
type ending struct {
	resource string
	outcome  string // one of the values of the metrics' label
	seconds  float64
	failure  *failure // nil when there is a result
}

// decide plans the next step for a profile. It is pure: the same input gives the
// same plan.
func decide(in *input) plan {
	going := in.profile.Status.Calibrating
	if q, _ := in.current(); q == nil {
		going = nil
	}
	q, attempt := in.next()
	switch {
	case q == nil:
		return plan{status: in.status(nil, obstacle{}), remove: in.others(), hold: in.occupied(), again: in.wake()}
	case in.job() != nil:
		return in.follow(q, attempt)
	case !in.canBegin():
		waits := obstacle{v1alpha1.ReasonCalibrating, q.resource + " is to be calibrated, and waits until what ran before is gone"}
		return plan{
			status: in.status(going, waits), remove: in.others(), hold: in.occupied(),
			again: max(min(in.soonest().Sub(in.now.Time), watchEvery), time.Second),
		}
	case in.site == "":
		return plan{status: in.status(going, in.noSite), remove: in.others(), again: waitEvery}
	default:
		return in.begin(q, attempt)
	}
}

// begin starts a run.
func (in *input) begin(q *question, attempt int32) plan {
	progress := &v1alpha1.CalibrationProgress{
		Resource: q.resource, Node: in.site, StartTime: new(in.now), Attempts: new(attempt),
	}
	if last := in.profile.Status.Calibrating; last != nil && last.Resource == q.resource && last.StartTime != nil {
		progress.StartTime = last.StartTime
	}
	job := probejob.New(probejob.Placement{
		Owner: in.profile, OwnerKind: v1alpha1.GroupVersion.WithKind("NodeProfile"),
		Namespace: in.settings.Namespace, Name: q.jobName(in.profile, attempt), Node: in.site, Step: q.step(attempt),
		Deadline: q.budget + overhead,
	}, in.settings.Calibrate(q.job, q.peer, q.maxServers, q.budget))
	return plan{
		status: in.status(progress, obstacle{v1alpha1.ReasonCalibrating, goesOn(q.resource, in.site, attempt)}), start: job, remove: in.others(),
		hold: true, again: watchEvery,
	}
}

// follow decides on a run that goes on.
func (in *input) follow(q *question, attempt int32) plan {
	going := in.profile.Status.Calibrating
	outcome, node := in.outcome, going.Node
	if alive, why := probejob.Alive(in.node); !alive && outcome.State != probejob.Succeeded && outcome.State != probejob.Failed {
		outcome = probejob.Outcome{State: probejob.Lost, Message: fmt.Sprintf("node %s was lost: %s", node, why)}
	}
	switch {
	case outcome.State == probejob.Succeeded:
		result, err := read(outcome.Messages[probejob.ProbeContainer], q)
		if err != nil {
			return in.fail(q, v1alpha1.ReasonProbeFailed, fmt.Sprintf("the result of the standard job %s on node %s cannot be read: %v", q.job, node, err))
		}
		return in.succeed(q, result)
	case outcome.Retry(attempt-1) && attempt >= maxAttempts:
		return in.fail(q, v1alpha1.ReasonInterrupted, fmt.Sprintf("its run was lost %d times, at last because %s", maxAttempts, outcome.Message))
	case outcome.Retry(attempt - 1):
		next := going.DeepCopy()
		next.Attempts = new(attempt + 1)
		waits := obstacle{v1alpha1.ReasonCalibrating, fmt.Sprintf("%s is calibrated again: %s", q.resource, outcome.Message)}
		return plan{status: in.status(next, waits), remove: in.jobs, hold: true, again: time.Second}
	case outcome.Bad():
		return in.fail(q, v1alpha1.ReasonProbeFailed, fmt.Sprintf("the standard job %s failed on node %s: %s", q.job, node, outcome.Message))
	default:
		message := goesOn(q.resource, node, attempt)
		if outcome.Message != "" {
			message += "; " + outcome.Message
		}
		return plan{
			status: in.status(going, obstacle{v1alpha1.ReasonCalibrating, message}), remove: in.others(), hold: true, again: watchEvery,
		}
	}
}

func goesOn(resource, node string, attempt int32) string {
	text := fmt.Sprintf("%s is being calibrated on node %s", resource, node)
	if attempt > 1 {
		text += fmt.Sprintf(", attempt %d of %d", attempt, maxAttempts)
	}
	return text
}

// succeed takes a result in.
func (in *input) succeed(q *question, result *v1alpha1.CalibratedResource) plan {
	found := *result
	found.Node, found.Time, found.Question = in.profile.Status.Calibrating.Node, new(in.now), q.id()
	results := slices.Clone(in.profile.Status.Resources)
	if i := slices.IndexFunc(results, func(r v1alpha1.CalibratedResource) bool { return r.Name == q.resource }); i >= 0 {
		results[i] = found
	} else {
		results = append(results, found)
	}
	outcome := outcomeCalibrated
	if found.Servers == nil {
		outcome = outcomeUnsaturated
	}
	return in.end(results, ending{resource: q.resource, outcome: outcome, seconds: in.elapsed()})
}

// fail gives a question up for a while.
func (in *input) fail(q *question, reason, message string) plan {
	outcome := outcomeFailed
	if reason == v1alpha1.ReasonInterrupted {
		outcome = outcomeInterrupted
	}
	return in.end(in.profile.Status.Resources, ending{resource: q.resource, outcome: outcome, seconds: in.elapsed(), failure: &failure{
		question: q.id(), reason: reason, message: q.resource + ": " + message, until: in.now.Add(pause),
	}})
}

// elapsed returns how long the calibration has been going on, in seconds.
func (in *input) elapsed() float64 {
	start := in.profile.Status.Calibrating.StartTime
	if start == nil {
		return 0
	}
	return in.now.Sub(start.Time).Seconds()
}

// end brings a calibration to its end, with the results that there are then, and goes on
// to the next soon.
func (in *input) end(results []v1alpha1.CalibratedResource, e ending) plan {
	after := *in
	after.profile = in.profile.DeepCopy()
	after.profile.Status.Resources, after.profile.Status.Calibrating = results, nil
	after.failures = in.withFailure(&e)
	var further obstacle
	if q, _ := after.next(); q != nil {
		further = obstacle{v1alpha1.ReasonCalibrating, q.resource + " is calibrated next"}
	}
	return plan{status: after.status(nil, further), remove: in.jobs, hold: true, again: time.Second, ended: &e}
}
