package measurement

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/model/loading"
)

// isTarget reports whether a pod is a copy of the target.
func isTarget(pod *corev1.Pod) bool { return pod.Spec.Containers[0].Name != probejob.ProbeContainer }

// waiting leaves a pod with a container that waits for something.
func (s *simulation) waitEvent(pod *corev1.Pod, reason, message string) bool {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}
	s.must(s.Status().Update(s.t.Context(), pod))
	return false
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		profile *v1alpha1.WorkloadProfile
		target  func(*batchv1.Job)
		spoil   func(*simulation)
		reason  string
		says    []string
		status  metav1.ConditionStatus
	}{
		"a target that is not there": {
			profile: filecomp(func(m *v1alpha1.Measurement) { m.Target.Name = "nobody" }),
			reason:  v1alpha1.ReasonTargetFailed, says: []string{`no Job "nobody" in namespace etl`},
		},
		"a template with hostPID": {
			target: func(j *batchv1.Job) { j.Spec.Template.Spec.HostPID = true },
			reason: v1alpha1.ReasonTargetFailed, says: []string{"hostPID"},
		},
		"a pod that never begins": {
			spoil: func(s *simulation) {
				s.before = func(pod *corev1.Pod) bool { return !isTarget(pod) }
			},
			reason: v1alpha1.ReasonTargetFailed, says: []string{"the target: it did not begin within 600 s"},
		},
		"a command that never ends": {
			spoil:  func(s *simulation) { s.neutral = 100 * time.Hour },
			reason: v1alpha1.ReasonTargetFailed, says: []string{"did not end within 600 s", "raise timeoutSeconds", "leave out target"},
		},
		"a command that fails": {
			spoil: func(s *simulation) {
				s.before = func(pod *corev1.Pod) bool { s.fail(pod, 3, "no such file"); return false }
			},
			reason: v1alpha1.ReasonTargetFailed, says: []string{"exit code 3: no such file", "step alone"},
		},
		"an image that cannot be pulled": {
			spoil: func(s *simulation) {
				s.before = func(pod *corev1.Pod) bool { return s.waitEvent(pod, "ErrImagePull", "not found") }
			},
			reason: v1alpha1.ReasonTargetFailed, says: []string{`the image "example.test/filecomp"`, "cannot be pulled: not found"},
		},
		"a probe that fails": {
			spoil: func(s *simulation) {
				s.before = func(pod *corev1.Pod) bool {
					if !isTarget(pod) {
						s.fail(pod, 1, "the disk is full")
					}
					return isTarget(pod)
				}
			},
			reason: v1alpha1.ReasonProbeFailed, says: []string{"the probe: ", "the disk is full", "step beside-cpu"},
		},
		"a target that is killed all the time": {
			spoil:  func(s *simulation) { s.kill(v1alpha1.ReasonTargetFailed, "Error", 100) },
			reason: v1alpha1.ReasonInterrupted, says: []string{"step alone of round 1 was begun 5 times", "container main was killed by SIGKILL (exit code 137)"},
		},
		"a target that needs more memory than its limit": {
			target: func(j *batchv1.Job) {
				j.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
			},
			spoil:  func(s *simulation) { s.kill(v1alpha1.ReasonTargetFailed, "OOMKilled", 2) },
			reason: v1alpha1.ReasonTargetFailed, says: []string{"the target: container main was killed at its memory limit of 64Mi", "raise resources.limits.memory"},
		},
		"a probe that needs more memory than its limit": {
			spoil:  func(s *simulation) { s.kill(v1alpha1.ReasonProbeFailed, "OOMKilled", 2) },
			reason: v1alpha1.ReasonProbeFailed, says: []string{"the probe: container loadline-probe was killed at its memory limit of 512Mi", "raise --probe-memory"},
		},
		"pods that are deleted all the time": {
			spoil: func(s *simulation) {
				s.before = func(pod *corev1.Pod) bool {
					s.must(s.Delete(s.t.Context(), pod))
					s.finish(s.t.Context(), pod, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
					return false
				}
			},
			reason: v1alpha1.ReasonInterrupted, says: []string{"begun 5 times", "is gone with its result"},
		},
		"results that are cut off": {
			spoil: func(s *simulation) {
				s.says = func(_ *corev1.Pod, _, message string) string { return message[:len(message)/2] }
			},
			reason: v1alpha1.ReasonProbeFailed, says: []string{"cut off", "begun 5 times"},
		},
		"a node that boots again and again": {
			spoil: func(s *simulation) {
				s.says = func(pod *corev1.Pod, _, message string) string {
					return strings.Replace(message, `"bootID":"boot"`, `"bootID":"`+pod.Name+`"`, 1)
				}
			},
			reason: v1alpha1.ReasonInterrupted, says: []string{"was booted in between"},
		},
		"a probe that does not keep its resource busy": {
			spoil:  func(s *simulation) { s.self[v1alpha1.ProbeDiskRead] = 1.1 },
			reason: v1alpha1.ReasonUnsaturated, says: []string{"disk-read with 1 request", "1.10 times only, not 2", "add spec.calibration"},
		},
		"loadings that overlap": {
			spoil:  func(s *simulation) { s.overlap = 0.8 },
			reason: v1alpha1.ReasonInconsistent, says: []string{"add up to"},
		},
		"a target that ends too soon": {
			spoil:  func(s *simulation) { s.neutral = 50 * time.Millisecond },
			reason: v1alpha1.ReasonTargetFailed, says: []string{"too soon to tell"},
		},
		"no pods of a service": {
			profile: filecomp(asService),
			reason:  v1alpha1.ReasonNoRunningPods, says: []string{"no pod that follows the profile runs"},
		},
		"no usable node": {
			spoil: func(s *simulation) {
				n := worker("worker-1", 1)
				s.must(s.Get(s.t.Context(), client.ObjectKeyFromObject(n), n))
				n.Spec.Unschedulable = true
				s.must(s.Update(s.t.Context(), n))
			},
			reason: v1alpha1.ReasonNoNode, says: []string{"no usable node"},
		},
		"no quiet node": {
			spoil:  func(s *simulation) { s.must(s.Create(s.t.Context(), service("cart-1", "cart", "worker-1"))) },
			reason: v1alpha1.ReasonNoQuietNode, says: []string{"worker-1: pod etl/cart-1 runs there", "neighbours: correct"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.profile == nil {
				test.profile = filecomp()
			}
			job := targetJob()
			if test.target != nil {
				test.target(job)
			}
			s := newSimulation(t, test.profile, job, worker("worker-1", 1))
			if test.spoil != nil {
				test.spoil(s)
			}
			s.until(test.reason)
			c := s.condition()
			if c.Status != metav1.ConditionFalse {
				t.Errorf("the condition is %s", c.Status)
			}
			for _, text := range test.says {
				if !strings.Contains(c.Message, text) {
					t.Errorf("the message %q lacks %q", c.Message, text)
				}
			}
			if len(c.Message) > 1000 {
				t.Errorf("the message has %d characters", len(c.Message))
			}
			s.before = nil
			s.nothingLeft()
			if !strings.Contains(strings.Join(s.emitted(), "\n"), test.reason) {
				t.Errorf("no event tells of it: %v", s.emitted())
			}
		})
	}
}

