package fit_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"

	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/evaluate/prediction"
)

const k80 = "../../../test/testdata/colocation/gpu-pairs-k80.csv"

func TestFitTakesRequestsOfTheCPU(t *testing.T) {
	t.Parallel()
	const unequal = "run,job,dilation,request.cpu,limit.cpu\n1,std-cpu,1.1,0.5,\n1,b,11,0.05,\n2,std-cpu,11,0.05,\n2,b,1.1,0.5,0.9\n3,std-cpu,2,0.1,\n3,b,2,0.1,\n"
	code, _, stderr := clitest.Run(t, unequal, "fit", "-f", "-")
	if code != 2 || !strings.Contains(stderr, "cpu is shared: name it among the resources") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	declared := filepath.Join(t.TempDir(), "declared.yaml")
	manifest := "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: std-cpu}\nspec: {selector: {}, resources: [{name: cpu, loading: \"1\"}]}\n"
	if err := os.WriteFile(declared, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := clitest.Run(t, unequal, "fit", "-f", "-", "--resources", "cpu", "--fractions", "--declared", declared, "-o", "json")
	var answer fits.Answer
	if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	for _, j := range answer.Jobs {
		if math.Abs(j.Sensitivity[0].Value-1) > 0.02 {
			t.Errorf("%s is at the cpu for %v of its time, want 1", j.Name, j.Sensitivity[0].Value)
		}
	}
}

func TestFitWritesProfilesThatPredictReads(t *testing.T) {
	t.Parallel()
	const observed = "run,job,dilation,device\n1,a,1.5,gpu-0\n1,b,1.25,gpu-0\n2,a,1,gpu-0\n2,b,1,gpu-1\n3,a,1.5,gpu-0\n3,b,1.25,gpu-0\n"
	file := filepath.Join(t.TempDir(), "gpu.yaml")
	if code, _, stderr := clitest.Run(t, observed, "fit", "-f", "-", "--profiles", file); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if code, stdout, _ := clitest.Run(t, "", "check", "-f", file); code != 0 {
		t.Errorf("what fit writes is not valid: %s", stdout)
	}
	code, stdout, stderr := clitest.Run(t, "", "predict", "-f", file, "-o", "json")
	var p prediction.Answer
	if err := json.Unmarshal([]byte(stdout), &p); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	for i, want := range []float64{1.5, 1.25} {
		if got := p.Pods[i].Dilation; math.Abs(got-want) > 0.03 || p.Pods[i].Devices[0] != "gpu-0" {
			t.Errorf("%s is dilated %v at %v, want %v", p.Pods[i].Name, got, p.Pods[i].Devices, want)
		}
	}
	if code, _, stderr := clitest.Run(t, observed, "fit", "-f", "-", "--profiles", file, "--sharing", "MIG"); code != 2 || !strings.Contains(stderr, `--profiles: sharing: "MIG" is not TimeSliced or Concurrent`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// The bar: jobs on a real accelerator, predicted in pairs that the fit has not
// seen, within 5 % on average, where the D-factor is off by more than 15 %.
func TestFitPredictsMeasuredPairsWithinFivePercent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plot, heatMap := filepath.Join(dir, "fit.svg"), filepath.Join(dir, "pairs.png")
	code, stdout, stderr := clitest.Run(t, "", "fit", "-f", k80, "-o", "json", "--plot", plot, "--heat-map", heatMap)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var answer fits.Answer
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatal(err)
	}
	errs := map[string]float64{}
	for _, m := range answer.HoldOut.Models {
		errs[m.Model] = m.MeanError
	}
	if ours := answer.HoldOut.Models[0].MeanError; ours > 0.05 {
		t.Errorf("mean error %.3f, want at most 0.05", ours)
	}
	for _, other := range []string{"D-factor", "linear sum", "constant"} {
		if errs[other] < 0.15 {
			t.Errorf("%s: mean error %.3f, want one of more than 0.15", other, errs[other])
		}
	}
	if len(answer.Jobs) != 25 || answer.Quality.Observations != 612 {
		t.Errorf("%d jobs and %d observations, want 25 and 612", len(answer.Jobs), answer.Quality.Observations)
	}
	for _, path := range []string{plot, heatMap} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s is not drawn: %v", path, err)
		}
	}
}

