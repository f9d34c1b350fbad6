package fit

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The columns of a file of observations.
const (
	columnRun      = "run"
	columnJob      = "job"
	columnDilation = "dilation"
	columnSeconds  = "seconds"
	columnRequest  = "request.cpu"
	columnLimit    = "limit.cpu"
	columnDevice   = "device"
)

// An InputError says where a file of observations is wrong, and why.
type InputError struct {
	Line   int    // from 1; the header is the first line
	Column string // the column's name; empty where the whole line is wrong
	Value  string // the text found there
	Rule   string // the rule that it breaks
}

func (e *InputError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Rule)
	}
	return fmt.Sprintf("line %d: %s: %q %s", e.Line, e.Column, e.Value, e.Rule)
}

// Read reads observations as comma-separated values with the header
//
//	run,job,dilation[,seconds][,request.cpu][,limit.cpu][,device]
//
// in any order of columns. Rows of one run ran together; they need not be
// adjacent, and a job may appear more than once in a run. An empty dilation was
// not measured, empty seconds and requests are not known, and an empty limit is
// none. Where there are devices, jobs of one run that used different ones did not
// meet: they make a run per device. A byte-order mark and carriage returns are
// skipped.
//
// It returns the runs in the order of their first rows, and warnings about odd but usable values.
// The first wrong line ends it with an [InputError].
func Read(r io.Reader) (runs []Run, warnings []string, err error) {
	tail := &lastByte{reader: skipMark(r)}
	reader := csv.NewReader(tail)
	reader.ReuseRecord = true
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, &InputError{Line: 1, Rule: "the file is empty; its first line must be run,job,dilation or run,job,dilation,seconds"}
	}
	if err != nil {
		return nil, nil, lineError(err)
	}
	columns, err := readHeader(header)
	if err != nil {
		return nil, nil, err
	}
	rows := rowReader{columns: columns, index: map[string]int{}}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, lineError(err)
		}
		line, _ := reader.FieldPos(0)
		if err := rows.add(record, line); err != nil {
			return nil, nil, err
		}
	}
	for i := range rows.runs {
		if err := rows.runs[i].validateClaims(); errors.Is(err, errSomeRequests) {
			return nil, nil, &InputError{Line: rows.first[i], Rule: columnRequest + " of run " + strconv.Quote(rows.runs[i].Name) + ": " + errSomeRequests.Error()}
		}
	}
	if len(rows.runs) == 0 {
		return nil, nil, &InputError{Line: 2, Rule: "there are no observations below the header"}
	}
	return rows.runs, rows.warnings(tail.last), nil
}

// columns are the places of the columns in a row; −1 for one that is not there.
type columns struct{ run, job, dilation, seconds, request, limit, device int }

func readHeader(header []string) (columns, error) {
	c := columns{-1, -1, -1, -1, -1, -1, -1}
	places := map[string]*int{
		columnRun: &c.run, columnJob: &c.job, columnDilation: &c.dilation, columnSeconds: &c.seconds,
		columnRequest: &c.request, columnLimit: &c.limit, columnDevice: &c.device,
	}
	for i, name := range header {
		place := places[strings.ToLower(strings.TrimSpace(name))]
		switch {
		case place == nil:
			return c, &InputError{1, "header", name, "is not one of run, job, dilation, seconds, request.cpu, limit.cpu, device"}
		case *place >= 0:
			return c, &InputError{1, "header", name, "appears twice"}
		}
		*place = i
	}
	for _, name := range []string{columnRun, columnJob, columnDilation} {
		if *places[name] < 0 {
			return c, &InputError{1, "header", strings.Join(header, ","), "has no column " + name}
		}
	}
	return c, nil
}

// rowReader gathers rows into runs.
type rowReader struct {
	columns columns
	index   map[string]int // run → place in runs
	runs    []Run
	first   []int // the line of the first row of each

	below      int // dilations below 1
	lowest     float64
	lowestLine int
}

