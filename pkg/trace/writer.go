package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"loadline.dev/loadline/pkg/trace/cells"
)

// Columns names the resources that a [Writer] has columns for.
type Columns struct {
	// Demands are the resources at which jobs have demands.
	Demands []string
	// Requests are the resources that jobs request.
	Requests []string
	// CPULimit asks for the column of [Job.CPULimit].
	CPULimit bool
}

// Writer writes jobs in our CSV format. [Jobs] reads back exactly what was
// written; only [Job.Line], and the order of the demands and requests, become
// those of the file. Names that a spreadsheet would compute are marked as text: see
// package cells.
type Writer struct {
	out     *bufio.Writer
	columns []string
	cells   []cells.Cell // of the row being written
	line    bytes.Buffer
	rows    *cells.Writer // into line
}

// NewWriter returns a Writer to out, with the version and the header written. A
// name that is not that of a resource, or that is given twice, is an error.
func NewWriter(out io.Writer, columns Columns) (*Writer, error) {
	w := &Writer{
		out:     bufio.NewWriter(out),
		columns: []string{columnJob, columnType, columnArrival, columnNeutral, columnStart, columnEnd, columnNode},
	}
	w.rows = cells.NewWriter(&w.line)
	for _, name := range columns.Demands {
		w.columns = append(w.columns, demandPrefix+name, threadsPrefix+name)
	}
	for _, name := range columns.Requests {
		w.columns = append(w.columns, requestPrefix+name)
	}
	if columns.CPULimit {
		w.columns = append(w.columns, columnLimit)
	}
	for _, name := range slices.Concat(columns.Demands, columns.Requests) {
		if !resourceName.MatchString(name) {
			return nil, fmt.Errorf("columns: %q: %s", abridged(name), notResourceName)
		}
	}
	for i, column := range w.columns {
		if slices.Contains(w.columns[:i], column) {
			return nil, fmt.Errorf("columns: %s is given twice", column)
		}
	}
	if _, err := w.out.WriteString(Version + "\n"); err != nil {
		return nil, err
	}
	w.cells = make([]cells.Cell, len(w.columns))
	return w, w.writeRow(w.rows.Header(w.columns...))
}

// Write adds a job, whose [Job.Line] does not matter. A job that breaks a rule
// of [Job], or has a resource without a column, is an error and not written.
// Jobs may come in any order, but a replay wants them by arrival.
func (w *Writer) Write(job Job) error {
	job.complete()
	if f := job.flaw(); f != nil {
		return fmt.Errorf("job %q: %s %q: %s", abridged(job.Name), f.column, abridged(f.value), f.rule)
	}
	err := w.fill(&job)
	if err == nil {
		err = w.writeRow(w.rows.Write(w.cells...))
	}
	if err != nil {
		return fmt.Errorf("job %q: %w", abridged(job.Name), err)
	}
	return nil
}

// Flush writes what is buffered. It is to be called after the last job.
func (w *Writer) Flush() error { return w.out.Flush() }

func (w *Writer) fill(job *Job) error {
	clear(w.cells)
	neutral := Moment{At: job.Neutral, Happened: job.Neutral > 0}
	copy(w.cells, []cells.Cell{
		cells.Text(job.Name), cells.Text(job.Type), cells.Exactly(job.Arrival), optional(neutral), optional(job.Start), optional(job.End), cells.Text(job.Node),
	})
	for _, d := range job.Demands {
		if err := w.set(demandPrefix+d.Resource, cells.Exactly(d.Seconds)); err != nil {
			return err
		}
		if err := w.set(threadsPrefix+d.Resource, cells.Count(d.Threads)); err != nil {
			return err
		}
	}
	for _, r := range job.Requests {
		if err := w.set(requestPrefix+r.Resource, cells.Exactly(r.Amount)); err != nil {
			return err
		}
	}
	if job.CPULimit > 0 {
		return w.set(columnLimit, cells.Exactly(job.CPULimit))
	}
	return nil
}

// set fills a cell that is still empty.
func (w *Writer) set(column string, value cells.Cell) error {
	i := slices.Index(w.columns, column)
	if i < 0 {
		return fmt.Errorf("the file has no column %s", column)
	}
	if !w.cells[i].IsEmpty() {
		return fmt.Errorf("has %s twice", column)
	}
	w.cells[i] = value
	return nil
}

// writeRow writes the row that was given to w.rows, with that error.
func (w *Writer) writeRow(err error) error {
	if err := errors.Join(err, w.rows.Flush()); err != nil {
		return err
	}
	defer w.line.Reset()
	if length := w.line.Len() - len("\n"); length > MaxLineBytes {
		return fmt.Errorf("takes %s bytes; a line may have %s", grouped(int64(length)), grouped(MaxLineBytes))
	}
	_, err = w.out.Write(w.line.Bytes())
	return err
}

// optional returns a moment, or nothing for one that has not happened.
func optional(m Moment) cells.Cell {
	if !m.Happened {
		return cells.Cell{}
	}
	return cells.Exactly(m.At)
}
