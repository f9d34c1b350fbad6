package trace

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatIsWrittenIsReadBackExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns := Columns{
			Demands:  rapid.Permutation([]string{"cpu", "disk", "memory-bandwidth"}).Draw(t, "demands"),
			Requests: rapid.Permutation([]string{"cpu", "memory", "gpu"}).Draw(t, "requests"),
			CPULimit: true,
		}
		want := rapid.SliceOfN(jobs(columns), 1, 20).Draw(t, "jobs")
		for i := range want {
			want[i].Line = i + 3 // after version and header
		}
		text, err := written(want, columns)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readJobs(text, Options{AllowUnsorted: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("jobs differ (-written +read):\n%s\n%s", diff, text)
		}
	})
}

// jobs draws jobs that keep every rule, with demands and requests in the order
// of the columns.
func jobs(columns Columns) *rapid.Generator[Job] {
	text := rapid.OneOf(
		rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return printable(string(r)) })),
		rapid.StringOf(rapid.SampledFrom([]rune("'=+-@a"))), // what spreadsheets compute
	)
	seconds := rapid.OneOf(rapid.Float64Range(0, 1e9), rapid.Map(rapid.IntRange(0, 1e9), func(n int) float64 { return float64(n) }))
	return rapid.Custom(func(t *rapid.T) Job {
		job := Job{
			Name:    text.Filter(func(s string) bool { return s != "" }).Draw(t, "name"),
			Type:    rapid.OneOf(rapid.Just("etl/filecomp"), text.Filter(func(s string) bool { return s != "" })).Draw(t, "type"),
			Arrival: seconds.Draw(t, "arrival"),
			Node:    text.Draw(t, "node"),
		}
		for _, resource := range columns.Demands {
			if rapid.Bool().Draw(t, "demands "+resource) {
				job.Demands = append(job.Demands, ServiceDemand{resource, seconds.Draw(t, "demand"), rapid.IntRange(1, 16384).Draw(t, "threads")})
			}
		}
		for _, resource := range columns.Requests {
			if rapid.Bool().Draw(t, "requests "+resource) {
				job.Requests = append(job.Requests, Request{resource, rapid.Float64Range(0, maxAmount).Draw(t, "amount")})
			}
		}
		if rapid.Bool().Draw(t, "limited") {
			job.CPULimit = rapid.Float64Range(max(job.requested("cpu"), 1e-9), maxAmount).Draw(t, "limit")
		}
		job.Neutral = job.demanded() + seconds.Draw(t, "idle")
		last := job.Arrival
		for _, m := range []*Moment{&job.Start, &job.End} {
			if rapid.Bool().Draw(t, "happened") {
				last += seconds.Draw(t, "after")
				*m = at(last)
			}
		}
		return job
	})
}

func written(jobs []Job, columns Columns) (string, error) {
	var text strings.Builder
	w, err := NewWriter(&text, columns)
	if err != nil {
		return "", err
	}
	for _, job := range jobs {
		if err := w.Write(job); err != nil {
			return "", err
		}
	}
	err = w.Flush()
	return text.String(), err
}

