package replays_test

import (
	"io"
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/test/given"
)

// openb pods: one that requests a whole GPU, and two that request half of one each.
const fourPods = `name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p1,1000,1024,1,1000,,LS,Succeeded,0,100,0
p2,1000,1024,1,500,,LS,Succeeded,0,100,0
p3,1000,1024,1,500,,LS,Succeeded,0,100,0
`

// gpus is the resource with that many servers, shared in a way.
func gpus(n int32, sharing v1alpha1.DeviceSharing) []v1alpha1.ReplayResource {
	return []v1alpha1.ReplayResource{{Name: "cpu", Servers: new(int32(64))}, {Name: "gpu", Servers: &n, Sharing: sharing}}
}

// Beside a pod with a GPU for itself the two others share the other GPU where GPUs are devices. Otherwise all use any server
// that is free, so that each finds both busy for a quarter of the time that it would wait for half of: E[(N + 1 − 2)⁺]/2.
func TestOpenbPodsShareDevices(t *testing.T) {
	t.Parallel()
	for sharing, want := range map[v1alpha1.DeviceSharing]float64{v1alpha1.SharingTimeSliced: 1 + 0.5*0.5, v1alpha1.SharingExclusive: 1.125, "": 1.125} {
		r := replaying(t, fourPods, func(spec *v1alpha1.TraceReplaySpec) {
			spec.Trace.Format = "openb"
			spec.Nodes[0].Resources = gpus(2, sharing)
			spec.Nodes[0].Capacity = []v1alpha1.ReplayCapacity{{Name: "gpu", Quantity: given.Quantity("2")}}
		})
		_, all := outcomes(t, r, 0)
		for i := range all {
			expected := want
			if all[i].Name == "p1" && sharing == v1alpha1.SharingTimeSliced {
				expected = 1
			}
			if got := all[i].Dilation(); math.Abs(got-expected) > 1e-3 {
				t.Errorf("%q: %s is dilated %v, want %v", sharing, all[i].Name, got, expected)
			}
		}
		if len(all) != 3 {
			t.Errorf("%q: %d jobs were done", sharing, len(all))
		}
	}
}

func TestReplaysTakeDevicesFromANodeProfile(t *testing.T) {
	t.Parallel()
	two := int32(2)
	for name, test := range map[string]struct {
		devices   v1alpha1.NodeDevices
		resources []v1alpha1.ReplayResource
		want      string
	}{
		"time-sliced":              {v1alpha1.NodeDevices{Name: "gpu", Count: &two, Sharing: v1alpha1.SharingTimeSliced}, nil, ""},
		"curves":                   {v1alpha1.NodeDevices{Name: "gpu", Count: &two, Sharing: v1alpha1.SharingConcurrent, Interference: []v1alpha1.DeviceResource{"gpu-mps"}}, nil, `spec.nodes[0].nodeProfile: Invalid value: "gpus": its gpus slow jobs down by curves, which replays do not know: say under resources that gpu is TimeSliced or Exclusive`},
		"curves that do not count": {v1alpha1.NodeDevices{Name: "gpu", Count: &two, Sharing: v1alpha1.SharingConcurrent, Interference: []v1alpha1.DeviceResource{"gpu-mps"}}, gpus(2, v1alpha1.SharingTimeSliced), ""},
		"no count":                 {v1alpha1.NodeDevices{Name: "gpu", ExtendedResource: "nvidia.com/gpu"}, nil, "spec.nodes[0].resources[gpu].servers: Required value: NodeProfile gpus does not say how many there are"},
		"a count of the replay":    {v1alpha1.NodeDevices{Name: "gpu", ExtendedResource: "nvidia.com/gpu"}, gpus(2, ""), ""},
		"too many":                 {v1alpha1.NodeDevices{Name: "gpu", Count: &two}, gpus(65, v1alpha1.SharingTimeSliced), "spec.nodes[0].resources[gpu].servers: Invalid value: 65: is more than 64 devices"},
		"at once":                  {v1alpha1.NodeDevices{Name: "gpu", Count: &two}, gpus(2, v1alpha1.SharingConcurrent), `spec.nodes[0].resources[gpu].sharing: Unsupported value: "Concurrent": supported values: "Exclusive", "TimeSliced"`},
	} {
		node := given.Class("gpus")
		node.Spec.Devices = []v1alpha1.NodeDevices{test.devices}
		replay := generating()
		replay.Spec.Nodes = []v1alpha1.ReplayNodes{{Name: "node", NodeProfile: "gpus", Resources: test.resources}}
		_, err := replays.New(replays.Input{Replay: replay, Workloads: jobProfiles(), Nodes: []v1alpha1.NodeProfile{node}, Open: func() (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader("")), "", nil
		}})
		if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}
