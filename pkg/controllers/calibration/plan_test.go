package calibration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// decision holds the words and actions of a plan, in one line each.
type decision struct {
	Condition string // status, reason and message
	Going     string // the calibration that goes on
	Starts    string // the step of the Job to start
	Removes   int
	Holds     bool
	Again     time.Duration
	Ended     string
}

func summaryOf(in *input) decision {
	p := decide(in)
	got := decision{Removes: len(p.remove), Holds: p.hold, Again: p.again}
	if c := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionCalibrated); c != nil {
		got.Condition = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	if g := p.status.Calibrating; g != nil {
		got.Going = fmt.Sprintf("%s on %s, attempt %d", g.Resource, g.Node, *g.Attempts)
	}
	if p.start != nil {
		got.Starts = p.start.Annotations[probejob.StepKey]
	}
	if p.ended != nil {
		got.Ended = fmt.Sprintf("%s %s after %v s", p.ended.resource, p.ended.outcome, p.ended.seconds)
	}
	return got
}

func TestAProfileIsCalibratedStepByStep(t *testing.T) {
	t.Parallel()
	only := v1alpha1.ProbedResource{Name: "cpu"}
	cpu, disk := ask(fast(), "cpu"), ask(fast(), "disk")
	idle := func(profile *v1alpha1.NodeProfile, site string, why problem) *input {
		return &input{profile: profile, settings: settings(), now: noon, site: site, noSite: why}
	}
	with := func(profile *v1alpha1.NodeProfile, results ...v1alpha1.CalibratedResource) *v1alpha1.NodeProfile {
		profile.Status.Resources = results
		return profile
	}
	outcome := func(in *input, o probejob.Outcome) *input {
		in.outcome = o
		return in
	}
	leaves := func(in *input, message string) *input {
		return outcome(in, probejob.Outcome{State: probejob.Succeeded, Messages: map[string]string{probejob.ProbeContainer: message}})
	}
	const here = "worker-1"
	broken := probejob.Failure{Question: cpu.id(), Reason: v1alpha1.ReasonProbeFailed, Message: "cpu: it failed", Until: noon.Add(pause)}

	tests := map[string]struct {
		in   *input
		want decision
	}{
		"the first resource is begun where there is a node": {
			idle(fast(), here, problem{}),
			decision{
				Condition: "False Calibrating: cpu is being calibrated on node worker-1", Going: "cpu on worker-1, attempt 1",
				Starts: cpu.step(1), Holds: true, Again: watchEvery,
			},
		},
		"nothing is begun where there is none": {
			idle(fast(), "", problem{v1alpha1.ReasonNoQuietNode, "pods everywhere"}),
			decision{Condition: "False NoQuietNode: pods everywhere", Again: waitEvery},
		},
		"the next resource is begun when the first has an answer": {
			idle(with(fast(), calibrated(cpu, 2, noon)), here, problem{}),
			decision{
				Condition: "False Calibrating: disk is being calibrated on node worker-1", Going: "disk on worker-1, attempt 1",
				Starts: disk.step(1), Holds: true, Again: watchEvery,
			},
		},
		"nothing is begun while an earlier pod still runs": {
			&input{profile: fast(), settings: settings(), now: noon, lingering: true},
			decision{Condition: "False Calibrating: cpu is to be calibrated, and waits until what ran before is gone", Holds: true, Again: time.Second},
		},
		"a run that goes on is told of": {
			outcome(begun("cpu", 1, fast()), probejob.Outcome{State: probejob.Running}),
			decision{Condition: "False Calibrating: cpu is being calibrated on node worker-1", Going: "cpu on worker-1, attempt 1", Holds: true, Again: watchEvery},
		},
		"a run that cannot begin yet says why": {
			outcome(begun("cpu", 2, fast()), probejob.Outcome{Message: "the image cannot be pulled"}),
			decision{
				Condition: "False Calibrating: cpu is being calibrated on node worker-1, attempt 2 of 3; the image cannot be pulled",
				Going:     "cpu on worker-1, attempt 2", Holds: true, Again: watchEvery,
			},
		},
		"a run that ended well leads on to the next": {
			leaves(begun("cpu", 1, fast()), left(t, "cpu", 2)),
			decision{Condition: "False Calibrating: disk is calibrated next", Removes: 1, Holds: true, Again: time.Second, Ended: "cpu calibrated after 60 s"},
		},
		"the last run that ended well completes the calibration": {
			leaves(begun("disk", 1, with(fast(), calibrated(cpu, 2, noon))), left(t, "disk-read", 4)),
			decision{
				Condition: "True Calibrated: the servers are cpu 2 (node worker-1), disk 4 (node worker-1)",
				Removes:   1, Holds: true, Again: time.Second, Ended: "disk calibrated after 60 s",
			},
		},
		"a job that cannot keep its resource busy says so, and what to do": {
			leaves(begun("disk", 1, with(fast(), calibrated(cpu, 2, noon))), left(t, "disk-read", 0)),
			decision{
				Condition: "False Unsaturated: disk: two copies of the standard job disk-read with up to 64 requests each made each other only 1.30 times slower on node worker-1, not 2 times, " +
					"so they did not keep the resource busy; raise spec.calibration.maxServers or choose another job, or declare the servers in spec.resources",
				Removes: 1, Holds: true, Again: time.Second, Ended: "disk unsaturated after 60 s",
			},
		},
		"a run that failed is quoted, and the next resource begun": {
			outcome(begun("cpu", 1, fast()), probejob.Outcome{State: probejob.Failed, Message: "container loadline-probe ended with exit code 1: no"}),
			decision{
				Condition: "False Calibrating: cpu: the standard job cpu failed on node worker-1: container loadline-probe ended with exit code 1: no; disk is calibrated next",
				Removes:   1, Holds: true, Again: time.Second, Ended: "cpu failed after 60 s",
			},
		},
		"a result that is cut off is a failure": {
			leaves(begun("cpu", 1, fast(only)), left(t, "cpu", 2)[:40]),
			decision{
				Condition: "False ProbeFailed: cpu: the result of the standard job cpu on node worker-1 cannot be read: the report is cut off after 40 bytes (Kubernetes keeps 4096); " +
					"is the image that of this release?; tried again later, or when spec.calibration is changed",
				Removes: 1, Holds: true, Again: time.Second, Ended: "cpu failed after 60 s",
			},
		},
		"a result of another job is a failure": {
			leaves(begun("cpu", 1, fast(only)), left(t, "network", 2)),
			decision{
				Condition: "False ProbeFailed: cpu: the result of the standard job cpu on node worker-1 cannot be read: it is of the standard job network, not cpu; " +
					"tried again later, or when spec.calibration is changed",
				Removes: 1, Holds: true, Again: time.Second, Ended: "cpu failed after 60 s",
			},
		},
		"more servers than were looked for are a failure": {
			leaves(begun("cpu", 1, fast(only)), left(t, "cpu", 65)),
			decision{
				Condition: "False ProbeFailed: cpu: the result of the standard job cpu on node worker-1 cannot be read: it found 65 servers, more than the 64 that were looked for; " +
					"tried again later, or when spec.calibration is changed",
				Removes: 1, Holds: true, Again: time.Second, Ended: "cpu failed after 60 s",
			},
		},
		"a run that was lost is begun again": {
			outcome(begun("cpu", 1, fast()), probejob.Outcome{State: probejob.Lost, Message: "pod x was deleted"}),
			decision{Condition: "False Calibrating: cpu is calibrated again: pod x was deleted", Going: "cpu on worker-1, attempt 2", Removes: 1, Holds: true, Again: time.Second},
		},
		"a run that was lost three times is given up": {
			outcome(begun("cpu", 3, fast(only)), probejob.Outcome{State: probejob.Lost, Message: "pod x was deleted"}),
			decision{
				Condition: "False Interrupted: cpu: its run was lost 3 times, at last because pod x was deleted; tried again later, or when spec.calibration is changed",
				Removes:   1, Holds: true, Again: time.Second, Ended: "cpu interrupted after 60 s",
			},
		},
		"a run that was killed for its use of memory is begun again": {
			outcome(begun("cpu", 1, fast()), probejob.Outcome{State: probejob.Lost, Reason: jobstatus.ReasonOutOfMemory, Message: "container x was killed at its memory limit"}),
			decision{Condition: "False Calibrating: cpu is calibrated again: container x was killed at its memory limit", Going: "cpu on worker-1, attempt 2", Removes: 1, Holds: true, Again: time.Second},
		},
		"a run that was killed for its use of memory twice has failed": {
			outcome(begun("cpu", 2, fast(only)), probejob.Outcome{State: probejob.Lost, Reason: jobstatus.ReasonOutOfMemory, Message: "container x was killed at its memory limit"}),
			decision{
				Condition: "False ProbeFailed: cpu: the standard job cpu failed on node worker-1: container x was killed at its memory limit; tried again later, or when spec.calibration is changed",
				Removes:   1, Holds: true, Again: time.Second, Ended: "cpu failed after 60 s",
			},
		},
		"a node that is gone is a run that was lost": {
			func() *input { in := begun("cpu", 1, fast()); in.node = nil; return in }(),
			decision{
				Condition: "False Calibrating: cpu is calibrated again: node worker-1 was lost: it is no longer there",
				Going:     "cpu on worker-1, attempt 2", Removes: 1, Holds: true, Again: time.Second,
			},
		},
		"a run that ended well on a node that went then is not lost": {
			func() *input {
				in := leaves(begun("cpu", 1, fast(only)), left(t, "cpu", 2))
				in.node = nil
				return in
			}(),
			decision{Condition: "True Calibrated: the servers are cpu 2 (node worker-1)", Removes: 1, Holds: true, Again: time.Second, Ended: "cpu calibrated after 60 s"},
		},
		"the next attempt waits a moment": {
			func() *input { in := begun("cpu", 2, fast()); in.jobs, in.now = nil, noon; return in }(),
			decision{
				Condition: "False Calibrating: cpu is to be calibrated, and waits until what ran before is gone",
				Going:     "cpu on worker-1, attempt 2", Again: watchEvery,
			},
		},
		"the next attempt begins on another node": {
			func() *input {
				in := begun("cpu", 2, fast())
				in.jobs, in.site = nil, "worker-2"
				return in
			}(),
			decision{
				Condition: "False Calibrating: cpu is being calibrated on node worker-2, attempt 2 of 3", Going: "cpu on worker-2, attempt 2",
				Starts: cpu.step(2), Holds: true, Again: watchEvery,
			},
		},
		"Jobs that belong to no calibration that goes on are removed": {
			func() *input {
				in := begun("cpu", 1, fast())
				in.jobs = append(in.jobs, batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "stray"}})
				return in
			}(),
			decision{Condition: "False Calibrating: cpu is being calibrated on node worker-1", Going: "cpu on worker-1, attempt 1", Removes: 1, Holds: true, Again: watchEvery},
		},
		"a calibration that is changed while it goes on is begun anew": {
			func() *input {
				in := begun("cpu", 1, fast())
				in.profile.Spec.Calibration.MaxServers = new(int32(8))
				return in
			}(),
			decision{
				Condition: "False Calibrating: cpu is to be calibrated, and waits until what ran before is gone", Going: "cpu on worker-1, attempt 1",
				Removes: 1, Holds: true, Again: time.Second,
			},
		},
		"a resource that is no longer wanted is dropped while it is calibrated": {
			func() *input {
				in := begun("disk", 1, with(fast(), calibrated(cpu, 2, noon)))
				in.profile.Spec.Calibration.Resources = []v1alpha1.ProbedResource{only}
				return in
			}(),
			decision{Condition: "True Calibrated: the servers are cpu 2 (node worker-1)", Removes: 1, Holds: true, Again: watchEvery},
		},
		"without a calibration nothing is left": {
			func() *input {
				in := begun("disk", 1, with(fast(), calibrated(cpu, 2, noon)))
				in.profile.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionCalibrated}}
				in.profile.Spec.Calibration = nil
				return in
			}(),
			decision{Removes: 1, Holds: true, Again: watchEvery},
		},
		"a profile that asks for none is left alone": {
			func() *input { in := idle(fast(), "", problem{}); in.profile.Spec.Calibration = nil; return in }(), decision{},
		},
		"fresh answers are kept until they get too old": {
			idle(with(fast(), calibrated(cpu, 2, metav1.NewTime(noon.Add(-24*time.Hour))), calibrated(disk, 4, noon)), "", problem{}),
			decision{Condition: "True Calibrated: the servers are cpu 2 (node worker-1), disk 4 (node worker-1)", Again: 89 * 24 * time.Hour},
		},
		"an answer that is too old stays in use while it is renewed": {
			idle(with(fast(only), calibrated(cpu, 2, metav1.NewTime(noon.Add(-90*24*time.Hour)))), here, problem{}),
			decision{
				Condition: "True Stale: results are renewed, and stay in use meanwhile: cpu is being calibrated on node worker-1",
				Going:     "cpu on worker-1, attempt 1", Starts: cpu.step(1), Holds: true, Again: watchEvery,
			},
		},
		"an answer to another question is renewed": {
			idle(with(fast(v1alpha1.ProbedResource{Name: "disk", Job: "disk-write"}), calibrated(disk, 4, noon)), "", problem{v1alpha1.ReasonQueued, "later"}),
			decision{Condition: "True Stale: results are renewed, and stay in use meanwhile: later", Again: waitEvery},
		},
		"a failure is left alone for a while": {
			func() *input {
				in := idle(fast(only), here, problem{})
				in.failures = map[string]probejob.Failure{"cpu": broken}
				return in
			}(),
			decision{Condition: "False ProbeFailed: cpu: it failed; tried again later, or when spec.calibration is changed", Again: pause},
		},
		"a failure is tried again then": {
			func() *input {
				in := idle(fast(only), here, problem{})
				in.failures, in.now = map[string]probejob.Failure{"cpu": broken}, metav1.NewTime(broken.Until)
				return in
			}(),
			decision{
				Condition: "False Calibrating: cpu is being calibrated on node worker-1", Going: "cpu on worker-1, attempt 1",
				Starts: cpu.step(1), Holds: true, Again: watchEvery,
			},
		},
		"a failure does not count when something else is asked": {
			func() *input {
				in := idle(fast(only), here, problem{})
				in.profile.Spec.Calibration.MaxServers = new(int32(8))
				in.failures = map[string]probejob.Failure{"cpu": broken}
				return in
			}(),
			decision{
				Condition: "False Calibrating: cpu is being calibrated on node worker-1", Going: "cpu on worker-1, attempt 1",
				Starts: (&question{resource: "cpu", job: "cpu", maxServers: 8}).step(1), Holds: true, Again: watchEvery,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := test.in.profile.DeepCopy()
			if diff := cmp.Diff(test.want, summaryOf(test.in)); diff != "" {
				t.Errorf("unexpected plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.in.profile); diff != "" {
				t.Errorf("deciding changed the profile (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAResultSaysWhatWasFoundWhereWhenAndOfWhat(t *testing.T) {
	t.Parallel()
	in := begun("cpu", 1, fast())
	in.profile.Status.Resources = []v1alpha1.CalibratedResource{{Name: "cpu"}, {Name: "no longer wanted"}}
	in.outcome = probejob.Outcome{State: probejob.Succeeded, Messages: map[string]string{probejob.ProbeContainer: left(t, "cpu", 2)}}
	want := []v1alpha1.CalibratedResource{calibrated(ask(fast(), "cpu"), 2, in.now)}
	if diff := cmp.Diff(want, decide(in).status.Resources); diff != "" {
		t.Errorf("unexpected results (-want +got):\n%s", diff)
	}
}

func TestOnlyWhatChangesTheAnswerChangesTheQuestion(t *testing.T) {
	t.Parallel()
	base := ask(fast(), "disk")
	if base.job != v1alpha1.ProbeDiskRead || base.maxServers != 64 || base.budget != 2*time.Minute {
		t.Errorf("the defaults are %+v", base)
	}
	changed := func(change func(*question)) string {
		q := *base
		change(&q)
		return q.id()
	}
	for what, id := range map[string]string{
		"the job":        changed(func(q *question) { q.job = "disk-write" }),
		"the peer":       changed(func(q *question) { q.peer = "10.0.0.7:7070" }),
		"the maxServers": changed(func(q *question) { q.maxServers = 8 }),
	} {
		if id == base.id() {
			t.Errorf("%s does not change the question", what)
		}
	}
	for what, id := range map[string]string{
		"the budget":   changed(func(q *question) { q.budget = time.Hour }),
		"the validity": changed(func(q *question) { q.valid = time.Hour }),
	} {
		if id != base.id() {
			t.Errorf("%s changes the question", what)
		}
	}
}

func TestTheSpecSaysHowToCalibrate(t *testing.T) {
	t.Parallel()
	profile := fast(v1alpha1.ProbedResource{Name: "net", Job: "network", Peer: "10.0.0.7:7070"})
	c := profile.Spec.Calibration
	c.MaxServers, c.BudgetSeconds, c.ValidSeconds = new(int32(8)), new(int64(30)), new(int64(60))
	got := questions(profile)[0]
	want := question{resource: "net", job: "network", peer: "10.0.0.7:7070", maxServers: 8, budget: 30 * time.Second, valid: time.Minute}
	if got != want {
		t.Errorf("the question is %+v, want %+v", got, want)
	}
	p := decide(&input{profile: profile, settings: settings(), now: noon, site: "worker-1"})
	command := strings.Join(p.start.Spec.Template.Spec.Containers[0].Command, " ")
	if want := "loadline-probe calibrate --job network --max-servers 8 --budget 30s --peer 10.0.0.7:7070"; command != want {
		t.Errorf("the command is\n%s, want\n%s", command, want)
	}
	if deadline := p.start.Annotations[probejob.DeadlineKey]; p.start.Namespace != "loadline" || deadline != "210" || !metav1.IsControlledBy(p.start, profile) {
		t.Errorf("the Job is in %s, may take %s s and belongs to %+v", p.start.Namespace, deadline, p.start.OwnerReferences)
	}
}
