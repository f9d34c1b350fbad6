package trace

import (
	"errors"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/trace/cells"
)

// Version is the first line of a trace in our CSV format. A format that older
// readers would misread gets a new version.
const Version = versionPrefix + "v1"

const versionPrefix = "#loadline-trace/"

// The columns of our CSV.
const (
	columnJob     = "job"
	columnType    = "type"
	columnArrival = "arrival"
	columnNeutral = "neutral"
	columnStart   = "start"
	columnEnd     = "end"
	columnNode    = "node"
	columnLimit   = "limit.cpu"

	// A resource's name follows.
	demandPrefix  = "demand."
	threadsPrefix = "threads."
	requestPrefix = "request."
)

// csvJobs reads our own format.
func csvJobs(file string, in io.Reader) iter.Seq2[Job, error] {
	var layout *jobLayout
	open := func() (t rowReader, err error) {
		t, layout, err = openJobTable(file, in)
		return t, err
	}
	return readRows(open, func(r *row) (Job, bool) { return layout.job(r), true })
}

// jobLayout says in which cell of a row each part of a job is; −1 for what the
// trace does not have.
type jobLayout struct {
	name, kind, arrival, neutral, start, end, node, limit int

	demands  []demandCells
	requests []requestCell
}

type demandCells struct {
	resource         string
	seconds, threads int
}

type requestCell struct {
	resource string
	amount   int
}

func openJobTable(file string, in io.Reader) (*table, *jobLayout, error) {
	l, err := openLines(file, in)
	if err != nil {
		return nil, nil, err
	}
	if err := readVersion(l); err != nil {
		return nil, nil, err
	}
	t := &table{lines: l}
	err = t.readHeader()
	if errors.Is(err, io.EOF) {
		return nil, nil, &Error{File: file, Rule: "ends after " + Version + "; want a header row next, such as job,type,arrival"}
	}
	if err != nil {
		return nil, nil, err
	}
	columns, err := knownColumns(t)
	if err != nil {
		return nil, nil, err
	}
	if err := t.findColumns(columns); err != nil {
		return nil, nil, err
	}
	layout, err := layoutOf(l, columns)
	return t, layout, err
}

func readVersion(l *lines) error {
	first, err := l.next()
	if errors.Is(err, io.EOF) {
		return &Error{File: l.file, Rule: "is empty; want " + Version + " on the first line, then a header row"}
	}
	if err != nil {
		return err
	}
	version := strings.TrimRight(first, ", \t") // spreadsheets fill up rows with commas
	switch {
	case version == Version:
		return nil
	case strings.HasPrefix(version, versionPrefix):
		return l.wrong("the version " + abridged(version) + " is not known; known: " + Version)
	default:
		return l.wrong("the first line must be " + Version + hint(first, CSV))
	}
}

// knownColumns picks the columns of a header that mean something to us.
func knownColumns(t *table) ([]string, error) {
	var known []string
	for _, column := range t.cells {
		prefix, resource, dotted := strings.Cut(column, ".")
		switch prefix += "."; {
		case dotted && (prefix == demandPrefix || prefix == threadsPrefix || prefix == requestPrefix):
			if !resourceName.MatchString(resource) {
				return nil, t.lines.wrong("the header has the column " + strconv.Quote(abridged(column)) + "; " + notResourceName)
			}
		case slices.Contains([]string{columnJob, columnType, columnArrival, columnNeutral, columnStart, columnEnd, columnNode, columnLimit}, column):
		default:
			continue
		}
		known = append(known, column)
	}
	return known, nil
}

