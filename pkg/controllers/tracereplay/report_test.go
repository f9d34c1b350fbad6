package tracereplay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/placement"
)

// answers is an answer of ten policies with some seeds; no two runs have a number in common.
func answers(t *testing.T, seeds int32) (*input, *replays.Answer) {
	t.Helper()
	in := asked()
	in.version = "v1.2.3"
	in.replay.Spec.Policies, in.replay.Spec.Seeds = nil, &seeds
	for _, name := range placement.Names() {
		in.replay.Spec.Policies = append(in.replay.Spec.Policies, v1alpha1.ReplayPolicy{Name: name})
	}
	replayer, err := ask(in.replay, in.workloads, nil).replayer()
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	summary := func() replays.Summary {
		return replays.Summary{Mean: 1 + draw.Float64(), P50: 1 + draw.Float64(), P95: 2 + draw.Float64(), P99: 3 + draw.Float64(), Max: 4 + draw.Float64()}
	}
	results := map[int]*replays.Result{}
	for i, run := range replayer.Runs() {
		r := &replays.Result{
			Policy: run.Policy, Seed: run.Seed, Jobs: 1 + draw.IntN(1e6), MakespanSeconds: 1e6 * draw.Float64(),
			Response: summary(), Execution: summary(), Wait: summary(), Dilation: summary(),
		}
		for k := range 101 {
			r.DilationQuantiles = append(r.DilationQuantiles, math.Round(1e4*(1+0.05*(float64(k)+draw.Float64())))/1e4)
		}
		for _, name := range []string{"cpu", "disk", "network", "memory-bandwidth"} {
			r.Utilization = append(r.Utilization, replays.ResourceUtilization{Resource: name, Mean: draw.Float64(), Busiest: draw.Float64()})
		}
		results[i] = r
	}
	return in, replayer.Merge(results)
}

// file returns a file of a report, uncompressed.
func (r *fullReport) file(t *testing.T, key string) []byte {
	t.Helper()
	packed, compressed := r.stored.BinaryData[key]
	if !compressed {
		return []byte(r.stored.Data[key])
	}
	unzipper, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unzipper)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestTheReportOfTenPoliciesWithAHundredSeedsFitsIntoAConfigMap(t *testing.T) {
	t.Parallel()
	in, answer := answers(t, 100)
	r, err := reportOn(in, answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs take %d bytes", answer.Runs, sizeOf(r.stored))
	if r.lacks != "" || r.results != "results.json.gz" || sizeOf(r.stored) > maxReport {
		t.Errorf("results in %s, %d bytes; lacks %q", r.results, sizeOf(r.stored), r.lacks)
	}
	got := &replays.Answer{}
	if err := json.Unmarshal(r.file(t, r.results), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answer, got); diff != "" {
		t.Errorf("the results are not the answer (-want +got):\n%s", diff)
	}
	page := string(r.file(t, "report.html"))
	for _, want := range []string{"<html", "Replay compare", "least-dilation", "<svg", "loadline-manager v1.2.3"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestWhatAConfigMapCannotHoldIsLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	in, answer := answers(t, 100)
	draw := rand.New(rand.NewPCG(3, 4))
	for i := range answer.Policies {
		for _, run := range answer.Policies[i].Runs {
			var reason strings.Builder // that cannot be compressed
			for range 100 {
				fmt.Fprintf(&reason, "%x", draw.Uint64())
			}
			run.FirstDrop = reason.String()
		}
	}
	r, err := reportOn(in, answer)
	if err != nil {
		t.Fatal(err)
	}
	if r.lacks != "; results.json lacks the single runs, with which it would be too large for a ConfigMap" || sizeOf(r.stored) > maxReport {
		t.Errorf("%d bytes; lacks %q", sizeOf(r.stored), r.lacks)
	}
	got := &replays.Answer{}
	if err := json.Unmarshal(r.file(t, r.results), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutRuns(answer), got); diff != "" {
		t.Errorf("the results are not the answer without runs (-want +got):\n%s", diff)
	}
	if len(answer.Policies[0].Runs) != 100 {
		t.Error("the answer itself lost its runs")
	}
}

func TestAPageThatCannotBeDrawnIsLeftOutAndTheReasonNamed(t *testing.T) {
	t.Parallel()
	in, answer := answers(t, 2)
	answer.Policies[0].Runs[0].DilationQuantiles[3] = -1
	r, err := reportOn(in, answer)
	if err != nil {
		t.Fatal(err)
	}
	explained := strings.HasPrefix(r.lacks, "; there is no report.html, for it cannot be drawn: ") && strings.Contains(r.lacks, "quantiles[3].value: -1")
	if _, drawn := r.stored.Data["report.html"]; drawn || len(r.file(t, r.results)) == 0 || !explained {
		t.Errorf("the keys are %v; lacks %q", r.stored.Data, r.lacks)
	}
}

func TestAReportThatIsThereAlreadyIsReplaced(t *testing.T) {
	t.Parallel()
	in, answer := answers(t, 2)
	in.report = &corev1.ConfigMap{
		ObjectMeta: metadata(in.replay, "compare-report"), BinaryData: map[string][]byte{"results.json.gz": []byte("of a controller that was lost")},
	}
	in.report.ResourceVersion = "7"
	r, err := reportOn(in, answer)
	if err != nil {
		t.Fatal(err)
	}
	if _, old := r.stored.BinaryData["results.json.gz"]; old || r.stored.ResourceVersion != "7" {
		t.Errorf("of the version %q, with the old results: %v", r.stored.ResourceVersion, old)
	}
}
