package fit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/fit"
)

func TestObservationsAreReadByRun(t *testing.T) {
	t.Parallel()
	want := []fit.Run{
		{Name: "r1", Members: []fit.Member{{Job: "sort", Dilation: 1.5, Seconds: 60}, {Job: "sort", Dilation: 1.6}}},
		{Name: "r2", Members: []fit.Member{{Job: "grep"}, {Job: "pi, big", Dilation: 1}}},
	}
	for name, text := range map[string]string{
		"as documented":      "run,job,dilation,seconds\nr1,sort,1.5,60\nr1,sort,1.6,\nr2,grep,,\nr2,\"pi, big\",1,\n",
		"runs mixed":         "run,job,dilation,seconds\nr1,sort,1.5,60\nr2,grep,,\nr1,sort,1.6,\nr2,\"pi, big\",1,\n",
		"another order":      "seconds,dilation,job,run\n60,1.5,sort,r1\n,1.6,sort,r1\n,,grep,r2\n,1,\"pi, big\",r2\n",
		"from another world": "\xef\xbb\xbfRun, Job, Dilation, Seconds\r\nr1, sort, 1.5, 60\r\nr1,sort,1.6,\r\nr2,grep,,\r\n\r\nr2,\"pi, big\",1e0,\r\n",
	} {
		got, warnings, err := fit.Read(strings.NewReader(text))
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v %v", name, err, warnings)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestJobsOfDifferentDevicesAreDifferentRuns(t *testing.T) {
	t.Parallel()
	got, _, err := fit.Read(strings.NewReader("run,job,device,dilation\n1,a,gpu-0,1.5\n1,b,gpu-1,1\n1,c,gpu-0,2\n2,a,gpu-0,1.1\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []fit.Run{
		{Name: "1 on gpu-0", Members: []fit.Member{{Job: "a", Dilation: 1.5}, {Job: "c", Dilation: 2}}},
		{Name: "1 on gpu-1", Members: []fit.Member{{Job: "b", Dilation: 1}}},
		{Name: "2 on gpu-0", Members: []fit.Member{{Job: "a", Dilation: 1.1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsOddButUsableIsWarnedOf(t *testing.T) {
	t.Parallel()
	_, warnings, err := fit.Read(strings.NewReader("run,job,dilation\n1,a,0.98\n1,b,0.97\n1,c,1.2"))
	want := []string{
		"2 dilations are below 1, the lowest is 0.97 on line 3: nothing runs faster in company, so this is taken for noise",
		"the last line does not end: the file may have been cut off",
	}
	if diff := cmp.Diff(want, warnings); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestTheFirstWrongLineIsNamed(t *testing.T) {
	t.Parallel()
	const dilationRule = "is not between 0.01 and 1e+06: a dilation is the completion time over the neutral time"
	for text, want := range map[string]string{
		"":                                                         "line 1: the file is empty; its first line must be run,job,dilation or run,job,dilation,seconds",
		"run,job,dilation\n":                                       "line 2: there are no observations below the header",
		"run,job\n1,a\n":                                           `line 1: header: "run,job" has no column dilation`,
		"run,job,dilation,node\n":                                  `line 1: header: "node" is not one of run, job, dilation, seconds, request.cpu, limit.cpu, device`,
		"run,job,dilation,job\n":                                   `line 1: header: "job" appears twice`,
		"run,job,dilation\n1,a,1.5\n,a,1\n":                        `line 3: run: "" is empty: rows of one run carry its name`,
		"run,job,dilation\n1,,1\n":                                 `line 2: job: "" is empty`,
		"run,job,dilation\n1,a,fast\n":                             `line 2: dilation: "fast" is not a number`,
		"run,job,dilation\n1,a,NaN\n":                              `line 2: dilation: "NaN" ` + dilationRule,
		"run,job,dilation\n1,a,+Inf\n":                             `line 2: dilation: "+Inf" ` + dilationRule,
		"run,job,dilation\n1,a,0\n":                                `line 2: dilation: "0" ` + dilationRule,
		"run,job,dilation\n1,a,-1.5\n":                             `line 2: dilation: "-1.5" ` + dilationRule,
		"run,job,dilation\n1,a,1e999\n":                            `line 2: dilation: "1e999" is not a number`,
		"run,job,dilation,seconds\n1,a,1,0\n":                      `line 2: seconds: "0" is not a positive, finite number of seconds (leave it empty where it is not known)`,
		"run,job,dilation,request.cpu\n1,a,1,-1\n":                 `line 2: request.cpu: "-1" is not a number of cores from 0 to 16384`,
		"run,job,dilation,request.cpu\n1,a,1,NaN\n":                `line 2: request.cpu: "NaN" is not a number of cores from 0 to 16384`,
		"run,job,dilation,request.cpu\n1,a,1,100m\n":               `line 2: request.cpu: "100m" is not a number`,
		"run,job,dilation,device\n1,a,1,gpu-0\n1,b,1,\n":           `line 3: device: "" is empty: name the device that the job used, such as gpu-0`,
		"run,job,dilation,limit.cpu\n1,a,1,0\n":                    `line 2: limit.cpu: "0" is not a number of cores above 0 and up to 16384 (leave it empty where there is none)`,
		"run,job,dilation,request.cpu,limit.cpu\n1,a,1,0.5,0.25\n": `line 2: request.cpu: "0.5" is more than the limit, 0.25`,
		"run,job,dilation,request.cpu\n0,b,1,1\n1,a,1,1\n1,b,1,\n": `line 3: request.cpu of run "1": it is known of some of the jobs that ran together: give that of each, 0 for none, or of none`,
		"run,job,dilation\n1,a,1.5\n2,b":                           "line 3: the number of fields is not that of the header (is the file cut off?)",
		"run,job,dilation\n\n1,a,1.5\n2,\"b,1.":                    `line 4: extraneous or missing " in quoted-field`,
	} {
		_, _, err := fit.Read(strings.NewReader(text))
		var input *fit.InputError
		if err == nil || err.Error() != want || !errors.As(err, &input) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("run,job,dilation,seconds\nr1,sort,1.5,60\nr1,sort,,\n")
	f.Add("run,job,dilation,device\n1,a,1.1,gpu-0\n1,b,2,gpu-1\n")
	f.Add("run,job,dilation,request.cpu,limit.cpu\n1,a,1.1,1,2\n1,b,2,0.1,\n")
	f.Add("\xef\xbb\xbfrun,job,dilation\r\n1,\"a\n\",0.5")
	f.Fuzz(func(t *testing.T, text string) {
		runs, _, err := fit.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(runs) == 0 {
			t.Fatal("no error and no runs")
		}
		// Fit accepts all that is read, unless there is nothing to learn.
		if len(text) < 400 {
			_, err := fit.Fit(runs, fit.Options{MaxResources: 1})
			if err != nil && !errors.Is(err, fit.ErrNothingMeasured) && !errors.Is(err, fit.ErrNoProcessor) {
				t.Fatal(err)
			}
		}
	})
}
