package predict_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/pkg/model/queueing"
)

func TestPredictReproducesThePaper(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.PaperJobs, "predict", "-f", "-")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	// FileComp beside the standard I/O job: 110.9 s as printed in the paper. The
	// other job then goes on alone: 78.1·1.42 + (200 − 78.1).
	const want = `POD        NEUTRAL   DILATION   DONE AT   WAITS FOR
filecomp     78.1s      1.42×    110.9s   disk 0.42 (std-io 0.42)
std-io      200.0s      1.42×    232.8s   disk 0.42 (filecomp 0.42)
2 pods on one node (servers: cpu 1, disk 1), exact; the node is done after 232.8s
`
	if stdout != want {
		t.Errorf("the output is\n%swant\n%s", stdout, want)
	}
}

// What kubectl get -o yaml prints of a measured profile and a calibrated class.
const measuredJob = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: sort}
spec:
  selector: {matchLabels: {app: sort}}
  measurement: {target: {kind: Job, name: sort}}
status:
  measurements:
  - {nodeProfile: small, node: a, time: "2026-07-01T12:00:00Z", question: q, method: probes, rounds: 3, neutralMillis: 20000, resources: [{name: cpu, loading: "1", pressure: "1", threads: 1, samples: 3}]}
  - {nodeProfile: big, node: b, time: "2026-07-01T11:00:00Z", question: q, method: probes, rounds: 3, neutralMillis: 10000, resources: [{name: cpu, loading: "0.5", pressure: "0.5", threads: 1, samples: 3}]}
---
apiVersion: loadline.dev/v1alpha1
kind: NodeProfile
metadata: {name: big}
spec: {selector: {}, calibration: {resources: [{name: cpu}]}}
status:
  resources: [{name: cpu, job: cpu, servers: 1, dilation: "2", node: b, time: "2026-07-01T10:00:00Z", question: q}]
`

func TestPredictReadsWhatWasMeasuredFromManifestsOfACluster(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, measuredJob, "predict", "-f", "-", "--pod", "sort=2", "--cores", "8")
	const want = `POD             NEUTRAL   DILATION   DONE AT   WAITS FOR
sort (2 pods)     10.0s      1.25×     12.5s   cpu 0.25 (sort 0.25)
2 pods on one node (servers: cpu 1), exact; the node is done after 12.5s
`
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, errors %q, the output is\n%swant\n%s", code, stderr, stdout, want)
	}
}

func TestPredictShowsTheIntervalsOfVectorsInItsDilations(t *testing.T) {
	t.Parallel()
	unsure := strings.Replace(measuredJob, `loading: "0.5", pressure: "0.5"`, `loading: "0.5", loadingError: "0.05", pressure: "0.5", pressureError: "0.05"`, 1)
	code, stdout, stderr := clitest.Run(t, unsure, "predict", "-f", "-", "--pod", "sort=2", "--cores", "8")
	const want = `POD             NEUTRAL       DILATION   DONE AT   WAITS FOR
sort (2 pods)     10.0s   1.25 ± 0.05×     12.5s   cpu 0.25 (sort 0.25)
2 pods on one node (servers: cpu 1), exact; the node is done after 12.5s
`
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, errors %q, the output is\n%swant\n%s", code, stderr, stdout, want)
	}
	if code, stdout, _ := clitest.Run(t, unsure, "predict", "-f", "-", "--pod", "sort=2", "--cores", "8", "-o", "json"); code != 0 || !strings.Contains(stdout, `"dilationError": 0.05`) {
		t.Errorf("exit code %d, no dilationError of 0.05 in\n%s", code, stdout)
	}
}

// A pod alone takes its neutral time, however many threads it has.
func TestPredictOfAPodAloneIsItsNeutralTime(t *testing.T) {
	t.Parallel()
	threads := strings.ReplaceAll(measuredJob, "threads: 1", "threads: 2")
	const declared = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: sort}
spec: {selector: {}, neutralMillis: 10000, resources: [{name: cpu, loading: "0.41", threads: 2}]}
`
	for what, manifest := range map[string]string{"measured": threads, "declared": declared} {
		for _, solver := range []string{"auto", "exact", "linearizer", "schweitzer", "first-order"} {
			code, stdout, stderr := clitest.Run(t, manifest, "predict", "-f", "-", "--solver", solver)
			if code != 0 || !strings.Contains(stdout, "sort     10.0s      1.00×     10.0s   nothing\n") {
				t.Errorf("%s, %s: exit code %d, errors %q, output\n%s", what, solver, code, stderr, stdout)
			}
		}
	}
}

func TestPredictReadsListsAsKubectlPrintsThem(t *testing.T) {
	t.Parallel()
	const list = `apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- {apiVersion: loadline.dev/v1alpha1, kind: WorkloadProfile, metadata: {name: a, namespace: etl}, spec: {selector: {}, resources: [{name: disk, loading: "1"}]}}
- {apiVersion: loadline.dev/v1alpha1, kind: WorkloadProfile, metadata: {name: b, namespace: etl}, spec: {selector: {}, resources: [{name: disk, loading: "1"}]}}
`
	code, stdout, stderr := clitest.Run(t, list, "predict", "-f", "-")
	if code != 0 || !strings.Contains(stdout, "etl/a         -      2.00×         -   disk 1.00 (etl/b 1.00)\n") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
	code, _, stderr = clitest.Run(t, strings.Replace(list, "spec: {selector", "spec: {selektor", 1), "predict", "-f", "-")
	if want := `standard input, document 1: items[0]: spec.selektor: Forbidden: there is no such field`; code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, errors %q, want %q", code, stderr, want)
	}
}

