package plan

import (
	"math"
	"testing"
)

// What the model says of a pod is scaled by what was observed, unless both are so little that their ratio is one of roundings.
func TestRoundingsAreNoRatioOfObservedToModelledWaiting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                       string
		modelled, explained, waits float64
		want                       float64
	}{
		{"longer than the model says", 0.1, 0.2, 0.3, 1 + 0.2 + 2*0.2},
		{"shorter", 0.1, 0.05, 0.3, 1 + 0.05 + 0.2},
		{"on a node where it waits for less", 0.1, 0.2, 0.05, 1 + 0.1},
		{"alone until now", 0, 0, 0.3, 1.3},
		{"nearly alone", 1e-10, 2e-10, 0.3, 1.3},
		{"nearly alone, however little of it was seen", 1e-10, 0, 0.3, 1.3},
	} {
		b := &breakdown{modelled: test.modelled, explained: test.explained}
		if got := (&subject{}).dilation(b, test.waits, 0, 1); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: it is dilated %v, want %v", test.name, got, test.want)
		}
	}
}
