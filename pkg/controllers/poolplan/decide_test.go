package poolplan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// world is a plan with one pool over time: each step decides as the controller does, with the
// status of the step before.
type world struct {
	plan     *v1alpha1.PoolPlan
	now      time.Time
	replicas int32
	problem  *problem
	reading  pools.Reading
	applied  *metav1.Condition
	again    time.Duration
}

const measuredPlan = `
mode: apply
prometheus: {address: "http://prometheus"}
classes:
- {name: a, arrival: {query: rate}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}}
pools:
- {name: p, classes: [a], scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}, maxServers: 9000}
scaling: {stabilizationSeconds: 60, minSecondsBetweenSteps: 10}
`

// needs maps servers to an arrival rate that needs exactly that number, far from the rates that
// need another; servers of one class at 100 ms within 500 ms.
func needs(t rapid.TB, servers int) float64 {
	plan := readPlan(t, measuredPlan)
	for rate := 0.5; rate < 10_000; rate *= 1.01 {
		in := pools.Input{Plan: plan, Measured: []pools.Measurement{{Class: "a", Arrival: &pools.Reading{Value: rate}}}}
		a, err := pools.Plan(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if p := a.Pools[0]; p.Servers == servers && p.Bounds.ReplicasToKeep == servers {
			return rate
		}
	}
	t.Fatalf("no rate needs %d servers", servers)
	return 0
}

func readPlan(t rapid.TB, spec string) *v1alpha1.PoolPlan {
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "plan", Generation: 1}}
	if err := yaml.UnmarshalStrict([]byte(spec), &plan.Spec); err != nil {
		t.Fatal(err)
	}
	return plan
}

func newWorld(t rapid.TB, spec string, replicas int32) *world {
	return &world{plan: readPlan(t, spec), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), replicas: replicas}
}

// step decides and acts.
func (w *world) step(t rapid.TB) {
	reading := w.reading
	in := &input{
		plan: w.plan, now: w.now,
		measured: []pools.Measurement{{Class: "a", Arrival: &reading}},
		targets:  map[string]*target{"p": {replicas: new(w.replicas), problem: w.problem}},
	}
	d, err := decide(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	status := d.settled(in, d.moves)
	for _, m := range d.moves {
		w.replicas = m.to
		if m.reason == "" || m.message == "" {
			t.Fatalf("a move without a reason: %+v", m)
		}
	}
	w.plan.Status, w.again = status, d.again
	w.applied = meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionApplied)
	if p := status.Pools; len(p) > 0 && p[0].CurrentReplicas != nil && *p[0].CurrentReplicas != w.replicas {
		t.Fatalf("the status says %d replicas, there are %d", *p[0].CurrentReplicas, w.replicas)
	}
}

// expect checks the result of the last step.
func (w *world) expect(t *testing.T, replicas int32, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	c := w.applied
	if w.replicas != replicas || c.Status != status || c.Reason != reason || !strings.Contains(c.Message, message) {
		t.Errorf("there are %d replicas, and Applied is %s %s %q; want %d, %s %s %q", w.replicas, c.Status, c.Reason, c.Message, replicas, status, reason, message)
	}
}

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

func TestAPoolGrowsAtOnceAndShrinksAfterAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, measuredPlan, 1)
	w.reading.Value = needs(t, 5)
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonScaled, `pool "p": scaled from 1 to 5 replicas: it needs 5 servers, 5 replicas`)
	w.now = w.now.Add(30 * time.Second)
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonAtTarget, "it needs 5 servers")

	w.reading.Value = needs(t, 3)
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonWaitingToScaleDown, "goes from 5 to 3 when that has been enough for 1m0s")
	w.now = w.now.Add(30 * time.Second)
	w.reading.Value = needs(t, 4)
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonWaitingToScaleDown, "goes from 5 to 4")
	if w.again != 30*time.Second {
		t.Errorf("looks again in %v, the wait is over in 30s", w.again)
	}
	w.now = w.now.Add(30 * time.Second)
	w.reading.Value = needs(t, 3)
	w.step(t)
	w.expect(t, 4, yes, v1alpha1.ReasonScaled, "scaled from 5 to 4 replicas: it needs 3 servers") // the most in that time
	w.now = w.now.Add(time.Second)
	w.step(t)
	w.expect(t, 4, yes, v1alpha1.ReasonWaitingToScaleDown, "goes from 4 to 3")
	w.now = w.now.Add(60 * time.Second)
	w.step(t)
	w.expect(t, 3, yes, v1alpha1.ReasonScaled, "scaled from 4 to 3")
}

