package prediction_test

import (
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/test/given"
)

func requests(cpu ...string) map[string]resource.Quantity {
	all := map[string]resource.Quantity{}
	for i, q := range cpu {
		all[[]string{"a", "b", "c"}[i]] = resource.MustParse(q)
	}
	return all
}

// busy returns a profile of pods that take a minute of nothing but CPU.
func busy(name string) v1alpha1.WorkloadProfile {
	p := given.Workload(name, 0, given.CPU("1"))
	p.Namespace, p.Spec.NeutralMillis = "", new(int64(60_000))
	return p
}

// Pods that never rest share a core as their control groups are weighed on cgroup v2: 20 for 500m, 2 for 50m, 4 for
// 100m, 1 for a class without requests.
func TestRequestsAreShares(t *testing.T) {
	t.Parallel()
	in := prediction.Input{Cores: 1, Profiles: []v1alpha1.WorkloadProfile{busy("a"), busy("b")}}
	for name, test := range map[string]struct {
		requests map[string]resource.Quantity
		copies   int // of b
		want     [2]float64
	}{
		"none told":             {nil, 1, [2]float64{2, 2}},
		"equal":                 {requests("1", "1000m"), 1, [2]float64{2, 2}},
		"ten times":             {requests("500m", "50m"), 1, [2]float64{1.1, 11}},
		"nothing":               {requests("100m", "0"), 1, [2]float64{1.25, 5}},
		"nothing for two":       {requests("100m", "0"), 2, [2]float64{1.25, 10}},
		"nothing for all":       {requests("0", "0"), 1, [2]float64{2, 2}},
		"huge beside the least": {requests("100", "1m"), 1, [2]float64{1.00025, 3897}},
	} {
		in := in
		in.Requests, in.Pods = test.requests, []prediction.Pods{{Name: "a", Copies: 1}, {Name: "b", Copies: test.copies}}
		p, err := prediction.Predict(in)
		if err != nil {
			t.Fatal(name, err)
		}
		for g, want := range test.want {
			if math.Abs(p.Pods[g].Dilation/want-1) > 0.01 {
				t.Errorf("%s: pod %d is dilated by %v, want %v", name, g, p.Pods[g].Dilation, want)
			}
			if told := p.Pods[g].Request != nil; told != (test.requests != nil) || told && math.Abs(*p.Pods[g].EqualDilation/float64(1+test.copies)-1) > 1e-9 {
				t.Errorf("%s: pod %d: request %v, dilation if equal %v", name, g, p.Pods[g].Request, p.Pods[g].EqualDilation)
			}
		}
		// However it is shared, the core is never idle.
		if want := float64(60 * (1 + test.copies)); math.Abs(*p.DoneAtSeconds/want-1) > 1e-6 {
			t.Errorf("%s: done after %v s, want %v", name, *p.DoneAtSeconds, want)
		}
	}
}

func TestBadRequestsAreNamed(t *testing.T) {
	t.Parallel()
	in := prediction.Input{Cores: 1, Profiles: []v1alpha1.WorkloadProfile{busy("a"), busy("b")}}
	for want, r := range map[string]map[string]resource.Quantity{
		`there is none for "b"`:     requests("1"),
		`there is no pod of "c"`:    requests("1", "1", "1"),
		`requests: "b": -1 is less`: requests("1", "-1"),
	} {
		in.Requests = r
		if _, err := prediction.Predict(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// One thread beside a pod of fifteen, on two cores, has one for itself: with requests that are equal, if they were, and where
// nothing is said of them.
func TestEqualRequestsShareByPod(t *testing.T) {
	t.Parallel()
	one, many := busy("a"), busy("b")
	many.Spec.Resources[0].Threads = new(int32(15))
	for name, told := range map[string]map[string]resource.Quantity{"none told": nil, "equal": requests("1", "1"), "ten times": requests("50m", "500m")} {
		in := prediction.Input{Cores: 2, Profiles: []v1alpha1.WorkloadProfile{one, many}, Requests: told}
		p, err := prediction.Predict(in)
		if err != nil {
			t.Fatal(name, err)
		}
		for g, want := range []float64{1, 2} {
			if got := p.Pods[g].Dilation; name != "ten times" && math.Abs(got/want-1) > 0.01 {
				t.Errorf("%s: pod %d is dilated by %v, want %v", name, g, got, want)
			}
			if told != nil && math.Abs(*p.Pods[g].EqualDilation/want-1) > 0.01 {
				t.Errorf("%s: pod %d would be dilated by %v if requests were equal, want %v", name, g, *p.Pods[g].EqualDilation, want)
			}
		}
	}
}
