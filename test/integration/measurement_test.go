package integration

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// measured makes the Job that is the target, and the profile that has it measured
// on the nodes of the place.
func (p *place) measured(t *testing.T, edits ...func(*batchv1.Job)) *v1alpha1.WorkloadProfile {
	t.Helper()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "filecomp"},
		Spec: batchv1.JobSpec{Suspend: new(true), Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "filecomp"}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.test/filecomp"}},
			},
		}},
	}
	for _, edit := range edits {
		edit(job)
	}
	must(t, p.Create(t.Context(), job))
	profile := p.profile("filecomp", map[string]string{"cpu": "0.1"})
	profile.Spec.Measurement = &v1alpha1.Measurement{
		Target:    &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetJob, Name: "filecomp"},
		Resources: []v1alpha1.ProbedResource{{Name: "cpu"}},
		Nodes:     &metav1.LabelSelector{MatchLabels: map[string]string{"place": p.namespace}},
	}
	must(t, p.Create(t.Context(), profile))
	return profile
}

// awaitMeasured waits until the condition Measured has a reason and a message that
// contains the text. After each look it calls each.
func (p *place) awaitMeasured(t *testing.T, profile *v1alpha1.WorkloadProfile, reason, text string, each ...func()) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := p.Get(ctx, client.ObjectKeyFromObject(profile), profile); err != nil {
			return false, err
		}
		for _, f := range each {
			f()
		}
		c := profile.Status.Conditions
		return profile.Status.Measuring == nil &&
			(has(c, v1alpha1.ConditionMeasured, metav1.ConditionTrue, reason, text) || has(c, v1alpha1.ConditionMeasured, metav1.ConditionFalse, reason, text)), nil
	})
	if err != nil {
		t.Fatalf("waiting for the reason %s: %v; the status is %+v", reason, err, profile.Status)
	}
}

// checkLoading fails the test if the result is another than 0.6.
func checkLoading(t *testing.T, profile *v1alpha1.WorkloadProfile) {
	t.Helper()
	r := profile.Status.Measurements[0].Resources[0]
	for what, q := range map[string]*resource.Quantity{"loading": r.Loading, "pressure": r.Pressure} {
		if got := q.AsApproximateFloat64(); math.Abs(got-0.6) > 0.03 {
			t.Errorf("the %s is %v, want 0.6 ± 0.03", what, got)
		}
	}
}

// awaitNothingMeasured waits until all Jobs and pods of measurements are gone.
func (p *place) awaitNothingMeasured(t *testing.T) {
	t.Helper()
	var left []string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		left = nil
		var jobs batchv1.JobList
		if err := p.List(ctx, &jobs, client.InNamespace(p.namespace), client.HasLabels{probejob.MeasurementKey}); err != nil {
			return false, err
		}
		for i := range jobs.Items {
			left = append(left, "Job "+jobs.Items[i].Name)
		}
		var pods corev1.PodList
		if err := p.List(ctx, &pods, client.InNamespace(p.namespace), client.HasLabels{probejob.MeasurementKey}); err != nil {
			return false, err
		}
		for i := range pods.Items {
			left = append(left, "Pod "+pods.Items[i].Name)
		}
		return len(left) == 0, nil
	})
	if err != nil {
		t.Fatalf("left behind: %v", left)
	}
}

// situation tells where a measurement is: its step, and how its pods fare.
func (p *place) situation(t *testing.T, profile *v1alpha1.WorkloadProfile) string {
	t.Helper()
	m := profile.Status.Measuring
	if m == nil {
		return ""
	}
	var pods corev1.PodList
	must(t, p.List(t.Context(), &pods, client.InNamespace(p.namespace), client.HasLabels{probejob.MeasurementKey}))
	phases := ""
	for i := range pods.Items {
		phases += " " + string(pods.Items[i].Status.Phase)
	}
	return m.Step + phases
}

