package extremes_test

import (
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// plan has classes of several service times, with nothing that two of them share. The last
// one leaves its numbers to a profile.
const plan = `
apiVersion: loadline.dev/v1alpha1
kind: PoolPlan
metadata: {name: shop}
spec:
  discipline: DISCIPLINE
  classes:
  - {name: a, arrival: {ratePerSecond: "0.6"}, service: {meanMillis: 1000, scv: "1"}, sla: {responseTimeMillis: 3000, probability: "0.9"}, costPerServer: "1"}
  - {name: b, profile: {namespace: shop, name: w}, service: {scv: "1"}, costPerServer: "1"}
POOLS
`

const planned = `  mode: apply
  scaling: {stabilizationSeconds: 300, maxStepServers: 40, minSecondsBetweenSteps: 15, tolerance: "0.1"}
  pools:
  - {name: a, classes: [a], minServers: 1, maxServers: 40, serversPerReplica: 1, scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: a}}
  - {name: b, classes: [b], minServers: 1, maxServers: 40, serversPerReplica: 1, scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: b}}
`

// served is the profile that the plan names.
const served = `
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: w, namespace: shop}
spec:
  selector: {matchLabels: {app: w}}
  resources: [{name: cpu, loading: "0.1"}]
  neutralMillis: 1000
  arrival: {ratePerSecond: "3.6"}
  sla: {responseTimeMillis: 5000, probability: "0.8"}
`

// askPlan checks an answer of a plan, as the manager asks for it.
func askPlan(t *testing.T, what string, slowest *worst, p *v1alpha1.PoolPlan, profile *v1alpha1.WorkloadProfile) {
	t.Helper()
	var a *pools.Answer
	var err error
	slowest.time(what, func() {
		a, err = pools.Plan(t.Context(), pools.Input{Plan: p, Profiles: []v1alpha1.WorkloadProfile{*profile}, Quick: true})
	})
	if err != nil {
		if err.Error() == "" || strings.Contains(err.Error(), "NaN") {
			t.Errorf("%s: it is refused as %q", what, err)
		}
		return
	}
	for i := range a.Pools {
		pool := &a.Pools[i]
		if pool.Fault == "" && (pool.Servers < 1 || math.IsNaN(pool.Utilization) || math.IsInf(pool.Cost, 0)) {
			t.Errorf("%s: pool %+v", what, pool)
		}
		for _, class := range pool.Classes {
			if !(class.Attained >= 0 && class.Attained <= 1) {
				t.Errorf("%s: %s attains %v", what, class.Name, class.Attained)
			}
		}
	}
}

// The work is bounded by what is counted (sizing.Work); that it is, the tests of package
// sizing show. Here nothing panics, hangs or answers nonsense.
func TestPoolPlansAnswerAtTheExtremesOfTheirFields(t *testing.T) {
	t.Parallel()
	const pairs = 150
	for name, test := range map[string]struct {
		discipline, pools string
		simulated         bool // takes long: no pairs
	}{
		"fcfs":                 {"fcfs", "", false},
		"fcfs in given pools":  {"fcfs", planned, false},
		"hol":                  {"hol", "", false},
		"hol in given pools":   {"hol", planned, false},
		"late-last, simulated": {"late-last", planned, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var slowest worst
			profile := read(t, served)
			base := read(t, strings.NewReplacer("DISCIPLINE", test.discipline, "POOLS\n", test.pools).Replace(plan))
			try := func(what string, o *unstructured.Unstructured) {
				askPlan(t, what, &slowest, typed[v1alpha1.PoolPlan](t, o), typed[v1alpha1.WorkloadProfile](t, profile))
			}
			of := func(what string, o *unstructured.Unstructured) {
				askPlan(t, what, &slowest, typed[v1alpha1.PoolPlan](t, base), typed[v1alpha1.WorkloadProfile](t, o))
			}
			ofPlans, ofProfiles := kindOf(t, "PoolPlan"), kindOf(t, "WorkloadProfile")
			ofPlans.Each(t, base, try)
			if !test.simulated {
				ofPlans.Pairs(t, base, pairs, try)
				ofProfiles.Each(t, profile, of)
				ofProfiles.Pairs(t, profile, pairs, of)
			}
			t.Logf("%s took longest: %v", slowest.what, slowest.took)
		})
	}
}
