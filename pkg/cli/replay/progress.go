package replay

import (
	"fmt"
	"sync"
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/text"
)

// progress is a line that says how far all runs of a replay are:
//
//	least-dilation  ███████████████████░░░░░  78%  781,204 of 1,000,000 jobs, 212k jobs/s, 2s left
type progress struct {
	*verb.Progress
	runs   []replays.Run
	jobs   int64        // of a run, 0 if it is not known: then the size of the trace counts
	source *traceSource // nil if jobs are generated
	start  time.Time

	mu      sync.Mutex
	arrived []int // jobs, per run
}

func newProgress(stream *verb.Stream, e *replays.Replay, source *traceSource) *progress {
	return &progress{
		Progress: verb.NewProgress(stream), runs: e.Runs(), jobs: e.Jobs(), source: source, start: time.Now(), arrived: make([]int, len(e.Runs())),
	}
}

// of returns the function that is called with the progress of a run.
func (p *progress) of(run int) func(arrived int) {
	if !p.Visible() {
		return nil
	}
	return func(arrived int) { p.update(run, arrived) }
}

// update takes note of the jobs of a run that have arrived, and shows the line.
func (p *progress) update(run, arrived int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived[run] = arrived
	p.Show(func(now time.Time) string { return p.line(p.runs[run], now.Sub(p.start)) })
}

// line says how far all runs are after some time, as a run goes on.
func (p *progress) line(run replays.Run, elapsed time.Duration) string {
	jobs := 0
	for _, n := range p.arrived {
		jobs += n
	}
	who := run.Policy
	if run.Seed > 1 || p.runs[len(p.runs)-1].Seed > 1 {
		who += fmt.Sprintf(" %d", run.Seed)
	}
	all := ""
	if p.jobs > 0 {
		all = " of " + text.Count(p.jobs*int64(len(p.runs)))
	}
	done := p.done(jobs)
	text := fmt.Sprintf("%s  %s  %s%s jobs", who, verb.Bar(done), text.Count(int64(jobs)), all)
	if elapsed > 0 {
		text += ", " + rounded(float64(jobs)/elapsed.Seconds()) + " jobs/s"
	}
	return text + verb.Left(done, elapsed)
}

// rounded writes a speed to a few digits: 87 or 212k.
func rounded(x float64) string {
	const many = 10_000
	if x < many {
		return text.Count(int64(x))
	}
	return text.Count(int64(x/1000)) + "k"
}

// done returns which part of all work is done, from 0 to 1.
func (p *progress) done(jobs int) float64 {
	done, runs := 0.0, float64(len(p.runs))
	if p.jobs > 0 {
		done = float64(jobs) / float64(p.jobs) / runs
	}
	if p.source != nil && p.source.size > 0 {
		done = max(done, float64(p.source.read.Load())/float64(p.source.size)/runs) // a trace may end before the limit
	}
	return min(done, 1)
}
