//go:build e2e

package e2e

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/test/live"
)

// The gauges are a workload that has no profile and is on every node. To the scheduler they are a tenth of a core each, the
// least that the default rule makes of a pod; they are much less.
func TestAWorkloadWithoutAProfileGetsOneByWhatIsObserved(t *testing.T) {
	t.Parallel()
	label(t, v1alpha1.ModeApply)
	p := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: installation.GaugeNamespace, Name: "daemonset-loadline-gauge"}}
	await(t, "a profile of the gauges", p, func() (bool, string) {
		for _, o := range p.Status.Observations {
			if r := o.Recommended; r != nil && r.CPULoading.AsApproximateFloat64() < 0.1 {
				t.Logf("of nodes of %s it recommends %s, and %s ± %s was observed of %d pods for %ds", o.NodeProfile, r.CPULoading, o.CPULoading, o.CPULoadingSpread, *o.Pods, *o.ObservedSeconds)
				return true, ""
			}
		}
		return false, "it recommends nothing below a tenth"
	})
	cluster.AwaitCondition(t, p, &p.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue)
	if len(p.Status.Resources) != 1 || p.Status.Resources[0].Loading.AsApproximateFloat64() >= 0.1 {
		t.Errorf("the scheduler uses %+v", p.Status.Resources)
	}

	label(t, v1alpha1.ModeAdvise)
	await(t, "the profile to be advice", p, func() (bool, string) {
		return p.Spec.Observation.Mode == v1alpha1.ModeAdvise, "its mode is " + p.Spec.Observation.Mode
	})
	label(t, v1alpha1.ModeOff)
	live.Until(t, "the profile to be deleted", live.Patience, func(ctx context.Context) (bool, string, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(p), p)
		return apierrors.IsNotFound(err), "it is there", client.IgnoreNotFound(err)
	})
}

// await waits until a profile is there, and something holds.
func await(t *testing.T, what string, p *v1alpha1.WorkloadProfile, holds func() (done bool, stand string)) {
	t.Helper()
	live.Until(t, what, live.LongPatience, func(ctx context.Context) (bool, string, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(p), p)
		if err != nil {
			return false, "it is not there", client.IgnoreNotFound(err)
		}
		done, stand := holds()
		return done, stand, nil
	})
}

// label labels the namespace of the gauges.
func label(t *testing.T, mode string) {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: installation.GaugeNamespace}}
	patch := []byte(`{"metadata":{"labels":{"` + v1alpha1.ObservedProfilesLabel + `":"` + mode + `"}}}`)
	must(t, cluster.Patch(t.Context(), n, client.RawPatch(types.MergePatchType, patch)))
}
