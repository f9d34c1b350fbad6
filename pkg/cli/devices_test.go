package cli

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

// The files of the GPUs in docs/workloads.md.
const (
	gpus       = "../../docs/examples/gpus.yaml"
	gpuCluster = "../../docs/examples/gpu-cluster.yaml"
)

func TestPredictTiesPodsToDevices(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := invoke(t, "", "predict", "-f", gpus, "--cores", "16", "--pod", "train=3", "--pod", "infer", "-o", "json")
	var p evaluate.Prediction
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
	const uncounted = paperJobs + `---
apiVersion: loadline.dev/v1alpha1
kind: NodeProfile
metadata: {name: big}
spec: {selector: {}, devices: [{name: gpu, extendedResource: nvidia.com/gpu}]}
`
	code, _, stderr := invoke(t, uncounted, "predict", "-f", "-")
	if want := `node profile big: devices "gpu": there is no count, and no node here that advertises them: set count`; code == 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s, want %s", code, stderr, want)
	}
}

func TestExplainNamesTheDeviceAndWhoSharesIt(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := invoke(t, "", "explain", "pod", "ml/infer-1", "-f", gpus, "-f", gpuCluster, "--nodes", "-o", "json")
	var e explanation.Answer
	if err := json.Unmarshal([]byte(stdout), &e); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s%v", code, stderr, err)
	}
	if len(e.Devices) != 1 || e.Devices[0].Name != "gpu-0" || !slices.Equal(e.Devices[0].With, []string{"ml/train-1"}) || !e.Devices[0].Assumed {
		t.Errorf("it uses %+v", e.Devices)
	}
	if e.Resources[0].Device != "gpu-0" || e.Resources[0].Because[0].Pod != "ml/train-1" || math.Abs(*e.Dilation-1.21) > 1e-6 {
		t.Errorf("dilated %v by %+v", *e.Dilation, e.Resources[0])
	}
	// Without it a GPU of worker-1 has a pod each, and those of worker-2 none.
	if best := e.Nodes[0]; best.Node != "worker-2" || best.Cost != 0 || math.Abs(e.Nodes[1].Cost-2*0.21) > 1e-9 {
		t.Errorf("the nodes are %+v", e.Nodes)
	}
}

func TestExplainSaysWhichAnnotationsItIgnores(t *testing.T) {
	t.Parallel()
	wrong := `apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: ml, labels: {app: train}, annotations: {loadline.dev/devices: gpu-7}}
spec: {nodeName: worker-1, containers: [{name: main, resources: {requests: {nvidia.com/gpu: "1"}}}]}
`
	code, stdout, stderr := invoke(t, wrong, "explain", "pod", "ml/train-1", "-f", gpus, "-f", gpuCluster, "-f", "-")
	want := `Ignored: pod ml/lost: annotation loadline.dev/devices: "gpu-7" is not one of the devices of the node: gpu-0 to gpu-1.`
	if code != 0 || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d: %s%s\nwant %s", code, stderr, stdout, want)
	}
}
