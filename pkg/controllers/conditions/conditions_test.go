package conditions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "etl", Name: name} }

func is(kind string, status metav1.ConditionStatus, reason string) []metav1.Condition {
	return []metav1.Condition{{Type: kind, Status: status, Reason: reason}}
}

func newCollector(t *testing.T, funcs interceptor.Funcs) *collector {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &collector{remediation: true, reader: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).WithObjects(
		&v1alpha1.WorkloadProfile{ObjectMeta: named("filecomp"), Status: v1alpha1.WorkloadProfileStatus{Conditions: append(
			is("Ready", metav1.ConditionTrue, "Declared"), is("Measured", metav1.ConditionFalse, "NoQuietNode")...,
		)}},
		&v1alpha1.WorkloadProfile{ObjectMeta: named("new")},
		&v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "nvme"}, Status: v1alpha1.NodeProfileStatus{Conditions: is("Ready", metav1.ConditionUnknown, "NotMeasured")}},
		&v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: v1alpha1.PoolPlanStatus{Conditions: is("Ready", metav1.ConditionFalse, "Infeasible")}},
		&v1alpha1.RemediationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: v1alpha1.RemediationPolicyStatus{Conditions: is("Paused", metav1.ConditionTrue, "WonTooLittle")}},
		&v1alpha1.ShareTree{ObjectMeta: metav1.ObjectMeta{Name: "company"}, Status: v1alpha1.ShareTreeStatus{Conditions: is("Ready", metav1.ConditionTrue, "Predicted")}},
		&v1alpha1.TraceReplay{ObjectMeta: named("week"), Status: v1alpha1.TraceReplayStatus{Conditions: is("Complete", metav1.ConditionFalse, "Failed")}},
	).Build()}
}

func TestEveryConditionOfEveryObjectIsShown(t *testing.T) {
	t.Parallel()
	want := `
# HELP loadline_object_condition Conditions of Loadline's objects as they are now, each with the value 1: the kind, namespace and name of the object, and the type, status (True, False or Unknown) and reason of the condition.
# TYPE loadline_object_condition gauge
loadline_object_condition{kind="NodeProfile",object_name="nvme",object_namespace="",reason="NotMeasured",status="Unknown",type="Ready"} 1
loadline_object_condition{kind="PoolPlan",object_name="shop",object_namespace="",reason="Infeasible",status="False",type="Ready"} 1
loadline_object_condition{kind="RemediationPolicy",object_name="shop",object_namespace="",reason="WonTooLittle",status="True",type="Paused"} 1
loadline_object_condition{kind="ShareTree",object_name="company",object_namespace="",reason="Predicted",status="True",type="Ready"} 1
loadline_object_condition{kind="TraceReplay",object_name="week",object_namespace="etl",reason="Failed",status="False",type="Complete"} 1
loadline_object_condition{kind="WorkloadProfile",object_name="filecomp",object_namespace="etl",reason="Declared",status="True",type="Ready"} 1
loadline_object_condition{kind="WorkloadProfile",object_name="filecomp",object_namespace="etl",reason="NoQuietNode",status="False",type="Measured"} 1
`
	if err := testutil.CollectAndCompare(newCollector(t, interceptor.Funcs{}), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestAKindThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	away := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if _, plans := list.(*v1alpha1.PoolPlanList); plans {
			return errors.New("the server is away")
		}
		return c.List(ctx, list, opts...)
	}}
	if err := registry.Register(newCollector(t, away)); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "kind PoolPlan: the server is away") {
		t.Errorf("got %v", err)
	}
}

// While a cache reads a kind for the first time, which may take minutes, scrapes show everything else; then they show conditions. They do not
// once the manager leads no more, also where it ends before all is read.
func TestConditionsAreShownOnceAllObjectsHaveBeenRead(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]bool{"it leads long enough": true, "it ends before": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				synced := make(chan struct{})
				c := newCollector(t, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					if _, profiles := list.(*v1alpha1.WorkloadProfileList); profiles {
						select {
						case <-synced:
						case <-ctx.Done():
							return ctx.Err()
						}
					}
					return c.List(ctx, list, opts...)
				}})
				registry := prometheus.NewPedanticRegistry()
				shown := func(when string, want int) {
					t.Helper()
					synctest.Wait()
					n, err := testutil.GatherAndCount(registry)
					if err != nil || n != want {
						t.Errorf("%s: %d metrics (%v), want %d", when, n, err, want)
					}
				}
				ctx, end := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- c.show(ctx, registry) }()
				shown("before all is read", 0)
				if read {
					close(synced)
					shown("once all is read", 7)
				}
				end()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				shown("at the end", 0)
			})
		})
	}
}

// A kind that cannot be read at all is said by scrapes.
func TestAKindThatCannotBeReadFailsScrapes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the server is away")
		}})
		registry := prometheus.NewPedanticRegistry()
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.show(ctx, registry) }()
		synctest.Wait()
		if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "the server is away") {
			t.Errorf("got %v", err)
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
