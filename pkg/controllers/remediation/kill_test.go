package remediation

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"pgregory.net/rapid"
)

// ending is what a change comes to.
type ending struct {
	Conditions         []string
	Resizes, Evictions int
	Limit, Node        string
	Landed             string
	Won                string
}

func (w *world) ending(t *testing.T) ending {
	t.Helper()
	r := w.run(t)
	e := ending{Conditions: conditions(r), Resizes: w.resizes, Evictions: w.evictions}
	for _, name := range []string{"cart-1", "cart-2"} {
		if pod := w.pod(t, name); pod != nil {
			e.Limit, e.Node = limit(pod), pod.Spec.NodeName
		}
	}
	if r.Status.Replacement != nil {
		e.Landed = r.Status.Replacement.Name
	}
	if r.Status.Realized != nil {
		e.Won = r.Status.Realized.Win.String()
	}
	return e
}

// course is the course of a change.
type course struct {
	world  func(*testing.T) *world
	writes int // when nothing disturbs it
	want   ending
}

func lost(int) (Judgement, error) { return Judgement{Win: -0.2, Low: -0.3, High: -0.1}, nil }

// courses are the courses that changes take, with all writes.
var courses = map[string]course{
	"a resize that wins": {
		func(t *testing.T) *world { t.Helper(); return newWorld(t, cart(), automatic(), raise()) }, 5,
		ending{Conditions: []string{"Applied=True/Resized", "Approved=True/Automatic", "Complete=True/Succeeded", "Proven=True/Won"}, Resizes: 1, Limit: "1", Node: "node-1", Won: "500m"},
	},
	"a resize that does not": {
		func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, cart(), automatic(), raise())
			w.judgement = lost
			return w
		}, 7,
		ending{
			Conditions: []string{"Applied=True/Resized", "Approved=True/Automatic", "Complete=True/RolledBack", "Proven=False/NotWon", "RolledBack=True/RolledBack"},
			Resizes:    2, Limit: "300m", Node: "node-1", Won: "-200m",
		},
	},
	"a resize that the node cannot carry out": {
		func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, cart(), automatic(), raise())
			w.kubelet = says(corev1.PodResizePending, corev1.PodReasonInfeasible, "the node has 2 CPUs")
			return w
		}, 6,
		ending{Conditions: []string{"Applied=False/Infeasible", "Approved=True/Automatic", "Complete=True/Failed", "RolledBack=True/RolledBack"}, Resizes: 2, Limit: "300m", Node: "node-1"},
	},
	"a move that wins": {
		func(t *testing.T) *world { t.Helper(); return newWorld(t, cart(), automatic(), move()) }, 5,
		ending{Conditions: []string{"Applied=True/OnTarget", "Approved=True/Automatic", "Complete=True/Succeeded", "Proven=True/Won"}, Evictions: 1, Limit: "300m", Node: "node-2", Landed: "cart-2", Won: "500m"},
	},
	"a move that has to wait, and does not win": {
		func(t *testing.T) *world {
			t.Helper()
			w := newWorld(t, cart(), automatic(), move())
			w.judgement = lost
			w.refuseEviction = func(n int) error {
				if n < 2 {
					return apierrors.NewTooManyRequests("the disruption budget cart needs 2 pods", 10)
				}
				return nil
			}
			return w
		}, 8,
		ending{Conditions: []string{"Applied=True/OnTarget", "Approved=True/Automatic", "Complete=True/Failed", "Proven=False/NotWon"}, Evictions: 1, Limit: "300m", Node: "node-2", Landed: "cart-2", Won: "-200m"},
	},
}

// The manager may end before or after each of its writes: another one goes on, and the change
// comes to the same end, with everything done once.
func TestAManagerThatEndsAtAnyWriteIsFollowedByOneThatGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range courses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.world(t)
			if diff := cmp.Diff(c.want, w.ending(t)); diff != "" {
				t.Fatalf("undisturbed (-want +got):\n%s", diff)
			}
			if w.writes != c.writes {
				t.Errorf("%d writes, want %d", w.writes, c.writes)
			}
			for n := range w.writes {
				for _, after := range []bool{false, true} {
					end := kill{n + 1, after}
					w := c.world(t)
					w.ends = []kill{end}
					if diff := cmp.Diff(c.want, w.ending(t)); diff != "" {
						t.Errorf("ended %s (-want +got):\n%s", end, diff)
					}
				}
			}
		})
	}
}

func TestAManagerMayEndAnyNumberOfTimes(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(courses))
	rapid.Check(t, func(r *rapid.T) {
		c := courses[rapid.SampledFrom(names).Draw(r, "course")]
		w := c.world(t)
		for n := range 20 {
			switch rapid.IntRange(0, 5).Draw(r, "end") {
			case 0:
				w.ends = append(w.ends, kill{n + 1, false})
			case 1:
				w.ends = append(w.ends, kill{n + 1, true})
			}
		}
		if diff := cmp.Diff(c.want, w.ending(t)); diff != "" {
			r.Errorf("ended %v (-want +got):\n%s", w.ends, diff)
		}
	})
}