// kill has the kernel kill the first n targets, or probes, that run, as the reason of the
// failure says whose it would be.
func (s *simulation) kill(whose, why string, n int) {
	s.before = func(pod *corev1.Pod) bool {
		if isTarget(pod) != (whose == v1alpha1.ReasonTargetFailed) || n == 0 {
			return true
		}
		n--
		s.fail(pod, 137, "")
		pod.Status.ContainerStatuses[0].State.Terminated.Reason = why
		s.must(s.Status().Update(s.t.Context(), pod))
		return false
	}
}

// A pod that is killed from outside, or because its node ran out of memory, runs again after a
// pause, an event reports it, and the measurement ends well.
func TestAStepWhosePodsAreKilledIsBegunAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		whose, why string
		times      int
	}{
		"a probe":                             {v1alpha1.ReasonProbeFailed, "Error", 1},
		"a target":                            {v1alpha1.ReasonTargetFailed, "Error", 1},
		"a probe, as often as is endured":     {v1alpha1.ReasonProbeFailed, "Error", 4},
		"a probe for want of memory, once":    {v1alpha1.ReasonProbeFailed, "OOMKilled", 1},
		"a target whose node runs out, twice": {v1alpha1.ReasonTargetFailed, "OOMKilled", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
			s.kill(test.whose, test.why, test.times)
			p := s.until(v1alpha1.ReasonMeasured)
			vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
			emitted := strings.Join(s.emitted(), "\n")
			for i := 1; i <= test.times; i++ {
				if want := fmt.Sprintf("is begun again in %v, attempt %d of 5: container", pauseAfter(int32(i)), i+1); !strings.Contains(emitted, want) {
					t.Errorf("no event says %q:\n%s", want, emitted)
				}
			}
			s.nothingLeft()
		})
	}
}

func TestALostStepIsLeftAloneForAWhile(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.kill(v1alpha1.ReasonTargetFailed, "Error", 1)
	for s.profile().Status.Measuring == nil || attempts(s.profile().Status.Measuring) == 0 {
		s.reconcile()
		s.pass(time.Second)
	}
	lostAt := s.clock.Now()
	begun := func() bool {
		s.reconcile()
		var jobs batchv1.JobList
		s.must(s.List(t.Context(), &jobs, client.HasLabels{probejob.MeasurementKey}))
		return len(jobs.Items) > 0
	}
	for !begun() {
		s.clock.SetTime(s.clock.Now().Add(tick))
	}
	if paused := s.clock.Now().Sub(lostAt); paused < 3*time.Second || paused > 5*time.Second {
		t.Errorf("it was begun again after %v, want 5 s or what a look of a second leaves of them", paused)
	}
}

