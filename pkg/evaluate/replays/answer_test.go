package replays_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/test/given"
)

// responding returns the result of a run of 10 jobs by its mean response time.
func responding(policy string, seed uint64, response float64) *replays.Result {
	return &replays.Result{
		Policy: policy, Seed: seed, Jobs: 10, MakespanSeconds: 10 * response,
		Response: replays.Summary{Mean: response}, Execution: replays.Summary{Mean: response - 1, P50: 2, P95: 3, P99: 4, Max: 5},
		Wait: replays.Summary{Mean: 1}, Dilation: replays.Summary{Mean: 1.5, P50: 1.25, P95: 2, P99: 2.5, Max: 3},
		Utilization: []replays.ResourceUtilization{{Resource: "cpu", Mean: 0.5, Busiest: 0.75}},
		SLA:         &replays.SLACount{Jobs: 5, Kept: 4},
	}
}

func allResults() map[int]*replays.Result {
	return map[int]*replays.Result{
		0: responding("random", 1, 10), 1: responding("random", 2, 20), 2: responding("random", 3, 30),
		3: responding("least-dilation", 1, 9), 4: responding("least-dilation", 2, 16), 5: responding("least-dilation", 3, 27),
	}
}

func TestMergeComparesPoliciesSeedBySeed(t *testing.T) {
	t.Parallel()
	a := newReplay(t, generating()).Merge(allResults())
	if a.Name != "two-kinds" || a.Runs != 6 || a.Done != 6 || a.Partial || a.Best != "least-dilation" {
		t.Errorf("the answer is %+v", a)
	}
	base, p := a.Policies[0], a.Policies[1]
	if base.Improvement != nil || p.Jobs != 30 || *p.SLAAttained != 0.8 || !near(p.Response.Mean, 52.0/3, 1e-12) {
		t.Errorf("the policies are %+v", a.Policies)
	}
	// 10 %, 20 % and 10 % saved: mean 2/15, deviation 1/√300. Student's t of two
	// degrees of freedom at 0.975 is 4.302653 (any table).
	const half = 4.302653 * 0.0577350269 / 1.7320508076
	if e := p.Improvement; !near(e.Mean, 2.0/15, 1e-12) || !near(*e.High-e.Mean, half, 1e-6) || !near(e.Mean-*e.Low, half, 1e-6) {
		t.Errorf("the improvement is %v from %v to %v, want %v ± %v", e.Mean, *e.Low, *e.High, 2.0/15, half)
	}
	if m := base.MakespanSeconds; !near(m.Mean, 200, 1e-12) || !near(*m.High-200, 4.302653*100/1.7320508076, 1e-6) {
		t.Errorf("the makespan is %+v", m)
	}
}

func TestMergeOfSomeRunsSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	r := newReplay(t, generating())
	results := allResults()
	delete(results, 1)
	a := r.Merge(results)
	if !a.Partial || a.Done != 5 || !a.Policies[0].Partial || a.Policies[1].Partial || a.Policies[1].Improvement != nil || a.Best == "" {
		t.Errorf("without the second run: %+v", a)
	}
	for run := range 3 {
		delete(results, run)
	}
	if a := r.Merge(results); len(a.Policies) != 1 || a.Policies[0].Policy != "least-dilation" || a.Best != "least-dilation" || !a.Partial {
		t.Errorf("without the first policy: %+v", a)
	}
	if a := r.Merge(nil); !a.Partial || a.Best != "" || len(a.Policies) != 0 {
		t.Errorf("without any run: %+v", a)
	}
}

// Runs that were ended before their time are not of the same jobs.
func TestMergeDoesNotCompareRunsThatWereCutShort(t *testing.T) {
	t.Parallel()
	results := allResults()
	results[5].Partial = true
	a := newReplay(t, generating()).Merge(results)
	if !a.Partial || a.Policies[0].Partial || !a.Policies[1].Partial || a.Policies[1].Improvement != nil || a.Best != "" {
		t.Errorf("the answer is %+v", a)
	}
}

func TestTheFirstOfEquallyGoodPoliciesIsTheBest(t *testing.T) {
	t.Parallel()
	results := allResults()
	for seed := range 3 {
		results[3+seed] = responding("least-dilation", uint64(seed+1), results[seed].Response.Mean*(1+1e-12))
	}
	if a := newReplay(t, generating()).Merge(results); a.Best != "random" {
		t.Errorf("the best is %q", a.Best)
	}
}

