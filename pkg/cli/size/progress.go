package size

import (
	"fmt"
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/model/sizing"
)

// progress is a line that shows the progress of a simulation:
//
//	simulating 12 servers for 3 classes: 24 replications, 8s
//
// How many pools are yet to come, and how long each takes, is not known.
type progress struct {
	*verb.Progress
	start time.Time
}

func newProgress(s *verb.Stream) *progress {
	return &progress{verb.NewProgress(s), time.Now()}
}

func (p *progress) show(now sizing.Progress) {
	p.Show(func(at time.Time) string { return progressLine(now, at.Sub(p.start)) })
}

func progressLine(now sizing.Progress, elapsed time.Duration) string {
	return fmt.Sprintf("simulating %s for %s: %s, %s",
		verb.Counted(now.Servers, "server", "servers"), verb.Counted(now.Classes, "class", "classes"),
		verb.Counted(now.Replications, "replication", "replications"), verb.TimeLeft(elapsed))
}