// emitted returns the events so far.
func (s *simulation) emitted() []string {
	for {
		select {
		case e := <-s.events.Events:
			s.heard = append(s.heard, e)
		default:
			return s.heard
		}
	}
}

func TestAFailureIsTriedAgainLaterAndLater(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.before = func(pod *corev1.Pod) bool { s.fail(pod, 1, "no"); return false }
	var times []time.Time
	for range 4 {
		s.until(v1alpha1.ReasonTargetFailed)
		times = append(times, s.clock.Now())
		for s.profile().Status.Measuring == nil {
			result := s.reconcile()
			s.pass(min(max(result.RequeueAfter, tick), time.Minute))
		}
	}
	for i := range 3 {
		if waited, want := times[i+1].Sub(times[i]), firstRetry<<i; waited < want || waited > want+time.Minute {
			t.Errorf("after failure %d it waited %v, want %v", i+1, waited, want)
		}
	}
}

func TestAFailureIsTriedAgainAtOnceWhenTheTemplateChanges(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.before = func(pod *corev1.Pod) bool { s.fail(pod, 1, "no"); return false }
	s.until(v1alpha1.ReasonTargetFailed)
	s.before = nil
	s.edit(func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Image = "example.test/filecomp:fixed" })
	s.reconcile()
	if s.profile().Status.Measuring == nil {
		t.Error("no measurement has begun")
	}
	s.until(v1alpha1.ReasonMeasured)
}

// edit changes the Job that the target is.
func (s *simulation) edit(change func(*batchv1.Job)) {
	s.t.Helper()
	job := targetJob()
	s.must(s.Get(s.t.Context(), client.ObjectKeyFromObject(job), job))
	change(job)
	s.must(s.Update(s.t.Context(), job))
}

func TestARestartedManagerRemembersAFailure(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.before = func(pod *corev1.Pod) bool { s.fail(pod, 1, "no"); return false }
	s.until(v1alpha1.ReasonTargetFailed)
	before := s.condition()
	s.restart()
	if result := s.reconcile(); result.RequeueAfter != firstRetry {
		t.Errorf("it looks again after %v, want %v", result.RequeueAfter, firstRetry)
	}
	if after := s.condition(); after != before {
		t.Errorf("the condition became %+v, was %+v", after, before)
	}
}

// Neither does such a measurement keep a node from others, nor does its profile wait ever longer: the right may come at any time.
func TestAManagerThatMayNotRunJobsSaysSo(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	may := false
	s.reconciler.Client = interceptor.NewClient(s.cache.(client.WithWatch), interceptor.Funcs{ //nolint:errcheck // it is one
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if may {
				return c.Apply(ctx, o, options...)
			}
			return apierrors.NewForbidden(batchv1.Resource("jobs"), "probe", errors.New(`User "manager" cannot patch resource "jobs" in API group "batch" in the namespace "etl"`))
		},
	})
	for range 3 {
		s.until(v1alpha1.ReasonForbidden)
		refused := s.clock.Now()
		if want := "may not run Jobs in namespace etl: add it to rbac.measurement.namespaces of the chart"; !strings.Contains(s.condition().Message, want) {
			t.Errorf("the condition lacks %q: %s", want, s.condition().Message)
		}
		other := slots.Owner{Namespace: "shop", UID: "another"}
		if !s.reconciler.Slots.Acquire(other, "worker-1") {
			t.Error("the node is still taken")
		}
		s.reconciler.Slots.Release(other.UID)
		for s.profile().Status.Measuring == nil {
			s.reconcile()
			s.pass(time.Minute)
		}
		if waited := s.clock.Now().Sub(refused); waited > firstRetry+2*time.Minute {
			t.Errorf("it is tried again after %v, want %v", waited, firstRetry)
		}
	}
	may = true
	s.until(v1alpha1.ReasonMeasured)
}

func TestAnUnsaturatedResourceDoesNotSpoilTheOthers(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(), targetJob(), worker("worker-1", 1))
	s.self[v1alpha1.ProbeDiskRead] = 1.1
	vector(t, s.until(v1alpha1.ReasonUnsaturated), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
}

func TestAStepIsBegunAgainWhenTheServiceScalesMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(asService, only("cpu")), worker("worker-1", 1), worker("worker-2", 1), service("a", "filecomp", "worker-2"))
	s.background["filecomp"] = loading.Loadings(0.3, 0)
	scaled := false
	p := s.until(v1alpha1.ReasonMeasured, func() {
		if m := s.profile().Status.Measuring; m != nil && !scaled && m.Step == "beside-cpu" && len(s.running) > 0 {
			scaled = true
			pod := service("b", "filecomp", "worker-2")
			pod.CreationTimestamp = s.now()
			s.must(s.Create(t.Context(), pod))
			s.reconcile()
			if got := attempts(s.profile().Status.Measuring); got != 1 {
				t.Errorf("%d attempts came to nothing, want 1", got)
			}
		}
	})
	vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.3})
}
