package observations_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/test/given"
)

var (
	noon = given.Noon.Time
	cart = types.NamespacedName{Namespace: "shop", Name: "cart"}
	fast = observations.Key{Profile: cart, Class: "fast"}
)

// seen is a pod that was seen for ten seconds, alone.
func seen(uid string, loading float64) usage.Pod {
	return usage.Pod{UID: uid, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1, CPULoading: loading, Times: usage.Times{Run: 10 * loading}}
}

func interval(pods ...usage.Pod) usage.Interval {
	v := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 1, Pods: pods}
	for i := range pods {
		v.BusySeconds += pods[i].Run
	}
	return v
}

func TestASampleIsTheMeanOverTheTimeOfAPod(t *testing.T) {
	t.Parallel()
	brief := seen("a", 0.9)
	brief.Seconds, brief.Threads, brief.BurstSeconds = 5, 4, 0.02
	long := seen("a", 0.6)
	long.BurstSeconds = 0.05
	got := observations.Samples([]usage.Interval{interval(long, seen("b", 0)), interval(brief)})
	want := map[string]*observations.Sample{
		"a": {Pod: "a", Seconds: 15, CPULoading: 0.7, Threads: 2, Burst: (6*0.05 + 9*0.02) / 15, Run: 15},
		"b": {Pod: "b", Seconds: 10, CPULoading: 0, Threads: 1},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("unexpected samples (-want +got):\n%s", diff)
	}
}

func TestWhatDistortsALoadingIsLeftOut(t *testing.T) {
	t.Parallel()
	throttled := seen("throttled", 0.9)
	throttled.Throttled = 2
	hardly := seen("hardly", 0.9)
	hardly.Throttled = 0.5
	stolen := interval(seen("calm", 0.1))
	stolen.StolenSeconds = 0.1
	got := observations.Samples([]usage.Interval{interval(throttled, hardly, seen("calm", 0.5)), stolen, interval(usage.Pod{UID: "new", Threads: 1})})
	if diff := cmp.Diff([]string{"calm", "hardly"}, sorted(got)); diff != "" {
		t.Errorf("unexpected pods (-want +got):\n%s", diff)
	}
	if got["calm"].CPULoading != 0.5 {
		t.Errorf("an interval with stolen time counts: %+v", got["calm"])
	}
}

func sorted(samples map[string]*observations.Sample) []string {
	var all []string
	for _, name := range []string{"calm", "hardly", "new", "throttled"} {
		if samples[name] != nil {
			all = append(all, name)
		}
	}
	return all
}

func TestASummaryIsOfTheWindow(t *testing.T) {
	t.Parallel()
	h := &observations.History{}
	for minute := range 40 {
		loading := 0.2 // long ago
		if minute >= 25 {
			loading = 0.8
		}
		at := noon.Add(time.Duration(minute) * time.Minute)
		first := &observations.Sample{Pod: "a", Seconds: 30, CPULoading: loading, Threads: 2, Burst: 0.01 * loading, Run: 10}
		if minute%2 == 1 { // of the others it is not known
			first.DiskLoading, first.DiskSeconds = 0.1, 20
		}
		h.Add(fast, at, first)
		h.Add(fast, at.Add(time.Second), &observations.Sample{Pod: fmt.Sprintf("b%d", minute/20), Seconds: 30, CPULoading: loading, Threads: 4, Burst: 0.02, Run: 30})
	}
	h.Add(fast, noon, &observations.Sample{Pod: "late", Seconds: 1000, CPULoading: 1, Threads: 1}) // came too late to count
	now := noon.Add(39*time.Minute + 30*time.Second)
	want := map[observations.Key]observations.Summary{fast: {
		CPU: observations.Loading{Mean: 0.8, Minutes: 15, Number: 30}, Disk: observations.Loading{Mean: 0.1, Minutes: 8, Number: 8},
		Threads: 3, Burst: (0.008 + 3*0.02) / 4, Pods: 2, Seconds: 15 * 60, Last: noon.Add(39*time.Minute + time.Second),
	}}
	if diff := cmp.Diff(want, h.Summaries(now), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("unexpected summaries (-want +got):\n%s", diff)
	}
	if got := h.Summaries(now.Add(observations.Window)); len(got) != 0 {
		t.Errorf("later there are %v", got)
	}
}

