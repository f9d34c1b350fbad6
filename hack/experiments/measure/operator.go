package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/profile"
)

// vectorFound is what the operator found.
type vectorFound struct {
	components map[string]found
	inUse      []Component // as the scheduler uses it
	neutral    float64     // seconds
	rounds     int32
}

// found is a component with its errors.
type found struct {
	loading, loadingError   float64
	pressure, pressureError float64
	sensitivity             float64
}

// calibrate has the operator find how many requests the device of a worker serves at
// once, and leaves the NodeProfile for the measurements.
func (r *Run) calibrate(ctx context.Context) error {
	r.Log.Step("calibrating the %s", r.Device.Resource())
	node := start.NodeProfile()
	node.Spec.Calibration = &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{probed(r.Device)}}
	if err := r.Create(ctx, node); err != nil {
		return err
	}
	if err := r.AwaitCondition(ctx, node, v1alpha1.ConditionCalibrated, func() []metav1.Condition { return node.Status.Conditions }); err != nil {
		return err
	}
	class, errs := profile.NewNodeClass(node)
	if err := errs.ToAggregate(); err != nil {
		return err
	}
	r.Known.IOServers = class.Servers[r.Device.Resource()]
	fmt.Printf("The %s of a node serves %d requests of %s at once.\n", r.Device.Resource(), r.Known.IOServers, r.Device.Job)
	return nil
}

// probed is the device as profiles name it.
func probed(d job.Device) v1alpha1.ProbedResource {
	return v1alpha1.ProbedResource{Name: d.Resource(), Job: string(d.Job), Peer: d.Peer}
}

func (r *Run) removeNodeProfile(ctx context.Context) error {
	return r.Remove(context.WithoutCancel(ctx), start.NodeProfile())
}

// measureKind has the operator measure a kind of job, made of a CronJob that never
// starts by itself.
func (r *Run) measureKind(ctx context.Context, k job.Kind) (vectorFound, error) {
	r.Log.Step("%s: measuring", k.Name)
	name := metav1.ObjectMeta{Namespace: start.Namespace, Name: k.Name}
	pod := start.Template(k.Name, job.Job{Kind: k, Seconds: r.Seconds}.Command(r.Known.Speeds, r.Device))
	cron := &batchv1.CronJob{ObjectMeta: name, Spec: batchv1.CronJobSpec{
		Schedule: "@yearly", Suspend: new(true),
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{BackoffLimit: new(int32(0)), Template: pod}},
	}}
	p := &v1alpha1.WorkloadProfile{ObjectMeta: name, Spec: v1alpha1.WorkloadProfileSpec{
		Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}, Measurement: r.measurement(k),
	}}
	for _, o := range []client.Object{cron, p} {
		if err := r.Create(ctx, o); err != nil {
			return vectorFound{}, err
		}
	}
	ended := r.AwaitCondition(ctx, p, v1alpha1.ConditionMeasured, func() []metav1.Condition { return p.Status.Conditions })
	if ended != nil && !errors.As(ended, new(*start.HopelessError)) {
		return vectorFound{}, ended
	}
	v, err := readVector(p) // some resources may have been measured all the same
	if err != nil {
		return vectorFound{}, errors.Join(ended, err)
	}
	for _, o := range []client.Object{p, cron} {
		if err := r.Remove(ctx, o); err != nil {
			return vectorFound{}, err
		}
	}
	return v, nil
}

// measurement asks for a measurement on the first node. What never uses the device
// is not measured there.
func (r *Run) measurement(k job.Kind) *v1alpha1.Measurement {
	m := &v1alpha1.Measurement{
		Target:         &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetCronJob, Name: k.Name},
		Resources:      []v1alpha1.ProbedResource{{Name: "cpu"}},
		Nodes:          &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: start.First}},
		TimeoutSeconds: new(int64(math.Ceil(10 * r.Seconds))),
		BudgetSeconds:  new(int64(3600)),
		MaxRounds:      new(int32(r.Rounds)),
	}
	if k.UsesDevice() {
		m.Resources = append(m.Resources, probed(r.Device))
	}
	return m
}

// readVector reads what was measured on the class of the workers.
func readVector(p *v1alpha1.WorkloadProfile) (vectorFound, error) {
	i := slices.IndexFunc(p.Status.Measurements, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == start.Class })
	if i < 0 {
		return vectorFound{}, fmt.Errorf("WorkloadProfile %s has no measurement on nodes of %s", p.Name, start.Class)
	}
	m := &p.Status.Measurements[i]
	v := vectorFound{components: map[string]found{}, rounds: *m.Rounds}
	if m.NeutralMillis != nil {
		v.neutral = float64(*m.NeutralMillis) / 1000
	}
	for _, r := range m.Resources {
		v.components[r.Name] = found{
			loading: number(r.Loading), loadingError: number(r.LoadingError),
			pressure: number(r.Pressure), pressureError: number(r.PressureError), sensitivity: number(r.Sensitivity),
		}
	}
	w, errs := profile.NewWorkload(p, profile.NewResources(nil))
	if err := errs.ToAggregate(); err != nil {
		return vectorFound{}, err
	}
	for _, d := range w.On(start.Class).Demands {
		v.inUse = append(v.inUse, Component{Resource: d.Resource, Loading: d.Loading, Pressure: d.Pressure, Sensitivity: d.Sensitivity})
	}
	return v, nil
}

// number reads a quantity, NaN if there is none.
func number(q *resource.Quantity) float64 {
	if q == nil {
		return math.NaN()
	}
	return q.AsApproximateFloat64()
}
