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

// plan is what to do, in this order.
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
func decide(in *input) *plan {
	p := &plan{remove: in.others()}
	in.profile.Status.DeepCopyInto(&p.status)
	p.forget(in)
	if q, _ := in.current(); q == nil {
		p.status.Calibrating = nil
	}
	q, attempt := in.next()
	switch {
	case q == nil:
		p.hold, p.again = in.occupied(), in.wake()
		p.settle(in, waits{})
	case in.job() != nil:
		p.follow(in, q, attempt)
	case !in.canBegin():
		p.hold = in.occupied()
		p.again = max(min(in.soonest().Sub(in.now.Time), watchEvery), time.Second)
		p.settle(in, waits{v1alpha1.ReasonCalibrating, q.resource + " is to be calibrated, and waits until what ran before is gone"})
	case in.place.node == "":
		p.again = waitEvery
		p.settle(in, waits{in.place.reason, in.place.message})
	default:
		p.begin(in, q, attempt)
	}
	return p
}

// begin starts a run.
func (p *plan) begin(in *input, q *question, attempt int32) {
	progress := &v1alpha1.CalibrationProgress{
		Resource: q.resource, Node: in.place.node, StartTime: new(in.now), Attempts: new(attempt),
	}
	if last := in.profile.Status.Calibrating; last != nil && last.Resource == q.resource && last.StartTime != nil {
		progress.StartTime = last.StartTime
	}
	p.status.Calibrating = progress
	p.start = probejob.Job(probejob.Placement{
		Owner: in.profile, OwnerKind: v1alpha1.GroupVersion.WithKind("NodeProfile"),
		Namespace: in.settings.Namespace, Name: q.jobName(in.profile, attempt), Node: in.place.node, Step: q.step(attempt),
		Deadline: q.budget + overhead,
	}, in.settings.Calibrate(q.job, q.peer, q.maxServers, q.budget))
	p.hold, p.again = true, watchEvery
	p.settle(in, waits{v1alpha1.ReasonCalibrating, goesOn(q.resource, in.place.node, attempt)})
}

// follow decides on a run that goes on.
func (p *plan) follow(in *input, q *question, attempt int32) {
	p.hold, p.again = true, watchEvery
	outcome, node := in.outcome, in.profile.Status.Calibrating.Node
	if alive, why := probejob.Alive(in.node); !alive && outcome.State != probejob.Succeeded && outcome.State != probejob.Failed {
		outcome = probejob.Outcome{State: probejob.Lost, Message: fmt.Sprintf("node %s was lost: %s", node, why)}
	}
	switch {
	case outcome.State == probejob.Succeeded:
		result, err := read(outcome.Messages[probejob.ProbeContainer], q)
		if err != nil {
			p.fail(in, q, v1alpha1.ReasonProbeFailed, fmt.Sprintf("the result of the standard job %s on node %s cannot be read: %v", q.job, node, err))
			return
		}
		p.succeed(in, q, result)
	case outcome.Retry(attempt - 1):
		if attempt >= maxAttempts {
			p.fail(in, q, v1alpha1.ReasonInterrupted, fmt.Sprintf("its run was lost %d times, at last because %s", maxAttempts, outcome.Message))
			return
		}
		p.status.Calibrating.Attempts = new(attempt + 1)
		p.remove = in.jobs
		p.again = time.Second
		p.settle(in, waits{v1alpha1.ReasonCalibrating, fmt.Sprintf("%s is calibrated again: %s", q.resource, outcome.Message)})
	case outcome.Bad():
		p.fail(in, q, v1alpha1.ReasonProbeFailed, fmt.Sprintf("the standard job %s failed on node %s: %s", q.job, node, outcome.Message))
	default:
		message := goesOn(q.resource, node, attempt)
		if outcome.Message != "" {
			message += "; " + outcome.Message
		}
		p.settle(in, waits{v1alpha1.ReasonCalibrating, message})
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
func (p *plan) succeed(in *input, q *question, result *v1alpha1.CalibratedResource) {
	result.Node, result.Time, result.Question = in.profile.Status.Calibrating.Node, new(in.now), q.id()
	i := slices.IndexFunc(p.status.Resources, func(r v1alpha1.CalibratedResource) bool { return r.Name == q.resource })
	if i >= 0 {
		p.status.Resources[i] = *result
	} else {
		p.status.Resources = append(p.status.Resources, *result)
	}
	outcome := outcomeCalibrated
	if result.Servers == nil {
		outcome = outcomeUnsaturated
	}
	p.end(in, &ending{resource: q.resource, outcome: outcome})
}

// fail gives a question up for a while.
func (p *plan) fail(in *input, q *question, reason, message string) {
	outcome := outcomeFailed
	if reason == v1alpha1.ReasonInterrupted {
		outcome = outcomeInterrupted
	}
	p.end(in, &ending{resource: q.resource, outcome: outcome, failure: &failure{
		question: q.id(), reason: reason, message: q.resource + ": " + message, until: in.now.Add(pause),
	}})
}

// end brings a calibration to its end, and goes on to the next soon.
func (p *plan) end(in *input, e *ending) {
	if start := in.profile.Status.Calibrating.StartTime; start != nil {
		e.seconds = in.now.Sub(start.Time).Seconds()
	}
	p.ended = e
	p.status.Calibrating = nil
	p.remove = in.jobs
	p.again = time.Second

	after := *in
	after.profile = in.profile.DeepCopy()
	after.profile.Status = p.status
	after.failures = in.withFailure(e)
	var further waits
	if q, _ := after.next(); q != nil {
		further = waits{v1alpha1.ReasonCalibrating, q.resource + " is calibrated next"}
	}
	p.settle(&after, further)
}

// forget drops the results that no calibration asks for.
func (p *plan) forget(in *input) {
	all := questions(in.profile)
	p.status.Resources = slices.DeleteFunc(p.status.Resources, func(r v1alpha1.CalibratedResource) bool {
		return !slices.ContainsFunc(all, func(q question) bool { return q.resource == r.Name })
	})
}
