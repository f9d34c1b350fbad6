package slots

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// patience is for how long a namespace waits that does not ask again, which those that
	// wait do every ten seconds, calibrations every thirty, and for how long it may let its
	// turn pass.
	patience = 40 * time.Second
	// turn is how long an owner can keep its places while others wait that have fewer.
	turn = time.Hour
	// remembered is for how long it counts when a namespace was given places.
	remembered = 24 * time.Hour
	// maxWants is how many different places are remembered that a namespace waits for.
	maxWants = 100
)

// standing is where a namespace stands among those that wait.
type standing struct {
	namespace string
	places    int       // that it has
	served    time.Time // when it was given the last, zero for never
}

// before reports whether a namespace goes before another: the one that has fewer places; of equal
// ones the one that was given its last longer ago; of equal ones the first by name.
func (a standing) before(b standing) bool {
	return cmp.Or(cmp.Compare(a.places, b.places), a.served.Compare(b.served), strings.Compare(a.namespace, b.namespace)) < 0
}

// turns are the namespaces that wait, and when each was given places last. The zero value is
// of none. What is kept grows with the number of namespaces, not with that of their owners.
type turns struct {
	served map[string]time.Time
	wants  map[string][]want
	// passing is since when namespaces have let their turn pass.
	passing map[string]time.Time
}

// want is places that a namespace waits for.
type want struct {
	places []string
	asked  time.Time // last
}

// wait has a namespace wait for some places, together.
func (t *turns) wait(namespace string, places []string, now time.Time) {
	if t.wants == nil {
		t.wants = map[string][]want{}
	}
	wants := t.lively(namespace, now)
	i := slices.IndexFunc(wants, func(w want) bool { return slices.Equal(w.places, places) })
	switch {
	case i >= 0:
		wants[i].asked = now
	case len(wants) < maxWants:
		wants = append(wants, want{places, now})
	}
	t.wants[namespace] = wants
}

// serve notes that a namespace was given places. What it waits for besides it asks for again.
func (t *turns) serve(namespace string, now time.Time) {
	if t.served == nil {
		t.served = map[string]time.Time{}
	}
	for other, when := range t.served {
		if now.Sub(when) > remembered {
			delete(t.served, other)
		}
	}
	t.served[namespace] = now
	delete(t.wants, namespace)
	t.passing = nil
}

// lively returns the recent requests of a namespace.
func (t *turns) lively(namespace string, now time.Time) []want {
	return slices.DeleteFunc(t.wants[namespace], func(w want) bool { return now.Sub(w.asked) > patience })
}

// each visits the namespaces that wait, with the places that they wait for.
func (t *turns) each(now time.Time, visit func(namespace string, places []string)) {
	for namespace := range t.wants {
		if t.wants[namespace] = t.lively(namespace, now); len(t.wants[namespace]) == 0 {
			delete(t.wants, namespace)
		}
		for _, w := range t.wants[namespace] {
			visit(namespace, w.places)
		}
	}
}

// passed reports whether a namespace, whose turn it is, has let it pass: if it has been its
// turn for [patience], and no one was given places since. Then it no longer waits.
func (t *turns) passed(namespace string, now time.Time) bool {
	since, is := t.passing[namespace]
	if !is {
		if t.passing == nil {
			t.passing = map[string]time.Time{}
		}
		t.passing[namespace] = now
		return false
	}
	if now.Sub(since) <= patience {
		return false
	}
	delete(t.passing, namespace)
	delete(t.wants, namespace)
	return true
}
