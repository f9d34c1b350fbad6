package placement

import (
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
)

// Jobs get the device with the most room, and give it back when they end.
func TestDevicesAreGivenAndTakenBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		class := &DeviceClass{Resource: 1, First: 3, Count: rapid.IntRange(1, 4).Draw(t, "devices"), Request: 0, Room: 1}
		d := NewDevices(class)
		jobs := map[int]*Job{}
		for id := range rapid.IntRange(1, 20).Draw(t, "steps") {
			if len(jobs) > 0 && rapid.Bool().Draw(t, "ends") {
				ending := rapid.SampledFrom(ids(jobs)).Draw(t, "which")
				d.release(jobs[ending], ending)
				delete(jobs, ending)
				continue
			}
			share := rapid.Float64Range(0.1, 1).Draw(t, "share")
			j := &Job{Type: &mix.JobType{Vector: loading.Loadings(1-share, share)}, Requests: []float64{share}}
			least := d.least(nil)
			if at := d.typeOf(j); share < 1 && (at.Vector[3+least].Loading != share || at.Vector[1].Loading != 0 || at.Vector[0] != j.Type.Vector[0]) {
				t.Fatalf("%v at device %d is %v", j.Type.Vector, least, at.Vector)
			} else if share == 1 && at != j.Type {
				t.Fatalf("a job with a device for itself is %v", at.Vector)
			}
			d.take(j, id)
			jobs[id] = j
			if got := d.taken[id]; len(got) != 1 || got[0] != least {
				t.Fatalf("job %d is at %v, want the device with the most room, %d", id, got, least)
			}
		}
		for id, j := range jobs {
			d.release(j, id)
		}
		for device, used := range d.used {
			if used != 0 {
				t.Fatalf("device %d has %v in use with no job", device, used)
			}
		}
		if len(d.taken) > 0 {
			t.Fatalf("%v are taken with no job", d.taken)
		}
	})
}

// ids returns the numbers of jobs, in order.
func ids(jobs map[int]*Job) (all []int) {
	for id := range 20 {
		if jobs[id] != nil {
			all = append(all, id)
		}
	}
	return all
}

func TestAJobOfSeveralDevicesHasThemForItself(t *testing.T) {
	t.Parallel()
	d := NewDevices(&DeviceClass{Resource: 1, First: 2, Count: 3, Request: 0, Room: 1})
	several := &Job{Type: &mix.JobType{Vector: loading.Vector{{}, {Loading: 1, Pressure: 1, Threads: 2}}}, Requests: []float64{2}}
	if at := d.typeOf(several); at != several.Type {
		t.Errorf("it is %v", at.Vector)
	}
	d.take(several, 0)
	half := &Job{Type: &mix.JobType{Vector: loading.Loadings(0, 0.5)}, Requests: []float64{0.5}}
	if at := d.typeOf(half); at.Vector[4].Loading != 0.5 {
		t.Errorf("half a device beside it is %v, want the third", at.Vector)
	}
	if idle := (&Job{Type: &mix.JobType{Vector: loading.Loadings(1)}}); d.typeOf(idle) != idle.Type {
		t.Error("a job that uses no device is another one")
	}
}
