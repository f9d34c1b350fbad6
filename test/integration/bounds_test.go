package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/admission"
	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Whatever of a resize LimitRanges and ResourceQuotas refuse, package admission says it in the words of the API server; and it says that
// a resize is admitted which the API server then makes, in a dry run.
func TestAdmissionSaysWhatTheAPIServerSays(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	amounts := func(pairs ...string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return list
	}
	for name, resources := range map[string]corev1.ResourceRequirements{
		"first":  {Requests: amounts("cpu", "100m"), Limits: amounts("cpu", "500m")},
		"second": {Requests: amounts("cpu", "300m"), Limits: amounts("cpu", "1")},
	} {
		pod := p.pod(name, name)
		pod.Spec.NodeName, pod.Spec.Containers[0].Resources = p.nodes[0], resources
		must(t, p.Create(t.Context(), pod))
	}
	meta := metav1.ObjectMeta{Namespace: p.namespace, Name: "bounds"}
	quota := &corev1.ResourceQuota{ObjectMeta: meta, Spec: corev1.ResourceQuotaSpec{Hard: amounts("requests.cpu", "1", "limits.cpu", "2")}}
	ranges := &corev1.LimitRange{ObjectMeta: meta, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Min: amounts("cpu", "50m"), Max: amounts("cpu", "1500m"), MaxLimitRequestRatio: amounts("cpu", "10"),
	}}}}
	must(t, p.Create(t.Context(), quota))
	must(t, p.Create(t.Context(), ranges))
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := p.Get(ctx, client.ObjectKeyFromObject(quota), quota)
		used := quota.Status.Used["requests.cpu"]
		return used.String() == "400m", err
	}))
	pod := &corev1.Pod{}
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := p.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: "first"}, pod)
		return len(pod.Status.ContainerStatuses) > 0, err
	}))
	p.followResize(t, pod)

	counted, uncounted := *quota, *quota
	uncounted.Status = corev1.ResourceQuotaStatus{}
	var pods corev1.PodList
	must(t, p.List(t.Context(), &pods, client.InNamespace(p.namespace)))
	refused := 0
	for _, to := range []struct{ request, limit string }{
		{"200m", "500m"}, {"100m", "1"}, {"600m", "1"}, {"800m", "900m"}, {"200m", "1100m"}, {"200m", "1600m"}, {"40m", "300m"}, {"60m", "700m"}, {"900m", "1400m"},
	} {
		request, limit := resource.MustParse(to.request), resource.MustParse(to.limit)
		resized := pod.DeepCopy()
		resized.ResourceVersion = "" // its status may have changed since
		resized.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts("cpu", to.request), Limits: amounts("cpu", to.limit)}
		says := ""
		if err := p.SubResource("resize").Update(t.Context(), resized, client.DryRunAll); err != nil {
			var forbidden bool
			if _, says, forbidden = strings.Cut(err.Error(), " is forbidden: "); !forbidden {
				t.Fatal(err)
			}
			refused++
		}
		for name, q := range map[string]corev1.ResourceQuota{"counted": counted, "not counted": uncounted} {
			rules, err := admission.New(&admission.Input{
				LimitRanges: []corev1.LimitRange{*ranges}, Quotas: []corev1.ResourceQuota{q}, Pods: pods.Items, Now: time.Now(),
			})
			must(t, err)
			got := rules.Refuses(pod, disruption.Resized(pod, []disruption.ContainerCPU{{Container: "main", Request: &request, Limit: &limit}}))
			if strings.TrimPrefix(got, "LimitRange bounds: ") != says {
				t.Errorf("a request of %s and a limit of %s, with a quota that is %s: %q, the API server says %q", to.request, to.limit, name, got, says)
			}
		}
	}
	if refused < 5 {
		t.Errorf("the API server refuses %d resizes", refused)
	}
}