// layoutOf assigns the columns, and demands those without which there is no job.
func layoutOf(l *lines, columns []string) (*jobLayout, error) {
	place := func(column string) int { return slices.Index(columns, column) }
	layout := &jobLayout{
		name: place(columnJob), kind: place(columnType), arrival: place(columnArrival), neutral: place(columnNeutral),
		start: place(columnStart), end: place(columnEnd), node: place(columnNode), limit: place(columnLimit),
	}
	for i, column := range columns {
		if resource, found := strings.CutPrefix(column, demandPrefix); found {
			layout.demands = append(layout.demands, demandCells{resource, i, place(threadsPrefix + resource)})
		}
		if resource, found := strings.CutPrefix(column, requestPrefix); found {
			layout.requests = append(layout.requests, requestCell{resource, i})
		}
		if resource, found := strings.CutPrefix(column, threadsPrefix); found && place(demandPrefix+resource) < 0 {
			return nil, l.wrong("the header has the column " + column + " but lacks " + demandPrefix + resource)
		}
	}
	if layout.arrival < 0 {
		return nil, l.wrong("the header lacks the column " + columnArrival)
	}
	if layout.kind < 0 && len(layout.demands) == 0 {
		return nil, l.wrong("the header has neither the column " + columnType + " nor one for a demand, such as " + demandPrefix + "cpu")
	}
	return layout, nil
}

// job makes a job of a row. What a cell must not say is left to the job's own
// rules, which see a text in place of a number as NaN.
func (l *jobLayout) job(r *row) Job {
	job := Job{
		Line:     r.line,
		Name:     strings.Clone(cells.Plain(r.optional(l.name))),
		Type:     intern(cells.Plain(r.optional(l.kind))),
		Arrival:  decimal(r.cells[l.arrival]),
		Neutral:  r.decimalOr(l.neutral, 0),
		Demands:  l.demandsOf(r),
		Requests: l.requestsOf(r),
		CPULimit: l.limitOf(r),
		Start:    r.decimalMoment(l.start),
		End:      r.decimalMoment(l.end),
		Node:     intern(cells.Plain(r.optional(l.node))),
	}
	if job.Name == "" {
		job.Name = strconv.Itoa(r.number)
	}
	job.complete()
	if f := job.flaw(); f != nil {
		r.rejectNamed(f)
	}
	return job
}

func (l *jobLayout) demandsOf(r *row) []ServiceDemand {
	given := 0
	for _, d := range l.demands {
		if r.cells[d.seconds] != "" {
			given++
		} else if r.optional(d.threads) != "" {
			r.reject(d.threads, "must be empty where "+demandPrefix+d.resource+" is")
		}
	}
	if given == 0 {
		return nil
	}
	demands := make([]ServiceDemand, 0, given)
	for _, d := range l.demands {
		if cell := r.cells[d.seconds]; cell != "" {
			demands = append(demands, ServiceDemand{Resource: d.resource, Seconds: decimal(cell), Threads: wholeOr(r.optional(d.threads), 1)})
		}
	}
	return demands
}

// limitOf reads the limit, which a row may leave empty but not set to 0: that could mean none, or nothing.
func (l *jobLayout) limitOf(r *row) float64 {
	limit := r.decimalOr(l.limit, 0)
	if limit == 0 && r.optional(l.limit) != "" {
		r.reject(l.limit, notLimit)
	}
	return limit
}

// wholeOr reads a whole number; it returns otherwise for an empty cell, and −1,
// which nothing may be, for what is no whole number.
func wholeOr(cell string, otherwise int) int {
	if cell == "" {
		return otherwise
	}
	x := decimal(cell)
	if x != math.Trunc(x) || !inRange(x, math.MaxInt32) {
		return -1
	}
	return int(x)
}

func (l *jobLayout) requestsOf(r *row) []Request {
	given := 0
	for _, q := range l.requests {
		if r.cells[q.amount] != "" {
			given++
		}
	}
	if given == 0 {
		return nil
	}
	requests := make([]Request, 0, given)
	for _, q := range l.requests {
		if cell := r.cells[q.amount]; cell != "" {
			requests = append(requests, Request{Resource: q.resource, Amount: decimal(cell)})
		}
	}
	return requests
}