func TestABriefNeedForAllServersBeginsTheWaitAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, measuredPlan, 5)
	for _, servers := range []int{3, 5, 3} { // each 50 s after the other
		w.reading.Value = needs(t, servers)
		w.step(t)
		w.now = w.now.Add(50 * time.Second)
	}
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonWaitingToScaleDown, "goes from 5 to 3")
	w.now = w.now.Add(10 * time.Second)
	w.step(t)
	w.expect(t, 3, yes, v1alpha1.ReasonScaled, "")
}

func TestStepsAreLimitedInSizeAndRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, measuredPlan, 1)
	w.plan.Spec.Scaling.MaxStepServers = new(int32(3))
	w.reading.Value = needs(t, 9)
	for _, want := range []int32{4, 7} {
		w.step(t)
		w.expect(t, want, no, v1alpha1.ReasonStepping, fmt.Sprintf("scaled from %d to %d replicas", want-3, want))
		w.now = w.now.Add(9 * time.Second)
		w.step(t)
		w.expect(t, want, no, v1alpha1.ReasonStepping, "scaled less than 10s ago")
		w.now = w.now.Add(time.Second)
	}
	w.step(t)
	w.expect(t, 9, yes, v1alpha1.ReasonScaled, "")
	w.reading.Value = needs(t, 4)
	w.step(t)
	w.now = w.now.Add(time.Minute)
	w.step(t)
	w.expect(t, 6, yes, v1alpha1.ReasonWaitingToScaleDown, "scaled from 9 to 6")
	w.now = w.now.Add(10 * time.Second) // no need to see it for another minute
	w.step(t)
	w.expect(t, 4, yes, v1alpha1.ReasonScaled, "")
}

// The times in the status may be of another manager, whose clock was ahead, or of this one's before it was set back.
func TestAClockThatIsSetBackHoldsNoPoolUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, measuredPlan, 1)
	w.reading.Value = needs(t, 5)
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonScaled, "")
	w.now = w.now.Add(-time.Hour)
	w.reading.Value = needs(t, 9)
	w.step(t)
	w.expect(t, 5, no, v1alpha1.ReasonStepping, "scaled less than 10s ago")
	w.now = w.now.Add(10 * time.Second)
	w.step(t)
	w.expect(t, 9, yes, v1alpha1.ReasonScaled, "")

	w.now = w.now.Add(time.Minute)
	w.reading.Value = needs(t, 5)
	w.step(t)
	w.expect(t, 9, yes, v1alpha1.ReasonWaitingToScaleDown, "")
	w.now = w.now.Add(-time.Hour)
	w.step(t)
	w.expect(t, 9, yes, v1alpha1.ReasonWaitingToScaleDown, "")
	w.now = w.now.Add(time.Minute)
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonScaled, "")
}

func TestNothingIsScaledWithoutGoodData(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")
	for name, test := range map[string]struct {
		reading  pools.Reading
		replicas int32 // before and after
		status   metav1.ConditionStatus
		reason   string
	}{
		"NaN scales nothing down":         {pools.Reading{Value: math.NaN()}, 9, unknown, v1alpha1.ReasonMissingData},
		"NaN scales nothing up":           {pools.Reading{Value: math.NaN()}, 1, unknown, v1alpha1.ReasonMissingData},
		"zero scales nothing down":        {pools.Reading{Value: 0}, 9, unknown, v1alpha1.ReasonMissingData},
		"a negative rate":                 {pools.Reading{Value: -3}, 9, unknown, v1alpha1.ReasonMissingData},
		"infinity scales nothing up":      {pools.Reading{Value: math.Inf(1)}, 1, unknown, v1alpha1.ReasonMissingData},
		"no answer ever":                  {pools.Reading{Never: true, Problem: down}, 9, unknown, v1alpha1.ReasonMissingData},
		"an old answer":                   {pools.Reading{Value: 1, Age: time.Hour, Problem: down}, 9, unknown, v1alpha1.ReasonStaleData},
		"a recent answer scales not down": {pools.Reading{Value: 1, Age: time.Minute, Problem: down}, 9, yes, v1alpha1.ReasonWaitingToScaleDown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, measuredPlan, test.replicas)
			w.reading = test.reading
			for range 5 {
				w.step(t)
				w.now = w.now.Add(time.Hour)
			}
			w.expect(t, test.replicas, test.status, test.reason, "")
		})
	}
}