func TestAMeasurementOutlivesItsManager(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 0)
	p.startStage(t, 0.6, "one")
	profile := p.measured(t)
	manage := func() *local.Process {
		process, err := local.StartManager(t.Context(), manager, p.plane.Kubeconfig())
		must(t, err)
		return process
	}
	running := manage()
	t.Cleanup(func() { must(t, running.Stop()) })
	seen := map[string]bool{}
	p.awaitMeasured(t, profile, v1alpha1.ReasonMeasured, "cpu 0.", func() {
		if now := p.situation(t, profile); now != "" && !seen[now] {
			seen[now] = true
			must(t, running.Kill())
			running = manage()
		}
	})
	if len(seen) < 6 {
		t.Errorf("the manager was killed in %d situations only: %v", len(seen), seen)
	}
	checkLoading(t, profile)
	p.awaitNothingMeasured(t)
}

func TestMeasurementsOnACluster(t *testing.T) {
	t.Parallel()
	e := ownEnvironment(t)
	e.startManagerWithItsRole(t, "--max-measurements", "10")

	t.Run("pods that are deleted are run again", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		p.startStage(t, 0.6, "one")
		profile := p.measured(t)
		seen := map[string]bool{}
		p.awaitMeasured(t, profile, v1alpha1.ReasonMeasured, "cpu 0.", func() {
			// Two times in a row will do: each takes longer than the one before.
			now := p.situation(t, profile)
			if m := profile.Status.Measuring; now != "" && !seen[now] && (m.Attempts == nil || *m.Attempts < 2) {
				seen[now] = true
				must(t, p.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(p.namespace), client.HasLabels{probejob.MeasurementKey}))
			}
		})
		checkLoading(t, profile)
		p.awaitEvent(t, v1alpha1.ReasonMeasured)
		p.awaitNothingMeasured(t)
	})

	t.Run("a node that disappears is replaced by another", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		p.startStage(t, 0.6, "one", "two")
		profile := p.measured(t)
		lost := ""
		p.awaitMeasured(t, profile, v1alpha1.ReasonMeasured, "cpu 0.", func() {
			if m := profile.Status.Measuring; m != nil && lost == "" && m.Step == "beside-cpu" {
				lost = m.Node
				must(t, p.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: lost}}))
			}
		})
		if m := profile.Status.Measurements[0]; lost == "" || m.Node == lost {
			t.Errorf("it was measured on %s, having lost %q", m.Node, lost)
		}
		checkLoading(t, profile)
		p.awaitNothingMeasured(t)
	})

	t.Run("a profile that is deleted leaves nothing", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		p.startStage(t, 0.6, "one")
		profile := p.measured(t)
		p.await(t, profile, func() bool { return profile.Status.Measuring != nil && profile.Status.Measuring.Step == "beside-cpu" })
		must(t, p.Delete(t.Context(), profile))
		p.awaitNothingMeasured(t)
	})

	for name, test := range map[string]struct {
		prepare func(*testing.T, *place)
		target  func(*batchv1.Job)
		says    string
	}{
		"a quota refuses the pods": {
			prepare: func(t *testing.T, p *place) {
				must(t, p.Create(t.Context(), &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "none"},
					Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
				}))
			},
			says: "exceeded quota: none",
		},
		"the pod security standard refuses the pods": {
			prepare: func(t *testing.T, p *place) {
				namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
				p.change(t, namespace, func() { namespace.Labels["pod-security.kubernetes.io/enforce"] = "baseline" })
			},
			target: func(j *batchv1.Job) {
				j.Spec.Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
			},
			says: "violates PodSecurity",
		},
		"there is no such service account": {
			target: func(j *batchv1.Job) { j.Spec.Template.Spec.ServiceAccountName = "nobody" },
			says:   fmt.Sprintf("serviceaccount %q not found", "nobody"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := e.newPlace(t, 0)
			p.startStage(t, 0.6, "one")
			if test.prepare != nil {
				test.prepare(t, p)
			}
			var edits []func(*batchv1.Job)
			if test.target != nil {
				edits = append(edits, test.target)
			}
			profile := p.measured(t, edits...)
			p.awaitMeasured(t, profile, v1alpha1.ReasonTargetFailed, test.says)
			p.awaitEvent(t, v1alpha1.ReasonTargetFailed)
			p.awaitNothingMeasured(t)
		})
	}
}
