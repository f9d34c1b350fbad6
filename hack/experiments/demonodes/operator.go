package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// vectorFound is what the operator found.
type vectorFound struct {
	components map[string]found
	inUse      []component // as the scheduler uses it
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
func (s *session) calibrate(ctx context.Context) error {
	s.log.step("calibrating the %s", s.device.resource())
	node := s.nodeProfile()
	node.Spec.Calibration = &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{s.device.probed()}}
	if err := s.Create(ctx, node); err != nil {
		return err
	}
	if err := s.awaitCondition(ctx, node, v1alpha1.ConditionCalibrated, func() []metav1.Condition { return node.Status.Conditions }); err != nil {
		return err
	}
	class, errs := profile.NewNodeClass(node)
	if err := errs.ToAggregate(); err != nil {
		return err
	}
	s.known.IOServers = class.Servers[s.device.resource()]
	fmt.Printf("The %s of a node serves %d requests of %s at once.\n", s.device.resource(), s.known.IOServers, s.io)
	return nil
}

// probed is the device as profiles name it.
func (d device) probed() v1alpha1.ProbedResource {
	return v1alpha1.ProbedResource{Name: d.resource(), Job: string(d.job), Peer: d.peer}
}

// nodeProfile is the class of the workers.
func (*session) nodeProfile() *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: class},
		Spec: v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: corev1.LabelHostname, Operator: metav1.LabelSelectorOpIn, Values: []string{first, second}},
		}}},
	}
}

func (s *session) removeNodeProfile(ctx context.Context) error {
	return s.remove(context.WithoutCancel(ctx), s.nodeProfile())
}

// measureKind has the operator measure a kind of job, made of a CronJob that never
// starts by itself.
func (s *session) measureKind(ctx context.Context, k kind) (vectorFound, error) {
	s.log.step("%s: measuring", k.name)
	name := metav1.ObjectMeta{Namespace: namespace, Name: k.name}
	pod := template(k.name, job{k, s.seconds, 0}.command(s.known.Speeds, s.device))
	cron := &batchv1.CronJob{ObjectMeta: name, Spec: batchv1.CronJobSpec{
		Schedule: "@yearly", Suspend: new(true),
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{BackoffLimit: new(int32(0)), Template: pod}},
	}}
	p := &v1alpha1.WorkloadProfile{ObjectMeta: name, Spec: v1alpha1.WorkloadProfileSpec{
		Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}, Measurement: s.measurement(k),
	}}
	for _, o := range []client.Object{cron, p} {
		if err := s.Create(ctx, o); err != nil {
			return vectorFound{}, err
		}
	}
	ended := s.awaitCondition(ctx, p, v1alpha1.ConditionMeasured, func() []metav1.Condition { return p.Status.Conditions })
	if ended != nil && !errors.As(ended, new(*hopelessError)) {
		return vectorFound{}, ended
	}
	v, err := readVector(p) // some resources may have been measured all the same
	if err != nil {
		return vectorFound{}, errors.Join(ended, err)
	}
	for _, o := range []client.Object{p, cron} {
		if err := s.remove(ctx, o); err != nil {
			return vectorFound{}, err
		}
	}
	return v, nil
}

// measurement asks for a measurement on the first node. What never uses the device
// is not measured there.
func (s *session) measurement(k kind) *v1alpha1.Measurement {
	m := &v1alpha1.Measurement{
		Target:         &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetCronJob, Name: k.name},
		Resources:      []v1alpha1.ProbedResource{{Name: "cpu"}},
		Nodes:          &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: first}},
		TimeoutSeconds: new(int64(math.Ceil(10 * s.seconds))),
		BudgetSeconds:  new(int64(3600)),
		MaxRounds:      new(int32(s.rounds)),
	}
	if k.usesDevice() {
		m.Resources = append(m.Resources, s.device.probed())
	}
	return m
}

// hopelessError says why a condition will not become True.
type hopelessError struct{ reason, message string }

func (e *hopelessError) Error() string { return e.reason + ": " + e.message }

// awaitCondition waits until a condition is True, and prints what it says meanwhile. It
// gives up where that would never be.
func (s *session) awaitCondition(ctx context.Context, o client.Object, kind string, conditions func() []metav1.Condition) error {
	said := ""
	hopeless := []string{
		v1alpha1.ReasonTargetFailed, v1alpha1.ReasonProbeFailed, v1alpha1.ReasonUnsaturated, v1alpha1.ReasonInconsistent,
		v1alpha1.ReasonInterrupted, v1alpha1.ReasonNoNode,
	}
	return until(ctx, kind+" of "+o.GetName(), func(ctx context.Context) (bool, error) {
		if err := s.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, err
		}
		c := meta.FindStatusCondition(conditions(), kind)
		if c == nil {
			return false, nil
		}
		if text := c.Reason + ": " + c.Message; text != said {
			said = text
			s.log.step("%s: %s", o.GetName(), text)
		}
		if c.Status != metav1.ConditionTrue && slices.Contains(hopeless, c.Reason) {
			return false, &hopelessError{c.Reason, c.Message}
		}
		return c.Status == metav1.ConditionTrue, nil
	})
}

// readVector reads what was measured on the class of the workers.
func readVector(p *v1alpha1.WorkloadProfile) (vectorFound, error) {
	i := slices.IndexFunc(p.Status.Measurements, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == class })
	if i < 0 {
		return vectorFound{}, fmt.Errorf("WorkloadProfile %s has no measurement on nodes of %s", p.Name, class)
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
	for _, d := range w.On(class).Demands {
		v.inUse = append(v.inUse, component{Resource: d.Resource, Loading: d.Loading, Pressure: d.Pressure, Sensitivity: d.Sensitivity})
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
