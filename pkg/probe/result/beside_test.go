package result_test

import (
	"testing"

	"loadline.dev/loadline/pkg/probe/result"
)

func TestATargetFromWhichAllWasTakenStillTookTime(t *testing.T) {
	t.Parallel()
	if got := (result.Watch{Begin: 5, End: 15, CPUNanos: 10, StolenNanos: 9, ObserverNanos: 9}).UndisturbedNanos(); got != 1 {
		t.Errorf("it took %d ns, want 1", got)
	}
}
