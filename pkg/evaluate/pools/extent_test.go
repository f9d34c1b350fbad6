package pools

import (
	"math"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestAPlanForMoreReplicasThanAClusterHasPodsSaysSo(t *testing.T) {
	t.Parallel()
	const limit = ", and a cluster of Kubernetes has up to 150000 pods: check the units of the rates and of the service times"
	pool := func(name string, servers int, bounds *Bounds) PoolAnswer {
		return PoolAnswer{Name: name, Servers: servers, Bounds: bounds}
	}
	for name, test := range map[string]struct {
		pools []PoolAnswer
		want  string
	}{
		"no pool":            {nil, ""},
		"as many as fit":     {[]PoolAnswer{pool("web", 150_000, nil)}, ""},
		"one more":           {[]PoolAnswer{pool("web", 150_001, nil)}, "pool web needs 150001 replicas" + limit},
		"a million":          {[]PoolAnswer{pool("web", 1_000_000, nil)}, "pool web needs 1000000 replicas" + limit},
		"more than an int32": {[]PoolAnswer{pool("web", math.MaxInt32+1, nil)}, "pool web needs 2147483648 replicas" + limit},
		"two of three": {
			[]PoolAnswer{pool("a", 1_000_000, nil), pool("b", 3, nil), pool("c", 200_000, nil)},
			"pool a needs 1000000 replicas, pool c needs 200000 replicas" + limit,
		},
		"large replicas":          {[]PoolAnswer{pool("web", 1_000_000, &Bounds{Replicas: 15_625, Servers: 1_000_000})}, ""},
		"replicas of two servers": {[]PoolAnswer{pool("web", 300_001, &Bounds{Replicas: 150_001, Servers: 300_002})}, "pool web needs 150001 replicas" + limit},
		"a limit that is lower":   {[]PoolAnswer{pool("web", 1_000_000, &Bounds{Replicas: 10, Servers: 10, Limited: true})}, "pool web needs 1000000 replicas" + limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &Answer{Strategy: "dedicated", Pools: test.pools}
			if got := a.BeyondCluster(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			c, want := a.ready(nil), metav1.Condition{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonPlanned, Message: a.Summary()}
			if test.want != "" {
				want.Reason, want.Message = v1alpha1.ReasonBeyondCluster, want.Message+"; "+test.want
			}
			if c.Status != want.Status || c.Reason != want.Reason || c.Message != want.Message {
				t.Errorf("the condition is %+v, want %+v", c, want)
			}
		})
	}
}
