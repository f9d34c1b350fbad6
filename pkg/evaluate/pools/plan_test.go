package pools_test

import (
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

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/model/sizing"
	"loadline.dev/loadline/test/given"
)

// poolPlan reads the spec of a plan.
func poolPlan(t *testing.T, spec string) *v1alpha1.PoolPlan {
	t.Helper()
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "plan", Generation: 7}}
	if err := yaml.UnmarshalStrict([]byte(spec), &plan.Spec); err != nil {
		t.Fatal(err)
	}
	return plan
}

const twoClasses = `
classes:
- {name: checkout, arrival: {ratePerSecond: "0.6"}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 3000, probability: "0.95"}}
- {name: search, arrival: {ratePerSecond: "1.2"}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 5000, probability: "0.8"}}
`

// attained is Prob[response ≤ x] of M/M/m, Eq. (1) of Hu et al., by sums that are
// good for few servers.
func attained(arrival, service, x float64, m int) float64 {
	rho, terms, term := arrival/service, 0.0, 1.0
	for k := range m {
		terms += term
		term *= rho / float64(k+1)
	}
	waits := term * float64(m) / (float64(m) - rho)
	waits /= terms + waits
	spare := float64(m)*service - arrival
	return 1 - math.Exp(-service*x) - waits*service/(service-spare)*(math.Exp(-spare*x)-math.Exp(-service*x))
}

func TestAPlanHasTheFewestServers(t *testing.T) {
	t.Parallel()
	fewest := func(arrival, x, y float64) int {
		for m := int(arrival) + 1; ; m++ {
			if attained(arrival, 1, x, m) >= y {
				return m
			}
		}
	}
	checkout, search, both := fewest(0.6, 3, 0.95), fewest(1.2, 5, 0.8), fewest(1.8, 3, 0.95)
	for name, test := range map[string]struct {
		strategy string
		want     []int
	}{
		"shared":    {"strategy: shared", []int{both}},
		"dedicated": {"strategy: dedicated", []int{checkout, search}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := pools.Plan(t.Context(), pools.Input{Plan: poolPlan(t, twoClasses+test.strategy)})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, p := range a.Pools {
				got = append(got, p.Servers)
				for _, c := range p.Classes {
					if c.Attained < c.Probability {
						t.Errorf("%s attains %v, less than it should", c.Name, c.Attained)
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
			if a.Strategy != name {
				t.Errorf("the strategy is %s", a.Strategy)
			}
		})
	}
}

func TestAutoIsTheCheapestAndTheOthersAreAlternatives(t *testing.T) {
	t.Parallel()
	a, err := pools.Plan(t.Context(), pools.Input{Plan: poolPlan(t, twoClasses)})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Alternatives) != 1 || a.Alternatives[0].Cost < a.Cost || a.Alternatives[0].Strategy == a.Strategy {
		t.Errorf("%s costs %v; the alternatives are %+v", a.Strategy, a.Cost, a.Alternatives)
	}
	for _, p := range a.Pools {
		for _, c := range p.Classes {
			if c.MaxArrival == nil || c.WithOneMore == nil || *c.WithOneMore < c.Attained || c.WithOneFewer != nil && *c.WithOneFewer > c.Attained {
				t.Errorf("%s: %+v", c.Name, c)
			}
		}
	}
}

func TestWhatAClassLeavesOutItsProfileHas(t *testing.T) {
	t.Parallel()
	plan := poolPlan(t, "classes: [{name: a, profile: {namespace: shop, name: cart}}]")
	cart := v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
		Spec: v1alpha1.WorkloadProfileSpec{
			NeutralMillis: new(int64(1000)),
			Arrival:       &v1alpha1.Arrival{RatePerSecond: new(resource.MustParse("600m"))},
			SLA:           &v1alpha1.SLA{ResponseTimeMillis: new(int64(3000))},
		},
	}
	declared := poolPlan(t, `classes: [{name: a, arrival: {ratePerSecond: "0.6"}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 3000, probability: "0.95"}}]`)
	want, err := pools.Plan(t.Context(), pools.Input{Plan: declared})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pools.Plan(t.Context(), pools.Input{Plan: plan, Profiles: []v1alpha1.WorkloadProfile{cart}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Pools, got.Pools); diff != "" {
		t.Errorf("pools (-declared +profile):\n%s", diff)
	}
	if got.Inputs[0].Arrival.Source != v1alpha1.SourceProfile || got.Inputs[0].Service.Source != v1alpha1.SourceProfile {
		t.Errorf("inputs: %+v", got.Inputs)
	}
}

func TestPoolsAreInReplicasWithinBounds(t *testing.T) {
	t.Parallel()
	// A load of 10. By Eq. (1) 12 servers attain 0.9903, 11 attain 0.9703; with a
	// tenth more arrivals 13 attain 0.9901, 12 attain 0.9699.
	const class = `classes: [{name: a, arrival: {ratePerSecond: 100}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500, probability: "0.99"}}]` + "\n"
	for name, test := range map[string]struct {
		pool string
		want pools.Bounds
	}{
		"as many as needed":       {"", pools.Bounds{Replicas: 12, Servers: 12, ReplicasToKeep: 13}},
		"rounded up":              {"serversPerReplica: 5", pools.Bounds{Replicas: 3, Servers: 15, ReplicasToKeep: 3}},
		"at least":                {"minServers: 20", pools.Bounds{Replicas: 20, Servers: 20, ReplicasToKeep: 20}},
		"at most, which is fewer": {"maxServers: 11", pools.Bounds{Replicas: 11, Servers: 11, ReplicasToKeep: 11, Limited: true}},
		"at most in replicas":     {"maxServers: 14, serversPerReplica: 5", pools.Bounds{Replicas: 2, Servers: 10, ReplicasToKeep: 2, Limited: true, Unstable: true}},
		"too few for the load":    {"maxServers: 10", pools.Bounds{Replicas: 10, Servers: 10, ReplicasToKeep: 10, Limited: true, Unstable: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := poolPlan(t, class+"pools: [{name: p, classes: [a], "+test.pool+"}]")
			a, err := pools.Plan(t.Context(), pools.Input{Plan: plan})
			if err != nil {
				t.Fatal(err)
			}
			got := *a.Pools[0].Bounds
			if stable := got.Limited && !got.Unstable; stable != (len(got.Attained) == 1) {
				t.Errorf("attained within bounds: %v", got.Attained)
			}
			got.Attained = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("of %d servers needed (-want +got):\n%s", a.Pools[0].Servers, diff)
			}
		})
	}
}

