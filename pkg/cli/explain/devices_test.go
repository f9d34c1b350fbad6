package explain_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"

	"loadline.dev/loadline/pkg/evaluate/explanation"
)

// The files of docs/workloads.md.
const (
	gpus       = "../../../docs/examples/gpus.yaml"
	gpuCluster = "../../../docs/examples/gpu-cluster.yaml"
)

func TestExplainNamesTheDeviceAndWhoSharesIt(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", "explain", "pod", "ml/infer-1", "-f", gpus, "-f", gpuCluster, "--nodes", "-o", "json")
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
	code, stdout, stderr := clitest.Run(t, wrong, "explain", "pod", "ml/train-1", "-f", gpus, "-f", gpuCluster, "-f", "-")
	want := `Ignored: pod ml/lost: annotation loadline.dev/devices: "gpu-7" is not one of the devices of the node: gpu-0 to gpu-1.`
	if code != 0 || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d: %s%s\nwant %s", code, stderr, stdout, want)
	}
}
