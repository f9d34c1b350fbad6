package pools_test

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// at returns the plan of two classes with other rates of arrival, both per second.
func at(t *testing.T, strategy string, rates ...float64) pools.Input {
	t.Helper()
	plan := poolPlan(t, twoClasses)
	plan.Spec.Strategy = strategy
	in := pools.Input{Plan: plan}
	for i, rate := range rates {
		plan.Spec.Classes[i].Arrival = &v1alpha1.ClassArrival{Query: "rate"}
		in.Measured = append(in.Measured, pools.Measurement{Class: plan.Spec.Classes[i].Name, Arrival: &pools.Reading{Value: rate}})
	}
	return in
}

func TestAMapAgreesWithThePlansAtItsPoints(t *testing.T) {
	t.Parallel()
	m, err := pools.CompareByRates(t.Context(), at(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if m.X != (pools.Axis{Class: "checkout", To: 1.2, Now: 0.6}) || m.Y != (pools.Axis{Class: "search", To: 2.4, Now: 1.2}) || !m.SameCost {
		t.Errorf("the axes are %+v and %+v, servers cost the same: %t", m.X, m.Y, m.SameCost)
	}
	for _, cell := range [][2]int{{0, 0}, {17, 180}, {100, 100}, {199, 60}, {199, 199}} {
		r, c := cell[0], cell[1]
		x, y := m.X.To*(float64(c)+0.5)/float64(len(m.Margins[r])), m.Y.To*(float64(r)+0.5)/float64(len(m.Margins))
		shared, err := pools.Plan(t.Context(), at(t, v1alpha1.StrategyShared, x, y))
		if err != nil {
			t.Fatal(err)
		}
		dedicated, err := pools.Plan(t.Context(), at(t, v1alpha1.StrategyDedicated, x, y))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := m.Margins[r][c], shared.Cost-dedicated.Cost; math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v/s and %v/s dedicated pools cost %v less, want %v", x, y, got, want)
		}
	}
}

func TestThereIsNoMapOfWhatHasNone(t *testing.T) {
	t.Parallel()
	three, simulated := at(t, ""), at(t, "")
	three.Plan.Spec.Classes = append(three.Plan.Spec.Classes, *three.Plan.Spec.Classes[0].DeepCopy())
	three.Plan.Spec.Classes[2].Name = "third"
	simulated.Plan.Spec.Discipline = v1alpha1.DisciplinePDP
	for want, in := range map[string]pools.Input{
		"a map has two axes, and there are 3 classes: it takes two": three,
		"this discipline simulates each: draw it for fcfs or hol":   simulated,
	} {
		if _, err := pools.CompareByRates(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestACurveHasTheClassesOfThePlan(t *testing.T) {
	t.Parallel()
	curve, err := pools.ServersByRate(t.Context(), at(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if curve.From != 0 || curve.To != 2.4 || curve.Log || len(curve.Classes) != 2 {
		t.Fatalf("unexpected curve: %+v", curve)
	}
	for i, c := range curve.Classes {
		want := []struct {
			name string
			sla  string
			now  float64
		}{{"checkout", "95% within 3s", 0.6}, {"search", "80% within 5s", 1.2}}[i]
		if c.Name != want.name || c.SLA.String() != want.sla || c.Now != want.now || c.Steps[0] != (pools.Step{Arrival: 0, Servers: 1}) {
			t.Errorf("unexpected class: %+v, want %+v", c, want)
		}
	}
}
