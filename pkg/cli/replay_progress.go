package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/report/text"
)

// replayProgress is a line that says how far all runs of a replay are, on a
// terminal only:
//
//	least-dilation  ███████████████████░░░░░  78%  781,204 of 1,000,000 jobs, 212k jobs/s, 2s left
type replayProgress struct {
	terminal *os.File // nil where nobody looks
	runs     []replays.Run
	jobs     int64        // of a run, 0 if nobody knows: then the size of the trace counts
	source   *traceSource // nil if jobs are generated
	start    time.Time

	mu      sync.Mutex
	last    time.Time // that the line was written
	arrived []int     // jobs, per run
}

func newReplayProgress(w io.Writer, e *replays.Replay, source *traceSource) *replayProgress {
	return &replayProgress{
		terminal: terminal(w), runs: e.Runs(), jobs: e.Jobs(), source: source, start: time.Now(), arrived: make([]int, len(e.Runs())),
	}
}

// of returns what is told of the progress of a run.
func (p *replayProgress) of(run int) func(epochs.Progress) {
	if p.terminal == nil {
		return nil
	}
	return func(now epochs.Progress) { p.update(run, now.Arrived) }
}

// update takes note of the jobs of a run that have arrived, and shows the line, ten
// times a second at most.
func (p *replayProgress) update(run, arrived int) {
	const rest = 100 * time.Millisecond
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived[run] = arrived
	now := time.Now()
	if now.Sub(p.last) < rest {
		return
	}
	p.last = now
	line := []rune(p.line(p.runs[run], now.Sub(p.start)))
	if width, _, err := term.GetSize(int(p.terminal.Fd())); err == nil && len(line) >= width {
		line = line[:max(0, width-1)]
	}
	p.terminal.WriteString("\r\x1b[K" + string(line)) //nolint:errcheck // a line that cannot be shown changes nothing
}

// line says how far all runs are after some time, as a run goes on.
func (p *replayProgress) line(run replays.Run, elapsed time.Duration) string {
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
	const width = 24
	full := int(done * width)
	text := fmt.Sprintf("%s  %s%s  %.0f%%  %s%s jobs", who, strings.Repeat("█", full), strings.Repeat("░", width-full), 100*done, text.Count(int64(jobs)), all)
	if elapsed > 0 {
		text += ", " + rounded(float64(jobs)/elapsed.Seconds()) + " jobs/s"
	}
	if done > 0 {
		text += ", " + timeLeft(time.Duration(float64(elapsed)*(1-done)/done)) + " left"
	}
	return text
}

// rounded writes a speed that nobody wants to know to the last digit: 87 or 212k.
func rounded(x float64) string {
	const many = 10_000
	if x < many {
		return text.Count(int64(x))
	}
	return text.Count(int64(x/1000)) + "k"
}

// timeLeft writes a time that is a guess: 42s or 13m 05s.
func timeLeft(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0fs", max(1, d.Seconds()))
	}
	return text.Elapsed(d.Round(time.Second))
}

// done returns which part of all work is done, from 0 to 1.
func (p *replayProgress) done(jobs int) float64 {
	done, runs := 0.0, float64(len(p.runs))
	if p.jobs > 0 {
		done = float64(jobs) / float64(p.jobs) / runs
	}
	if p.source != nil && p.source.size > 0 {
		done = max(done, float64(p.source.read.Load())/float64(p.source.size)/runs) // a trace may end before the limit
	}
	return min(done, 1)
}

// clear takes the line away.
func (p *replayProgress) clear() {
	if p.terminal != nil {
		p.terminal.WriteString("\r\x1b[K") //nolint:errcheck // as above
	}
}
