package trace

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJobsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	want := []Job{
		{
			Line: 3, Name: "résumé-7", Type: "etl/filecomp", Arrival: 0.25, Neutral: 100,
			Demands:  []ServiceDemand{{"cpu", 58, 4}, {"disk", 42, 1}},
			Requests: []Request{{"cpu", 3.5}, {"memory", 1 << 30}},
			Start:    at(1), End: at(110.5), Node: "worker-3",
		},
		{Line: 4, Name: "2", Type: "grep", Arrival: 0.25},
		{Line: 5, Name: "c", Arrival: 1e3, Neutral: 7, Demands: []ServiceDemand{{"cpu", 2, 1}, {"disk", 5, 1}}},
		{Line: 6, Name: "idle", Arrival: 1000, Neutral: 10, Demands: []ServiceDemand{{"cpu", 0, 1}}, Start: at(1000)},
	}
	const rows = "résumé-7,etl/filecomp,0.25,100,58,4,42,3.5,1073741824,1,110.5,worker-3\n" +
		",grep,0.25,,,,,,,,,\n" + "c,,1e3,0,2,,5,,,,,\n" + "idle,,1000,10,0,,,,,1000,,\n"
	for name, text := range map[string]string{
		"as written":                csvHeader + rows,
		"with a byte order mark":    "\ufeff" + csvHeader + rows,
		"with CRLF":                 strings.ReplaceAll(csvHeader+rows, "\n", "\r\n"),
		"without the last line end": strings.TrimSuffix(csvHeader+rows, "\n"),
		"with quotes":               csvHeader + strings.ReplaceAll(rows, "grep", `"grep"`),
		"with gzip":                 string(gzipped(t, []byte(csvHeader+rows))),
		"from a spreadsheet":        strings.Replace(csvHeader+rows, "v1\n", "v1,,,,,,,,,,,\n", 1),
		"with other columns":        csvHeader[:len(csvHeader)-1] + ",colour,job.id\n" + strings.ReplaceAll(rows, "\n", ",red,9\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readJobs(text, Options{Format: CSV})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("jobs differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheColumnsMayComeInAnyOrder(t *testing.T) {
	t.Parallel()
	got, err := readJobs(Version+"\nthreads.memory-bandwidth,arrival,demand.memory-bandwidth\n16384,5,0.5\n", Options{})
	want := []Job{{Line: 3, Name: "1", Arrival: 5, Neutral: 0.5, Demands: []ServiceDemand{{"memory-bandwidth", 0.5, 16384}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, jobs differ (-want +got):\n%s", err, diff)
	}
}

func TestLoadingsMayExceedOneByARoundingErrorOnly(t *testing.T) {
	t.Parallel()
	const header = Version + "\narrival,neutral,demand.cpu,demand.disk\n"
	if _, err := readJobs(header+"0,0.3,0.1,0.2\n", Options{}); err != nil { // 0.1 + 0.2 > 0.3 in binary
		t.Errorf("0.1 + 0.2 of 0.3 is refused: %v", err)
	}
	if _, err := readJobs(header+"0,0.3,0.1,0.200000001\n", Options{}); err == nil {
		t.Error("0.300000001 of 0.3 is accepted")
	}
}

func TestLimitsAreReadAndWritten(t *testing.T) {
	t.Parallel()
	const text = Version + "\njob,type,arrival,neutral,start,end,node,request.cpu,limit.cpu\n" +
		"a,t,0,,,,,0.5,1.5\n" + "b,t,0,,,,,,0.25\n" + "c,t,0,,,,,2,2\n" + "d,t,0,,,,,2,\n" + "e,t,0,,,,,,\n"
	jobs, err := readJobs(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var limits []float64
	for _, job := range jobs {
		limits = append(limits, job.CPULimit)
	}
	if diff := cmp.Diff([]float64{1.5, 0.25, 2, 0, 0}, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	again, err := written(jobs, Columns{Requests: []string{"cpu"}, CPULimit: true})
	if diff := cmp.Diff(text, again); err != nil || diff != "" {
		t.Errorf("error %v, written (-want +got):\n%s", err, diff)
	}
}

func TestABadLimitIsReportedWithItsPlaceAndTheRule(t *testing.T) {
	t.Parallel()
	const (
		header = Version + "\njob,type,arrival,request.cpu,limit.cpu\n"
		rule   = ": must be a number above 0 and up to 1,152,921,504,606,846,976; leave it empty where there is no limit"
	)
	refuse(t, CSV, map[string]badTrace{
		"zero":              {header + "b,t,0,,0\n", `trace, line 3: limit.cpu "0"` + rule},
		"minus zero":        {header + "b,t,0,,-0\n", `trace, line 3: limit.cpu "-0"` + rule},
		"negative":          {header + "b,t,0,,-1\n", `trace, line 3: limit.cpu "-1"` + rule},
		"NaN":               {header + "b,t,0,,NaN\n", `trace, line 3: limit.cpu "NaN"` + rule},
		"infinite":          {header + "b,t,0,,+Inf\n", `trace, line 3: limit.cpu "+Inf"` + rule},
		"huge":              {header + "b,t,0,,1e19\n", `trace, line 3: limit.cpu "1e19"` + rule},
		"a quantity":        {header + "b,t,0,,500m\n", `trace, line 3: limit.cpu "500m"` + rule},
		"below the request": {header + "b,t,0,2,1.5\n", `trace, line 3: limit.cpu "1.5": is less than request.cpu, 2`},
		"twice":             {Version + "\narrival,type,limit.cpu,limit.cpu\n0,t,1,1\n", `trace, line 2: the header has the column limit.cpu twice`},
	})
}

func TestABadHeaderIsReportedWithTheRemedy(t *testing.T) {
	t.Parallel()
	const row = "0,a\n"
	refuse(t, CSV, map[string]badTrace{
		"an empty file":    {"", `trace: is empty; want #loadline-trace/v1 on the first line, then a header row`},
		"only the version": {Version + "\n", `trace: ends after #loadline-trace/v1; want a header row next, such as job,type,arrival`},
		"only a header":    {csvHeader, `trace: has a header but no rows`},
		"a later version": {
			"#loadline-trace/v2\narrival,type\n" + row,
			`trace, line 1: the version #loadline-trace/v2 is not known; known: #loadline-trace/v1`,
		},
		"no version": {"arrival,type\n" + row, `trace, line 1: the first line must be #loadline-trace/v1`},
		"SWF comments": {
			"; Version: 2.2\n",
			`trace, line 1: the first line must be #loadline-trace/v1; this looks like a trace in the format swf: pass --format swf`,
		},
		"SWF jobs": {
			"1 0 -1 1 1 -1 -1 -1 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n",
			`trace, line 1: the first line must be #loadline-trace/v1; this looks like a trace in the format swf: pass --format swf`,
		},
		"openb pods": {
			podHeader,
			`trace, line 1: the first line must be #loadline-trace/v1; this looks like a trace in the format openb: pass --format openb`,
		},
		"no arrival": {Version + "\njob,type\n" + row, `trace, line 2: the header lacks the column arrival`},
		"neither type nor demand": {
			Version + "\narrival,job\n" + row,
			`trace, line 2: the header has neither the column type nor one for a demand, such as demand.cpu`,
		},
		"a column twice": {Version + "\narrival,type,arrival\n", `trace, line 2: the header has the column arrival twice`},
		"a demand twice": {Version + "\narrival,demand.cpu,demand.cpu\n", `trace, line 2: the header has the column demand.cpu twice`},
		"no such resource": {
			Version + "\narrival,demand.CPU\n",
			`trace, line 2: the header has the column "demand.CPU"; ` + notResourceName,
		},
		"a resource without a name": {
			Version + "\narrival,type,request.\n",
			`trace, line 2: the header has the column "request."; ` + notResourceName,
		},
		"a resource with a name too long": {
			Version + "\narrival,type,threads.c" + strings.Repeat("p", 63) + "\n",
			`trace, line 2: the header has the column "threads.c` + strings.Repeat("p", 31) + `…"; ` + notResourceName,
		},
		"threads of no demand": {
			Version + "\narrival,type,threads.cpu\n",
			`trace, line 2: the header has the column threads.cpu but lacks demand.cpu`,
		},
		"open quotes": {Version + "\narrival,\"type\n", `trace, line 2: the quotes do not match; a quoted value must end on its own line`},
	})
}

func TestABadJobIsReportedWithItsPlaceAndTheRule(t *testing.T) {
	t.Parallel()
	const (
		header  = Version + "\njob,type,arrival,neutral,demand.cpu,threads.cpu,request.cpu,start,end,node\n"
		good    = "a,t,17.9,,,,,,,\n"
		seconds = ": must be a number from 0 to 9,223,372,036"
	)
	refuse(t, CSV, map[string]badTrace{
		"text for a time":      {header + good + "b,t,x,,,,,,,\n", `trace, line 4: arrival "x"` + seconds},
		"no time":              {header + "b,t,,,,,,,,\n", `trace, line 3: arrival ""` + seconds},
		"a negative time":      {header + "b,t,-0.1,,,,,,,\n", `trace, line 3: arrival "-0.1"` + seconds},
		"milliseconds of 2026": {header + "b,t,1767225600000,,,,,,,\n", `trace, line 3: arrival "1767225600000"` + seconds},
		"NaN":                  {header + "b,t,0,NaN,,,,,,\n", `trace, line 3: neutral "NaN"` + seconds},
		"infinity":             {header + "b,t,0,,+Inf,,,,,\n", `trace, line 3: demand.cpu "+Inf"` + seconds},
		"beyond a float64":     {header + "b,t,0,,1e999,,,,,\n", `trace, line 3: demand.cpu "1e999"` + seconds},
		"hexadecimal":          {header + "b,t,0,,0x1p4,,,,,\n", `trace, line 3: demand.cpu "0x1p4"` + seconds},
		"a space":              {header + "b,t, 1,,,,,,,\n", `trace, line 3: arrival " 1"` + seconds},
		"digits of another script": {
			header + "b,t,١,,,,,,,\n", `trace, line 3: arrival "١"` + seconds,
		},
		"no thread": {header + "b,t,0,,1,0,,,,\n", `trace, line 3: threads.cpu "0": must be a whole number from 1 to 16,384`},
		"half a thread": {
			header + "b,t,0,,1,1.5,,,,\n", `trace, line 3: threads.cpu "1.5": must be a whole number from 1 to 16,384`,
		},
		"too many threads": {
			header + "b,t,0,,1,16385,,,,\n", `trace, line 3: threads.cpu "16385": must be a whole number from 1 to 16,384`,
		},
		"threads of nothing": {header + "b,t,0,,,2,,,,\n", `trace, line 3: threads.cpu "2": must be empty where demand.cpu is`},
		"a negative request": {
			header + "b,t,0,,,,-1,,,\n", `trace, line 3: request.cpu "-1": must be a number from 0 to 1,152,921,504,606,846,976`,
		},
		"more loading than time": {
			header + "b,,0,10,12,,,,,\n",
			`trace, line 3: neutral "10": is less than the demands, which add up to 12; loadings are demand / neutral time and may add up to 1 at most`,
		},
		"neither type nor demand": {
			header + "b,,0,10,,,,,,\n",
			`trace, line 3: type "": must not be empty in a row without demands: the type's profile has to know them`,
		},
		"nothing to do": {
			header + "b,,0,,0,,,,,\n", `trace, line 3: neutral "": must be above 0 for a job that has neither a type nor a demand above 0`,
		},
		"more than a lifetime": {
			Version + "\narrival,demand.cpu,demand.disk\n0,9e9,9e9\n", `trace, line 3: neutral must be a number from 0 to 9,223,372,036`,
		},
		"started before arrival": {header + "b,t,10,,,,,9,,\n", `trace, line 3: start "9": is before arrival, 10`},
		"ended before arrival":   {header + "b,t,10,,,,,,9,\n", `trace, line 3: end "9": is before arrival, 10`},
		"ended before start":     {header + "b,t,10,,,,,12,11,\n", `trace, line 3: end "11": is before start, 12`},
		"unsorted": {
			header + good + "b,t,17.2,,,,,,,\n",
			`trace, line 4: arrival "17.2": is before the previous arrival, 17.9; sort the trace, or pass --sort`,
		},
		"no text":               {header + "b,\xff,0,,,,,,,\n", "trace, line 3: type \"\\xff\": " + notPrintable},
		"a control character":   {header + "b\x1b[31m,t,0,,,,,,,\n", `trace, line 3: job "b\x1b[31m": ` + notPrintable},
		"a row cut short":       {header + good + "b,t,18", `trace, line 4: has 3 of 10 columns; each row must have as many as the header`},
		"a line without an end": {header + good + strings.Repeat("b", MaxLineBytes+1), `trace, line 4: is longer than 65,536 bytes; is this a trace?`},
	})
}

func TestATruncatedTraceIsAnErrorInEveryFormat(t *testing.T) {
	t.Parallel()
	for format, whole := range map[Format][]byte{
		CSV:   gzipped(t, []byte(csvHeader+strings.Repeat("a,t,0,1,1,1,,1,1,1,2,n\n", 5000))),
		SWF:   traceFile(t, "lublin", "lublin_256.swf.gz"),
		Openb: gzipped(t, testdata(t, "openb_pod_list_first_2000.csv")),
	} {
		for _, kept := range []int{3, len(whole) / 2, len(whole) - 1} {
			_, err := readJobs(string(whole[:kept]), Options{Format: format})
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the file is cut short") {
				t.Errorf("%s, %d of %d bytes: error = %v, want the file is cut short", format, kept, len(whole), err)
			}
		}
	}
}
