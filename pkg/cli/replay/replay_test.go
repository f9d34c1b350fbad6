package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"

	"k8s.io/apimachinery/pkg/util/wait"

	"loadline.dev/loadline/pkg/evaluate/replays"
)

const (
	lublin     = "../../../test/testdata/lublin/lublin_256.swf.gz"
	openbPods  = "../../../test/testdata/openb/openb_pod_list_first_2000.csv"
	openbNodes = "../../../test/testdata/openb/openb_node_list_all_node.csv"
)

// replayManifest is a replay that generates jobs of the paper's two kinds.
const replayManifest = clitest.PaperJobs + `---
apiVersion: loadline.dev/v1alpha1
kind: TraceReplay
metadata: {name: two-kinds}
spec:
  arrivals:
    jobs: 300
    interarrival: {meanMillis: 60000}
    types: [{profile: filecomp, weight: 2}, {profile: std-io}]
  nodes: [{name: node, count: 3}]
  policies: [{name: round-robin}, {name: random}, {name: least-dilation}]
  seeds: 4
`

// answerOf runs a replay that ends well and returns its answer.
func answerOf(t *testing.T, stdin string, args ...string) *replays.Answer {
	t.Helper()
	code, stdout, stderr := clitest.Run(t, stdin, append([]string{"replay", "-o", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return decodeAnswer(t, stdout)
}

func decodeAnswer(t *testing.T, text string) *replays.Answer {
	t.Helper()
	a := &replays.Answer{}
	if err := json.Unmarshal([]byte(text), a); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return a
}

// names lists the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestReplayPrintsATable(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.ThreeJobs, "replay", "--trace", "-", "--policies", "lmuf,list")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	// a and b share the core from 1 to 7, then b has 1 s left.
	const want = `POLICY   MAKESPAN   MEAN    P50    P95    P99   DILATION   WAITED    CPU   SAVED
lmuf       102.0s   5.3s   7.0s   7.0s   7.0s      1.50×        -   9.8%       -
list       102.0s   5.3s   7.0s   7.0s   7.0s      1.50×        -   9.8%    0.0%
3 jobs per policy; mean to p99 are of execution times, saved is of mean response times
`
	if stdout != want {
		t.Errorf("the output is\n%swant\n%s", stdout, want)
	}
}

func TestAWideTableSaysMore(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.ThreeJobs, "replay", "--trace", "-", "--policies", "lmuf", "--max-jobs", "1", "-o", "wide")
	const want = `POLICY   MAKESPAN   MEAN    P50    P95    P99   DILATION   WAITED    CPU   JOBS   DROPPED   RESPONSE   DILATION P95   DILATION P99   WAITED P99   CPU MAX
lmuf       102.0s   3.3s   4.0s   4.0s   4.0s      1.00×     1.0s   9.8%      3         0       4.3s          1.00×          1.00×          0µs      9.8%
3 jobs; mean to p99 are of execution times
`
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, errors %q, the output is\n%swant\n%s", code, stderr, stdout, want)
	}
}

func TestReplayReadsTheTracesOfTheField(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		jobs int
	}{
		"Standard Workload Format, gzip": {[]string{"--trace", lublin, "--format", "swf", "--cores", "256", "--capacity", "cpu=256"}, 10_000},
		"openb, on its own nodes":        {[]string{"--trace", openbPods, "--format", "openb", "--nodes-from", openbNodes}, 1842},
		"openb, GPUs being devices":      {[]string{"--trace", openbPods, "--format", "openb", "--nodes-from", openbNodes, "--sharing", "gpu=TimeSliced"}, 1842},
		"a limit":                        {[]string{"--trace", lublin, "--format", "swf", "--cores", "256", "--limit", "100"}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answerOf(t, "", test.args...)
			for _, p := range a.Policies {
				if p.Jobs != test.jobs || p.Dilation.Mean < 1 || p.Partial {
					t.Errorf("%s: %d jobs, dilation %v", p.Policy, p.Jobs, p.Dilation.Mean)
				}
			}
			if len(a.Policies) != 4 || a.Best == "" {
				t.Errorf("%d policies, best %q", len(a.Policies), a.Best)
			}
		})
	}
}

