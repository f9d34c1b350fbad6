package predict_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/prediction"
)

// gpus is a file of docs/workloads.md.
const gpus = "../../../docs/examples/gpus.yaml"

func TestPredictTiesPodsToDevices(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", "predict", "-f", gpus, "--cores", "16", "--pod", "train=3", "--pod", "infer", "-o", "json")
	var p prediction.Answer
	if err := json.Unmarshal([]byte(stdout), &p); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s%v", code, stderr, err)
	}
	// Two closed loops with exponential service at one server: of 0.7 and 0.7, and of 0.7 and 0.3, of their time.
	pair := func(a, b float64) float64 { return 1 + a*b } // Eq. (5) of the D-factor paper, exact for two
	want := []struct {
		name, device string
		copies       int
		dilation     float64
	}{{"train", "gpu-0", 2, pair(0.7, 0.7)}, {"train", "gpu-1", 1, pair(0.7, 0.3)}, {"infer", "gpu-1", 1, pair(0.3, 0.7)}}
	for i, w := range want {
		got := p.Pods[i]
		if got.Name != w.name || !slices.Equal(got.Devices, []string{w.device}) || !got.DevicesAssumed || got.Copies != w.copies || math.Abs(got.Dilation-w.dilation) > 1e-6 {
			t.Errorf("got %d %s at %v, dilated %v; want %+v", got.Copies, got.Name, got.Devices, got.Dilation, w)
		}
		if got.Waits[0].Device != w.device {
			t.Errorf("%s waits for %s, want %s", w.name, got.Waits[0].Device, w.device)
		}
	}
	if len(p.Pods) != len(want) || len(p.Devices) != 1 || p.Devices[0].Count != 2 {
		t.Errorf("got %d groups on %+v", len(p.Pods), p.Devices)
	}
}

func TestPredictNeedsACountOfDevices(t *testing.T) {
	t.Parallel()
	const uncounted = clitest.PaperJobs + `---
apiVersion: loadline.dev/v1alpha1
kind: NodeProfile
metadata: {name: big}
spec: {selector: {}, devices: [{name: gpu, extendedResource: nvidia.com/gpu}]}
`
	code, _, stderr := clitest.Run(t, uncounted, "predict", "-f", "-")
	if want := `node profile big: devices "gpu": there is no count, and no node here that advertises them: set count`; code == 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s, want %s", code, stderr, want)
	}
}
