package measurement

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// task is one measurement to do: its subject and its time.
type task struct {
	profile  *v1alpha1.WorkloadProfile
	settings *settings // nil where no measurement is asked for
	// template is that of the target's pods; nil without a target. Where Jobs cannot be
	// made from it, noTemplate says why.
	template   *corev1.PodTemplateSpec
	noTemplate string
	home       string // Loadline's own namespace
	now        metav1.Time
}

// elapsed returns how long the measurement has been going on, in seconds.
func (t *task) elapsed() float64 {
	return t.now.Sub(t.profile.Status.Measuring.StartTime.Time).Seconds()
}

// input holds the inputs of a plan: gathered once, and only read afterwards.
type input struct {
	*task
	*sites
	*results
	*ownJobs
	*round
	// yields is true where another namespace should have the nodes of the measurement.
	yields bool
	memory memory
}

// newInput returns the input of the plan for a profile, as far as it follows from the profile.
func newInput(p *v1alpha1.WorkloadProfile, probes *probejob.Settings, now metav1.Time) *input {
	t := &task{profile: p, now: now}
	s := &sites{task: t, taken: sets.New[string](), followers: map[types.UID]bool{}}
	j := &ownJobs{outcomes: map[string]probejob.Outcome{}}
	return &input{
		task: t, sites: s, ownJobs: j,
		results: &results{task: t, sites: s, questions: map[string]string{}},
		round:   &round{task: t, sites: s, ownJobs: j, probes: probes},
	}
}

// ownJobs are the Jobs of a profile.
type ownJobs struct {
	jobs []batchv1.Job
	// outcomes are those of the current step's Jobs, by name.
	outcomes map[string]probejob.Outcome
}

// job returns a Job of the profile by name, nil if it is not there.
func (j *ownJobs) job(name string) *batchv1.Job {
	i := slices.IndexFunc(j.jobs, func(j batchv1.Job) bool { return j.Name == name })
	if i < 0 {
		return nil
	}
	return &j.jobs[i]
}

// jobsBut returns all Jobs but the needed ones and those that are being deleted already.
func (j *ownJobs) jobsBut(needed map[string]bool) []*batchv1.Job {
	var others []*batchv1.Job
	for i := range j.jobs {
		if job := &j.jobs[i]; !needed[job.Name] && job.DeletionTimestamp.IsZero() {
			others = append(others, job)
		}
	}
	return others
}