func TestFitPrintsATableForPeople(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.Observations, "fit", "-f", "-")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"JOB", "MEASURED", "SENSITIVITY r1", "6 observations in 3 runs", "On runs that a model has not seen", "linear sum", "disk"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
}

// Nine jobs beside each other; the dilations of the first are over an alone time
// that is 11 times too short.
func wrongAloneTime() string {
	var file strings.Builder
	file.WriteString("run,job,dilation\n")
	const jobs = 9
	for j := range jobs {
		for k := range j + 1 {
			for _, pair := range [][2]int{{j, k}, {k, j}} {
				dilation := (1 + (0.2+0.1*float64(pair[0]*4%jobs))*(0.2+0.1*float64(pair[1]*7%jobs))) * (1 + 0.01*float64((j*5+k*3+pair[0])%5-2))
				if pair[0] == 0 {
					dilation *= 11
				}
				fmt.Fprintf(&file, "%d-%d,job-%d,%.4f\n", j, k, pair[0], dilation)
			}
		}
	}
	return file.String()
}

func TestFitNamesAWrongAloneTime(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, wrongAloneTime(), "fit", "-f", "-", "--max-resources", "2", "--folds", "3", "--learning-curve")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"ALONE", "WORST", "DILATED", "KNOWN", "80.0%", `the alone time of "job-0" looks off by 1`, "it is too short"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout)
		}
	}
	code, stdout, stderr = clitest.Run(t, wrongAloneTime(), "fit", "-f", "-", "--max-resources", "2", "--folds", "3", "--learning-curve", "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var answer fits.Answer
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatal(err)
	}
	first := answer.Jobs[0]
	if !answer.Baselines || first.Baseline == nil || math.Abs(first.Baseline.Value-11) > 1 {
		t.Errorf("baselines %v, of the first job %+v, want 11", answer.Baselines, first.Baseline)
	}
	if d := answer.Warnings[0]; d.Kind != "WrongAlone" || !strings.Contains(d.Message, `"job-0"`) {
		t.Errorf("first doubt %+v", d)
	}
	held := answer.HoldOut
	if ours := held.Models[0]; ours.WorstError < ours.P90Error || len(held.LearningCurve) != 5 || held.LearningCurve[4].WorstError == 0 {
		t.Errorf("hold-out errors %+v", held)
	}
}

func TestFitSaysWhereNoIntervalCanBeTold(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "run,job,dilation\n1,a,1.5\n1,b,1.4\n", "fit", "-f", "-", "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if n := strings.Count(stdout, `"high": null`); n != 8 || !strings.Contains(stdout, "too few observations") {
		t.Errorf("%d of 8 intervals are null:\n%s", n, stdout)
	}
	_, stdout, _ = clitest.Run(t, "run,job,dilation\n1,a,1.5\n1,b,1.4\n", "fit", "-f", "-")
	if table, _, _ := strings.Cut(stdout, "hidden resource"); strings.Contains(table, "±") {
		t.Errorf("an interval is printed:\n%s", stdout)
	}
	if want := "Where there is no ±, the interval is not known: there are too few observations to tell how noisy they are\n"; !strings.Contains(stdout, want) {
		t.Errorf("the output lacks %q:\n%s", want, stdout)
	}
}

const pairsAndThrees = "run,job,dilation\n1,a,1.2\n1,b,1.3\n2,a,1.5\n2,c,1.4\n3,b,1.6\n3,c,1.7\n4,a,1.9\n4,b,1.9\n4,c,1.9\n"

func TestFitTakesTheFormThatItIsTold(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{"first-order": "first order", "second-order": "second order"} {
		code, stdout, stderr := clitest.Run(t, pairsAndThrees, "fit", "-f", "-", "--form", form)
		if code != 0 || !strings.Contains(stdout, ", "+want+";") && !strings.Contains(stdout, ", "+want+",") {
			t.Errorf("%s: exit code %d, %s, output:\n%s", form, code, stderr, stdout)
		}
	}
}