func TestTheAnswerDoesNotDependOnHowManyRunsGoOnAtOnce(t *testing.T) {
	t.Parallel()
	var outputs []string
	for _, parallel := range []string{"1", "4"} {
		code, stdout, stderr := clitest.Run(t, replayManifest, "replay", "-f", "-", "--parallel", parallel, "-o", "json")
		if code != 0 {
			t.Fatal(stderr)
		}
		outputs = append(outputs, stdout)
	}
	if outputs[0] != outputs[1] {
		t.Error("with --parallel 1 and 4 the answers differ")
	}
}

// The files say what became of each job: they add up to the answer.
func TestTheFilesOfJobsAddUpToTheAnswer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "results")
	a := answerOf(t, replayManifest, "-f", "-", "--jobs-to", dir, "--epochs-to", dir)
	if got := names(t, dir); len(got) != 24 || got[0] != "least-dilation-1.csv" || got[1] != "least-dilation-1.epochs.csv" {
		t.Errorf("the files are %v", got)
	}
	for _, p := range a.Policies {
		for _, run := range p.Runs {
			jobs := table(t, filepath.Join(dir, fmt.Sprintf("%s-%d.csv", run.Policy, run.Seed)))
			wait, execution, dilation, arrived, ended := 0.0, 0.0, 0.0, math.Inf(1), 0.0
			for _, job := range jobs {
				wait += numberIn(t, job, "wait")
				execution += numberIn(t, job, "execution")
				dilation += numberIn(t, job, "dilation")
				arrived, ended = min(arrived, numberIn(t, job, "arrival")), max(ended, numberIn(t, job, "end"))
				if got := numberIn(t, job, "end") - numberIn(t, job, "start"); math.Abs(got-numberIn(t, job, "execution")) > 1e-6 {
					t.Fatalf("%v: execution time %v", job, got)
				}
			}
			busy := 0.0
			for _, epoch := range table(t, filepath.Join(dir, fmt.Sprintf("%s-%d.epochs.csv", run.Policy, run.Seed))) {
				busy += numberIn(t, epoch, "jobs") * (numberIn(t, epoch, "end") - numberIn(t, epoch, "start"))
			}
			n := float64(len(jobs))
			for name, pair := range map[string][2]float64{
				"jobs": {n, float64(run.Jobs)}, "wait": {wait / n, run.Wait.Mean}, "execution": {execution / n, run.Execution.Mean},
				"dilation": {dilation / n, run.Dilation.Mean}, "makespan": {ended - arrived, run.MakespanSeconds}, "jobs over the epochs": {busy / n, run.Execution.Mean},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*max(1, pair[1]) {
					t.Errorf("%s %d: %s is %v by the files, %v by the answer", run.Policy, run.Seed, name, pair[0], pair[1])
				}
			}
		}
	}
}

// table reads a CSV file, each row by the names of its columns.
func table(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, column := range rows[0] {
			cells[column] = row[i]
		}
		all = append(all, cells)
	}
	return all
}

