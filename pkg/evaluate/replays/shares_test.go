package replays_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/test/given"
)

// byRequests makes jobs share cores by their requests.
func byRequests(spec *v1alpha1.TraceReplaySpec) { spec.CPUShares = v1alpha1.CPUSharesRequests }

func TestALimitStretchesAJobAndIsNoDilation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		row  string // neutral, demand, threads, limit
		took float64
	}{
		"without a limit":                      {"10,10,,", 10},
		"of a quarter of what it needs":        {"10,10,,0.25", 40},
		"of what it needs":                     {"10,10,,1", 10},
		"of more":                              {"10,2.5,,0.5", 10},
		"of less than what two threads need":   {"10,5,2,0.5", 20},
		"that the kubelet raises to 10m":       {"0.1,0.1,,0.001", 10},
		"that is rounded up to 11 thousandths": {"0.11,0.11,,0.0101", 10},
		"that is huge":                         {"10,10,,1e18", 10},
	} {
		r := replaying(t, "#loadline-trace/v1\narrival,neutral,demand.cpu,threads.cpu,limit.cpu\n0,"+test.row+"\n", func(spec *v1alpha1.TraceReplaySpec) {
			spec.Nodes[0].Resources = []v1alpha1.ReplayResource{{Name: "cpu", Servers: new(int32(2))}}
		})
		_, jobs := outcomes(t, r, 0)
		if o := jobs[0]; !near(o.Execution(), test.took, 1e-12) || o.Dilation() != 1 {
			t.Errorf("%s: takes %v s, %v times its neutral time, want %v s and 1", name, o.Execution(), o.Dilation(), test.took)
		}
	}
}

func TestAJobWithALimitAloneRequestsIt(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\narrival,demand.cpu,request.cpu,limit.cpu\n0,1,,1.5\n0,1,0.5,1.5\n0,1,0,1.5\n"
	_, jobs := outcomes(t, replaying(t, csv, nil), 0)
	got := map[string]float64{}
	for _, o := range jobs {
		got[o.Name] = o.Requests[0]
	}
	if diff := cmp.Diff(map[string]float64{"1": 1.5, "2": 0.5, "3": 0}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// The weights of KEP-2254, as the kubelet has them: 1 for pods of class BestEffort.
func TestJobsHaveTheWeightsOfPods(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\narrival,demand.cpu,request.cpu,limit.cpu\n" +
		"0,1,,\n0,1,0,\n0,1,0.05,\n0,1,0.5,\n0,1,1,\n0,1,1e18,\n0,1,,1\n0,1,0.5,1\n0,1,0.4995,\n"
	for shares, want := range map[string]map[string]float64{
		"requests": {"1": 1, "2": 1, "3": 2, "4": 20, "5": 39, "6": 10000, "7": 39, "8": 20, "9": 20},
		"equal":    {"1": 0, "2": 0, "3": 0, "4": 0, "5": 0, "6": 0, "7": 0, "8": 0, "9": 0},
		"":         {"1": 0, "2": 0, "3": 0, "4": 0, "5": 0, "6": 0, "7": 0, "8": 0, "9": 0},
	} {
		_, jobs := outcomes(t, replaying(t, csv, func(spec *v1alpha1.TraceReplaySpec) { spec.CPUShares = shares }), 0)
		got := map[string]float64{}
		for _, o := range jobs {
			got[o.Name] = o.Type.Weight
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cpuShares %q: weights (-want +got):\n%s", shares, diff)
		}
	}
}

// ends returns when jobs are done, by name.
func ends(jobs []epochs.Outcome) map[string]float64 {
	ends := map[string]float64{}
	for _, o := range jobs {
		ends[o.Name] = o.End
	}
	return ends
}

func TestJobsThatRequestTheSameShareAlike(t *testing.T) {
	t.Parallel()
	for name, csv := range map[string]string{
		"nothing is said":           "arrival,type\n0,sort\n0,copy\n1,copy\n2,sort\n",
		"nothing is requested":      "arrival,type,request.cpu\n0,sort,0\n0,copy,\n1,copy,0\n2,sort,0\n",
		"the same is requested":     "arrival,type,request.cpu\n0,sort,0.5\n0,copy,0.5\n1,copy,0.5\n2,sort,0.5\n",
		"of which one does not ask": "arrival,type,request.memory\n0,sort,1000\n0,copy,2000\n1,copy,3000\n2,sort,\n",
	} {
		csv = "#loadline-trace/v1\n" + csv
		_, before := outcomes(t, replaying(t, csv, nil), 0)
		_, after := outcomes(t, replaying(t, csv, byRequests), 0)
		if diff := cmp.Diff(ends(before), ends(after)); diff != "" {
			t.Errorf("%s: jobs are done at (-equal shares +by requests):\n%s", name, diff)
		}
	}
}

func TestUnequalRequestsAreNoted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows   string
		shares string
		want   bool
	}{
		"ten times as much":             {"0,1,,0.5,,\n0,1,,0.05,,\n", "", true},
		"nothing beside something":      {"0,1,,0.5,,\n0,1,,,,\n", "", true},
		"a limit, which is a request":   {"0,1,,,2,\n0,1,,,,\n", "", true},
		"as is asked for":               {"0,1,,0.5,,\n0,1,,0.05,,\n", "requests", false},
		"as is said not to matter":      {"0,1,,0.5,,\n0,1,,0.05,,\n", "equal", false},
		"less than twice as much":       {"0,1,,0.5,,\n0,1,,0.9,,\n", "", false},
		"in proportion to threads":      {"0,1,8,8,,\n0,1,1,1,,\n", "", true},
		"nothing, with several threads": {"0,1,8,,,\n0,1,1,,,\n", "", false},
		"of one that does not compute":  {"0,1,,0.5,,\n0,,,0.05,,1\n", "", false},
	} {
		r := replaying(t, "#loadline-trace/v1\narrival,demand.cpu,threads.cpu,request.cpu,limit.cpu,demand.disk\n"+test.rows, func(spec *v1alpha1.TraceReplaySpec) {
			spec.CPUShares = test.shares
		})
		if result, _ := outcomes(t, r, 0); result.UnequalRequests != test.want {
			t.Errorf("%s: noted %v, want %v", name, result.UnequalRequests, test.want)
		}
	}
}

