package admission_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/admission"
)

var now = time.Unix(1_800_000_000, 0)

// pod returns a pod of the namespace shop with a CPU request and a limit, "" for none.
func pod(name, request, limit string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts("cpu", request), Limits: amounts("cpu", limit)}
	return p
}

// amounts returns a list of pairs of a resource and its amount, of which those without one are left out.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
	}
	return list
}

func limits(item corev1.LimitRangeItem) []corev1.LimitRange {
	return []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bounds"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}}
}

// compute returns a quota, with what is used of it, nil where no controller has counted that yet.
func compute(hard, used corev1.ResourceList, scopes ...corev1.ResourceQuotaScope) []corev1.ResourceQuota {
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "compute"}, Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}}
	if used != nil {
		q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: used}
	}
	return []corev1.ResourceQuota{q}
}

func rulesOf(t *testing.T, in admission.Input) *admission.Rules {
	t.Helper()
	in.Now = now
	rules, err := admission.New(&in)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestWhichResizesAreRefused(t *testing.T) {
	t.Parallel()
	container := func(change func(*corev1.LimitRangeItem)) admission.Input {
		item := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer}
		change(&item)
		return admission.Input{LimitRanges: limits(item)}
	}
	for name, test := range map[string]struct {
		in       admission.Input
		from, to *corev1.Pod
		want     string
	}{
		"nothing bounds it": {from: pod("a", "100m", ""), to: pod("a", "4", "")},
		"a limit above the largest": {
			in:   container(func(l *corev1.LimitRangeItem) { l.Max = amounts("cpu", "1") }),
			from: pod("a", "100m", "500m"), to: pod("a", "100m", "2"),
			want: "LimitRange bounds: maximum cpu usage per Container is 1, but limit is 2",
		},
		"a limit at the largest": {
			in:   container(func(l *corev1.LimitRangeItem) { l.Max = amounts("cpu", "1") }),
			from: pod("a", "100m", "500m"), to: pod("a", "100m", "1"),
		},
		"a request below the least": {
			in:   container(func(l *corev1.LimitRangeItem) { l.Min = amounts("cpu", "50m") }),
			from: pod("a", "100m", ""), to: pod("a", "40m", ""),
			want: "LimitRange bounds: minimum cpu usage per Container is 50m, but request is 40m",
		},
		"a limit too far above the request": {
			in:   container(func(l *corev1.LimitRangeItem) { l.MaxLimitRequestRatio = amounts("cpu", "4") }),
			from: pod("a", "100m", "400m"), to: pod("a", "100m", "500m"),
			want: "LimitRange bounds: cpu max limit to request ratio per Container is 4, but provided ratio is 5.000000",
		},
		"a pod above the largest": {
			in:   admission.Input{LimitRanges: limits(corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: amounts("cpu", "1")})},
			from: pod("a", "100m", "500m"), to: pod("a", "100m", "2"),
			want: "LimitRange bounds: maximum cpu usage per Pod is 1, but limit is 2",
		},
		"a request above the limit by default": {
			in:   container(func(l *corev1.LimitRangeItem) { l.Default = amounts("cpu", "500m") }),
			from: pod("a", "100m", ""), to: pod("a", "1", ""),
			want: "container main would request 1, more than its limit of 500m",
		},
		"what is left of a quota": {
			in:   admission.Input{Quotas: compute(amounts("requests.cpu", "1"), amounts("requests.cpu", "800m"))},
			from: pod("a", "100m", ""), to: pod("a", "300m", ""),
		},
		"more than is left of a quota": {
			in:   admission.Input{Quotas: compute(amounts("requests.cpu", "1"), amounts("requests.cpu", "800m"))},
			from: pod("a", "100m", ""), to: pod("a", "350m", ""),
			want: "exceeded quota: compute, requested: requests.cpu=250m, used: requests.cpu=800m, limited: requests.cpu=1",
		},
		"less than before of a quota that is exceeded": {
			in:   admission.Input{Quotas: compute(amounts("requests.cpu", "1"), amounts("requests.cpu", "2"))},
			from: pod("a", "500m", ""), to: pod("a", "300m", ""),
		},
		"more of what a quota does not bound": {
			in:   admission.Input{Quotas: compute(amounts("limits.cpu", "1"), amounts("limits.cpu", "1"))},
			from: pod("a", "100m", "500m"), to: pod("a", "400m", "500m"),
		},
		"a container without what a quota bounds": {
			in:   admission.Input{Quotas: compute(amounts("limits.cpu", "1"), amounts("limits.cpu", "0"))},
			from: pod("a", "100m", ""), to: pod("a", "200m", ""),
			want: "failed quota: compute: must specify limits.cpu for: main",
		},
		"a quota of other pods": {
			in:   admission.Input{Quotas: compute(amounts("requests.cpu", "1"), amounts("requests.cpu", "1"), corev1.ResourceQuotaScopeTerminating)},
			from: pod("a", "100m", ""), to: pod("a", "300m", ""),
		},
		"a quota that no controller has counted": {
			in:   admission.Input{Quotas: compute(amounts("requests.cpu", "1"), nil), Pods: []corev1.Pod{*pod("a", "100m", ""), *pod("b", "800m", "")}},
			from: pod("a", "100m", ""), to: pod("a", "250m", ""),
			want: "exceeded quota: compute, requested: requests.cpu=150m, used: requests.cpu=900m, limited: requests.cpu=1",
		},
		"a pod that has ended uses nothing of it": {
			in: admission.Input{Quotas: compute(amounts("requests.cpu", "1"), nil), Pods: []corev1.Pod{*pod("a", "100m", ""), func() corev1.Pod {
				p := *pod("b", "800m", "")
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(now.Add(-time.Minute))), new(int64(30))
				return p
			}()}},
			from: pod("a", "100m", ""), to: pod("a", "250m", ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := rulesOf(t, test.in)
			if got := rules.Refuses(test.from, test.to); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			test.from.Namespace, test.to.Namespace = "bank", "bank"
			if got := rules.Refuses(test.from, test.to); got != "" {
				t.Errorf("in a namespace without bounds: %q", got)
			}
		})
	}
}

