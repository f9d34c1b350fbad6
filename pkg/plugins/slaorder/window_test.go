package slaorder

import (
	"testing"

	"pgregory.net/rapid"
)

func TestAWindowCountsWhatEndedWithinItInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type pod struct {
			part int64
			met  bool
		}
		var w window
		var counted []pod
		now := int64(1000)
		for range rapid.IntRange(0, 50).Draw(t, "pods") {
			now += rapid.Int64Range(0, 20).Draw(t, "later")
			p := pod{now - rapid.Int64Range(0, 2*windowParts).Draw(t, "earlier"), rapid.Bool().Draw(t, "met")}
			w.count(p.part, now, p.met)
			counted = append(counted, p)
		}
		now += rapid.Int64Range(0, 2*windowParts).Draw(t, "wait")
		wantMet, wantTotal := 0, 0
		for _, p := range counted {
			if p.part > now-windowParts {
				wantTotal++
				if p.met {
					wantMet++
				}
			}
		}
		if met, total := w.sum(now); met != wantMet || total != wantTotal {
			t.Fatalf("%d of %d in time, want %d of %d", met, total, wantMet, wantTotal)
		}
		if len(w.parts) > windowParts {
			t.Fatalf("the window has %d parts", len(w.parts))
		}
	})
}