const measured = `
prometheus: {address: "http://prometheus"}
classes:
- {name: a, arrival: {query: rate}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}}
pools: [{name: p, classes: [a]}]
`

func TestReadingsThatAreOfNoUseGiveNoPlan(t *testing.T) {
	t.Parallel()
	down := errors.New("connection refused")
	for name, test := range map[string]struct {
		reading *pools.Reading
		reason  string // "" for a plan
		message string
	}{
		"a good one":       {&pools.Reading{Value: 100, Age: time.Second}, "", ""},
		"from the future":  {&pools.Reading{Value: 100, Age: -time.Second}, "", ""},
		"an older one":     {&pools.Reading{Value: 100, Age: time.Minute, Problem: down}, "", "1m0s old, for there is no new one: connection refused"},
		"one too old":      {&pools.Reading{Value: 100, Age: 121 * time.Second, Problem: down}, v1alpha1.ReasonStaleData, "the last answer is 2m1s old, more than 2m0s: connection refused"},
		"an answer of old": {&pools.Reading{Value: 100, Age: 121 * time.Second}, v1alpha1.ReasonStaleData, "the answer is 2m1s old"},
		"none ever":        {&pools.Reading{Never: true, Problem: down}, v1alpha1.ReasonMissingData, "connection refused"},
		"none asked":       {nil, v1alpha1.ReasonMissingData, "from a running Prometheus only"},
		"zero":             {&pools.Reading{Value: 0}, v1alpha1.ReasonMissingData, "answers 0: either no job arrives, or nobody counts them"},
		"NaN":              {&pools.Reading{Value: math.NaN()}, v1alpha1.ReasonMissingData, "answers NaN"},
		"infinite":         {&pools.Reading{Value: math.Inf(1)}, v1alpha1.ReasonMissingData, "answers +Inf"},
		"negative":         {&pools.Reading{Value: -1}, v1alpha1.ReasonMissingData, "answers -1"},
		"beyond measure":   {&pools.Reading{Value: 1e300}, v1alpha1.ReasonInvalid, "servers can serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := pools.Input{Plan: poolPlan(t, measured), Measured: []pools.Measurement{{Class: "a", Arrival: test.reading}}}
			a, err := pools.Plan(t.Context(), in)
			message := ""
			var why *pools.Error
			switch {
			case test.reason == "" && err != nil:
				t.Fatal(err)
			case test.reason == "":
				message = a.Held
			case !errors.As(err, &why) || why.Reason != test.reason:
				t.Fatalf("%v, want the reason %s", err, test.reason)
			default:
				message = err.Error()
			}
			if !strings.Contains(message, test.message) || test.message == "" && message != "" {
				t.Errorf("got %q, want %q", message, test.message)
			}
		})
	}
}

func TestBadPlansAreRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	class := func(text string) string { return "classes: [{name: a, " + text + "}]\n" }
	const (
		good    = `arrival: {ratePerSecond: 1}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}`
		target  = `{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}`
		invalid = v1alpha1.ReasonInvalid
	)
	for name, test := range map[string]struct{ spec, reason, want string }{
		"no class":                    {"{}", invalid, "spec.classes: Required value"},
		"a class twice":               {"classes: [{name: a, " + good + "}, {name: a, " + good + "}]", invalid, `spec.classes[1].name: Duplicate value: "a"`},
		"y above 1":                   {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500, probability: "1.2"}`), invalid, `spec.classes[0].sla.probability: Invalid value: "1.2": a probability is above 0 and below 1`},
		"y of 0":                      {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500, probability: 0}`), invalid, "spec.classes[0].sla.probability"},
		"x of 0":                      {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 100}, sla: {responseTimeMillis: 0}`), invalid, "spec.classes[0].sla.responseTimeMillis: Invalid value: 0"},
		"a negative rate":             {class(`arrival: {ratePerSecond: -1}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}`), invalid, "spec.classes[0].arrival.ratePerSecond: Invalid value"},
		"no rate":                     {class(`service: {meanMillis: 100}, sla: {responseTimeMillis: 500}`), invalid, "spec.classes[0].arrival: Required value"},
		"a service time of 0":         {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 0}, sla: {responseTimeMillis: 500}`), invalid, "spec.classes[0].service.meanMillis: Invalid value: 0"},
		"a profile that is not there": {class("profile: {namespace: shop, name: cart}"), invalid, `spec.classes[0].profile: Invalid value: "shop/cart": there is no such WorkloadProfile`},
		"an SLA that cannot be met":   {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500, probability: "0.9999"}`), v1alpha1.ReasonInfeasible, `class "a": 99.99% within 0.5s cannot be met by any number of servers: with a mean service time of 0.1s even an idle server answers only 99.33% in time`},
		"an unknown discipline":       {class(good) + "discipline: lifo", invalid, `spec.discipline: Unsupported value: "lifo"`},
		"an unknown strategy":         {class(good) + "strategy: best", invalid, `spec.strategy: Unsupported value: "best"`},
		"pools and a strategy":        {class(good) + "strategy: shared\npools: [{name: p, classes: [a]}]", invalid, "spec.strategy"},
		"apply without pools":         {class(good) + "mode: apply", invalid, "spec.pools: Required value"},
		"apply without a target":      {class(good) + "mode: apply\npools: [{name: p, classes: [a]}]", invalid, "spec.pools[0].scaleTarget: Required value"},
		"a pool of nobody":            {class(good) + "pools: [{name: p, classes: [b]}]", invalid, `spec.pools[0].classes[0]: Invalid value: "b": there is no such class`},
		"a class in two pools":        {class(good) + "pools: [{name: p, classes: [a]}, {name: q, classes: [a]}]", invalid, `spec.pools[1].classes[0]: Invalid value: "a": the class is in pool "p" already`},
		"a class in none":             {"classes: [{name: a, " + good + "}, {name: b, " + good + "}]\npools: [{name: p, classes: [a]}]", invalid, `spec.classes[1].name: Invalid value: "b": the class is in none of spec.pools`},
		"min above max":               {class(good) + "pools: [{name: p, classes: [a], minServers: 3, maxServers: 2}]", invalid, "spec.pools[0].minServers: Invalid value: 3: is more than maxServers, 2"},
		"a replica above max":         {class(good) + "pools: [{name: p, classes: [a], serversPerReplica: 3, maxServers: 2}]", invalid, "spec.pools[0].serversPerReplica: Invalid value: 3"},
		"a target twice": {
			"classes: [{name: a, " + good + "}, {name: b, " + good + "}]\npools: [{name: p, classes: [a], scaleTarget: " + target + "}, {name: q, classes: [b], scaleTarget: " + strings.Replace(target, "v1", "v1beta2", 1) + "}]",
			invalid, `spec.pools[1].scaleTarget: Invalid value: "Deployment shop/web": it is the target of pool "p" already`,
		},
		"a tolerance above 1": {class(good) + "scaling: {tolerance: 2}", invalid, `spec.scaling.tolerance: Invalid value: "2"`},
		"hol with two speeds": {"classes: [{name: a, " + good + "}, {name: b, arrival: {ratePerSecond: 1}, service: {meanMillis: 200}, sla: {responseTimeMillis: 2000}}]\ndiscipline: hol\nstrategy: shared", invalid, "HOL needs classes with one rate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pools.Plan(t.Context(), pools.Input{Plan: poolPlan(t, test.spec)})
			var why *pools.Error
			if !errors.As(err, &why) || why.Reason != test.reason || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s: %s", err, test.reason, test.want)
			}
			var infeasible *sizing.InfeasibleError
			if errors.As(err, &infeasible) != (test.reason == v1alpha1.ReasonInfeasible) {
				t.Errorf("%v is not of the kind that a caller can tell", err)
			}
		})
	}
}

func TestTheStatusSaysWhatTheAnswerSays(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	status := func(in pools.Input) *v1alpha1.PoolPlanStatus {
		a, err := pools.Plan(t.Context(), in)
		s := pools.Status(in, a, err, now)
		return &s
	}
	expect := func(s *v1alpha1.PoolPlanStatus, kind string, value metav1.ConditionStatus, reason, message string) {
		t.Helper()
		c := meta.FindStatusCondition(s.Conditions, kind)
		if c == nil || c.Status != value || c.Reason != reason || !strings.Contains(c.Message, message) || c.ObservedGeneration != 7 {
			t.Errorf("%s is %+v, want %s %s %q", kind, c, value, reason, message)
		}
	}
	both := pools.Input{Plan: poolPlan(t, twoClasses+"strategy: shared")}
	s := status(both)
	expect(s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPlanned, fmt.Sprintf("shared pool, %d servers: shared %d", *s.Servers, *s.Servers))
	if s.Alternatives[0].Cost.Cmp(*resource.NewQuantity(int64(*s.Servers), resource.DecimalSI)) < 0 {
		expect(s, v1alpha1.ConditionOptimal, metav1.ConditionFalse, v1alpha1.ReasonCheaperStrategy, "dedicated pools would need")
	} else {
		expect(s, v1alpha1.ConditionOptimal, metav1.ConditionTrue, v1alpha1.ReasonCheapest, "no other way")
	}

	in := pools.Input{Plan: poolPlan(t, measured), Measured: []pools.Measurement{{Class: "a", Arrival: &pools.Reading{Value: 100.25, Age: 10 * time.Second}}}}
	known := status(in)
	if v := known.Inputs[0].Arrival; v.Value.AsApproximateFloat64() != 100.25 || v.Source != v1alpha1.SourceQuery || !v.MeasuredTime.Time.Equal(now.Add(-10*time.Second)) {
		t.Errorf("the input is %+v", v)
	}

	// Without data the last answer and its inputs stay.
	known.Pools[0].LastScaleTime = new(metav1.NewMicroTime(now.Time))
	in.Plan.Status = *known
	in.Measured[0].Arrival = &pools.Reading{Value: math.NaN()}
	lost := status(in)
	expect(lost, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonMissingData, `class "a": its arrival rate is not known: the query answers NaN`)
	expect(lost, v1alpha1.ConditionOptimal, metav1.ConditionUnknown, v1alpha1.ReasonNotCompared, "there is no plan")
	if diff := cmp.Diff(known.Pools, lost.Pools); diff != "" {
		t.Errorf("pools (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(known.Inputs, lost.Inputs); diff != "" {
		t.Errorf("inputs (-before +after):\n%s", diff)
	}
}

func TestAPoolThatMayNotKeepUpIsUnstable(t *testing.T) {
	t.Parallel()
	in := pools.Input{Plan: poolPlan(t, twoClasses+"pools: [{name: p, classes: [checkout, search], maxServers: 1}]")}
	a, err := pools.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	s := pools.Status(in, a, nil, metav1.Now())
	c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
	if c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonUnstable || !strings.Contains(c.Message, `pool "p" needs`) {
		t.Errorf("Ready is %+v", c)
	}
}

// Loaded from a file that is not checked by a server, a discipline that is
// simulated answers quickly when asked to.
func TestASimulatedPlanTellsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	in := pools.Input{
		Plan: poolPlan(t, twoClasses+"discipline: pdp\nstrategy: shared"), Quick: true,
		Simulation: sizing.Simulation{Seed: 1, Jobs: 5000, Replications: 8},
	}
	a, err := pools.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if a.Compared || a.Pools[0].MaxArrivalFactor != nil || a.Pools[0].Classes[0].HalfWidth == nil {
		t.Errorf("the answer is %+v", a)
	}
	s := pools.Status(in, a, nil, metav1.Now())
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionOptimal); c.Status != metav1.ConditionUnknown || c.Reason != v1alpha1.ReasonNotCompared {
		t.Errorf("Optimal is %+v", c)
	}
}

// Constant service times at several servers are approximated. Where the SLA is near the attained
// value, the conditions and the answer state the resulting uncertainty.
func TestAPlanSaysWhatAnApproximationLeavesUncertain(t *testing.T) {
	t.Parallel()
	plan := func(probability string) pools.Input {
		return pools.Input{Plan: poolPlan(t, fmt.Sprintf(`
