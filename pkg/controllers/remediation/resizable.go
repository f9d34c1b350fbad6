package remediation

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// askAgainAfter is for how long an API server without pods/resize is not asked again whether
// it has it: it may be upgraded.
const askAgainAfter = 10 * time.Minute

// resizable remembers whether the API server lets pods be resized.
type resizable struct {
	mu    sync.Mutex
	asks  func(groupVersion string) (*metav1.APIResourceList, error)
	clock clock.PassiveClock
	is    bool
	when  time.Time
}

// NewResizable returns a function that asks an API server whether pods can be resized, until it says that they can.
func NewResizable(config *rest.Config, c *http.Client, clock clock.PassiveClock) (func(context.Context) (bool, error), error) {
	asks, err := discovery.NewDiscoveryClientForConfigAndClient(config, c)
	if err != nil {
		return nil, err
	}
	return (&resizable{asks: asks.ServerResourcesForGroupVersion, clock: clock}).ask, nil
}

func (r *resizable) ask(context.Context) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.clock.Now(); r.is || !r.when.IsZero() && now.Sub(r.when) < askAgainAfter {
		return r.is, nil
	}
	list, err := r.asks("v1")
	if err != nil {
		return false, err
	}
	r.is = slices.ContainsFunc(list.APIResources, func(of metav1.APIResource) bool { return of.Name == "pods/resize" })
	r.when = r.clock.Now()
	return r.is, nil
}
