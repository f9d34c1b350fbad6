package poolplan

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/prometheus"
)

const (
	// queryTimeout is how long all queries of a plan may take.
	queryTimeout = 10 * time.Second
	// parallelQueries is how many are asked at once.
	parallelQueries = 8
)

// gather reads the inputs of the decision on a plan.
func (r *Reconciler) gather(ctx context.Context, plan *v1alpha1.PoolPlan) (*input, error) {
	in := &input{plan: plan, namespaces: map[string]map[string]string{}, targets: map[string]*target{}}
	for i := range plan.Spec.Classes {
		if err := r.gatherProfile(ctx, in, plan.Spec.Classes[i].Profile); err != nil {
			return nil, err
		}
	}
	in.measured = r.measure(ctx, plan)
	for i := range plan.Spec.Pools {
		pool := &plan.Spec.Pools[i]
		if pool.ScaleTarget == nil {
			continue
		}
		var err error
		if in.targets[pool.Name], err = r.findTarget(ctx, pool.ScaleTarget); err != nil {
			return nil, err
		}
	}
	in.now = r.Clock.Now()
	return in, nil
}

// gatherProfile reads the profile of a class. One that does not exist is left
// out.
func (r *Reconciler) gatherProfile(ctx context.Context, in *input, ref *v1alpha1.ProfileReference) error {
	if ref == nil {
		return nil
	}
	var p v1alpha1.WorkloadProfile
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, &p)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading WorkloadProfile %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	in.profiles = append(in.profiles, p)
	return r.gatherNamespace(ctx, in, ref.Namespace)
}

// gatherNamespace reads the labels of a namespace. One that does not exist has none.
func (r *Reconciler) gatherNamespace(ctx context.Context, in *input, name string) error {
	if _, known := in.namespaces[name]; known {
		return nil
	}
	var namespace corev1.Namespace
	if err := r.Client.Get(ctx, types.NamespacedName{Name: name}, &namespace); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading namespace %s: %w", name, err)
	}
	in.namespaces[name] = namespace.Labels
	return nil
}

// measure asks the queries of a plan.
func (r *Reconciler) measure(ctx context.Context, plan *v1alpha1.PoolPlan) []pools.Measurement {
	if plan.Spec.Prometheus == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(parallelQueries)
	list := make([]pools.Measurement, len(plan.Spec.Classes))
	for i := range plan.Spec.Classes {
		class, m := &plan.Spec.Classes[i], &list[i]
		m.Class = class.Name
		before := lastInput(plan, class.Name)
		ask := func(query string, before *v1alpha1.InputValue, answer **pools.Reading) {
			group.Go(func() error {
				*answer = r.read(ctx, plan.Spec.Prometheus.Address, query, before)
				return nil
			})
		}
		if class.Arrival != nil && class.Arrival.Query != "" {
			ask(class.Arrival.Query, before.Arrival, &m.Arrival)
		}
		if class.Service != nil && class.Service.Query != "" {
			ask(class.Service.Query, before.Service, &m.Service)
		}
	}
	if err := group.Wait(); err != nil {
		panic(err) // none of them returns one
	}
	return list
}

// lastInput returns the last input of a class from the status, if that is of this spec.
func lastInput(plan *v1alpha1.PoolPlan, class string) v1alpha1.ClassInput {
	if g := plan.Status.ObservedGeneration; g == nil || *g != plan.Generation {
		return v1alpha1.ClassInput{}
	}
	for _, in := range plan.Status.Inputs {
		if in.Class == class {
			return in
		}
	}
	return v1alpha1.ClassInput{}
}

// read asks one query. Where there is no answer it falls back on the one before.
func (r *Reconciler) read(ctx context.Context, address, query string, before *v1alpha1.InputValue) *pools.Reading {
	c := r.HTTP
	if c == nil {
		c = http.DefaultClient
	}
	sample, err := prometheus.Query(ctx, c, address, query)
	if err == nil {
		return &pools.Reading{Value: sample.Value, Age: r.age(metav1.NewTime(sample.Time))}
	}
	if before == nil || before.Source != v1alpha1.SourceQuery || before.MeasuredTime == nil {
		return &pools.Reading{Never: true, Problem: err}
	}
	return &pools.Reading{Value: before.Value.AsApproximateFloat64(), Age: r.age(*before.MeasuredTime), Problem: err}
}

func (r *Reconciler) age(t metav1.Time) time.Duration { return r.Clock.Now().Sub(t.Time) }
