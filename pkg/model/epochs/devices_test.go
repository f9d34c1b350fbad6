package epochs_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// withDevices returns nodes whose second resource is the given number of devices; requests are shares of them.
func withDevices(count, devices int) epochs.NodeClass {
	n := nodes(count, 64, devices)
	n.Capacity = []float64{float64(devices)}
	n.Devices = &epochs.Devices{Resource: 1, Request: 0}
	return n
}

// train returns a job that is at a device for part of its time, which it requests.
func train(name string, arrival, seconds, share float64) epochs.Job {
	j := jobOf(name, arrival, (1-share)*seconds, share*seconds)
	j.Requests = []float64{share}
	return j
}

// On one node with devices jobs have the same dilations as on nodes with one device each, where they are spread
// alike.
func TestANodeWithDevicesIsAsManyNodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const devices = 3
		var jobs []epochs.Job
		for k := range rapid.IntRange(1, 9).Draw(rt, "jobs") {
			jobs = append(jobs, train(fmt.Sprint("job-", k), 0, rapid.Float64Range(1, 10).Draw(rt, "seconds"), 0.3))
		}
		one := replay(t, trace(jobs...), []epochs.NodeClass{withDevices(1, devices)}, &placement.RoundRobin{}, epochs.Options{})
		single := nodes(devices, 64, 1)
		single.Capacity = []float64{1}
		many := replay(t, trace(jobs...), []epochs.NodeClass{single}, &placement.RoundRobin{}, epochs.Options{})
		for _, j := range jobs {
			if got, want := one.of(t, j.Name).End, many.of(t, j.Name).End; !closeTo(got, want) {
				rt.Fatalf("%s ends at %v on a node with devices, and at %v on as many nodes", j.Name, got, want)
			}
		}
		busy := 0.0
		for _, j := range jobs {
			busy += 0.3 * j.Neutral
		}
		if got := one.Result.Busy[0][1]; !closeTo(got, busy) {
			rt.Fatalf("the devices are busy for %v s in all, want %v", got, busy)
		}
	})
}

// Jobs that request whole devices have them for themselves, and the others share the rest.
func TestWholeDevicesAreNotShared(t *testing.T) {
	t.Parallel()
	whole := train("a", 0, 10, 1) // the first by its name
	half := func(name string) epochs.Job { return train(name, 0, 10, 0.5) }
	r := replay(t, trace(whole, half("x"), half("y")), []epochs.NodeClass{withDevices(1, 2)}, &placement.RoundRobin{}, epochs.Options{})
	// x and y share the device that is left, 1 + 0.5·0.5 (Eq. 5 of the D-factor paper).
	for name, want := range map[string]float64{"a": 1, "x": 1.25, "y": 1.25} {
		o := r.of(t, name)
		if got := o.Dilation(); !closeTo(got, want) {
			t.Errorf("%s is dilated %v, want %v", name, got, want)
		}
	}
}

func TestDevicesThatNodesDoNotHaveAreRefused(t *testing.T) {
	t.Parallel()
	for want, class := range map[string]epochs.NodeClass{
		"devices: resource: 2 is not one of those": {Name: "a", Count: 1, NodeClass: mix.NodeClass{Servers: []int{1, 1}}, Devices: &epochs.Devices{Resource: 2, Request: -1}},
		"devices: resource: 1 is not one of those": {Name: "a", Count: 1, NodeClass: mix.NodeClass{Servers: []int{1, 0}}, Devices: &epochs.Devices{Resource: 1, Request: -1}},
		"devices: 65 are more than 64":             {Name: "a", Count: 1, NodeClass: mix.NodeClass{Servers: []int{1, 65}}, Devices: &epochs.Devices{Resource: 1, Request: -1}},
		"devices: request: 0 is not one of 0":      {Name: "a", Count: 1, NodeClass: mix.NodeClass{Servers: []int{1, 1}}, Devices: &epochs.Devices{Resource: 1, Request: 0}},
	} {
		if _, err := tryReplay(t, trace(jobOf("a", 0, 1)), []epochs.NodeClass{class}, &placement.RoundRobin{}, epochs.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