// The standard deviation of samples of like weight, by its definition, in two passes.
func TestTheSpreadIsTheStandardDeviation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		loadings := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 50).Draw(t, "loadings")
		seconds := rapid.Float64Range(1, 60).Draw(t, "seconds")
		h := &observations.History{}
		mean := 0.0
		for i, x := range loadings {
			h.Add(fast, noon.Add(time.Duration(i)*10*time.Second), &observations.Sample{
				Pod: "a", Seconds: seconds, CPULoading: x, DiskLoading: (1 - x) / 2, DiskSeconds: seconds / 3, Threads: 1,
			})
			mean += x / float64(len(loadings))
		}
		squares := 0.0
		for _, x := range loadings {
			squares += (x - mean) * (x - mean)
		}
		got := h.Summaries(noon.Add(10 * time.Minute))[fast]
		const rounding = 1e-6 // of the difference of two sums, under a root
		want := math.Sqrt(squares / float64(len(loadings)-1))
		for _, of := range []struct {
			got          observations.Loading
			mean, spread float64
		}{{got.CPU, mean, want}, {got.Disk, (1 - mean) / 2, want / 2}} {
			if math.Abs(of.got.Spread-of.spread) > rounding || math.Abs(of.got.Mean-of.mean) > rounding {
				t.Errorf("got %v ± %v, want %v ± %v", of.got.Mean, of.got.Spread, of.mean, of.spread)
			}
		}
	})
}

// summary is of that many samples of three pods.
func summary(loading, spread, number float64) observations.Summary {
	return observations.Summary{CPU: observed(loading, spread, number), Threads: 1, Pods: 3, Seconds: 30 * number}
}

// observed is a loading of that many samples in twelve minutes.
func observed(mean, spread, number float64) observations.Loading {
	return observations.Loading{Mean: mean, Spread: spread, Number: number, Minutes: 12}
}

// atDisk is a summary with a loading at the disk, of nine samples.
func atDisk(s observations.Summary, mean float64) observations.Summary {
	s.Disk = observed(mean, 0.03, 9)
	return s
}

// use returns the vector of a profile on the nodes of fast.
func use(t *testing.T, p v1alpha1.WorkloadProfile) *profile.InUse {
	t.Helper()
	w, errs := profile.NewWorkload(&p, profile.NewResources(nil))
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return w.On("fast")
}

