package poolplan

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestMetricsShowThePoolsThatThereAre(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	pool := func(name string) v1alpha1.PoolStatus {
		return v1alpha1.PoolStatus{
			Name: name, Servers: new(int32(7)), DesiredReplicas: new(int32(4)), CurrentReplicas: new(int32(3)),
			Classes: []v1alpha1.ClassAttainment{{Name: "a", Attained: new(resource.MustParse("0.961"))}},
		}
	}
	plan := func(pools ...v1alpha1.PoolStatus) *v1alpha1.PoolPlan {
		return &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "plan"}, Status: v1alpha1.PoolPlanStatus{Pools: pools}}
	}
	m.show(plan(pool("old"), pool("p")))
	m.show(plan(pool("p")))
	m.scaled("plan", &move{pool: "p", from: 3, to: 4})
	m.scaled("plan", &move{pool: "p", from: 4, to: 3})
	m.scaled("plan", &move{pool: "p", from: 3, to: 2})
	want := `
# HELP loadline_pool_replicas_current Replicas that the scale target of a pool is asked to have.
# TYPE loadline_pool_replicas_current gauge
loadline_pool_replicas_current{plan="plan",pool="p"} 3
# HELP loadline_pool_replicas_desired Replicas that a pool should have, within its bounds.
# TYPE loadline_pool_replicas_desired gauge
loadline_pool_replicas_desired{plan="plan",pool="p"} 4
# HELP loadline_pool_scalings_total How many times a pool was scaled, by direction: up or down.
# TYPE loadline_pool_scalings_total counter
loadline_pool_scalings_total{direction="down",plan="plan",pool="p"} 2
loadline_pool_scalings_total{direction="up",plan="plan",pool="p"} 1
# HELP loadline_pool_servers_needed The fewest servers with which every class of a pool keeps its SLA.
# TYPE loadline_pool_servers_needed gauge
loadline_pool_servers_needed{plan="plan",pool="p"} 7
# HELP loadline_pool_sla_attained_ratio Predicted probability with which a class keeps within the response time of its SLA, with the servers that its pool needs.
# TYPE loadline_pool_sla_attained_ratio gauge
loadline_pool_sla_attained_ratio{class="a",plan="plan",pool="p"} 0.961
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	m.forget("plan")
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 0 {
		t.Errorf("%d metrics of a plan that is gone are left (%v)", n, err)
	}
}