classes:
- {name: batch, arrival: {ratePerSecond: "1.5"}, service: {meanMillis: 1000, scv: "0"}, sla: {responseTimeMillis: 5000, probability: "0.5"}}
- {name: web, arrival: {ratePerSecond: "80"}, service: {meanMillis: 10}, sla: {responseTimeMillis: 100, probability: "%s"}}
strategy: shared
`, probability))}
	}
	first, err := pools.Plan(t.Context(), plan("0.7"))
	if err != nil {
		t.Fatal(err)
	}
	web := first.Pools[0].Classes[1]
	for _, test := range []struct {
		probability float64
		uncertain   string
	}{
		{web.Attained - 1e-3, "may need one server more"},
		{web.Attained + 1e-3, "with one"},
		{web.Attained - 0.2*(web.Attained-*web.WithOneFewer) - 0.06, ""},
	} {
		in := plan(fmt.Sprintf("%.4f", test.probability))
		a, err := pools.Plan(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		uncertain := a.Uncertain()
		if a.Pools[0].Error == 0 || (test.uncertain == "") != (uncertain == "") || !strings.Contains(uncertain, test.uncertain) {
			t.Errorf("with %v the uncertain is %q, want %q: %+v", test.probability, uncertain, test.uncertain, a.Pools[0])
		}
		s := pools.Status(in, a, nil, metav1.Now())
		for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionOptimal} {
			if c := meta.FindStatusCondition(s.Conditions, kind); !strings.HasSuffix(c.Message, uncertain) || strings.Contains(c.Message, "approximated") != (uncertain != "") {
				t.Errorf("%s says %q, the uncertain is %q", kind, c.Message, uncertain)
			}
		}
	}
}

func TestAPlanUsesTheMeasuredNeutralTime(t *testing.T) {
	t.Parallel()
	p := given.Measured(given.Workload("web", 0), given.On("big", given.Noon, 500), given.On("small", given.Evening, 2000))
	p.Spec.Arrival = &v1alpha1.Arrival{RatePerSecond: given.Quantity("0.5")}
	p.Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(9000))}
	plan := poolPlan(t, "classes: [{name: web, profile: {namespace: shop, name: web}}]")
	answer := func() (*pools.Answer, error) {
		return pools.Plan(t.Context(), pools.Input{Plan: plan, Profiles: []v1alpha1.WorkloadProfile{p}})
	}
	a, err := answer()
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Inputs[0].Service; got.Value != 2 || got.Source != v1alpha1.SourceProfile {
		t.Errorf("the service time is %+v, want 2 s of the profile", got)
	}
	p.Spec.NeutralMillis = new(int64(1000))
	if a, err = answer(); err != nil || a.Inputs[0].Service.Value != 1 {
		t.Errorf("with a declared neutral time the service time is %+v (%v), want 1 s", a.Inputs[0].Service, err)
	}
	p.Spec.NeutralMillis, p.Status.Measurements = nil, nil
	if _, err := answer(); err == nil || !strings.Contains(err.Error(), "the WorkloadProfile shop/web has no neutralMillis") {
		t.Errorf("without any neutral time: %v", err)
	}
}