func TestAVectorDriftsWhenWhatIsObservedIsClearlyOther(t *testing.T) {
	t.Parallel()
	declared := given.Workload("cart", time.Hour, given.CPU("0.58"))
	found := given.Found("cpu", "0.58")
	found.LoadingError = given.Quantity("0.24")
	brief := summary(0.9, 0.02, 9)
	brief.CPU.Minutes = 4
	for name, test := range map[string]struct {
		profile v1alpha1.WorkloadProfile
		summary observations.Summary
		before  bool
		want    string
	}{
		"higher":                               {declared, summary(0.81, 0.03, 9), false, "cpu drifted by more than 0.10"},
		"lower":                                {declared, summary(0.3, 0.03, 9), false, "cpu drifted by more than 0.10"},
		"within the tolerance":                 {declared, summary(0.67, 0.03, 9), false, "cpu true to 0.10"},
		"within what chance does":              {declared, summary(0.81, 0.3, 9), false, "cpu true to 0.30"},
		"a single sample":                      {declared, summary(1, 0, 1), false, "cpu true to 1.00"},
		"within the margin of its measurement": {given.Measured(declared, given.On("fast", given.Noon, 100, found)), summary(0.81, 0.03, 9), false, "cpu true to 0.24"},
		"beyond the margin":                    {given.Measured(declared, given.On("fast", given.Noon, 100, found)), summary(0.84, 0.03, 9), false, "cpu drifted by more than 0.24"},
		"hardly back":                          {declared, summary(0.66, 0.03, 9), true, "cpu drifted by more than 0.10"},
		"clearly back":                         {declared, summary(0.64, 0.03, 9), true, "cpu true to 0.10"},
		"briefly observed":                     {declared, brief, false, "not judged"},
		"no vector yet":                        {given.Measured(given.Workload("cart", time.Hour)), summary(0.81, 0.03, 9), false, "not judged"},
		"a vector without cpu":                 {given.Workload("cart", time.Hour, given.Disk("0.5")), summary(0.2, 0.03, 9), false, "cpu drifted by more than 0.10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before []string
			if test.before {
				before = []string{"cpu"}
			}
			v := observations.Judge(observations.Class{Name: "fast"}, use(t, test.profile), test.summary, before)
			if got := judged(&v); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// judged is a verdict in words.
func judged(v *observations.Verdict) string {
	list := []string{}
	for _, c := range v.Compared {
		verdict := "true to"
		if c.Drifted {
			verdict = "drifted by more than"
		}
		list = append(list, fmt.Sprintf("%s %s %.2f", c.Resource, verdict, c.Bound))
	}
	if len(list) == 0 {
		return "not judged"
	}
	return strings.Join(list, ", ")
}

func TestAVectorDriftsAtTheDiskWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	both := given.Workload("cart", time.Hour, given.CPU("0.2"), given.Disk("0.5"))
	only := given.Workload("cart", time.Hour, given.CPU("0.2"))
	cpu := summary(0.2, 0.03, 9)
	brief := atDisk(cpu, 0.9)
	brief.Disk.Minutes = 4
	for name, test := range map[string]struct {
		profile v1alpha1.WorkloadProfile
		summary observations.Summary
		has     bool // the class has a disk of known servers
		drifted []string
		want    string
	}{
		"more":                             {both, atDisk(cpu, 0.7), true, nil, "cpu true to 0.10, disk drifted by more than 0.10"},
		"less":                             {both, atDisk(cpu, 0.3), true, nil, "cpu true to 0.10, disk drifted by more than 0.10"},
		"as in use":                        {both, atDisk(cpu, 0.55), true, nil, "cpu true to 0.10, disk true to 0.10"},
		"hardly back":                      {both, atDisk(cpu, 0.58), true, []string{"disk"}, "cpu true to 0.10, disk drifted by more than 0.10"},
		"another drift was there":          {both, atDisk(cpu, 0.58), true, []string{"cpu"}, "cpu true to 0.10, disk true to 0.10"},
		"not known":                        {both, cpu, true, nil, "cpu true to 0.10"},
		"briefly known":                    {both, brief, true, nil, "cpu true to 0.10"},
		"not in the vector":                {only, atDisk(cpu, 0.3), true, nil, "cpu true to 0.10, disk drifted by more than 0.10"},
		"nor said of the nodes":            {only, atDisk(cpu, 0.3), false, nil, "cpu true to 0.10"},
		"in the vector, whatever the node": {both, atDisk(cpu, 0.3), false, nil, "cpu true to 0.10, disk drifted by more than 0.10"},
	} {
		v := observations.Judge(observations.Class{Name: "fast", Disk: test.has}, use(t, test.profile), test.summary, test.drifted)
		if got := judged(&v); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestAVerdictThatIsThereStaysWhileTheDifferenceIsAtTheBound(t *testing.T) {
	t.Parallel()
	in := use(t, given.Workload("cart", time.Hour, given.CPU("0.5")))
	rapid.Check(t, func(t *rapid.T) {
		var drifted []string
		changes := 0
		for range 100 {
			noise := rapid.Float64Range(-0.02, 0.02)
			s := atDisk(summary(0.6+noise.Draw(t, "noise"), 0.01, 30), 0.1+noise.Draw(t, "noise at the disk"))
			v := observations.Judge(observations.Class{Name: "fast", Disk: true}, in, s, drifted)
			if now := v.Drifted(); !slices.Equal(now, drifted) {
				drifted = now
				changes++
			}
		}
		if changes > 2 {
			t.Errorf("the verdict changed %d times", changes)
		}
	})
}

func TestTheConditionSaysInWordsWhatDrifted(t *testing.T) {
	t.Parallel()
	verdict := func(class string, loading float64, pods int) observations.Verdict {
		s := summary(loading, 0.03, 9)
		s.Pods = pods
		return observations.Judge(observations.Class{Name: class}, use(t, given.Workload("cart", time.Hour, given.CPU("0.58"))), s, nil)
	}
	disk := observations.Judge(
		observations.Class{Name: "fast"}, use(t, given.Workload("cart", time.Hour, given.CPU("0.58"), given.Disk("0.42"))), atDisk(summary(0.7, 0.03, 9), 0.1), nil)
	many := []observations.Verdict{}
	for n := range 7 {
		many = append(many, verdict(fmt.Sprintf("class-%d", n), 0.9, 1))
	}
	for name, test := range map[string]struct {
		verdicts []observations.Verdict
		want     string
	}{
		"none": {nil, "Unknown NotObserved: the pods that follow this profile were not observed for long enough to judge: gauges must see them in 5 of 15 minutes"},
		"one that could not be judged": {
			[]observations.Verdict{{Class: "default"}},
			"Unknown NotObserved: the pods that follow this profile were not observed for long enough to judge: gauges must see them in 5 of 15 minutes",
		},
		"one that fits": {
			[]observations.Verdict{{Class: "slow"}, verdict("default", 0.6, 3)},
			"False AsObserved: the vector in use fits what was observed; status.observations has the numbers",
		},
		"one that drifted": {
			[]observations.Verdict{verdict("default", 0.81, 3), verdict("fast", 0.6, 1)},
			"True MoreObserved: cpu: 0.58 in use, 0.81 ± 0.02 observed of 3 pods for 12m on nodes of default",
		},
		"at both resources, the worst first": {
			[]observations.Verdict{disk},
			"True LessObserved: disk: 0.42 in use, 0.10 ± 0.02 observed of 3 pods for 12m on nodes of fast; " +
				"cpu: 0.58 in use, 0.70 ± 0.02 observed of 3 pods for 12m on nodes of fast",
		},
		"two, the worst first": {
			[]observations.Verdict{verdict("default", 0.81, 3), verdict(v1alpha1.NoNodeProfile, 0.1, 1)},
			"True LessObserved: cpu: 0.58 in use, 0.10 ± 0.02 observed of 1 pod for 12m on nodes without a NodeProfile; " +
				"cpu: 0.58 in use, 0.81 ± 0.02 observed of 3 pods for 12m on nodes of default",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := says(observations.Drifted(test.verdicts)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	if got := observations.Drifted(many).Message; !strings.HasSuffix(got, "on nodes of class-4; and 2 more") {
		t.Errorf("of many classes it says %s", got)
	}
}

func says(c metav1.Condition) string {
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}
