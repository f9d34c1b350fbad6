package trace

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Format is how a job trace is written.
type Format string

const (
	// CSV is our own format; see docs/reference/traces.md.
	CSV Format = "csv"
	// SWF is the Standard Workload Format of the Parallel Workloads Archive,
	// version 2.2: 18 columns of numbers, -1 for unknown. From it follow:
	//
	//   - neutral time: the run time
	//   - threads at cpu: the allocated processors, else the requested ones
	//   - demand at cpu: the average CPU time used, at most the run time, else
	//     the run time
	//   - requests: as many cores as processors; used memory, else requested
	//     memory, times processors
	//   - start and end: if the wait time is known
	//   - type: executable-N, N being the number of the executable, if known
	//
	// A number of processors or an amount of memory of 0 counts as unknown.
	// Skipped are jobs without run time or processors, jobs on more processors
	// than a job may have threads, and the parts (status 2 to 4) of a job that
	// was suspended, whose whole is on a line of its own.
	SWF Format = "swf"
	// Openb is the pod list of an openb trace. From it follow:
	//
	//   - neutral time: from scheduling to deletion
	//   - demand at gpu: a pod that requests g GPUs by m thousandths is at a
	//     GPU for m/1000 of its time, with g threads
	//   - demand at cpu: the rest of the time it keeps the CPUs busy that it
	//     requests, with a thread per core; a pod that requests neither CPU nor
	//     GPU is idle, with a demand of 0
	//   - requests: cpu, memory, and g·m/1000 GPUs
	//   - start and end: scheduling and deletion
	//   - type: none
	//
	// Skipped are pods that were never scheduled, not deleted within the
	// trace, deleted in the second in which they were scheduled, or that
	// request more cores or GPUs than a job may have threads.
	Openb Format = "openb"
)

// Formats lists the formats that [Jobs] reads.
func Formats() []Format { return []Format{CSV, SWF, Openb} }

// Options says how [Jobs] reads a trace. The zero value reads [CSV] and is
// strict about the order.
type Options struct {
	// Format of the trace; empty means [CSV].
	Format Format
	// AllowUnsorted accepts jobs that arrive before the job above. By default
	// that is an error, because a replay needs arrivals in order; see [Sorted].
	AllowUnsorted bool
	// Skipped is called with each job that the format's rule leaves out, with the
	// reason, which continues a sentence that starts with the job's name: "was
	// never scheduled". May be nil.
	Skipped func(line int, name, reason string)
}

// Jobs reads the jobs of a trace from in, in the order of the file; file is its
// name in errors. A trace without jobs is an error, and so is one of which every
// job is skipped. The sequence can be ranged over once, because in can be read
// once.
func Jobs(file string, in io.Reader, options Options) iter.Seq2[Job, error] {
	return func(yield func(Job, error) bool) {
		previous, jobs, skipped := 0.0, 0, 0
		skip := func(line int, name, reason string) {
			skipped++
			if options.Skipped != nil {
				options.Skipped(line, name, reason)
			}
		}
		for job, err := range options.Format.jobs(file, in, skip) {
			if err == nil && job.Arrival < previous && !options.AllowUnsorted {
				err = &Error{
					File: file, Line: job.Line, Column: options.Format.arrivals(), Value: number(job.Arrival),
					Rule: "is before the previous arrival, " + number(previous) + "; sort the trace, or pass --sort",
				}
			}
			if err != nil {
				yield(Job{}, err)
				return
			}
			jobs++
			previous = job.Arrival
			if !yield(job, nil) {
				return
			}
		}
		if jobs == 0 && skipped > 0 {
			yield(Job{}, &Error{File: file, Rule: "none of its " + grouped(int64(skipped)) + " jobs can be used: all were skipped"})
		}
	}
}

func (f Format) jobs(file string, in io.Reader, skip func(line int, name, reason string)) iter.Seq2[Job, error] {
	switch f {
	case "", CSV:
		return csvJobs(file, in)
	case SWF:
		return swfJobs(file, in, skip)
	case Openb:
		return openbJobs(file, in, skip)
	}
	return func(yield func(Job, error) bool) {
		yield(Job{}, &Error{File: file, Rule: "unknown format " + strconv.Quote(string(f)) + "; the formats are " + formatList()})
	}
}

// arrivals names the column with the time of arrival.
func (f Format) arrivals() string {
	switch f {
	case SWF:
		return swfColumns[swfSubmit]
	case Openb:
		return openbPodColumns[podCreated]
	default:
		return columnArrival
	}
}

func formatList() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Sorted reads all of jobs into memory and returns them by arrival; jobs that
// arrive at once keep their order. It returns the first error of jobs. What it
// returns can be ranged over many times and has no errors.
func Sorted(jobs iter.Seq2[Job, error]) (iter.Seq2[Job, error], error) {
	var all []Job
	for job, err := range jobs {
		if err != nil {
			return nil, err
		}
		all = append(all, job)
	}
	slices.SortStableFunc(all, func(a, b Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return func(yield func(Job, error) bool) {
		for _, job := range all {
			if !yield(job, nil) {
				return
			}
		}
	}, nil
}

// hint says which format the first line of a file suggests, if that is not the
// one it was read as.
func hint(line string, readAs Format) string {
	var f Format
	switch {
	case strings.HasPrefix(line, versionPrefix):
		f = CSV
	case strings.Contains(line, openbPodColumns[podCPU]+",") && strings.Contains(line, openbPodColumns[podCreated]):
		f = Openb
	case strings.HasPrefix(strings.TrimSpace(line), ";"), !strings.Contains(line, ",") && len(strings.Fields(line)) == len(swfColumns):
		f = SWF
	}
	if f == "" || f == readAs {
		return ""
	}
	return "; this looks like a trace in the format " + string(f) + ": pass --format " + string(f)
}
