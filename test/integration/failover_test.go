package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The lease of the schedulers that elect a leader, and how much longer than that another
// one may take on a busy machine: it looks at the lease once in a retry period, which
// client-go makes longer by up to 1.2 times at random.
const (
	leaseDuration = 10 * time.Second
	retryPeriod   = time.Second
	takeoverGrace = 30 * time.Second
)

// elected has the schedulers of the place elect a leader.
func (p *place) elected(config string) string {
	return replaceOnce(config, "{leaderElect: false}", fmt.Sprintf(
		"{leaderElect: true, resourceName: scheduler, resourceNamespace: %s, leaseDuration: %v, renewDeadline: 8s, retryPeriod: %v}",
		p.namespace, leaseDuration, retryPeriod))
}

// leader returns which scheduler of the place holds the lease, nothing if none does.
func (p *place) leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "scheduler"}}
	err := p.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), client.IgnoreNotFound(err)
}

// awaitLeader waits until a scheduler of the place other than one leads. It returns how
// many pods were bound when it was last seen that none did yet.
func (p *place) awaitLeader(t *testing.T, otherThan string) (bound int) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		if err := p.List(ctx, &pods, client.InNamespace(p.namespace)); err != nil {
			return false, err
		}
		leader, err := p.leader(ctx)
		if err != nil || leader != "" && leader != otherThan {
			return err == nil, err
		}
		bound = 0
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName != "" {
				bound++
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("waiting for a scheduler other than %q to lead: %v", otherThan, err)
	}
	return bound
}

func TestWhenTheLeaderIsKilledMidBurstAnotherReplicaBindsEachPodOnce(t *testing.T) {
	t.Parallel()
	const pods = 200
	p := shared.newPlace(t, 20)
	first := p.startScheduler(t, onlyDilation, slowly, p.elected)
	p.awaitLeader(t, "")
	dead, err := p.leader(t.Context())
	must(t, err)
	second := p.startScheduler(t, onlyDilation, p.elected)
	p.burst(t)
	p.awaitMiddle(t)

	must(t, first.Kill())
	died := time.Now()
	before := p.awaitLeader(t, dead)
	took := time.Since(died)
	t.Logf("another replica leads %.1f s after the leader, which had bound %d of %d pods, was killed; a lease lasts %v", took.Seconds(), before, pods, leaseDuration)
	if longest := leaseDuration + retryPeriod + takeoverGrace; took > longest {
		t.Errorf("it took %v, want %v at most", took, longest)
	}
	if before == pods {
		t.Fatal("the burst was over before another replica led")
	}
	p.checkSpread(t, p.awaitBound(t, pods), 0)
	checkAttempts(t, second, pods-before)
}