func TestPredictAnswersInJSONAndTheCRLFOfAFileDoesNotMatter(t *testing.T) {
	t.Parallel()
	profiles := clitest.WriteFile(t, "profiles.yaml", strings.ReplaceAll(clitest.PaperJobs, "\n", "\r\n"))
	nodes := clitest.WriteFile(t, "nodes.yaml", "apiVersion: loadline.dev/v1alpha1\nkind: NodeProfile\nmetadata: {name: nvme}\nspec: {selector: {}, resources: [{name: disk, servers: 2}]}\n")
	plot := filepath.Join(t.TempDir(), "times.svg")
	code, stdout, stderr := clitest.Run(t, "", "predict", "-f", profiles, "-f", nodes, "--cores", "4",
		"--pod", "filecomp=3", "--pod", "std-io@1m", "--plot", plot, "-o", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var p prediction.Answer
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Resources) != 2 || p.Resources[0].Servers != 4 || p.Resources[1].Servers != 2 {
		t.Errorf("the resources are %+v, want 4 servers at cpu and 2 at disk", p.Resources)
	}
	for _, pods := range p.Pods {
		sum := 0.0
		for _, wait := range pods.Waits {
			sum += wait.Dilation
			because := 0.0
			for _, b := range wait.Because {
				because += b.Dilation
			}
			if math.Abs(because-wait.Dilation) > 1e-9 {
				t.Errorf("%s: the blame for %s adds up to %v, not %v", pods.Name, wait.Resource, because, wait.Dilation)
			}
		}
		if math.Abs(sum-(pods.Dilation-1)) > 1e-9 || pods.Dilation <= 1 {
			t.Errorf("%s: the waits add up to %v, the dilation is %v", pods.Name, sum, pods.Dilation)
		}
		if done := *pods.DoneAtSeconds; done < pods.StartSeconds+*pods.NeutralSeconds || done > *p.DoneAtSeconds {
			t.Errorf("%s: done at %v", pods.Name, done)
		}
	}
	if p.Pods[0].Copies != 3 || p.Pods[1].StartSeconds != 60 {
		t.Errorf("the pods are %+v", p.Pods)
	}
	if info, err := os.Stat(plot); err != nil || info.Size() == 0 {
		t.Errorf("the chart is not drawn: %v", err)
	}
}

func TestPredictTakesEverySolver(t *testing.T) {
	t.Parallel()
	for _, solver := range queueing.SolverNames() {
		code, stdout, stderr := clitest.Run(t, clitest.PaperJobs, "predict", "-f", "-", "--solver", solver)
		if code != 0 || !strings.Contains(stdout, "filecomp") {
			t.Errorf("%s: exit code %d: %s", solver, code, stderr)
		}
	}
}

func TestPredictRefusesBadInput(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: a}\nspec: "
	never := filepath.Join(t.TempDir(), "never.svg")
	for name, test := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"no file":                   {"", []string{}, "name a file with workloads or WorkloadProfiles: -f deployment.yaml"},
		"an empty file":             {"", []string{"-f", "-"}, "there is no WorkloadProfile"},
		"a file that is no YAML":    {"{", []string{"-f", "-"}, "standard input, document 1:"},
		"a misspelt field":          {header + "{selector: {}, resurces: []}", []string{"-f", "-"}, `spec.resurces: Forbidden: there is no such field`},
		"a sum over 1":              {header + "{selector: {}, resources: [{name: cpu, loading: '0.7'}, {name: disk, loading: '0.4'}]}", []string{"-f", "-"}, "spec.resources: Invalid value: \"1.1\": the loadings add up to more than 1"},
		"an unknown profile":        {clitest.PaperJobs, []string{"-f", "-", "--pod", "sort"}, `pods "sort": there is no such WorkloadProfile (there are filecomp, std-io)`},
		"no copies":                 {clitest.PaperJobs, []string{"-f", "-", "--pod", "filecomp=0"}, "copies: 0 is not between 1 and 10000"},
		"copies that are no number": {clitest.PaperJobs, []string{"-f", "-", "--pod", "filecomp=two"}, `--pod filecomp=two: copies: "two" is not a whole number`},
		"a start without a unit":    {clitest.PaperJobs, []string{"-f", "-", "--pod", "filecomp@60"}, `start: "60" is not a duration such as 90s or 1m30s`},
		"a start in the past":       {clitest.PaperJobs, []string{"-f", "-", "--pod", "filecomp@-1s"}, "start: -1s is before 0"},
		"no name":                   {clitest.PaperJobs, []string{"-f", "-", "--pod", "=2"}, "write NAME[=COPIES][@START]"},
		"no cores":                  {clitest.PaperJobs, []string{"-f", "-", "--cores", "0"}, "cores: 0 is not between 1 and"},
		"an unknown solver":         {clitest.PaperJobs, []string{"-f", "-", "--solver", "magic"}, `solver: "magic" is not one of auto, exact, linearizer, schweitzer, first-order`},
		"an unknown node":           {clitest.PaperJobs, []string{"-f", "-", "--node", "nvme"}, `node: "nvme" is not a NodeProfile of the input`},
		"a chart without times":     {strings.ReplaceAll(clitest.PaperJobs, "  neutralMillis: 78100\n", ""), []string{"-f", "-", "--plot", never}, "set neutralMillis in every profile"},
		"an unknown chart format":   {clitest.PaperJobs, []string{"-f", "-", "--plot", "times.pdf"}, "--plot: times.pdf: cannot draw .pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.stdin, append([]string{"predict"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}
