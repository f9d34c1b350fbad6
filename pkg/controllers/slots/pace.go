package slots

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// Every is the time until a waiting object is checked again.
	Every = 10 * time.Second
	// looks is at how many that wait in one namespace is looked in that time.
	looks = 50
)

// Pace spaces the checks of waiting objects: each is checked every ten seconds, or, where more than
// fifty wait in a namespace, in turn, fifty in ten seconds. The zero value has no waiting objects.
// It is safe for concurrent use.
type Pace struct {
	mu    sync.Mutex
	waits map[string]map[string]look // by namespace and name
}

// look is the next one at something that waits.
type look struct {
	generation int64 // of the object at the last
	due        time.Time
}

// Left returns how much time is left until the next look at something that waits, 0 for
// none. It is none, too, where few wait, and where the object has changed.
func (p *Pace) Left(of types.NamespacedName, generation int64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.waits[of.Namespace]
	next, waits := in[of.Name]
	if !waits || next.generation != generation || len(in) <= looks {
		return 0
	}
	return max(0, next.due.Sub(now))
}

// Looked notes a look at something that waits, and returns after what time the next is.
func (p *Pace) Looked(of types.NamespacedName, generation int64, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits == nil {
		p.waits = map[string]map[string]look{}
	}
	if p.waits[of.Namespace] == nil {
		p.waits[of.Namespace] = map[string]look{}
	}
	in := p.waits[of.Namespace]
	in[of.Name] = look{}
	again := Every * time.Duration((len(in)+looks-1)/looks)
	in[of.Name] = look{generation, now.Add(again)}
	return again
}

// Forget notes that something does not wait, or no longer.
func (p *Pace) Forget(of types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waits[of.Namespace], of.Name)
	if len(p.waits[of.Namespace]) == 0 {
		delete(p.waits, of.Namespace)
	}
}
