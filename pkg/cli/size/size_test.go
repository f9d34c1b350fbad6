package size

import (
	"context"
	"io"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/model/sizing"
)

func TestSizeStopsWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	classes := []string{"name=a,rate=0.6,service=1s,within=3s,probability=0.8", "name=b,rate=3,service=1s,within=5s,probability=0.95"}
	s := &size{streams: verb.Streams{Out: verb.NewStream(io.Discard), Err: verb.NewStream(io.Discard)}, flags: planFlags{classes: classes, discipline: "pdp"}}
	s.simulation.Replications = 64
	if err := s.run(ctx); verb.ExitCode(err) != verb.ExitInterrupted || err.Error() != "kept nothing" {
		t.Errorf("error = %v", err)
	}
}

func TestTheProgressOfASimulationSaysWhatIsSimulated(t *testing.T) {
	t.Parallel()
	line := progressLine(sizing.Progress{Classes: 3, Servers: 1, Replications: 24}, 8*time.Second)
	if want := "simulating 1 server for 3 classes: 24 replications, 8s"; line != want {
		t.Errorf("the line is %q, want %q", line, want)
	}
	newProgress(verb.NewStream(io.Discard)).show(sizing.Progress{}) // says nothing without a terminal
}
