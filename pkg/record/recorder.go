package record

import (
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/trace"
)

// Options says what a [Recorder] records. The zero value records every pod that
// has finished, in a cluster without profiles.
type Options struct {
	// Profiles are those of the cluster, in any order. Invalid ones are left out of
	// account, as the scheduler does.
	Profiles []v1alpha1.WorkloadProfile
	// Since is second 0 of the trace: pods that were created before are no part of
	// it. If it is zero the trace starts with the first pod.
	Since time.Time
	// Running takes pods that run, too, if their profile knows their neutral time.
	Running bool
}

// Reason is why a pod is no job of the trace. It goes with a number of pods: "12
// still running".
type Reason string

// The reasons.
const (
	StillRunning Reason = "still running"
	NotStarted   Reason = "not started yet"
	NeverStarted Reason = "never started"
	TooShort     Reason = "over within a second, where no profile knows the neutral time"
	NoEnd        Reason = "without a known end, where no profile knows the neutral time"
)

// Reasons lists all reasons.
func Reasons() []Reason { return []Reason{StillRunning, NotStarted, NeverStarted, TooShort, NoEnd} }

// Recorder takes pods and makes jobs of them. It is not safe for concurrent use.
type Recorder struct {
	options  Options
	profiles *profile.Snapshot
	timed    map[string]bool // namespace/name of those that know the neutral time
	seen     map[types.UID]bool

	// Times in seconds since 1970, requests by the names of the cluster.
	jobs      []trace.Job
	first     float64 // arrival
	requested map[corev1.ResourceName]bool
	demanded  map[string]bool
	limited   bool // some job is
	recording Recording
}

// New returns a Recorder that has seen no pods.
func New(options Options) (*Recorder, error) {
	arguments, err := config.LoadDilationArgs(nil)
	if err != nil {
		return nil, fmt.Errorf("the scheduler's defaults: %w", err)
	}
	index := profile.NewIndex(arguments.Requests, logr.Discard()) // the invalid ones are counted
	timed := map[string]bool{}
	for i := range options.Profiles {
		p := &options.Profiles[i]
		index.OnAdd(p, true)
		timed[p.Namespace+"/"+p.Name] = profile.NeutralMillis(p, profile.AnyClass) != nil
	}
	profiles := index.Snapshot()
	_, invalid := profiles.Counts()
	return &Recorder{
		options: options, profiles: profiles, timed: timed, seen: map[types.UID]bool{},
		requested: map[corev1.ResourceName]bool{}, demanded: map[string]bool{},
		recording: Recording{
			Profiles: map[string]bool{}, Timeless: map[string]bool{}, LeftOut: map[Reason]int{}, InvalidProfiles: invalid,
		},
	}, nil
}

// Add adds a pod, unless one of its UID was added before or it is older than the
// trace. It does not change or keep the pod.
func (r *Recorder) Add(pod *corev1.Pod) {
	if r.seen[pod.UID] || pod.CreationTimestamp.Time.Before(r.options.Since) {
		return
	}
	r.seen[pod.UID] = true
	job, reason := r.job(pod)
	if reason != "" {
		r.recording.LeftOut[reason]++
		return
	}
	if len(r.jobs) == 0 || job.Arrival < r.first {
		r.first = job.Arrival
	}
	if job.Type != "" {
		r.recording.Profiles[job.Type] = true
	}
	for _, q := range job.Requests {
		r.requested[corev1.ResourceName(q.Resource)] = true
	}
	r.limited = r.limited || job.CPULimit > 0
	for _, d := range job.Demands {
		r.demanded[d.Resource] = true
	}
	r.jobs = append(r.jobs, job)
}

// job makes a job of a pod, or says why it is none.
func (r *Recorder) job(pod *corev1.Pod) (trace.Job, Reason) {
	start := started(pod)
	switch {
	case Finished(pod) && start.IsZero():
		return trace.Job{}, NeverStarted
	case start.IsZero():
		return trace.Job{}, NotStarted
	case !Finished(pod) && !r.options.Running:
		return trace.Job{}, StillRunning
	}
	created := pod.CreationTimestamp.Time
	job := trace.Job{
		Name:     pod.Namespace + "/" + pod.Name,
		Arrival:  float64(created.Unix()),
		Start:    momentOf(start, created),
		Requests: requests(pod),
		CPULimit: cpuLimit(pod),
		Node:     pod.Spec.NodeName,
	}
	if Finished(pod) {
		job.End = momentOf(ended(pod), later(start, created))
	}
	reason := r.work(&job, pod)
	return job, reason
}

// work fills in what a job is to do: by its profile, or by what is known of the
// pod. A pod that failed did not do all that the profile says.
func (r *Recorder) work(job *trace.Job, pod *corev1.Pod) Reason {
	workload := r.profiles.Workload(pod)
	if workload != nil {
		job.Type = workload.Namespace + "/" + workload.Name
		if r.timed[job.Type] && pod.Status.Phase != corev1.PodFailed {
			return ""
		}
	}
	if !job.End.Happened {
		return NoEnd
	}
	job.Neutral = job.End.At - job.Start.At
	if job.Neutral == 0 {
		return TooShort
	}
	r.recording.Measured++
	if workload == nil {
		r.recording.Derived++
		job.Demands = r.demands(pod, job.Neutral)
	} else if !r.timed[job.Type] {
		r.recording.Timeless[job.Type] = true
	}
	return ""
}

// demands derives the demands of a pod that follows no profile.
func (r *Recorder) demands(pod *corev1.Pod, neutral float64) []trace.ServiceDemand {
	var demands []trace.ServiceDemand
	names := r.profiles.Resources().Names()
	for i, d := range r.profiles.Vector(pod) {
		if d.Loading > 0 {
			demands = append(demands, trace.ServiceDemand{Resource: names[i], Seconds: d.Loading * neutral, Threads: d.Threads})
		}
	}
	return demands
}

// requests returns what the scheduler sets aside for a pod, by the names of the
// cluster. The cpu is among them even if it is 0: a replay takes a job of which the
// trace does not say it to request what it keeps busy.
func requests(pod *corev1.Pod) []trace.Request {
	list := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	requests := []trace.Request{{Resource: string(corev1.ResourceCPU), Amount: list.Cpu().AsApproximateFloat64()}}
	for name, quantity := range list {
		if amount := quantity.AsApproximateFloat64(); amount > 0 && name != corev1.ResourceCPU {
			requests = append(requests, trace.Request{Resource: string(name), Amount: amount})
		}
	}
	return requests
}

// cpuLimit returns how many cores a pod may use, 0 without a limit. It is never less than the pod requests, which an init
// container or the overhead may make more than the pod is limited to.
func cpuLimit(pod *corev1.Pod) float64 {
	limit := float64(cgroup.Limit(pod)) / 1000
	if limit == 0 {
		return 0
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	return max(limit, requests.Cpu().AsApproximateFloat64())
}

// momentOf returns a time as seconds since 1970, not before another; the zero time
// has not happened.
func momentOf(t, earliest time.Time) trace.Moment {
	if t.IsZero() {
		return trace.Moment{}
	}
	return trace.Moment{At: float64(later(t, earliest).Unix()), Happened: true}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
