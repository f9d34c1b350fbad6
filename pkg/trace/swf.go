package trace

import (
	"errors"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/model/loading"
)

const (
	swfJob = iota
	swfSubmit
	swfWait
	swfRun
	swfAllocated
	swfCPU
	swfUsedMemory
	swfRequested
	swfRequestedTime
	swfRequestedMemory
	swfStatus
	swfUser
	swfGroup
	swfExecutable
	swfQueue
	swfPartition
	swfPreceding
	swfThink
)

var swfColumns = []string{
	swfJob: "job number", swfSubmit: "submit time", swfWait: "wait time", swfRun: "run time",
	swfAllocated: "allocated processors", swfCPU: "average CPU time used", swfUsedMemory: "used memory",
	swfRequested: "requested processors", swfRequestedTime: "requested time", swfRequestedMemory: "requested memory",
	swfStatus: "status", swfUser: "user", swfGroup: "group", swfExecutable: "executable", swfQueue: "queue",
	swfPartition: "partition", swfPreceding: "preceding job", swfThink: "think time",
}

// maxKiB is the most memory per processor, 64 TiB: a job of any number of
// threads stays within maxAmount.
const maxKiB = maxAmount / 1024 / loading.MaxThreads

// swfJobs reads the Standard Workload Format.
func swfJobs(file string, in io.Reader, skip func(line int, name, reason string)) iter.Seq2[Job, error] {
	open := func() (rowReader, error) { return openSWF(file, in) }
	return readRows(open, func(r *row) (Job, bool) {
		s := swfLine{row: r}
		job, reason := s.job()
		if reason != "" && r.err == nil {
			skip(r.line, job.Name, reason)
		}
		return job, reason == ""
	})
}

// swfTable cuts lines at white space and leaves out comments.
type swfTable struct {
	lines *lines
	row   row
}

func openSWF(file string, in io.Reader) (*swfTable, error) {
	l, err := openLines(file, in)
	if err != nil {
		return nil, err
	}
	return &swfTable{lines: l, row: row{file: file, columns: swfColumns, cells: make([]string, len(swfColumns))}}, nil
}

func (t *swfTable) next() (*row, error) {
	for {
		line, err := t.lines.next()
		if errors.Is(err, io.EOF) && t.row.number == 0 {
			return nil, &Error{File: t.lines.file, Rule: "has no jobs"}
		}
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), ";") {
			continue
		}
		return t.split(line)
	}
}

func (t *swfTable) split(line string) (*row, error) {
	found := 0
	for cell := range strings.FieldsSeq(line) {
		if found < len(t.row.cells) {
			t.row.cells[found] = cell
		}
		found++
	}
	if found != len(swfColumns) {
		return nil, t.lines.wrong("has " + strconv.Itoa(found) + " of " + strconv.Itoa(len(swfColumns)) +
			" columns of the Standard Workload Format" + hint(line, SWF))
	}
	t.row.line = t.lines.number
	t.row.number++
	return &t.row, nil
}

// swfLine is the numbers of one line.
type swfLine struct {
	*row
	values [18]float64
}

// job makes a job of a line, or says why there is none.
func (s *swfLine) job() (j Job, skipped string) {
	for i, cell := range s.cells {
		if cell == "-1" { // unknown, as most are
			s.values[i] = -1
			continue
		}
		s.values[i] = decimal(cell)
		if math.IsNaN(s.values[i]) {
			s.reject(i, "must be a number")
		}
	}
	j = Job{Line: s.line, Name: strings.Clone(s.cells[swfJob])}
	if status := s.values[swfStatus]; status >= 2 && status <= 4 {
		return j, "is a part of a job that was suspended, whose whole is on a line of its own"
	}
	if j.Arrival = s.values[swfSubmit]; !inRange(j.Arrival, maxSeconds) {
		s.reject(swfSubmit, outside(maxSeconds))
	}
	wait, run, cpu := s.known(swfWait, maxSeconds), s.known(swfRun, maxSeconds), s.known(swfCPU, maxSeconds)
	processors := s.whole(swfAllocated)
	if processors <= 0 {
		processors = s.whole(swfRequested)
	}
	memory := s.known(swfUsedMemory, maxKiB)
	if memory <= 0 {
		memory = s.known(swfRequestedMemory, maxKiB)
	}
	executable := s.whole(swfExecutable)
	switch {
	case s.err != nil:
		return j, ""
	case run <= 0:
		return j, "has no run time"
	case processors <= 0:
		return j, "has no processors"
	case processors > loading.MaxThreads:
		return j, "runs on " + grouped(int64(processors)) + " processors, more than the " + grouped(loading.MaxThreads) + " threads that a job may have"
	}
	if executable >= 0 {
		j.Type = intern("executable-" + number(executable))
	}
	j.Neutral = run
	if cpu < 0 || cpu > run {
		cpu = run
	}
	j.Demands = []ServiceDemand{{Resource: resourceCPU, Seconds: cpu, Threads: int(processors)}}
	j.Requests = append(make([]Request, 0, 2), Request{Resource: resourceCPU, Amount: processors})
	if memory > 0 {
		j.Requests = append(j.Requests, Request{Resource: resourceMemory, Amount: memory * 1024 * processors})
	}
	if wait >= 0 {
		j.Start = Moment{At: j.Arrival + wait, Happened: true}
		j.End = Moment{At: j.Arrival + wait + run, Happened: true}
	}
	if f := j.flaw(); f != nil { // only sums can be out of bounds here
		s.rejectWhole("the job's " + f.column + ", " + f.value + ", " + f.rule)
	}
	return j, ""
}

// known returns a number from 0 to limit, or −1 if it is unknown.
func (s *swfLine) known(column int, limit int64) float64 {
	x := s.values[column]
	if x != -1 && !inRange(x, limit) {
		s.reject(column, outside(limit)+", or -1 if it is unknown")
	}
	return x
}

// whole is known for numbers that count.
func (s *swfLine) whole(column int) float64 {
	x := s.known(column, math.MaxInt32)
	if x != math.Trunc(x) {
		s.reject(column, "must be a whole number")
	}
	return x
}