// Profiles add up the effects in pairs, in any form; the answer states the loss.
func TestFitWritesProfilesOfEveryForm(t *testing.T) {
	t.Parallel()
	for _, form := range fits.Forms() {
		file := filepath.Join(t.TempDir(), "gpu.yaml")
		code, stdout, stderr := clitest.Run(t, pairsAndThrees, "fit", "-f", "-", "--form", form, "--profiles", file, "--sharing", "Concurrent")
		for _, want := range []string{
			"The profiles predict 9 dilations of pairs as this fit does, off by ",
			"They add up what pairs do: 3 dilations in larger company, off by ",
		} {
			if code != 0 || !strings.Contains(stdout, want) {
				t.Errorf("%s: exit code %d, %s, output without %q:\n%s", form, code, stderr, want, stdout)
			}
		}
		if code, stdout, stderr := clitest.Run(t, "", "check", "-f", file); code != 0 {
			t.Errorf("%s: %s%s", form, stdout, stderr)
		}
	}
}

func TestFitIsPulledTowardsDeclaredProfiles(t *testing.T) {
	t.Parallel()
	profiles := clitest.WriteFile(t, "profiles.yaml", `
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: cpu}
spec: {selector: {}, resources: [{name: cpu, loading: "1"}]}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: disk}
spec: {selector: {}, resources: [{name: disk, loading: "1"}]}
`)
	code, stdout, stderr := clitest.Run(t, clitest.Observations, "fit", "-f", "-", "--resources", "cpu,disk", "--declared", profiles, "--fractions", "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var answer fits.Answer
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Hidden || strings.Join(answer.Resources, ",") != "cpu,disk" {
		t.Errorf("the resources are %v", answer.Resources)
	}
	for _, job := range answer.Jobs {
		cpu := job.Sensitivity[0].Value
		disk := job.Sensitivity[1].Value
		if (job.Name == "cpu") != (cpu > 0.8 && disk < 0.2) || (job.Name == "disk") != (disk > 0.8 && cpu < 0.2) {
			t.Errorf("%s: sensitivity %.3f at cpu and %.3f at disk", job.Name, cpu, disk)
		}
	}
}

func TestFitRefusesBadInput(t *testing.T) {
	t.Parallel()
	profiles := clitest.WriteFile(t, "profiles.yaml", "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: a}\nspec: {selector: {}, resources: [{name: tape, loading: '1'}]}\n")
	for name, test := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"no file":                       {"", nil, "Error: name a file with observations: -f observations.csv"},
		"a file that is not there":      {"", []string{"-f", "none.csv"}, "Error: open none.csv: no such file"},
		"an empty file":                 {"", []string{"-f", "-"}, "Error: standard input: line 1: the file is empty"},
		"a dilation that is no number":  {"run,job,dilation\n1,a,fast\n", []string{"-f", "-"}, `standard input: line 2: dilation: "fast"`},
		"a negative dilation":           {"run,job,dilation\n1,a,-2\n", []string{"-f", "-"}, `line 2: dilation: "-2"`},
		"nothing measured in company":   {"run,job,dilation\n1,a,2\n", []string{"-f", "-"}, "nothing to learn from"},
		"declared, at hidden resources": {clitest.Observations, []string{"-f", "-", "--declared", profiles}, "declared profiles need named resources"},
		"declared, at another resource": {clitest.Observations, []string{"-f", "-", "--declared", profiles, "--resources", "cpu"}, `profile a: resource "tape" is not among the resources of the fit`},
		"a chart of an unknown kind":    {clitest.Observations, []string{"-f", "-", "--plot", "fit.bmp"}, "--plot: fit.bmp: cannot draw .bmp"},
		"a form that there is not":      {clitest.Observations, []string{"-f", "-", "--form", "third"}, `form: "third" is not one of auto, first-order, second-order`},
		"too many folds of too little":  {clitest.Observations, []string{"-f", "-", "--folds", "1"}, "folds: 1 is less than 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.stdin, append([]string{"fit"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}

func TestFitWithTooFewRunsToLeaveOutSaysSo(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "run,job,dilation\n1,a,1.5\n1,b,1.4\n", "fit", "-f", "-")
	if code != 0 || !strings.Contains(stdout, "Too few runs to leave some out") {
		t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
	}
}
