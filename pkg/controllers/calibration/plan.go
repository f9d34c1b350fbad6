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

// plan holds the actions, in this order. Nothing changes it once it is made.
type plan struct {
	status v1alpha1.NodeProfileStatus
	start  *batchv1.Job
	remove []*batchv1.Job
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
	failure  *probejob.Failure // nil when there is a result
}

// phase is a phase of the calibration of a profile. Its plan is pure: the same input gives the same plan.
//
//	settled    all questions have an answer that holds, or are asked again later
//	waiting    what ran before is not gone yet
//	blocked    there is no node to begin on
//	beginning  a run can begin
//	running    a run goes on, or has ended
type phase interface{ plan() plan }

// decide plans the next step for a profile. It is pure: the same input gives the
// same plan.
func decide(in *input) plan { return in.phase().plan() }

// phase returns the phase that the calibration of the profile is in.
func (in *input) phase() phase {
	q, attempt := in.next()
	switch {
	case q == nil:
		return &settled{in}
	case in.job() != nil:
		return &running{in, q, attempt}
	case !in.canBegin():
		return &waiting{in, q}
	case in.site == "":
		return &blocked{in}
	default:
		return &beginning{in, q, attempt}
	}
}

// progress returns the calibration that goes on, nil for none whose answer is still needed.
func (in *input) progress() *v1alpha1.CalibrationProgress {
	if q, _ := in.current(); q == nil {
		return nil
	}
	return in.profile.Status.Calibrating
}

// settled is the phase in which nothing is to be asked now.
type settled struct{ *input }

func (p *settled) plan() plan {
	return plan{status: p.status(nil, problem{}), remove: p.others(), hold: p.occupied(), again: p.wake()}
}

// waiting is the phase in which what ran before is not gone yet.
type waiting struct {
	*input
	question *question
}

func (p *waiting) plan() plan {
	why := problem{v1alpha1.ReasonCalibrating, p.question.resource + " is to be calibrated, and waits until what ran before is gone"}
	return plan{
		status: p.status(p.progress(), why), remove: p.others(), hold: p.occupied(),
		again: max(min(p.soonest().Sub(p.now.Time), watchEvery), time.Second),
	}
}

// blocked is the phase in which there is no node to begin on.
type blocked struct{ *input }

func (p *blocked) plan() plan {
	return plan{status: p.status(p.progress(), p.noSite), remove: p.others(), again: waitEvery}
}

// beginning is the phase in which a run can begin.
type beginning struct {
	*input
	question *question
	attempt  int32
}

// plan starts the run.
func (p *beginning) plan() plan {
	q, attempt := p.question, p.attempt
	progress := &v1alpha1.CalibrationProgress{
		Resource: q.resource, Node: p.site, StartTime: new(p.now), Attempts: new(attempt),
	}
	if last := p.profile.Status.Calibrating; last != nil && last.Resource == q.resource && last.StartTime != nil {
		progress.StartTime = last.StartTime
	}
	job := probejob.New(probejob.Placement{
		Owner: p.profile, OwnerKind: v1alpha1.GroupVersion.WithKind("NodeProfile"),
		Namespace: p.settings.Namespace, Name: q.jobName(p.profile, attempt), Node: p.site, Step: q.step(attempt),
		Deadline: q.budget + overhead,
	}, p.settings.Calibrate(q.job, q.peer, q.maxServers, q.budget))
	return plan{
		status: p.status(progress, problem{v1alpha1.ReasonCalibrating, goesOn(q.resource, p.site, attempt)}), start: job, remove: p.others(),
		hold: true, again: watchEvery,
	}
}

// running is the phase in which a run goes on, or has ended.
type running struct {
	*input
	question *question
	attempt  int32
}

// plan decides on the run by its outcome.
func (p *running) plan() plan {
	q, attempt := p.question, p.attempt
	going := p.profile.Status.Calibrating
	outcome, node := p.outcome, going.Node
	if alive, why := probejob.Alive(p.node); !alive && outcome.State != probejob.Succeeded && outcome.State != probejob.Failed {
		outcome = probejob.Outcome{State: probejob.Lost, Message: fmt.Sprintf("node %s was lost: %s", node, why)}
	}
	switch {
	case outcome.State == probejob.Succeeded:
		result, err := read(outcome.Messages[probejob.ProbeContainer], q)
		if err != nil {
			return p.fail(v1alpha1.ReasonProbeFailed, fmt.Sprintf("the result of the standard job %s on node %s cannot be read: %v", q.job, node, err))
		}
		return p.succeed(result)
	case outcome.Retry(attempt-1) && attempt >= maxAttempts:
		return p.fail(v1alpha1.ReasonInterrupted, fmt.Sprintf("its run was lost %d times, at last because %s", maxAttempts, outcome.Message))
	case outcome.Retry(attempt - 1):
		next := going.DeepCopy()
		next.Attempts = new(attempt + 1)
		waits := problem{v1alpha1.ReasonCalibrating, fmt.Sprintf("%s is calibrated again: %s", q.resource, outcome.Message)}
		return plan{status: p.status(next, waits), remove: p.all(), hold: true, again: time.Second}
	case outcome.Bad():
		return p.fail(v1alpha1.ReasonProbeFailed, fmt.Sprintf("the standard job %s failed on node %s: %s", q.job, node, outcome.Message))
	default:
		message := goesOn(q.resource, node, attempt)
		if outcome.Message != "" {
			message += "; " + outcome.Message
		}
		return plan{
			status: p.status(going, problem{v1alpha1.ReasonCalibrating, message}), remove: p.others(), hold: true, again: watchEvery,
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
func (p *running) succeed(result *v1alpha1.CalibratedResource) plan {
	found := *result
	found.Node, found.Time, found.Question = p.profile.Status.Calibrating.Node, new(p.now), p.question.id()
	results := slices.Clone(p.profile.Status.Resources)
	if i := slices.IndexFunc(results, func(r v1alpha1.CalibratedResource) bool { return r.Name == p.question.resource }); i >= 0 {
		results[i] = found
	} else {
		results = append(results, found)
	}
	outcome := outcomeCalibrated
	if found.Servers == nil {
		outcome = outcomeUnsaturated
	}
	return p.end(results, ending{resource: p.question.resource, outcome: outcome, seconds: p.elapsed()})
}

// fail gives a question up for a while.
func (p *running) fail(reason, message string) plan {
	outcome := outcomeFailed
	if reason == v1alpha1.ReasonInterrupted {
		outcome = outcomeInterrupted
	}
	return p.end(p.profile.Status.Resources, ending{resource: p.question.resource, outcome: outcome, seconds: p.elapsed(), failure: &probejob.Failure{
		Question: p.question.id(), Reason: reason, Message: p.question.resource + ": " + message, Until: p.now.Add(pause),
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
func (p *running) end(results []v1alpha1.CalibratedResource, e ending) plan {
	after := *p.input
	after.profile = p.profile.DeepCopy()
	after.profile.Status.Resources, after.profile.Status.Calibrating = results, nil
	after.failures = p.withFailure(&e)
	var further problem
	if q, _ := after.next(); q != nil {
		further = problem{v1alpha1.ReasonCalibrating, q.resource + " is calibrated next"}
	}
	return plan{status: after.status(nil, further), remove: p.all(), hold: true, again: time.Second, ended: &e}
}