func (r *rowReader) add(record []string, line int) error {
	run, job := strings.TrimSpace(record[r.columns.run]), strings.TrimSpace(record[r.columns.job])
	if run == "" {
		return &InputError{line, columnRun, run, "is empty: rows of one run carry its name"}
	}
	if job == "" {
		return &InputError{line, columnJob, job, "is empty"}
	}
	var err error
	if run, err = r.onDevice(run, record, line); err != nil {
		return err
	}
	member := Member{}
	if member.Dilation, err = number(record[r.columns.dilation], line, columnDilation, dilationRule); err != nil {
		return err
	}
	if r.columns.seconds >= 0 {
		if member.Seconds, err = number(record[r.columns.seconds], line, columnSeconds, secondsRule); err != nil {
			return err
		}
	}
	if err := r.share(record, line, &member); err != nil {
		return err
	}
	if member.measured() && member.Dilation < 1 {
		r.below++
		if r.below == 1 || member.Dilation < r.lowest {
			r.lowest, r.lowestLine = member.Dilation, line
		}
	}
	at, known := r.index[run]
	if !known {
		at = len(r.runs)
		run = strings.Clone(run)
		r.index[run] = at
		r.runs, r.first = append(r.runs, Run{Name: run}), append(r.first, line)
	}
	member.Job = strings.Clone(job)
	r.runs[at].Members = append(r.runs[at].Members, member)
	return nil
}

// onDevice returns the name of the run of the jobs that used the same device.
func (r *rowReader) onDevice(run string, record []string, line int) (string, error) {
	if r.columns.device < 0 {
		return run, nil
	}
	device := strings.TrimSpace(record[r.columns.device])
	if device == "" {
		return "", &InputError{line, columnDevice, device, "is empty: name the device that the job used, such as gpu-0"}
	}
	return run + " on " + device, nil
}

// share reads a job's request and limit. An empty request is unknown, an empty limit none.
func (r *rowReader) share(record []string, line int, member *Member) (err error) {
	if at := r.columns.limit; at >= 0 {
		if member.Limit, err = number(record[at], line, columnLimit, limitRule); err != nil {
			return err
		}
	}
	at := r.columns.request
	if at < 0 || strings.TrimSpace(record[at]) == "" {
		return nil
	}
	request, err := number(record[at], line, columnRequest, requestRule)
	if err == nil && member.Limit != 0 && request > member.Limit {
		err = &InputError{line, columnRequest, strings.Clone(strings.TrimSpace(record[at])), fmt.Sprintf("is more than the limit, %v", member.Limit)}
	}
	member.Request = &request
	return err
}

// number reads a field that may be empty, which is 0.
func number(field string, line int, column string, rule func(float64) string) (float64, error) {
	field = strings.TrimSpace(field)
	if field == "" {
		return 0, nil
	}
	value, err := strconv.ParseFloat(field, 64)
	if err != nil {
		return 0, &InputError{line, column, strings.Clone(field), "is not a number"}
	}
	if broken := rule(value); broken != "" {
		return 0, &InputError{line, column, strings.Clone(field), broken}
	}
	return value, nil
}

func (r *rowReader) warnings(last byte) []string {
	var warnings []string
	if r.below > 0 {
		warnings = append(warnings, fmt.Sprintf(
			"%d dilations are below 1, the lowest is %v on line %d: nothing runs faster in company, so this is taken for noise", r.below, r.lowest, r.lowestLine))
	}
	if last != '\n' {
		warnings = append(warnings, "the last line does not end: the file may have been cut off")
	}
	return slices.Clip(warnings)
}

// lineError turns an error of the CSV reader into ours.
func lineError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("read observations: %w", err)
	}
	rule := parse.Err.Error()
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		rule = "the number of fields is not that of the header (is the file cut off?)"
	}
	return &InputError{Line: parse.StartLine, Rule: rule}
}

// skipMark skips a UTF-8 byte-order mark, if there is one.
func skipMark(r io.Reader) io.Reader {
	mark := []byte("\xef\xbb\xbf")
	buffered := bufio.NewReader(r)
	if start, err := buffered.Peek(len(mark)); err == nil && bytes.Equal(start, mark) {
		if _, err := buffered.Discard(len(mark)); err != nil {
			return buffered
		}
	}
	return buffered
}

// lastByte remembers the last byte that passed.
type lastByte struct {
	reader io.Reader
	last   byte
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.reader.Read(p)
	if n > 0 {
		l.last = p[n-1]
	}
	return n, err
}
