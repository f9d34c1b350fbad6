package calibration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// Defaults of a calibration.
const (
	defaultMaxServers = 64
	defaultBudget     = 120 * time.Second
	defaultValid      = 90 * 24 * time.Hour
)

// overhead is how long a Job may take beyond its budget: to be scheduled, to pull
// the image, to begin.
const overhead = 3 * time.Minute

// question is the question of the calibration of one resource.
type question struct {
	resource   string
	job, peer  string
	maxServers int
	budget     time.Duration
	valid      time.Duration
}

// questions returns those of a profile, in the order of its resources, none without
// a calibration.
func questions(profile *v1alpha1.NodeProfile) []question {
	calibration := profile.Spec.Calibration
	if calibration == nil {
		return nil
	}
	all := make([]question, len(calibration.Resources))
	for i := range calibration.Resources {
		r := &calibration.Resources[i]
		q := question{
			resource: r.Name, job: probejob.StandardJob(r), peer: r.Peer,
			maxServers: defaultMaxServers, budget: defaultBudget, valid: defaultValid,
		}
		if n := calibration.MaxServers; n != nil {
			q.maxServers = int(*n)
		}
		if s := calibration.BudgetSeconds; s != nil {
			q.budget = time.Duration(*s) * time.Second
		}
		if s := calibration.ValidSeconds; s != nil {
			q.valid = time.Duration(*s) * time.Second
		}
		all[i] = q
	}
	return all
}

// id identifies the question. How long it may take to answer, and for how long the
// answer holds, are no part of it.
func (q *question) id() string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", q.job, q.peer, q.maxServers))
	return hex.EncodeToString(hash[:8])
}

// step is the step of the Job that answers the question at an attempt.
func (q *question) step(attempt int32) string {
	return fmt.Sprintf("calibrate-%s-%s-%d", q.resource, q.id(), attempt)
}

// jobName is the name of that Job.
func (q *question) jobName(profile *v1alpha1.NodeProfile, attempt int32) string {
	return probejob.Name(profile, q.step(attempt))
}

// answer returns the result for the resource, nil for none, and until when it
// answers the question. An answer to another question is out of date.
func (q *question) answer(profile *v1alpha1.NodeProfile) (r *v1alpha1.CalibratedResource, until time.Time) {
	i := slices.IndexFunc(profile.Status.Resources, func(r v1alpha1.CalibratedResource) bool { return r.Name == q.resource })
	if i < 0 {
		return nil, time.Time{}
	}
	r = &profile.Status.Resources[i]
	if r.Question != q.id() || r.Time == nil {
		return r, time.Time{}
	}
	return r, r.Time.Add(q.valid)
}
