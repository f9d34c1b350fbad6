package replay

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/trace/cells"
)

// runFile is a CSV file about a run. Until it is complete its name says that it is not, so that the
// partial file of a killed run is not taken for a complete one.
type runFile struct {
	*cells.Writer
	path string // without .csv or .partial.csv
	file *os.File
}

func newRunFile(dir, name string, columns []string) (*runFile, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f := &runFile{path: filepath.Join(dir, name)}
	var err error
	if f.file, err = os.Create(f.partial()); err != nil {
		return nil, err
	}
	f.Writer = cells.NewWriter(bufio.NewWriterSize(f.file, 1<<16))
	return f, f.Header(columns...)
}

func (f *runFile) partial() string { return f.path + ".partial.csv" }

// close ends the file. After an error it stays partial; otherwise a partial file of
// an earlier run goes with its name.
func (f *runFile) close(runErr error) error {
	if err := errors.Join(f.Flush(), f.file.Close()); err != nil || runErr != nil {
		return err
	}
	return os.Rename(f.partial(), f.path+".csv")
}

// runFiles are the files of one run.
type runFiles []*runFile

// close ends the files, after the error of their run if there is one.
func (files runFiles) close(runErr error) error {
	var err error
	for _, f := range files {
		err = errors.Join(err, f.close(runErr))
	}
	return err
}

// record opens the files of a run that were asked for. After an error it returns
// those that it opened.
func (r *replay) record(e *replays.Replay, run int, watch *replays.Watch) (files runFiles, err error) {
	of := e.Runs()[run]
	name := fmt.Sprintf("%s-%d", of.Policy, of.Seed)
	if r.jobsTo != "" {
		f, err := newRunFile(r.jobsTo, name, jobColumns)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		watch.Job = writeJobs(f, e.NodeNames())
	}
	if r.epochsTo != "" {
		f, err := newRunFile(r.epochsTo, name+".epochs", epochColumns)
		if err != nil {
			return files, err
		}
		files = append(files, f)
		watch.Epoch = writeEpochs(f, e.NodeNames())
	}
	return files, nil
}

var (
	jobColumns   = []string{"job", "type", "arrival", "start", "end", "node", "wait", "execution", "neutral", "dilation"}
	epochColumns = []string{"node", "start", "end", "jobs", "utilization", "mix"}
)

// writeJobs returns a function that writes a row per job.
func writeJobs(f *runFile, nodes []string) func(*epochs.Outcome) error {
	return func(o *epochs.Outcome) error {
		return f.Write(
			cells.Text(o.Name), cells.Text(o.Type.Name), cells.Number(o.Arrival), cells.Number(o.Start), cells.Number(o.End), cells.Text(nodes[o.Node]),
			cells.Number(o.Wait()), cells.Number(o.Execution()), cells.Number(o.Alone), cells.Number(o.Dilation()),
		)
	}
}

// writeEpochs returns a function that writes a row per epoch.
func writeEpochs(f *runFile, nodes []string) func(*epochs.Epoch) error {
	return func(e *epochs.Epoch) error {
		var mix []string
		for _, part := range e.Mix.Parts() {
			mix = append(mix, fmt.Sprintf("%d×%s", part.Copies, part.Type.Name))
		}
		return f.Write(
			cells.Text(nodes[e.Node]), cells.Number(e.Start), cells.Number(e.End), cells.Count(e.Mix.Jobs()), cells.Number(e.Mix.MaxUtilization()), cells.Text(strings.Join(mix, " ")),
		)
	}
}
