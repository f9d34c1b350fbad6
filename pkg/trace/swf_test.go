package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJobsAreDerivedFromSWF(t *testing.T) {
	t.Parallel()
	const text = "; Version: 2.2\n" +
		"1 10   5 100  4 60.5 2048 8 200 4096 1 3 1 7 1 1 -1 -1\n" +
		"  ; a comment in between\n\n" +
		"2 10.5 -1 2 -1 -1 -1 16 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n" +
		"3\t20 0 50 2 70 0 -1 -1 1024 0 -1 -1 -1 0 -1 -1 -1\r\n"
	want := []Job{
		{
			Line: 2, Name: "1", Type: "executable-7", Arrival: 10, Neutral: 100,
			Demands: []ServiceDemand{{"cpu", 60.5, 4}}, Requests: []Request{{"cpu", 4}, {"memory", 2048 * 1024 * 4}},
			Start: at(15), End: at(115),
		},
		{ // requested processors, no CPU time, no memory, no wait
			Line: 5, Name: "2", Arrival: 10.5, Neutral: 2,
			Demands: []ServiceDemand{{"cpu", 2, 16}}, Requests: []Request{{"cpu", 16}},
		},
		{ // CPU time above the run time, requested memory
			Line: 6, Name: "3", Arrival: 20, Neutral: 50,
			Demands: []ServiceDemand{{"cpu", 50, 2}}, Requests: []Request{{"cpu", 2}, {"memory", 1024 * 1024 * 2}},
			Start: at(20), End: at(70),
		},
	}
	got, err := readJobs(text, Options{Format: SWF})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, jobs differ (-want +got):\n%s", err, diff)
	}
}

func TestSWFJobsThatNeverRanAreSkippedWithTheReason(t *testing.T) {
	t.Parallel()
	const text = "1 0 -1 0 4 -1 -1 -1 -1 -1 5 -1 -1 -1 0 -1 -1 -1\n" +
		"2 0 -1 -1 4 -1 -1 -1 -1 -1 5 -1 -1 -1 0 -1 -1 -1\n" +
		"3 0 -1 9 -1 -1 -1 0 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n" +
		"4 0 -1 9 163840 -1 -1 -1 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n" +
		"5 -1 3 9 4 -1 -1 -1 -1 -1 2 -1 -1 -1 0 -1 -1 -1\n" +
		"6 1 -1 9 1 -1 -1 -1 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n"
	want := skips{
		"line 1: 1 has no run time",
		"line 2: 2 has no run time",
		"line 3: 3 has no processors",
		"line 4: 4 runs on 163,840 processors, more than the 16,384 threads that a job may have",
		"line 5: 5 is a part of a job that was suspended, whose whole is on a line of its own",
	}
	var got skips
	jobs, err := readJobs(text, Options{Format: SWF, Skipped: got.add})
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(jobs) != 1 {
		t.Errorf("error %v, %d jobs, skipped differ (-want +got):\n%s", err, len(jobs), diff)
	}
}

func TestABadSWFLineIsReportedWithItsPlaceAndTheRule(t *testing.T) {
	t.Parallel()
	const (
		good = "1 10 5 100 4 60.5 2048 8 200 4096 1 3 1 7 1 1 -1 -1\n"
		tail = " 8 200 4096 1 3 1 7 1 1 -1 -1\n"
	)
	refuse(t, SWF, map[string]badTrace{
		"an empty file":      {"", `trace: has no jobs`},
		"only comments":      {"; Version: 2\n", `trace: has no jobs`},
		"jobs that all idle": {strings.Replace(good, " 100 ", " 0 ", 1), `trace: none of its 1 jobs can be used: all were skipped`},
		"a line cut short":   {good + "2 10 5 100 4", `trace, line 2: has 5 of 18 columns of the Standard Workload Format`},
		"a number cut short": {good + good[:len(good)-2], `trace, line 2: think time "-": must be a number`},
		"a column too many":  {good[:len(good)-1] + " 7\n", `trace, line 1: has 19 of 18 columns of the Standard Workload Format`},
		"our CSV": {
			csvHeader,
			`trace, line 1: has 1 of 18 columns of the Standard Workload Format; this looks like a trace in the format csv: pass --format csv`,
		},
		"text":          {"1 ten 5 100 4 60 2048" + tail, `trace, line 1: submit time "ten": must be a number`},
		"NaN":           {"1 10 5 100 4 nan 2048" + tail, `trace, line 1: average CPU time used "nan": must be a number`},
		"infinity":      {"1 10 5 inf 4 60 2048" + tail, `trace, line 1: run time "inf": must be a number`},
		"no submission": {"1 -1 5 100 4 60 2048" + tail, `trace, line 1: submit time "-1": must be a number from 0 to 9,223,372,036`},
		"a negative time": {
			"1 10 -2 100 4 60 2048" + tail,
			`trace, line 1: wait time "-2": must be a number from 0 to 9,223,372,036, or -1 if it is unknown`,
		},
		"half a processor": {"1 10 5 100 4.5 60 2048" + tail, `trace, line 1: allocated processors "4.5": must be a whole number`},
		"too much memory": {
			"1 10 5 100 4 60 1e12" + tail,
			`trace, line 1: used memory "1e12": must be a number from 0 to 68,719,476,736, or -1 if it is unknown`,
		},
		"an end beyond time": {
			"1 9e9 5 9e9 4 60 2048" + tail,
			`trace, line 1: the job's end, 18000000005, must be a number from 0 to 9,223,372,036`,
		},
		"unsorted": {
			good + strings.Replace(good, " 10 ", " 9 ", 1),
			`trace, line 2: submit time "9": is before the previous arrival, 10; sort the trace, or pass --sort`,
		},
		"a line without an end": {good + strings.Repeat("1 ", MaxLineBytes), `trace, line 2: is longer than 65,536 bytes; is this a trace?`},
		"Unicode":               {"1 १० 5 100 4 60 2048" + tail, `trace, line 1: submit time "१०": must be a number`},
	})
}

func TestTheLublinTraceIsReadWhole(t *testing.T) {
	t.Parallel()
	jobs, err := readJobs(string(traceFile(t, "lublin", "lublin_256.swf.gz")), Options{
		Format:  SWF,
		Skipped: func(line int, name, reason string) { t.Errorf("line %d: %s %s", line, name, reason) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var run, work float64
	for _, job := range jobs {
		run += job.Neutral
		work += job.Demands[0].Seconds * float64(job.Demands[0].Threads)
	}
	// Counted with awk in the original file.
	if len(jobs) != 10_000 || run != 48_627_667 || work != 2_092_781_168 {
		t.Errorf("got %d jobs, %.0f s, %.0f s on all processors, want 10000, 48_627_667, 2_092_781_168", len(jobs), run, work)
	}
}
