package live

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Patience is how long a test waits for what should come, on a machine in use too,
// and LongPatience for what takes minutes by itself.
const (
	Patience     = 5 * time.Minute
	LongPatience = 20 * time.Minute
)

// glanceEvery is how often tests check what they wait for.
const glanceEvery = 500 * time.Millisecond

// Until waits until a condition holds. It also tells how things stand, for the
// message of a test that waited in vain.
func Until(t *testing.T, what string, patience time.Duration, holds func(context.Context) (done bool, stand string, err error)) {
	t.Helper()
	stand := "not looked at yet"
	err := wait.PollUntilContextTimeout(t.Context(), glanceEvery, patience, true, func(ctx context.Context) (bool, error) {
		done, now, err := holds(ctx)
		if ctx.Err() == nil { // else it is cut short
			stand = now
		}
		return done, err
	})
	if err != nil {
		t.Fatalf("%s: %v; at last: %s", what, err, stand)
	}
}

// Await reads an object until a condition of it holds, which also tells how things
// stand.
func (c *Cluster) Await(t *testing.T, what string, object client.Object, holds func() (done bool, stand string)) {
	t.Helper()
	c.AwaitLong(t, what, Patience, object, holds)
}

// AwaitLong is Await with another patience.
func (c *Cluster) AwaitLong(t *testing.T, what string, patience time.Duration, object client.Object, holds func() (done bool, stand string)) {
	t.Helper()
	stand := "it was never read"
	Until(t, what, patience, func(ctx context.Context) (bool, string, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, stand, err
		}
		var done bool
		done, stand = holds()
		return done, stand, nil
	})
}

// AwaitCondition reads an object until one of its conditions is as it should be for
// the present spec, and returns it.
func (c *Cluster) AwaitCondition(t *testing.T, object client.Object, conditions *[]metav1.Condition, kind string, status metav1.ConditionStatus) *metav1.Condition {
	t.Helper()
	c.Await(t, fmt.Sprintf("%s is %s: %s", object.GetName(), kind, status), object, func() (bool, string) {
		condition := meta.FindStatusCondition(*conditions, kind)
		if condition == nil {
			return false, "there is no such condition"
		}
		return condition.Status == status && condition.ObservedGeneration == object.GetGeneration(),
			fmt.Sprintf("%s: %s: %s", condition.Status, condition.Reason, condition.Message)
	})
	return meta.FindStatusCondition(*conditions, kind)
}
