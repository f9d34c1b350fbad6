package measurement

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// counting is a reader of the API server that counts the calls.
type counting struct {
	client.Reader
	asked int
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	c.asked++
	return c.Reader.Get(ctx, key, o, options...)
}

func (c *counting) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c.asked++
	return c.Reader.List(ctx, list, options...)
}

// Of thousands of profiles most declare their vectors: the API server hears nothing
// of them from this controller.
func TestAProfileThatAsksForNoMeasurementCostsNoRequest(t *testing.T) {
	t.Parallel()
	job := func(p *v1alpha1.WorkloadProfile) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: "left", Labels: map[string]string{probejob.MeasurementKey: string(p.UID)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p, v1alpha1.GroupVersion.WithKind("WorkloadProfile"))},
		}}
	}
	for name, test := range map[string]struct {
		edit func(*v1alpha1.WorkloadProfile)
		left bool // a Job
		can  bool // be measured
		asks bool
	}{
		"declared":       {edit: func(*v1alpha1.WorkloadProfile) {}},
		"to be measured": {edit: func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = filecomp().Spec.Measurement }, can: true, asks: true},
		"to be measured, with neither a target nor a node": {edit: func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = filecomp().Spec.Measurement }},
		"was being measured": {edit: func(p *v1alpha1.WorkloadProfile) {
			p.Status.Measuring = &v1alpha1.MeasurementProgress{Node: "a", Round: new(int32(1)), StartTime: new(metav1.NewTime(noon))}
		}, asks: true},
		"was measured": {edit: func(p *v1alpha1.WorkloadProfile) {
			p.Status.Measurements = []v1alpha1.MeasuredVector{{NodeProfile: "a"}}
		}, asks: true},
		"has the condition": {edit: func(p *v1alpha1.WorkloadProfile) {
			p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionMeasured}}
		}, asks: true},
		"has a Job of the past": {edit: func(*v1alpha1.WorkloadProfile) {}, left: true, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := filecomp()
			p.Spec.Measurement = nil
			test.edit(p)
			objects := []client.Object{p}
			if test.left {
				objects = append(objects, job(p))
			}
			if test.can {
				objects = append(objects, targetJob(), worker("worker-1", 1))
			}
			s := newSimulation(t, objects...)
			reader := &counting{Reader: s.Client}
			s.reconciler.API = reader
			if _, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(p)}); err != nil {
				t.Fatal(err)
			}
			if asked := reader.asked > 0; asked != test.asks {
				t.Errorf("%d requests past the cache", reader.asked)
			}
			var jobs batchv1.JobList
			if err := s.List(t.Context(), &jobs, client.HasLabels{probejob.MeasurementKey}); err != nil || len(jobs.Items) > 0 {
				t.Errorf("Jobs are left: %d, error %v", len(jobs.Items), err)
			}
		})
	}
}
