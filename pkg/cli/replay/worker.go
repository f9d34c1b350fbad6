package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/replays"
)

// worker holds the flags of the pods of a TraceReplay.
// They are hidden: users do not need them.
type worker struct {
	runs   string
	index  int
	result string
}

func (w *worker) add(flags *pflag.FlagSet) {
	flags.StringVar(&w.runs, "worker-runs", "", "file with the number of a run on each line")
	flags.IntVar(&w.index, "worker-index", 0, "the line, from 0, of the run to carry out")
	flags.StringVar(&w.result, "worker-result", "", "file that the result is written to")
	for _, flag := range []string{"worker-runs", "worker-index", "worker-result"} {
		if err := flags.MarkHidden(flag); err != nil {
			panic(err) // the flags were added above
		}
	}
}

func (w *worker) asked() bool { return w.runs != "" || w.result != "" }

// run carries out one run and writes its result, and what became of each job where
// that is asked for. There is no result of a run that was ended before its time.
func (w *worker) run(ctx context.Context, r *replay, e *replays.Replay) error {
	run, err := w.number(len(e.Runs()))
	if err != nil {
		return err
	}
	result, err := r.oneRun(ctx, e, run, replays.Watch{})
	if ctx.Err() != nil && err != nil {
		return verb.Interrupted("nothing")
	}
	if err != nil {
		return err
	}
	text, err := result.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(w.result, []byte(text), 0o644)
}

// number reads the number of the run.
func (w *worker) number(runs int) (run int, err error) {
	file, err := os.Open(filepath.Clean(w.runs))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for line := 0; lines.Scan(); line++ {
		if line != w.index {
			continue
		}
		run, err := strconv.Atoi(lines.Text())
		if err != nil || run < 0 || run >= runs {
			return 0, fmt.Errorf("--worker-runs: line %d: %q is not the number of a run, from 0 to %d", line+1, lines.Text(), runs-1)
		}
		return run, nil
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("--worker-index: %d: the file %s has no such line", w.index, filepath.Base(w.runs))
}
