package who

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

// looks is a source with a result for each look, nil for a good one. After each but the last it is time for the next.
type looks struct {
	results []error
	clock   *testingclock.FakeClock
	cancel  context.CancelFunc
	next    int
}

func (l *looks) look(context.Context) (*seen, error) {
	err := l.results[l.next]
	l.next++
	switch {
	case !l.last():
		l.clock.Step(every)
	case err != nil:
		l.cancel()
	}
	return &seen{in: &observed.Input{}}, err
}

func (l *looks) last() bool { return l.next == len(l.results) }

// watch returns the output on both streams when looks give these results, and the error at the end. Showing an answer
// gives the error of its number. When the last result has been taken, the context is done.
func watch(t *testing.T, showing map[int]error, results ...error) (out, warnings string, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &looks{results: results, clock: testingclock.NewFakeClock(time.Unix(0, 0)), cancel: cancel}
	var stdout, stderr bytes.Buffer
	a := &asking{streams: verb.Streams{Out: verb.NewStream(&stdout), Err: verb.NewStream(&stderr)}, above: observed.DefaultAbove}
	shown := 0
	err = watching(ctx, a, l, l.clock, a.answer, func(*seen, *findings.Answer) error {
		shown++
		fmt.Fprintf(&stdout, "answer %d\n", shown)
		if l.last() {
			cancel()
		}
		return showing[shown]
	})
	return stdout.String(), stderr.String(), err
}

func TestWatchingGoesOnAfterAnErrorOnceThereWasAnAnswer(t *testing.T) {
	t.Parallel()
	refused, full := errors.New("connection refused"), errors.New("no space left on device")
	for name, test := range map[string]struct {
		results  []error
		showing  map[int]error
		out      string
		warnings string
		want     error
	}{
		"all is well":                   {results: []error{nil, nil, nil}, out: "answer 1\n\nanswer 2\n\nanswer 3\n"},
		"errors in between":             {results: []error{nil, refused, refused, nil}, out: "answer 1\n\nanswer 2\n", warnings: "Warning: connection refused; trying again\nWarning: connection refused; trying again\n"},
		"an error at the first look":    {results: []error{refused, nil, nil}, want: refused},
		"an error as it is done":        {results: []error{nil, refused}, out: "answer 1\n", want: refused},
		"an answer that is not printed": {results: []error{nil, nil, nil, nil}, showing: map[int]error{2: full}, out: "answer 1\n\nanswer 2\n", want: full},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, warnings, err := watch(t, test.showing, test.results...)
			if !errors.Is(err, test.want) {
				t.Errorf("it ends with %v, want %v", err, test.want)
			}
			if diff := cmp.Diff(test.out, out); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.warnings, warnings); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}