// A wait to scale down is not passed by time without data.
func TestTimeWithoutDataDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, measuredPlan, 5)
	few := needs(t, 3)
	w.reading.Value = few
	w.step(t)
	w.now = w.now.Add(time.Minute)
	w.reading.Value = math.NaN()
	w.step(t)
	w.reading.Value = few
	w.step(t)
	w.expect(t, 5, yes, v1alpha1.ReasonWaitingToScaleDown, "")
	w.now = w.now.Add(time.Minute)
	w.step(t)
	w.expect(t, 3, yes, v1alpha1.ReasonScaled, "")
}

func TestAPoolThatCannotBeScaledStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{v1alpha1.ReasonHPAConflict, v1alpha1.ReasonTargetNotFound, v1alpha1.ReasonTargetForbidden, v1alpha1.ReasonTargetUnavailable} {
		w := newWorld(t, measuredPlan, 1)
		w.reading.Value = needs(t, 5)
		w.problem = &problem{reason, "this is why"}
		w.replicas = 0
		w.step(t)
		w.expect(t, 0, no, reason, `pool "p": this is why`)
	}
}

func TestAdviceScalesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(measuredPlan, "mode: apply", "mode: advise", 1), 1)
	w.reading.Value = needs(t, 5)
	w.step(t)
	w.expect(t, 1, no, v1alpha1.ReasonAdvising, "nothing is scaled, for the mode is advise")
	if p := w.plan.Status.Pools[0]; *p.Servers != 5 || *p.DesiredReplicas != 5 || *p.CurrentReplicas != 1 {
		t.Errorf("the pool is %+v", p)
	}
}

func TestBoundsLimitAPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(measuredPlan, "maxServers: 9000", "minServers: 2, maxServers: 7", 1), 4)
	w.reading.Value = needs(t, 9)
	w.step(t)
	w.expect(t, 7, no, v1alpha1.ReasonLimited, "it needs 9 servers and may have 7")
	w.now = w.now.Add(time.Hour)
	w.step(t)
	w.expect(t, 7, no, v1alpha1.ReasonLimited, "it needs 9 servers and may have 7")
	w.reading.Value = needs(t, 1)
	w.step(t)
	w.now = w.now.Add(time.Hour)
	w.step(t)
	w.expect(t, 4, yes, v1alpha1.ReasonWaitingToScaleDown, "scaled from 7 to 4")
	w.now = w.now.Add(time.Hour)
	w.step(t)
	w.expect(t, 2, yes, v1alpha1.ReasonScaled, "")
}

// One number that is wrong takes no pool far at once.
func TestAPoolIsAtMostDoubledAndAtMostHalvedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(measuredPlan, "maxServers: 9000", "maxServers: 40", 1), 3)
	w.reading.Value = 1e6
	for _, want := range []int32{7, 14, 28} {
		w.step(t)
		w.expect(t, want, no, v1alpha1.ReasonStepping, fmt.Sprintf("on the way: %d of 40", want))
		w.now = w.now.Add(10 * time.Second)
	}
	w.step(t)
	w.expect(t, 40, no, v1alpha1.ReasonLimited, "scaled from 28 to 40 replicas")
	w.reading.Value = needs(t, 1)
	w.step(t)
	w.now = w.now.Add(time.Minute)
	for _, want := range []int32{20, 10, 5, 3, 2} {
		w.step(t)
		w.expect(t, want, yes, v1alpha1.ReasonWaitingToScaleDown, "")
		w.now = w.now.Add(10 * time.Second)
	}
	w.step(t)
	w.expect(t, 1, yes, v1alpha1.ReasonScaled, "scaled from 2 to 1")
}

// Plans that were stored before maxServers had to be given scale nothing.
func TestAPoolWithoutMaxServersIsNotScaled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(measuredPlan, ", maxServers: 9000", "", 1), 3)
	w.reading.Value = needs(t, 9)
	w.step(t)
	w.expect(t, 3, unknown, v1alpha1.ReasonInvalid, "spec.pools[0].maxServers: Required value: the mode apply scales the pool: write how many servers it may have at most, such as maxServers: 20")
}

// twoPools has a pool of a class that follows a team's profile, and one of the plan's own.
const twoPools = `
mode: apply
classes:
- {name: a, profile: {namespace: mallory, name: w}, sla: {responseTimeMillis: 2000}}
- {name: b, arrival: {ratePerSecond: "40"}, service: {meanMillis: 100}, sla: {responseTimeMillis: 2000}}
pools:
- {name: pa, classes: [a], maxServers: 40, scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: a}}
- {name: pb, classes: [b], maxServers: 40, scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: b}}
`

