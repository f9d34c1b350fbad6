package savings_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/savings"
)

// small is a map of two by three by two points, whose excess is the load times 1 + unlikeness, and a tenth of that with Loadline.
func small(t testing.TB) *savings.Map {
	t.Helper()
	m, err := savings.NewMap(smallRows())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func smallRows() (rows []savings.Row) {
	for _, pods := range []float64{4, 1, 2} {
		for _, unlikeness := range []float64{0, 0.5} {
			for _, load := range []float64{0.2, 0.8} {
				excess := load * (1 + unlikeness)
				rows = append(rows, savings.Row{
					Point:  savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness},
					Excess: savings.Excess{KubeScheduler: excess, Loadline: excess / 10},
				})
			}
		}
	}
	return rows
}

// made returns the map that is made by hack/savingsmap.
func made(t testing.TB) *savings.Map {
	t.Helper()
	m, err := savings.Made()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBetweenPointsTheMapIsLinear(t *testing.T) {
	t.Parallel()
	m := small(t)
	for name, test := range map[string]struct {
		at   savings.Point
		want float64
	}{
		"the first corner":              {savings.Point{Load: 0.2, PodsPerCore: 1}, 0.2},
		"the last corner":               {savings.Point{Load: 0.8, PodsPerCore: 4, Unlikeness: 0.5}, 1.2},
		"at an edge":                    {savings.Point{Load: 0.5, PodsPerCore: 1}, 0.5},
		"between two pods per core":     {savings.Point{Load: 0.2, PodsPerCore: 3, Unlikeness: 0.5}, 0.3},
		"in the middle of everything":   {savings.Point{Load: 0.5, PodsPerCore: math.Sqrt2, Unlikeness: 0.25}, 0.625},
		"nearly at a point of a load":   {savings.Point{Load: math.Nextafter(0.8, 0), PodsPerCore: 2}, 0.8},
		"nearly at a point, from above": {savings.Point{Load: 0.2, PodsPerCore: math.Nextafter(1, 2)}, 0.2},
	} {
		got, err := m.At(test.at)
		want := savings.Excess{KubeScheduler: test.want, Loadline: test.want / 10}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestPodsPerCoreCountByTheirLogarithm(t *testing.T) {
	t.Parallel()
	rows := smallRows()
	for i := range rows {
		rows[i].KubeScheduler = math.Log2(rows[i].PodsPerCore)
	}
	m, err := savings.NewMap(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, pods := range []float64{1, 1.3, 2, 2.5, 3.9, 4} {
		if got, err := m.At(savings.Point{Load: 0.3, PodsPerCore: pods, Unlikeness: 0.1}); err != nil || math.Abs(got.KubeScheduler-math.Log2(pods)) > 1e-9 {
			t.Errorf("%v: %v %v", pods, got, err)
		}
	}
}

func TestOutsideTheMapSaysByWhat(t *testing.T) {
	t.Parallel()
	m := small(t)
	for want, at := range map[string]savings.Point{
		"load 12 %, where the map has 20 % to 80 %":       {Load: 0.12, PodsPerCore: 1},
		"load 130 %, where the map has 20 % to 80 %":      {Load: 1.3, PodsPerCore: 1},
		"pods per core 0.03125, where the map has 1 to 4": {Load: 0.5, PodsPerCore: 1.0 / 32},
		"pods per core 110, where the map has 1 to 4":     {Load: 0.5, PodsPerCore: 110},
		"unlikeness 0.75, where the map has 0 to 0.5":     {Load: 0.5, PodsPerCore: 1, Unlikeness: 0.75},
		"load NaN %, where the map has 20 % to 80 %":      {Load: math.NaN(), PodsPerCore: 1},
		"pods per core +Inf, where the map has 1 to 4":    {Load: 0.5, PodsPerCore: math.Inf(1)},
		"load 12 %, where the map has 20 % to 80 % ":      {Load: 0.12, PodsPerCore: 0}, // the first is named
	} {
		if got, err := m.At(at); err == nil || err.Error() != strings.TrimSpace(want) {
			t.Errorf("%+v: %+v, %v", at, got, err)
		}
	}
}

// Everywhere on the map that is used, what is read is not above the largest of the points around it, nor below the smallest, and is that
// of the points at them.
func TestTheMadeMapIsReadBetweenItsPoints(t *testing.T) {
	t.Parallel()
	m := made(t)
	around := func(x float64, grid []float64) []float64 {
		i, exact := slices.BinarySearch(grid, x)
		if exact {
			return grid[i : i+1]
		}
		return grid[i-1 : i+1]
	}
	rapid.Check(t, func(t *rapid.T) {
		within := func(name string, grid []float64) float64 {
			return rapid.Float64Range(grid[0], grid[len(grid)-1]).Draw(t, name)
		}
		at := savings.Point{Load: within("load", m.Loads()), PodsPerCore: within("pods", m.PodsPerCore()), Unlikeness: within("unlikeness", m.Unlikenesses())}
		got, err := m.At(at)
		if err != nil {
			t.Fatal(err)
		}
		least, most := math.Inf(1), 0.0
		for _, load := range around(at.Load, m.Loads()) {
			for _, pods := range around(at.PodsPerCore, m.PodsPerCore()) {
				for _, unlikeness := range around(at.Unlikeness, m.Unlikenesses()) {
					there := m.Row(savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness})
					least, most = min(least, there.KubeScheduler), max(most, there.KubeScheduler)
				}
			}
		}
		const rounding = 1e-12
		if got.KubeScheduler < least-rounding || got.KubeScheduler > most+rounding {
			t.Fatalf("%+v: %v is not from %v to %v", at, got.KubeScheduler, least, most)
		}
	})
}

// More load is more contention, and Loadline adds to it nowhere: but for what the clusters that were drawn leave uncertain.
func TestOnTheMadeMapContentionRisesWithTheLoad(t *testing.T) {
	t.Parallel()
	m := made(t)
	for _, pods := range m.PodsPerCore() {
		for _, unlikeness := range m.Unlikenesses() {
			before := savings.Row{}
			for _, load := range m.Loads() {
				r := m.Row(savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness})
				if r.KubeScheduler < before.KubeScheduler-r.KubeSchedulerError-before.KubeSchedulerError {
					t.Errorf("%+v: %v, after %v at less load", r.Point, r.KubeScheduler, before.KubeScheduler)
				}
				if r.Loadline > r.KubeScheduler+r.SavedError {
					t.Errorf("%+v: Loadline has %v, kube-scheduler %v ± %v", r.Point, r.Loadline, r.KubeScheduler, r.SavedError)
				}
				before = r
			}
		}
	}
}

func TestAMapHasEachPointOfAGridOnce(t *testing.T) {
	t.Parallel()
	rows := smallRows()
	for want, wrong := range map[string][]savings.Row{
		"the map has no points": nil,
		"11 points, where a grid of 2 loads, 3 pods per core and 2 unlikenesses has 12": rows[1:],
		"[0.2 4 0]: is there twice": append(slices.Clip(rows), rows[0]),
	} {
		if _, err := savings.NewMap(wrong); err == nil || err.Error() != want {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

func TestRowsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rows := smallRows()
	rows[3].SavedError, rows[4].LoadlineError = 0.0125, 1.5
	var file bytes.Buffer
	if err := savings.WriteRows(&file, rows); err != nil {
		t.Fatal(err)
	}
	got, err := savings.ReadRows(&file)
	if diff := cmp.Diff(rows, got, cmpopts.EquateApprox(0, 5e-5)); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestWrongRowsAreRefused(t *testing.T) {
	t.Parallel()
	const header = "load,pods_per_core,unlikeness,kube_scheduler_excess,loadline_excess,kube_scheduler_error,loadline_error,saved_error\n"
	for want, text := range map[string]string{
		"line 1: is not load,":                     "",
		"line 1: is not load,pods_per_core":        "load,pods\n1,2\n",
		`line 3, unlikeness: "much" is not a fin`:  header + "0.2,1,0,0,0,0,0,0\n0.2,1,much,0,0,0,0,0\n",
		`line 2, load: "NaN" is not a finite num`:  header + "NaN,1,0,0,0,0,0,0\n",
		`line 2, loadline_excess: "-0.1" is not `:  header + "0.2,1,0,0,-0.1,0,0,0\n",
		`line 2, saved_error: "Inf" is not a fin`:  header + "0.2,1,0,0,0,0,0,Inf\n",
		"record on line 2: wrong number of fields": header + "0.2,1\n",
	} {
		if _, err := savings.ReadRows(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error that begins with %s, got %v", want, err)
		}
	}
}