func TestJobsOfEveryFormatCanBeWrittenAndReadBack(t *testing.T) {
	t.Parallel()
	columns := Columns{Demands: []string{"cpu", "gpu"}, Requests: []string{"cpu", "memory", "gpu"}}
	for format, text := range map[Format][]byte{
		SWF:   traceFile(t, "lublin", "lublin_256.swf.gz"),
		Openb: testdata(t, "openb_pod_list_first_2000.csv"),
	} {
		before, err := readJobs(string(text), Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		csv, err := written(before, columns)
		if err != nil {
			t.Fatal(err)
		}
		after, err := readJobs(csv, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			before[i].Line = after[i].Line
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s jobs change when written and read (-before +after):\n%s", format, diff)
		}
	}
}

func TestAWriterRefusesWhatCouldNotBeReadBack(t *testing.T) {
	t.Parallel()
	good := func(change func(*Job)) Job {
		job := Job{Name: "a", Type: "t", Neutral: 10, Demands: []ServiceDemand{{"cpu", 5, 1}}, Requests: []Request{{"cpu", 1}}}
		change(&job)
		return job
	}
	for name, c := range map[string]struct {
		job  Job
		want string
	}{
		"no name":           {good(func(j *Job) { j.Name = "" }), `job "": job "": must not be empty`},
		"two lines":         {good(func(j *Job) { j.Node = "a\nb" }), `job "a": node "a\nb": ` + notPrintable},
		"NaN":               {good(func(j *Job) { j.Arrival = math.NaN() }), `job "a": arrival "NaN": must be a number from 0 to 9,223,372,036`},
		"a negative demand": {good(func(j *Job) { j.Demands[0].Seconds = -1 }), `job "a": demand.cpu "-1": must be a number from 0 to 9,223,372,036`},
		"no thread":         {good(func(j *Job) { j.Demands[0].Threads = 0 }), `job "a": threads.cpu "0": must be a whole number from 1 to 16,384`},
		"an infinite request": {
			good(func(j *Job) { j.Requests[0].Amount = math.Inf(1) }),
			`job "a": request.cpu "+Inf": must be a number from 0 to 1,152,921,504,606,846,976`,
		},
		"a limit below the request": {good(func(j *Job) { j.CPULimit = 0.5 }), `job "a": limit.cpu "0.5": is less than request.cpu, 1`},
		"a limit that is none": {
			good(func(j *Job) { j.CPULimit = math.NaN() }),
			`job "a": limit.cpu "NaN": must be a number above 0 and up to 1,152,921,504,606,846,976; leave it empty where there is no limit`,
		},
		"a limit without a column": {good(func(j *Job) { j.CPULimit = 1 }), `job "a": the file has no column limit.cpu`},
		"an unknown resource":      {good(func(j *Job) { j.Demands[0].Resource = "tape" }), `job "a": the file has no column demand.tape`},
		"an unknown request":       {good(func(j *Job) { j.Requests[0].Resource = "tape" }), `job "a": the file has no column request.tape`},
		"a demand twice":           {good(func(j *Job) { j.Demands = append(j.Demands, j.Demands[0]) }), `job "a": has demand.cpu twice`},
		"a line too long": {
			good(func(j *Job) { j.Node = strings.Repeat("n", MaxLineBytes) }),
			`job "a": takes 65,553 bytes; a line may have 65,536`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := written([]Job{c.job}, Columns{Demands: []string{"cpu"}, Requests: []string{"cpu"}})
			if err == nil {
				t.Fatalf("the job was written: %s", text)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJobThatWasRefusedLeavesNoTrace(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	w, err := NewWriter(&text, Columns{Demands: []string{"cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	bad := Job{Name: "a", Arrival: 1, Type: "t", Requests: []Request{{"tape", 1}}}
	if err := w.Write(bad); err == nil {
		t.Error("a request without a column was written")
	}
	if err := errors.Join(w.Write(Job{Name: "b", Arrival: 2, Demands: []ServiceDemand{{"cpu", 3, 2}}}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	const want = "#loadline-trace/v1\njob,type,arrival,neutral,start,end,node,demand.cpu,threads.cpu\nb,,2,3,,,,3,2\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("the file differs (-want +got):\n%s", diff)
	}
}

func TestAWriterRefusesColumnsThatCouldNotBeReadBack(t *testing.T) {
	t.Parallel()
	for want, columns := range map[string]Columns{
		`columns: "CPU": ` + notResourceName:  {Demands: []string{"CPU"}},
		`columns: "a.b": ` + notResourceName:  {Requests: []string{"cpu", "a.b"}},
		`columns: demand.cpu is given twice`:  {Demands: []string{"cpu", "disk", "cpu"}},
		`columns: request.cpu is given twice`: {Demands: []string{"cpu"}, Requests: []string{"cpu", "cpu"}},
	} {
		if _, err := NewWriter(&strings.Builder{}, columns); err == nil || err.Error() != want {
			t.Errorf("error = %v\nwant    %s", err, want)
		}
	}
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsReported(t *testing.T) {
	t.Parallel()
	w, err := NewWriter(full{}, Columns{})
	if err != nil {
		t.Fatal(err)
	}
	job := Job{Name: "a", Type: "t", Node: strings.Repeat("n", 1000)}
	results := make([]error, 0, 11)
	for range 10 {
		results = append(results, w.Write(job))
	}
	results = append(results, w.Flush())
	if !slices.ContainsFunc(results[:10], func(err error) bool { return errors.Is(err, errFull) }) || !errors.Is(results[10], errFull) {
		t.Errorf("errors = %v, want the disk's from a Write and from Flush", results)
	}
}

func TestNoNameIsAFormula(t *testing.T) {
	t.Parallel()
	job := Job{Name: "=cmd|' /C calc'!A0", Type: "@SUM(A1)", Node: "-1+2", Arrival: 1, Neutral: 2, Demands: []ServiceDemand{{"cpu", 1, 1}}}
	text, err := written([]Job{job}, Columns{Demands: []string{"cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n'=cmd|' /C calc'!A0,'@SUM(A1),1,2,,,'-1+2,1,1\n"; !strings.HasSuffix(text, want) {
		t.Errorf("the trace is %q, want the row %q", text, want)
	}
}
