package shares

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/test/given"
)

// ticking is a time of which a second passes whenever it is asked for.
func ticking() func() time.Time {
	at := given.Noon.Time
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

func TestMethodsAreOffByWhatTheyClaim(t *testing.T) {
	t.Parallel()
	all, err := Compare(t.Context(), timed(company()), time.Hour, ticking())
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, method := range fairshare.Methods() {
		want = append(want, method.String())
	}
	for _, m := range all {
		got = append(got, m.Method)
		// Three half widths of 95 % are six standard errors.
		if m.GivenUp != "" || *m.ElapsedSeconds != 1 || *m.Error > math.Max(3**m.Claimed, 1e-12) || m.Evaluations == 0 {
			t.Errorf("unexpected comparison: %+v", m)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected methods (-want +got):\n%s", diff)
	}
}

func TestAMethodThatIsTooCostlyIsGivenUp(t *testing.T) {
	t.Parallel()
	in := company()
	for i := range 40 {
		in.Tree.Spec.Workloads = append(in.Tree.Spec.Workloads, shareWorkload(fmt.Sprint("w", i), "", 1, "0.001"))
	}
	in.Options.Samples = 100
	all, err := Compare(t.Context(), timed(in), time.Hour, ticking())
	if err != nil {
		t.Fatal(err)
	}
	givenUp := map[string]bool{}
	for _, m := range all {
		if givenUp[m.Method] = m.GivenUp != ""; givenUp[m.Method] != (m.Error == nil) {
			t.Errorf("unexpected comparison: %+v", m)
		}
	}
	if givenUp[fairshare.Race.String()] || !givenUp[fairshare.Permutations.String()] {
		t.Errorf("given up are %v", givenUp)
	}
}

func TestAComparisonThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := Compare(ctx, timed(company()), time.Hour, ticking()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, comparison %+v", err, all)
	}
}