func TestGeneratedJobsHaveTheRequestsAndLimitsOfTheirTypes(t *testing.T) {
	t.Parallel()
	replay := generating()
	replay.Spec.Arrivals.Types[0].CPULimit = given.Quantity("500m")
	replay.Spec.Arrivals.Types[1].CPURequest = given.Quantity("100m")
	byRequests(&replay.Spec)
	r := newReplay(t, replay)
	result, jobs := outcomes(t, r, 0)
	type claim struct{ request, weight, limit float64 }
	got := map[string]claim{}
	for _, o := range jobs {
		got[o.Type.Name] = claim{o.Requests[0], o.Type.Weight, o.Type.Limit}
		if alone := map[string]float64{"shop/sort": 8, "shop/copy": 2}[o.Type.Name]; !near(o.Alone, alone, 1e-12) {
			t.Errorf("a %s takes %v s alone, want %v", o.Type.Name, o.Alone, alone)
		}
	}
	want := map[string]claim{"shop/sort": {0.5, 20, 0.5}, "shop/copy": {0.1, 4, 0}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(claim{})); diff != "" || result.UnequalRequests {
		t.Errorf("noted %v, weights (-want +got):\n%s", result.UnequalRequests, diff)
	}
	replay.Spec.CPUShares = ""
	if result, _ := outcomes(t, newReplay(t, replay), 0); !result.UnequalRequests {
		t.Error("generated jobs with unequal requests are not noted")
	}
}

func TestAnAnswerSaysHowCoresAreShared(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{"": "equal", "equal": "equal", "requests": "requests"} {
		replay := generating()
		replay.Spec.CPUShares = said
		if got := newReplay(t, replay).Merge(nil).CPUShares; got != want {
			t.Errorf("cpuShares %q: %q, want %q", said, got, want)
		}
	}
}

// Two jobs that do nothing but compute share a core as their weights are: the first is done when it has had its 10 s of
// it, and the second at 20 s.
func TestJobsThatRequestMoreAreDoneFirst(t *testing.T) {
	t.Parallel()
	const rounded = 1e-2 // how far a share is settled
	for name, test := range map[string]struct {
		rows  string
		first float64
	}{
		"ten times as much":        {"0,10,0.5\n0,10,0.05\n", 10 * 22 / 20.0},
		"nothing beside something": {"0,10,0.5\n0,10,\n", 10 * 21 / 20.0},
	} {
		r := replaying(t, "#loadline-trace/v1\narrival,demand.cpu,request.cpu\n"+test.rows, byRequests)
		_, jobs := outcomes(t, r, 0)
		if got := ends(jobs); !near(got["1"], test.first, rounded) || !near(got["2"], 20, rounded) {
			t.Errorf("%s: jobs are done at %v, want %v and 20", name, got, test.first)
		}
	}
}