func TestStatusHoldsWhatTheAnswerSays(t *testing.T) {
	t.Parallel()
	r := newReplay(t, generating())
	results := allResults()
	for run := range 3 {
		results[run] = &replays.Result{Policy: "random", Seed: uint64(run + 1), Dropped: 400}
	}
	status := v1alpha1.TraceReplayStatus{Best: "what was best before", Results: []v1alpha1.ReplayResult{{Policy: "gone"}}}
	r.Status(&status, r.Merge(results))
	want := v1alpha1.TraceReplayStatus{
		Best: "least-dilation",
		Results: []v1alpha1.ReplayResult{
			{Policy: "random", Runs: new(int32(3)), Jobs: new(int64(0)), Dropped: new(int64(1200))},
			{
				Policy: "least-dilation", Runs: new(int32(3)), Jobs: new(int64(30)), Dropped: new(int64(0)),
				MakespanMillis: new(int64(173333)), WaitMeanMillis: new(int64(1000)),
				Execution:   &v1alpha1.MillisSummary{MeanMillis: new(int64(16333)), P50Millis: new(int64(2000)), P95Millis: new(int64(3000)), P99Millis: new(int64(4000))},
				Dilation:    &v1alpha1.QuantitySummary{Mean: given.Quantity("1.500"), P50: given.Quantity("1.250"), P95: given.Quantity("2.000"), P99: given.Quantity("2.500")},
				SLAAttained: given.Quantity("0.800"),
			},
		},
	}
	if !equality.Semantic.DeepEqual(want, status) {
		t.Errorf("the status (-want +got):\n%s", cmp.Diff(want, status))
	}

	r.Status(&status, r.Merge(allResults()))
	got := status.Results[1]
	for name, q := range map[string]struct{ got, want string }{
		"improvement": {got.Improvement.String(), "133m"}, "low": {got.ImprovementLow.String(), "-10m"}, "high": {got.ImprovementHigh.String(), "277m"},
	} {
		if q.got != q.want {
			t.Errorf("%s is %s, want %s", name, q.got, q.want)
		}
	}
}

func TestARealResultSurvivesItsEncoding(t *testing.T) {
	t.Parallel()
	want, _ := outcomes(t, newReplay(t, generating()), 0)
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := replays.DecodeResult(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A result must fit into a termination message, whatever happened.
func TestTheLargestResultFits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(length int) string {
		var b strings.Builder
		for b.Len() < length {
			b.WriteRune(rune(0x4e00 + random.IntN(0x5000))) // what cannot be compressed
		}
		return b.String()
	}
	summary := func() replays.Summary {
		x := func() float64 { return random.ExpFloat64() * 1e9 }
		return replays.Summary{Mean: x(), P50: x(), P95: x(), P99: x(), Max: x()}
	}
	r := &replays.Result{
		Policy: "target-load-packing", Seed: 1000, Partial: true, Jobs: 9_999_999, Dropped: 123_456, Skipped: 7_654_321,
		FirstDrop: noise(490), FirstSkip: noise(490), MakespanSeconds: random.ExpFloat64() * 1e9, Waited: 9_999_998,
		Response: summary(), Execution: summary(), Wait: summary(), Dilation: summary(), SLA: &replays.SLACount{Jobs: 9_999_999, Kept: 9_999_998},
	}
	for i := range 10 {
		name := fmt.Sprintf("%d%x%x%x%x", i, random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())
		r.Utilization = append(r.Utilization, replays.ResourceUtilization{Resource: name[:63], Mean: random.Float64(), Busiest: random.Float64()})
	}
	for range 101 {
		r.DilationQuantiles = append(r.DilationQuantiles, float64(random.IntN(1e9))/1e4)
	}
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := replays.DecodeResult(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 4096 || got.FirstDrop == "" || !strings.HasPrefix(r.FirstDrop, strings.TrimSuffix(got.FirstDrop, "…")) {
		t.Errorf("%d bytes; the first drop is %q", len(text), got.FirstDrop)
	}
	got.FirstDrop, got.FirstSkip = r.FirstDrop, r.FirstSkip
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("besides the texts (-before +after):\n%s", diff)
	}

	r.Utilization = append(r.Utilization, replays.ResourceUtilization{Resource: noise(4096)})
	if _, err := r.Encode(); err == nil || !strings.Contains(err.Error(), "name fewer resources") {
		t.Errorf("of a result that cannot fit the error is %v", err)
	}
}

func TestWhatIsNoResultIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "no base64!", "bm8gZ3ppcA==", strings.Repeat("A", 4097)} {
		if r, err := replays.DecodeResult(text); err == nil || r != nil {
			t.Errorf("%.20q is read as %+v", text, r)
		}
	}
}