func numberIn(t *testing.T, row map[string]string, column string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFlagsCountMoreThanTheManifest(t *testing.T) {
	t.Parallel()
	a := answerOf(t, replayManifest, "-f", "-", "--generate", "50", "--every", "2s", "--types", "std-io", "--seeds", "2",
		"--policies", "lmuf-t=0.9,target-load-packing=0.3", "--nodes", "2", "--cores", "8", "--servers", "disk=4", "--solver", "schweitzer", "--queue", "fifo")
	if a.Name != "two-kinds" || a.Runs != 4 || len(a.Policies) != 2 || a.Policies[0].Policy != "lmuf-t" || a.Policies[0].Jobs != 100 {
		t.Errorf("the answer is %+v", a)
	}
	if u := a.Policies[0].Utilization; len(u) != 1 || u[0].Resource != "disk" {
		t.Errorf("the resources are %+v, want the disk only", u)
	}
	if mean := a.Policies[0].MakespanSeconds.Mean; mean > 2000 {
		t.Errorf("the makespan of jobs that arrive within 100 s is %v s", mean)
	}
}

func TestFlagsSayWhatJobsRequestAndHowTheyShareCores(t *testing.T) {
	t.Parallel()
	profiles := clitest.WriteFile(t, "profiles.yaml", clitest.PaperJobs)
	generate := []string{"-f", profiles, "--generate", "50", "--every", "60s", "--nodes", "2", "--policies", "round-robin"}
	before := answerOf(t, "", append(generate, "--types", "filecomp")...)
	limited := answerOf(t, "", append(generate, "--types", "filecomp", "--limits", "filecomp=100m", "--requests", "filecomp=50m")...)
	if b, l := before.Policies[0].Execution.Mean, limited.Policies[0].Execution.Mean; l < 2*b {
		t.Errorf("jobs that need 580m take %v s with a limit of 100m, and %v s without", l, b)
	}
	if before.CPUShares != "equal" || limited.CPUShares != "equal" {
		t.Errorf("the shares are %q and %q, want equal ones, the default", before.CPUShares, limited.CPUShares)
	}
	shared := answerOf(t, "", append(generate, "--requests", "filecomp=50m,std-io=2", "--cpu-shares", "requests")...)
	if shared.CPUShares != "requests" || shared.Policies[0].Runs[0].UnequalRequests {
		t.Errorf("the shares are %q, and unequal requests are noted: %v", shared.CPUShares, shared.Policies[0].Runs[0].UnequalRequests)
	}
}

func TestJobsAreGeneratedWithoutATraceReplay(t *testing.T) {
	t.Parallel()
	profiles := clitest.WriteFile(t, "profiles.yaml", clitest.PaperJobs)
	gaps := clitest.WriteFile(t, "gaps.csv", "#loadline-trace/v1\ntype,arrival\na,0\na,1000\na,2000\n")
	for name, args := range map[string][]string{
		"a Poisson process":   {"--every", "1000s"},
		"bursts":              {"--every", "1000s", "--distribution", "gamma", "--scv", "4"},
		"a clock":             {"--every", "1000s", "--distribution", "constant"},
		"the gaps of a trace": {"--gaps-from", gaps},
	} {
		a := answerOf(t, "", append([]string{"-f", profiles, "--generate", "1000", "--policies", "list"}, args...)...)
		p := a.Policies[0]
		if p.Jobs != 1000 || len(p.Utilization) != 2 {
			t.Errorf("%s: %d jobs, resources %+v", name, p.Jobs, p.Utilization)
		}
		// 999 gaps of 1000 s, give or take four standard deviations at scv 4.
		if span := p.MakespanSeconds.Mean; math.Abs(span-1e6) > 4*2/math.Sqrt(999)*1e6 {
			t.Errorf("%s: the makespan is %v", name, span)
		}
	}
}

func TestAnythingThatCanBeReadIsATrace(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(zip, clitest.ThreeJobs); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { // opening a pipe waits for its reader
		if err := os.WriteFile(pipe, []byte(clitest.ThreeJobs), 0o600); err != nil {
			t.Error(err)
		}
	}()
	for name, test := range map[string]struct{ stdin, path string }{
		"standard input":          {clitest.ThreeJobs, "-"},
		"gzip at standard input":  {zipped.String(), "-"},
		"a file of Windows":       {"", clitest.WriteFile(t, "jobs.csv", strings.ReplaceAll(clitest.ThreeJobs, "\n", "\r\n"))},
		"a pipe, read by 4 runs":  {"", pipe},
		"gzip without saying so":  {"", clitest.WriteFile(t, "Aufträge 仕事.csv", zipped.String())},
		"a file without line end": {"", clitest.WriteFile(t, "jobs.csv", strings.TrimSuffix(clitest.ThreeJobs, "\n"))},
	} {
		if a := answerOf(t, test.stdin, "--trace", test.path); a.Done != 4 || a.Policies[3].Jobs != 3 {
			t.Errorf("%s: %d runs, %d jobs", name, a.Done, a.Policies[3].Jobs)
		}
	}
}

// manyJobs writes a trace while it is read.
type manyJobs struct {
	next, count int
	rest        []byte
}

func (m *manyJobs) Read(p []byte) (int, error) {
	if len(m.rest) == 0 {
		if m.next == m.count {
			return 0, io.EOF
		}
		m.rest = fmt.Appendf(nil, "%d,0.%d\n", m.next, m.next%4+1)
		m.next++
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// How much memory that takes is tested in package evaluate.
func TestALongTraceGoesThroughAPipe(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	in := &manyJobs{count: 300_000, rest: []byte("#loadline-trace/v1\narrival,demand.cpu\n")}
	code := cli.Run(t.Context(), "v1", []string{"replay", "--trace", "-", "--policies", "lmuf", "-o", "json"}, cli.Streams{In: in, Out: &out, Err: &errs})
	if a := decodeAnswer(t, out.String()); code != 0 || a.Policies[0].Jobs != 300_000 {
		t.Errorf("exit code %d, %d jobs: %s", code, a.Policies[0].Jobs, errs.String())
	}
}

func TestReplayDraws(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var args, want []string
	for flag, file := range map[string]string{
		"--plot-makespan": "makespan.svg", "--plot-dilation": "dilation.png", "--plot-saved": "saved.svg", "--plot-nodes": "nodes.svg", "--report": "all.html",
	} {
		args = append(args, flag, filepath.Join(dir, file))
		want = append(want, file)
	}
	code, _, stderr := clitest.Run(t, replayManifest, append([]string{"replay", "-f", "-"}, args...)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("the files are %v, want %v", got, want)
	}
	page, err := os.ReadFile(filepath.Join(dir, "all.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Replay two-kinds", "least-dilation", "kubectl loadline v1.2.3", "The busiest resource of each node, with random"} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	for _, text := range []string{"<script", "http://", "https://"} {
		if strings.Contains(strings.ReplaceAll(string(page), "http://www.w3.org/", ""), text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func TestWhatCannotBeDrawnIsSaidAfterTheAnswer(t *testing.T) {
	t.Parallel()
	chart := filepath.Join(t.TempDir(), "saved.svg")
	code, stdout, stderr := clitest.Run(t, clitest.ThreeJobs, "replay", "--trace", "-", "--policies", "lmuf", "--plot-saved", chart)
	if code != 0 || !strings.Contains(stdout, "lmuf") || stderr != "Did not draw "+chart+": it takes a second policy, and whole runs.\n" {
		t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
	}
}

func TestJobsThatFitNowhereAreToldOnce(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\njob,arrival,demand.gpu\n"
	code, stdout, _ := clitest.Run(t, csv+"a,0,1\nb,0,1\n", "replay", "--trace", "-", "--policies", "lmuf,list")
	const want = `POLICY   MAKESPAN   MEAN   P50   P95   P99   DILATION   WAITED   SAVED
lmuf            -      -     -     -     -          -        -       -
list            -      -     -     -     -          -        -       -
0 jobs per policy; mean to p99 are of execution times, saved is of mean response times
With every policy 2 jobs were dropped. The first: job a: nodes of class "node" have no resource gpu.
`
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, the output is\n%swant\n%s", code, stdout, want)
	}
}

func TestReplayRefusesBadInput(t *testing.T) {
	t.Parallel()
	trace := clitest.WriteFile(t, "jobs.csv", clitest.ThreeJobs)
	manifest := clitest.WriteFile(t, "replay.yaml", replayManifest)
	profiles := clitest.WriteFile(t, "profiles.yaml", clitest.PaperJobs)
	timeless := clitest.WriteFile(t, "timeless.yaml", strings.ReplaceAll(clitest.PaperJobs, "  neutralMillis: 78100\n", ""))
	fromCluster := replayKind("trace: {configMap: {name: traces, key: a}}, nodes: [{name: node}]")
	for name, test := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"nothing":                        {"", nil, "Error: give a TraceReplay, -f replay.yaml; or a trace, --trace jobs.csv; or say how many jobs to generate, --generate 10000"},
		"profiles only":                  {"", []string{"-f", profiles}, "there is no TraceReplay in the files: give"},
		"two TraceReplays":               {replayManifest, []string{"-f", "-", "-f", manifest, "--trace", trace}, "there are 2 TraceReplays in the files, replay takes one"},
		"a trace that is not there":      {"", []string{"--trace", "none.csv"}, "Error: open none.csv: no such file"},
		"a folder for a trace":           {"", []string{"--trace", t.TempDir()}, "is a directory"},
		"a trace of the cluster":         {fromCluster, []string{"-f", "-"}, "the TraceReplay reads its trace from the cluster: give it as a file, --trace jobs.csv"},
		"standard input twice":           {"", []string{"-f", "-", "--trace", "-"}, "-f and --trace both read standard input"},
		"a trace for a generator":        {"", []string{"-f", manifest, "--trace", trace}, "the TraceReplay generates its jobs: leave out --trace, or spec.arrivals"},
		"a trace and a generator":        {"", []string{"--trace", trace, "--generate", "10"}, "--generate is about generated jobs, and there is a trace: leave one out"},
		"types for a trace":              {"", []string{"--trace", trace, "--types", "a"}, "--types is about generated jobs, and there is a trace: leave one out"},
		"no rate":                        {"", []string{"-f", profiles, "--generate", "10"}, "--generate: say how often a job arrives, --every 6s or --gaps-from trace.csv"},
		"a rate of 0":                    {"", []string{"-f", profiles, "--generate", "10", "--every", "0s"}, "--every: 0s is not at least 1ms"},
		"no profiles":                    {"", []string{"--generate", "10", "--every", "1s"}, "--generate: give the WorkloadProfiles of the jobs, with neutralMillis: -f profiles.yaml"},
		"a profile without neutral time": {"", []string{"-f", timeless, "--generate", "10", "--every", "1s", "--types", "filecomp"}, `"filecomp": has no neutralMillis: set in the WorkloadProfile how long such a job takes alone`},
		"an unknown profile":             {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--types", "sort"}, `"sort": there is no such WorkloadProfile; there are filecomp, std-io`},
		"a weight of nothing":            {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--types", "filecomp="}, `--types filecomp=: "" is not a whole number`},
		"requests for a trace":           {"", []string{"--trace", trace, "--requests", "a=1"}, "--requests is about generated jobs, and there is a trace: leave one out"},
		"a request of no job":            {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--requests", "sort=1"}, "--requests sort=1: no job of the WorkloadProfile sort is generated"},
		"a limit that is no number":      {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--limits", "filecomp=much"}, `--limits filecomp=much: "much" is not a quantity of CPU such as 500m or 2`},
		"a negative limit":               {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--types", "std-io", "--limits", "std-io=-1"}, `--limits std-io: Invalid value: "-1": must be a number of cores above 0 and up to 16384`},
		"unknown shares":                 {"", []string{"--trace", trace, "--cpu-shares", "fair"}, `--cpu-shares: Unsupported value: "fair": supported values: "equal", "requests"`},
		"gaps and a rate":                {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--gaps-from", trace}, "--every and --gaps-from both say when jobs arrive: leave one out"},
		"empirical without gaps":         {"", []string{"-f", profiles, "--generate", "10", "--every", "1s", "--distribution", "empirical"}, "name a trace that has the times, --gaps-from trace.csv"},
		"gaps that are not there":        {"", []string{"-f", profiles, "--generate", "10", "--gaps-from", "none.csv"}, "open none.csv: no such file"},
		"gaps of one job":                {"", []string{"-f", profiles, "--generate", "10", "--gaps-from", clitest.WriteFile(t, "one.csv", "#loadline-trace/v1\narrival,demand.cpu\n1,1\n")}, "there is one job only, and no time between jobs"},
		"an unknown type in the trace":   {"#loadline-trace/v1\ntype,arrival\nsort,0\n", []string{"--trace", "-", "-f", profiles}, `standard input, line 3: type "sort": there is no such WorkloadProfile; there are filecomp, std-io; or give the job demands of its own`},
		"a trace of another format":      {"", []string{"--trace", lublin}, "this looks like a trace in the format swf: pass --format swf"},
		"a zip archive":                  {"", []string{"--trace", clitest.WriteFile(t, "week.zip", "PK\x03\x04")}, "week.zip: is a zip archive; a trace must be plain text, or plain text compressed with gzip: unpack it first, with unzip"},
		"a zip archive on a pipe":        {"PK\x03\x04", []string{"--trace", "-"}, "standard input: is a zip archive; "},
		"nodes in a zip archive":         {"", []string{"--trace", trace, "--nodes-from", clitest.WriteFile(t, "nodes.zip", "PK\x05\x06")}, "nodes.zip: is a zip archive; "},
		"an unknown format":              {"", []string{"--trace", trace, "--format", "xml"}, `--format: Unsupported value: "xml"`},
		"an unknown policy":              {"", []string{"--trace", trace, "--policies", "best"}, `--policies best: Unsupported value: "best": supported values: "round-robin"`},
		"a number for another policy":    {"", []string{"--trace", trace, "--policies", "lmuf=1"}, "--policies lmuf=1: only lmuf-t and target-load-packing take a number"},
		"a threshold of 0":               {"", []string{"--trace", trace, "--policies", "lmuf-t=0"}, `--policies lmuf-t: Invalid value: "0"`},
		"a threshold of nothing":         {"", []string{"--trace", trace, "--policies", "lmuf-t="}, `--policies lmuf-t=: "" is not a number such as 0.8`},
		"no nodes":                       {"", []string{"--trace", trace, "--nodes", "0"}, "--nodes: Invalid value: 0"},
		"nodes of two sources":           {"", []string{"--trace", trace, "--nodes-from", openbNodes, "--nodes", "2"}, "--nodes and --nodes-from both say which nodes there are: leave one out"},
		"servers of nothing":             {"", []string{"--trace", trace, "--servers", "disk"}, "--servers disk: write NAME=VALUE, such as disk=2"},
		"devices that are not there":     {"", []string{"--trace", trace, "--sharing", "gpu=TimeSliced"}, "--sharing gpu=TimeSliced: no nodes list the resource gpu: say how many servers it has, --servers gpu=8"},
		"devices of another sharing":     {"", []string{"--trace", trace, "--servers", "gpu=8", "--sharing", "gpu=Concurrent"}, `--sharing gpu: Unsupported value: "Concurrent"`},
		"a capacity of 0":                {"", []string{"--trace", trace, "--capacity", "cpu=0"}, `--capacity cpu: Invalid value: "0"`},
		"seeds 0":                        {"", []string{"--trace", trace, "--seeds", "0"}, "--seeds: Invalid value: 0"},
		"1,001 runs":                     {"", []string{"--trace", trace, "--seeds", "251"}, "--seeds: Invalid value: 251: must be between 1 and 250"},
		"no run at once":                 {"", []string{"--trace", trace, "--parallel", "0"}, "--parallel: 0 is not at least 1"},
		"an unknown chart":               {"", []string{"--trace", trace, "--plot-nodes", "nodes.pdf"}, "--plot-nodes: nodes.pdf: cannot draw .pdf"},
		"a page of another kind":         {"", []string{"--trace", trace, "--report", "week.pdf"}, "--report: week.pdf: a report's file name must end in .html"},
		"another output":                 {"", []string{"--trace", trace, "-o", "xml"}, `"xml" is not one of table, wide, json, yaml`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.stdin, append([]string{"replay"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}

func replayKind(spec string) string {
	return "apiVersion: loadline.dev/v1alpha1\nkind: TraceReplay\nmetadata: {name: a}\nspec: {" + spec + "}\n"
}

// What was done before the trace turned out to be wrong is printed, by every
// policy, and marked as partial; its files say so in their names.
func TestAWrongTraceGivesAPartialAnswer(t *testing.T) {
	t.Parallel()
	var good strings.Builder
	good.WriteString("#loadline-trace/v1\narrival,demand.cpu\n")
	for i := range 9000 {
		fmt.Fprintf(&good, "%d,%d\n", i, i%3+1)
	}
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(zip, good.String()); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ trace, want string }{
		"unsorted":       {good.String() + "17.2,1\n", `Error: standard input, line 9,003: arrival "17.2": is before the previous arrival, 8999; sort the trace, or pass --sort`},
		"an empty cell":  {good.String() + "9000,\n", "Error: standard input, line 9,003: type must not be empty in a row without demands"},
		"truncated gzip": {zipped.String()[:zipped.Len()-1000], "the file is cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"replay", "--trace", "-", "--nodes", "4", "--policies", "round-robin,lmuf", "--jobs-to", dir}
			code, stdout, stderr := clitest.Run(t, test.trace, args...)
			if code != 2 || !strings.Contains(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, errors %q, want %q once", code, stderr, test.want)
			}
			for _, want := range []string{"round-robin (partial)", "lmuf (partial)", "The answer is partial: it is of the jobs that were done when the replay ended, in 2 of 2 runs."} {
				if !strings.Contains(stdout, want) {
					t.Errorf("the output does not say %q:\n%s", want, stdout)
				}
			}
			if got := names(t, dir); !slices.Equal(got, []string{"lmuf-1.partial.csv", "round-robin-1.partial.csv"}) {
				t.Errorf("the files are %v", got)
			}
			code, stdout, _ = clitest.Run(t, test.trace, append(args, "-o", "json")...)
			if a := decodeAnswer(t, stdout); code != 2 || !a.Partial || a.Best != "" || !a.Policies[1].Partial || !a.Policies[1].Runs[0].Partial || a.Policies[1].Jobs < 4000 {
				t.Errorf("exit code %d, the answer is %+v", code, a)
			}
			// The next run that goes well takes their place.
			if code, _, stderr := clitest.Run(t, good.String(), args...); code != 0 {
				t.Error(stderr)
			}
			if got := names(t, dir); !slices.Equal(got, []string{"lmuf-1.csv", "round-robin-1.csv"}) {
				t.Errorf("then the files are %v", got)
			}
		})
	}
}

// interruptWhen cancels when there is something in a file.
func interruptWhen(ctx context.Context, cancel context.CancelFunc, path string) (begun chan error) {
	begun = make(chan error, 1)
	go func() {
		defer cancel()
		begun <- wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			info, err := os.Stat(path)
			return err == nil && info.Size() > 0, nil
		})
	}()
	return begun
}

// Ctrl-C ends a replay at once, with any policy, and keeps the results so far.
func TestAnInterruptedReplayKeepsWhatItDid(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"round-robin", "least-completion"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun := interruptWhen(ctx, cancel, filepath.Join(dir, policy+"-1.partial.csv"))
			var out, errs bytes.Buffer
			code := cli.Run(ctx, "v1", []string{
				"replay", "-f", "-", "--generate", "10000000", "--policies", policy, "--seeds", "1", "--jobs-to", dir, "-o", "json",
			}, cli.Streams{In: strings.NewReader(replayManifest), Out: &out, Err: &errs})
			if err := <-begun; err != nil {
				t.Fatal(err)
			}
			if code != 130 || errs.String() != "Interrupted: kept what was done in 1 of 1 runs\n" {
				t.Errorf("exit code %d, errors %q", code, errs.String())
			}
			a := decodeAnswer(t, out.String())
			if jobs := a.Policies[0].Jobs; !a.Partial || jobs == 0 || jobs != len(table(t, filepath.Join(dir, policy+"-1.partial.csv"))) {
				t.Errorf("partial %v, %d jobs", a.Partial, jobs)
			}
		})
	}
}

// A replay that waits for input at a terminal can still be interrupted.
func TestAReplayThatWaitsForInputIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"replay", "--trace", "-"}, {"replay", "-f", "-"}} {
		if code, stdout, stderr := clitest.RunInterrupted(t, args...); code != 130 || stdout != "" || !strings.HasPrefix(stderr, "Interrupted: ") {
			t.Errorf("%v: exit code %d, output %q, errors %q", args, code, stdout, stderr)
		}
	}
}

func TestNobodyIsToldOfProgressWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	_, _, stderr := clitest.Run(t, strings.Replace(replayManifest, "jobs: 300", "jobs: 20000", 1), "replay", "-f", "-", "--seeds", "1")
	if stderr != "" {
		t.Errorf("the error stream has %q", stderr)
	}
}
