package replay

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/epochs"
)

// runFile is a CSV file about a run. Until it is complete its name says that it is
// not, so that what a run left behind that was killed is not taken for all of it.
type runFile struct {
	*csv.Writer
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
	f.Writer = csv.NewWriter(bufio.NewWriterSize(f.file, 1<<16))
	return f, f.Write(columns)
}

func (f *runFile) partial() string { return f.path + ".partial.csv" }

// close ends the file. After an error it stays partial; otherwise a partial file of
// an earlier run goes with its name.
func (f *runFile) close(runErr error) error {
	f.Flush()
	if err := errors.Join(f.Error(), f.file.Close()); err != nil || runErr != nil {
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

// writeJobs returns what writes a row per job.
func writeJobs(f *runFile, nodes []string) func(*epochs.Outcome) error {
	return func(o *epochs.Outcome) error {
		return f.Write([]string{
			o.Name, o.Type.Name, number(o.Arrival), number(o.Start), number(o.End), nodes[o.Node],
			number(o.Wait()), number(o.Execution()), number(o.Alone), number(o.Dilation()),
		})
	}
}

// writeEpochs returns what writes a row per epoch.
func writeEpochs(f *runFile, nodes []string) func(*epochs.Epoch) error {
	return func(e *epochs.Epoch) error {
		var mix []string
		for _, part := range e.Mix.Parts() {
			mix = append(mix, fmt.Sprintf("%d×%s", part.Copies, part.Type.Name))
		}
		return f.Write([]string{
			nodes[e.Node], number(e.Start), number(e.End), strconv.Itoa(e.Mix.Jobs()), number(e.Mix.MaxUtilization()), strings.Join(mix, " "),
		})
	}
}

// number writes a number to as many digits as times since the start of a long
// trace need.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 15, 64) }