func TestWhatAProfileOfANamespaceMayScale(t *testing.T) {
	t.Parallel()
	allowing := map[string]map[string]string{"mallory": {v1alpha1.PoolsLabel: v1alpha1.PoolsAllow}}
	tests := map[string]struct {
		rate, millis string
		namespaces   map[string]map[string]string
		target       string // namespace
		a, b         int32  // replicas, of 3
		reason       string
		message      string
	}{
		"nothing of another namespace":                 {"30", "100", map[string]map[string]string{"mallory": nil}, "shop", 3, 5, v1alpha1.ReasonProfileNotAllowed, `label it loadline.dev/pools=allow if they may`},
		"nothing by another value of the label":        {"30", "100", map[string]map[string]string{"mallory": {v1alpha1.PoolsLabel: "yes"}}, "shop", 3, 5, v1alpha1.ReasonProfileNotAllowed, "does not let its profiles scale Deployment"},
		"what is in its own namespace":                 {"30", "100", map[string]map[string]string{"mallory": nil}, "mallory", 4, 5, v1alpha1.ReasonScaled, ""},
		"what its namespace lets it":                   {"30", "100", allowing, "shop", 4, 5, v1alpha1.ReasonScaled, ""},
		"up to maxServers, step by step":               {"1000000", "100", allowing, "shop", 7, 5, v1alpha1.ReasonStepping, "on the way: 7 of 40"},
		"nothing with a rate that makes no sense":      {"-1", "100", allowing, "shop", 3, 5, v1alpha1.ReasonInvalid, "must be a number from 0 to 1e+09"},
		"nothing with an SLA that cannot be met":       {"30", "1000000", allowing, "shop", 3, 5, v1alpha1.ReasonInfeasible, "cannot be met by any number of servers"},
		"nothing with more servers than are looked at": {"1000000000", "100", allowing, "shop", 3, 5, v1alpha1.ReasonInvalid, "servers"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := readPlan(t, twoPools)
			plan.Spec.Pools[0].ScaleTarget.Namespace = test.target
			p := v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: "w"}}
			p.Spec.Arrival = &v1alpha1.Arrival{RatePerSecond: new(resource.MustParse(test.rate))}
			millis := resource.MustParse(test.millis)
			p.Spec.NeutralMillis = new(millis.Value())
			in := &input{
				plan: plan, profiles: []v1alpha1.WorkloadProfile{p}, namespaces: test.namespaces,
				targets: map[string]*target{"pa": {replicas: new(int32(3))}, "pb": {replicas: new(int32(3))}},
			}
			d, err := decide(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int32{}
			for _, m := range d.moves {
				got[m.pool] = m.to
			}
			if diff := cmp.Diff(map[string]int32{"pa": test.a, "pb": test.b}, got); diff != "" {
				t.Errorf("unexpected replicas (-want +got):\n%s", diff)
			}
			applied := meta.FindStatusCondition(d.settled(in, d.moves).Conditions, v1alpha1.ConditionApplied)
			if applied.Reason != test.reason || !strings.Contains(applied.Message, test.message) {
				t.Errorf("Applied is %s %s %q, want %s %q", applied.Status, applied.Reason, applied.Message, test.reason, test.message)
			}
		})
	}
}

// Whatever the rate does, these hold.
func TestScalingKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, strings.Replace(measuredPlan, "maxServers: 9000", "minServers: 2, maxServers: 40, serversPerReplica: 2", 1), rapid.Int32Range(0, 30).Draw(t, "replicas"))
		w.plan.Spec.Scaling.MaxStepServers = new(rapid.Int32Range(1, 20).Draw(t, "step"))
		step := (*w.plan.Spec.Scaling.MaxStepServers + 1) / 2
		var lastScaled, fewerSince time.Time
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			bad := rapid.SampledFrom([]float64{1, 1, 1, 1, math.NaN(), 0}).Draw(t, "bad")
			w.reading.Value = bad * rapid.Float64Range(1, 300).Draw(t, "rate")
			before := w.replicas
			w.step(t)
			good := bad == 1
			enough := good && w.plan.Status.Pools[0].DesiredReplicas != nil && *w.plan.Status.Pools[0].DesiredReplicas < before
			if !enough {
				fewerSince = time.Time{}
			} else if fewerSince.IsZero() {
				fewerSince = w.now
			}
			switch moved := w.replicas - before; {
			case moved == 0:
			case !good:
				t.Fatalf("scaled by %d on nonsense", moved)
			case max(moved, -moved) > step:
				t.Fatalf("scaled by %d replicas, more than %d", moved, step)
			case !lastScaled.IsZero() && w.now.Sub(lastScaled) < 10*time.Second:
				t.Fatalf("scaled twice within %v", w.now.Sub(lastScaled))
			case moved > 0 && w.replicas > *w.plan.Status.Pools[0].DesiredReplicas:
				t.Fatalf("scaled up to %d, more than %d", w.replicas, *w.plan.Status.Pools[0].DesiredReplicas)
			case moved < 0 && w.replicas < *w.plan.Status.Pools[0].DesiredReplicas:
				t.Fatalf("scaled down to %d, less than %d", w.replicas, *w.plan.Status.Pools[0].DesiredReplicas)
			case moved < 0 && w.now.Sub(fewerSince) < time.Minute:
				t.Fatalf("scaled down after %v", w.now.Sub(fewerSince))
			default:
				lastScaled = w.now
			}
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second)
		}
	})
}