// What one resize takes of a quota is not left for the next, and what one gives back is.
func TestEarlierResizesCount(t *testing.T) {
	t.Parallel()
	first := rulesOf(t, admission.Input{Quotas: compute(amounts("requests.cpu", "1"), amounts("requests.cpu", "800m"))})
	taken := first.With(pod("a", "100m", ""), pod("a", "250m", ""))
	if got := taken.Refuses(pod("b", "100m", ""), pod("b", "200m", "")); !strings.HasSuffix(got, "used: requests.cpu=950m, limited: requests.cpu=1") {
		t.Errorf("once most of it is taken: %q", got)
	}
	back := taken.With(pod("c", "500m", ""), pod("c", "400m", ""))
	if got := back.Refuses(pod("b", "100m", ""), pod("b", "200m", "")); got != "" {
		t.Errorf("once some of it is given back: %q", got)
	}
	if got := first.Refuses(pod("b", "100m", ""), pod("b", "300m", "")); got != "" {
		t.Errorf("the rules that were there first have changed: %q", got)
	}
}

// The words are the API server's, and what it admits as an update of a stored pod is billed by the difference.
func TestAPodFromAClusterIsBilledByTheDifference(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, admission.Input{Quotas: compute(amounts("requests.cpu", "1"), amounts("requests.cpu", "800m"))})
	from, to := pod("a", "700m", ""), pod("a", "800m", "")
	from.ResourceVersion, to.ResourceVersion = "7", "7"
	if got := rules.Refuses(from, to); got != "" {
		t.Errorf("got %q", got)
	}
}
