package disruption_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// oddities are what files have that no API server accepts, and what it does that few expect.
var oddities = map[string]func(*corev1.Pod){
	"nothing":                       func(*corev1.Pod) {},
	"empty":                         func(p *corev1.Pod) { *p = corev1.Pod{} },
	"empty on a node":               func(p *corev1.Pod) { *p = corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1"}} },
	"no containers":                 func(p *corev1.Pod) { p.Spec.Containers = nil },
	"no status":                     func(p *corev1.Pod) { p.Status = corev1.PodStatus{} },
	"a controller without a name":   of("", ""),
	"two controllers":               func(p *corev1.Pod) { p.OwnerReferences = append(p.OwnerReferences, p.OwnerReferences...) },
	"a negative request":            having("-1", ""),
	"a huge request":                having("9E", "1"),
	"a Job":                         of("Job", "etl"),
	"to run once":                   func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever },
	"started in the future":         func(p *corev1.Pod) { p.Status.StartTime = new(ago(-time.Hour)) },
	"a count that is none":          annotated(batchv1.JobIndexFailureCountAnnotation, "?"),
	"a time that is none":           annotated("karpenter.sh/do-not-disrupt", "soon"),
	"a virtual machine":             labelled("kubevirt.io", "virt-launcher"),
	"resources of the pod, but not": func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{} },
	"not ready":                     unready,
}

// Whatever a cluster or files hold is answered, and the same again: with a reason, or at a cost that is not below 0.
func TestWhateverThereIsIsAnswered(t *testing.T) {
	t.Parallel()
	odd := rapid.SampledFrom(slices.Sorted(maps.Keys(oddities)))
	number := rapid.SampledFrom([]string{"0", "1", "-5", "100%", "-1%", "2147483647", "99999999999%"})
	rapid.Check(t, func(t *rapid.T) {
		all := disruption.Input{
			Now: noon, MinAge: time.Duration(rapid.Int64().Draw(t, "least age")), NoResize: rapid.Bool().Draw(t, "no resize"),
			Jobs: etl(func(j *batchv1.Job) {
				j.Spec.BackoffLimit, j.Status.Failed = new(rapid.Int32().Draw(t, "limit")), rapid.Int32().Draw(t, "failed")
				j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{}}}
			}),
			Owners:                   []metav1.Object{&corev1.Pod{}},
			VerticalPodAutoscalers:   []disruption.VerticalPodAutoscaler{{}},
			HorizontalPodAutoscalers: horizontal(autoscalingv2.MetricSpec{}, autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType}),
		}
		for range rapid.IntRange(0, 4).Draw(t, "pods") {
			all.Pods = append(all.Pods, pod("web-1", oddities[odd.Draw(t, "oddity")]))
		}
		for range rapid.IntRange(0, 2).Draw(t, "budgets") {
			all.Budgets = append(all.Budgets, guard("web", func(b *policyv1.PodDisruptionBudget) {
				if rapid.Bool().Draw(t, "unavailable") {
					b.Spec.MaxUnavailable = new(intstr.Parse(number.Draw(t, "number")))
				} else {
					b.Spec.MinAvailable = new(intstr.Parse(number.Draw(t, "number")))
				}
			}))
		}
		r, err := disruption.New(&all)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all.Pods {
			for _, about := range []func(*corev1.Pod) disruption.Verdict{r.Evict, func(p *corev1.Pod) disruption.Verdict { return r.Resize(p, cpu("500m", "1")) }} {
				v := about(&all.Pods[i])
				if !(v.LostSeconds >= 0) || v.Refused != "" && len(v.Notes) > 0 {
					t.Fatalf("%+v", v)
				}
				if diff := cmp.Diff(v, about(&all.Pods[i])); diff != "" {
					t.Fatalf("asked again:\n%s", diff)
				}
			}
		}
	})
}