// At a boundary, where a little more needs another server, noise within the
// tolerance scales the pool once and never back.
func TestNoiseAtABoundaryDoesNotFlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, measuredPlan, 1)
		w.plan.Spec.Scaling.MaxStepServers = new(int32(9000))
		center := rapid.Float64Range(5, 200).Draw(t, "center")
		scalings := 0
		for i := range 60 {
			w.reading.Value = center * rapid.Float64Range(0.96, 1.04).Draw(t, "noise")
			before := w.replicas
			w.step(t)
			if w.replicas < before {
				t.Fatalf("scaled down from %d to %d at %v", before, w.replicas, w.reading.Value)
			}
			if w.replicas != before && i > 0 {
				scalings++
			}
			w.now = w.now.Add(30 * time.Second)
		}
		if most := int(center*0.1*0.08) + 2; scalings > most {
			t.Fatalf("scaled %d times, more than the %d servers between the least and the most", scalings, most)
		}
	})
}

// Events report conditions that turned bad or good and scalings, not every wait.
func TestEventsAreOfWhatMatters(t *testing.T) {
	t.Parallel()
	condition := func(kind, reason string) metav1.Condition { return metav1.Condition{Type: kind, Reason: reason} }
	for name, test := range map[string]struct {
		before, after string // the reasons of Applied
		scaled        bool
		want          int
	}{
		"the first condition":   {"", v1alpha1.ReasonAtTarget, false, 1},
		"nothing new":           {v1alpha1.ReasonAtTarget, v1alpha1.ReasonAtTarget, false, 0},
		"a wait":                {v1alpha1.ReasonAtTarget, v1alpha1.ReasonWaitingToScaleDown, false, 0},
		"scaled once more":      {v1alpha1.ReasonScaled, v1alpha1.ReasonScaled, true, 1},
		"a target that is gone": {v1alpha1.ReasonAtTarget, v1alpha1.ReasonTargetNotFound, false, 1},
		"still gone":            {v1alpha1.ReasonTargetNotFound, v1alpha1.ReasonTargetNotFound, false, 0},
		"back again":            {v1alpha1.ReasonTargetNotFound, v1alpha1.ReasonAtTarget, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := []metav1.Condition{condition(v1alpha1.ConditionApplied, test.after)}
			var before []metav1.Condition
			if test.before != "" {
				before = append(before, condition(v1alpha1.ConditionApplied, test.before))
			}
			if got := news(before, after, test.scaled); len(got) != test.want {
				t.Errorf("events of %+v, want %d", got, test.want)
			}
		})
	}
}

func TestOfSeveralPoolsTheWorstGivesTheReason(t *testing.T) {
	t.Parallel()
	moves := []move{
		{pool: "a", from: 1, to: 2, reason: v1alpha1.ReasonScaled, message: "one"},
		{pool: "b", reason: v1alpha1.ReasonTargetNotFound, message: "two"},
		{pool: "c", reason: v1alpha1.ReasonAtTarget, message: "three"},
	}
	plan := readPlan(t, measuredPlan)
	got := applied(&input{plan: plan}, nil, moves)
	want := metav1.Condition{
		Type: v1alpha1.ConditionApplied, Status: no, Reason: v1alpha1.ReasonTargetNotFound,
		Message: `pool "a": one; pool "b": two; pool "c": three`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Applied (-want +got):\n%s", diff)
	}
}
