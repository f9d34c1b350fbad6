package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/comparison"
)

func TestGaugesSeeWhatIsThereWithNoise(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	seen := seenAt(t, c, 5)
	fares, err := c.fares(5)
	if err != nil {
		t.Fatal(err)
	}
	pods, used, truly := 0, 0.0, 0.0
	for n, sight := range seen.all {
		for k := range sight.Intervals {
			if err := sight.Intervals[k].Validate(); err != nil {
				t.Errorf("%s: %v", sight.Node, err)
			}
		}
		if len(sight.Intervals) != intervals || len(sight.Intervals[0].Pods) != len(fares[n]) {
			t.Errorf("%s: %d intervals of %d pods, where there are %d", sight.Node, len(sight.Intervals), len(sight.Intervals[0].Pods), len(fares[n]))
		}
		for _, f := range fares[n] {
			pods++
			used += seen.use[f.pod]
			truly += f.loading.Loading * float64(f.loading.ThreadCount()) / f.dilation
		}
	}
	// 10 % of noise in each of 6 intervals leaves 0.4 % of the sum over 100 pods.
	if pods < 100 || math.Abs(used/truly-1) > 0.02 {
		t.Errorf("%d pods keep %.2f processors busy, and are seen to keep %.2f", pods, truly, used)
	}
	slowed := 0
	for _, n := range seen.cluster().Nodes {
		if n.Problem != "" {
			t.Errorf("%s: %s", n.Name, n.Problem)
		}
		slowed += len(n.Pods)
	}
	if slowed != pods {
		t.Errorf("%d of %d pods are observed", slowed, pods)
	}
}

// So that remedies differ by what they do, not by luck.
func TestTheNoiseOfAPodDoesNotDependOnTheOthers(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	alone := c.clone()
	for i := range alone.at {
		if i > 0 {
			alone.at[i] = comparison.Nowhere
		}
	}
	loading := func(of *cluster, hour int) float64 {
		for _, sight := range seenAt(t, of, hour).all {
			for _, p := range sight.Intervals[intervals-1].Pods {
				if p.UID == string(uid(0)) {
					return p.CPULoading
				}
			}
		}
		t.Fatal("the pod is not seen")
		return 0
	}
	if diff := cmp.Diff(loading(c, 3), loading(alone, 3)); diff != "" {
		t.Errorf("(-among others +alone)\n%s", diff)
	}
	if loading(c, 3) == loading(c, 4) {
		t.Error("another hour has the same noise")
	}
}
