package loading_test

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/model/throttling"
)

// A job of 100 ms of every second at a quarter of a core takes 1.23 s alone; beside one that always computes it is stopped for less,
// as its bursts are slower.
func TestAQuotaThatStopsBurstsIsPartOfTheTimeAlone(t *testing.T) {
	t.Parallel()
	burst := loading.Demand{Loading: 0.1, Pressure: 0.1, Burst: 0.1}
	const limit = 0.25
	stretch := throttling.Load{Loading: burst.Loading, Burst: burst.Burst}.Stretch(limit)
	held := loading.Share{Limit: burst.Within(limit)}
	alone, err := contention.PredictSharing([]loading.Vector{{burst}}, []int{4}, contention.Sharing{Shares: []loading.Share{held}}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := alone.Throttling(0); math.Abs(got/stretch-1) > 1e-3 || alone.Dilations[0] != 1 {
		t.Errorf("alone it takes %v times as long by its limit and %v by others, want %v and 1", got, alone.Dilations[0], stretch)
	}
	beside, err := contention.PredictSharing([]loading.Vector{{burst}, {loading.Symmetric(1)}}, []int{1},
		contention.Sharing{Shares: []loading.Share{held, {}}}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := beside.Dilations[0] * beside.Throttling(0); !(got >= stretch*(1-1e-3) && got < stretch+0.1) {
		t.Errorf("beside another it takes %v times as long in all, want at least %v and less than that and what it waits without a limit", got, stretch)
	}
}

func TestALimitThatStopsNoBurstStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, d := range []loading.Demand{{Loading: 0.5}, {}, {Loading: 0.1, Burst: 1e-7}, {Loading: 0.5, Burst: 1, Threads: 2}} {
		if got, limit := d.Within(2), 2.0; got != limit {
			t.Errorf("%+v: a limit of %v holds as one of %v", d, limit, got)
		}
	}
	longer := loading.Demand{Loading: 0.1}
	if a, b, c := longer.LongestStretch(0.25, 0.01), longer.LongestStretch(0.25, 0.1), longer.LongestStretch(0.25, 0); !(1 < a && a < b && b < c && math.Abs(c-1.3) < 0.01) {
		t.Errorf("bursts of up to 10 ms, 100 ms and any length take up to %v, %v, %v times as long", a, b, c)
	}
	if err := (loading.Vector{{Loading: 0.1, Burst: -1}}).Validate(); err == nil || err.Error() != "resource 0: burst: -1 is not at least 0 and finite" {
		t.Errorf("got %v", err)
	}
}
