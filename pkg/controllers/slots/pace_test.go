package slots_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/controllers/slots"
)

// waiting returns the nth that waits in a namespace.
func waiting(namespace string, n int) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(n)}
}

// In ten seconds there are fifty checks of waiting objects in a namespace, for any number of
// objects and wake-ups.
func TestLooksAreSpacedByNamespace(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 50, 51, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			p, now, rounds := &slots.Pace{}, noon, 0
			for i := range n { // all are new
				p.Looked(waiting("crowd", i), 1, now)
			}
			counted := 0
			for ; rounds < 1000; rounds++ { // each is woken every second
				now = now.Add(time.Second)
				for i := range n {
					if p.Left(waiting("crowd", i), 1, now) == 0 && (n > 50 || rounds%10 == 9) {
						counted++
						p.Looked(waiting("crowd", i), 1, now)
					}
				}
			}
			if most := min(n, 50)*rounds/10 + n; counted > most || counted < most*4/10-n {
				t.Errorf("%d looks in %d s, want up to %d and not less than 40 %% of that", counted, rounds, most)
			}
		})
	}
}

func TestWhatChangedIsLookedAtAtOnce(t *testing.T) {
	t.Parallel()
	p := &slots.Pace{}
	for i := range 1000 {
		p.Looked(waiting("crowd", i), 1, noon)
	}
	if left := p.Left(waiting("crowd", 7), 1, noon); left <= 0 {
		t.Errorf("the next look at one that waits is after %v", left)
	}
	for what, left := range map[string]time.Duration{
		"one that has changed":         p.Left(waiting("crowd", 7), 2, noon),
		"one that is new":              p.Left(waiting("crowd", 1000), 1, noon),
		"the only one of a namespace":  p.Left(waiting("shop", 1), 1, noon),
		"one of which the time is due": p.Left(waiting("crowd", 7), 1, noon.Add(time.Hour)),
	} {
		if left != 0 {
			t.Errorf("the look at %s is after %v", what, left)
		}
	}
	for i := range 1000 {
		p.Forget(waiting("crowd", i))
	}
	if again := p.Looked(waiting("crowd", 1), 1, noon); again != slots.Every {
		t.Errorf("the look at the only one that is left is after %v", again)
	}
}
