package replays_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/given"
)

// Whatever jobs do, and whether they say that they request nothing or nothing at
// all: four of them on four idle nodes do not meet.
func TestLeastRequestedSpreadsJobsWithoutRequests(t *testing.T) {
	t.Parallel()
	for name, csv := range map[string]string{
		"that compute":                    "arrival,demand.cpu\n" + strings.Repeat("0,10\n", 4),
		"that compute and request 0":      "arrival,demand.cpu,request.cpu\n" + strings.Repeat("0,10,0\n", 4),
		"that read":                       "arrival,demand.disk\n" + strings.Repeat("0,10\n", 4),
		"that read and request 0":         "arrival,demand.disk,request.cpu,request.memory\n" + strings.Repeat("0,10,0,0\n", 4),
		"that read and request a device":  "arrival,demand.disk,request.gpu\n" + strings.Repeat("0,10,1\n", 4),
		"of which one requests something": "arrival,demand.disk,request.memory\n0,10,1000000\n" + strings.Repeat("0,10,\n", 3),
	} {
		for kind, capacity := range map[string][]v1alpha1.ReplayCapacity{
			"":                                   nil,
			" on nodes of known memory":          {{Name: "memory", Quantity: given.Quantity("4Gi")}},
			" on nodes of known cpu and memory":  {{Name: "cpu", Quantity: given.Quantity("1")}, {Name: "memory", Quantity: given.Quantity("4Gi")}},
			" on nodes with devices, one a node": {{Name: "gpu", Quantity: given.Quantity("1")}},
		} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				r := replaying(t, "#loadline-trace/v1\n"+csv, func(spec *v1alpha1.TraceReplaySpec) {
					spec.Policies[0].Name = "least-requested"
					spec.Nodes[0].Count, spec.Nodes[0].Capacity = new(int32(4)), capacity
				})
				_, jobs := outcomes(t, r, 0)
				for _, o := range jobs {
					if o.Dilation() != 1 || o.Wait() != 0 {
						t.Errorf("job %s on node %d takes %.2f times as long, after %v s", o.Name, o.Node, o.Dilation(), o.Wait())
					}
				}
			})
		}
	}
}

// Pods cannot request less than a thousandth, and the API server rounds up.
func TestRequestsAreRoundedUpToThousandths(t *testing.T) {
	t.Parallel()
	const csv = "#loadline-trace/v1\narrival,neutral,demand.cpu,threads.cpu,request.cpu,request.memory\n" +
		"0,10,5.8,,,\n" + "0,3,1,,,\n" + "0,3,1,2,,\n" + "0,10,1,,0.58,\n" + "0,10,1,,0.0001,1073741824.5\n" + "0,10,1,,0,0\n" + "0,10,1,,2.0000001,4e12\n"
	r := replaying(t, csv, func(spec *v1alpha1.TraceReplaySpec) {
		spec.Nodes[0].Capacity = []v1alpha1.ReplayCapacity{{Name: "cpu", Quantity: given.Quantity("64")}, {Name: "memory", Quantity: given.Quantity("64Ti")}}
	})
	_, jobs := outcomes(t, r, 0)
	got := map[string][]float64{}
	for _, o := range jobs {
		got[o.Name] = o.Requests
	}
	want := map[string][]float64{
		"1": {0.58, 0}, "2": {0.334, 0}, "3": {0.667, 0}, "4": {0.58, 0}, "5": {0.001, 1073741824.5}, "6": {0, 0}, "7": {2.001, 4e12},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
