package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/experiments/compare"
	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/probe/result"
)

// declareProfiles tells the scheduler the vectors of the paper's jobs, and the servers
// of the nodes.
func (s *session) declareProfiles(ctx context.Context) error {
	node := start.NodeProfile()
	node.Spec.Resources = []v1alpha1.ResourceServers{{Name: s.Device.Resource(), Servers: new(int32(max(1, s.known.IOServers)))}}
	if err := s.Create(ctx, node); err != nil {
		return err
	}
	for _, name := range paperKinds() {
		var demands []v1alpha1.ResourceDemand
		for _, c := range s.known.Vectors[name] {
			demands = append(demands, v1alpha1.ResourceDemand{Name: c.Resource, Loading: start.Fraction(c.Loading), Pressure: start.Fraction(c.Pressure)})
		}
		if err := s.Declare(ctx, name, demands...); err != nil {
			return err
		}
	}
	return nil
}

func paperKinds() []string { return []string{"cpu", "io"} }

func (s *session) removeProfiles(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	errs := []error{s.Remove(ctx, start.NodeProfile())}
	for _, name := range paperKinds() {
		errs = append(errs, s.Remove(ctx, &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: start.Namespace, Name: name}}))
	}
	return errors.Join(errs...)
}

// comingUp is how long after the last arrival all containers run, at the latest.
const comingUp = 5 * time.Second

// execute has the four jobs arrive, each as a Job, and waits until all have ended. They
// arrive as in the paper, and each begins to work the same time after it has arrived, when
// all containers are up: what starts containers has to share a core with the jobs of the
// second node, so that a job which arrives while that is busy would be late.
func (s *session) execute(ctx context.Context, a arrangement, alone map[string]map[string]result.Load) (e execution, err error) {
	jobs := paperJobs(s.scale)
	created := make([]*batchv1.Job, len(jobs))
	begin := time.Now()
	lead := seconds(jobs[len(jobs)-1].start) + comingUp
	for i, p := range jobs {
		created[i] = s.jobOf(a, p, i, begin.Add(seconds(p.start)+lead))
	}
	defer func() {
		for _, j := range created {
			err = errors.Join(err, s.Remove(context.WithoutCancel(ctx), j))
		}
	}()
	for i, p := range jobs {
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(time.Until(begin.Add(seconds(p.start)))):
		}
		if err := s.Create(ctx, created[i]); err != nil {
			return e, err
		}
		if err := s.awaitBound(ctx, created[i]); err != nil {
			return e, err
		}
	}
	pods, err := s.awaitJobs(ctx, created)
	if err != nil {
		return e, err
	}
	for i, pod := range pods {
		l, err := result.ParseLoad(start.LastWord(pod))
		if err != nil {
			return e, fmt.Errorf("pod %s: %w", pod.Name, err)
		}
		node, kind := pod.Spec.NodeName, jobs[i].kind
		e.nodes = append(e.nodes, node)
		e.jobs = append(e.jobs, compare.Ran{
			Start: float64(l.Begin) / 1e9, Elapsed: job.Elapsed(l), Neutral: job.Neutral(l, alone[node][kind]), Vector: s.known.Vector(kind),
		})
	}
	return e, e.punctual(jobs)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// jobOf returns the i-th of the paper's jobs, as an arrangement places it, that begins to
// work at a given time.
func (s *session) jobOf(a arrangement, p paperJob, i int, startAt time.Time) *batchv1.Job {
	command := job.Job{Kind: job.Of(p.kind), Seconds: p.neutral, Seed: i + 1}.Command(s.known.Speeds, s.Device)
	pod := start.Template(p.kind, append(command, "--start-at", startAt.Format(time.RFC3339Nano)))
	pod.Spec.SchedulerName = a.scheduler
	if a.nodes != nil {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: a.nodes[i]}
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: start.Namespace, Name: p.name},
		Spec:       batchv1.JobSpec{BackoffLimit: new(int32(0)), Template: pod},
	}
}

// podOf returns the pod of a Job among those of the namespace, nil if there is none.
func podOf(j *batchv1.Job, pods map[string]*corev1.Pod) *corev1.Pod {
	for _, pod := range pods {
		if metav1.IsControlledBy(pod, j) {
			return pod
		}
	}
	return nil
}

// awaitBound waits until the pod of a Job is on a node: the next one is to find it
// there.
func (s *session) awaitBound(ctx context.Context, j *batchv1.Job) error {
	_, err := local.AwaitPods(ctx, s, start.Namespace, func(pods map[string]*corev1.Pod) bool {
		pod := podOf(j, pods)
		return pod != nil && pod.Spec.NodeName != ""
	})
	if err != nil {
		return fmt.Errorf("waiting for a node for %s: %w", j.Name, err)
	}
	return nil
}

// awaitJobs waits until the pods of all Jobs have ended well, and returns them.
func (s *session) awaitJobs(ctx context.Context, jobs []*batchv1.Job) ([]*corev1.Pod, error) {
	ended := make([]*corev1.Pod, len(jobs))
	var failed error
	_, err := local.AwaitPods(ctx, s, start.Namespace, func(pods map[string]*corev1.Pod) bool {
		left := len(jobs)
		for i, j := range jobs {
			pod := podOf(j, pods)
			switch {
			case pod == nil:
			case pod.Status.Phase == corev1.PodFailed:
				failed = fmt.Errorf("%s failed: %s %s", j.Name, pod.Status.Message, start.LastWord(pod))
			case pod.Status.Phase == corev1.PodSucceeded:
				ended[i] = pod
				left--
			}
		}
		return failed != nil || left == 0
	})
	return ended, errors.Join(failed, err)
}
