package contention_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
)

// gpus returns devices that serve jobs at resource 1 and interfere at resource 2.
func gpus(count int, sharing loading.DeviceSharing) loading.Devices {
	return loading.Devices{Count: count, Sharing: sharing, Resource: 1, Effects: []int{2}}
}

// sharings are all ways to share a device.
var sharings = []loading.DeviceSharing{loading.WholeDevices, loading.TimeSliced, loading.Concurrent}

// drawDeviceJob draws a job that is at a device for all that it does but idle.
func drawDeviceJob(t *rapid.T) loading.Vector {
	served := rapid.Float64Range(0, 1).Draw(t, "served")
	return loading.Vector{{}, loading.Symmetric(served), {Effect: &loading.Effect{
		Pressure: rapid.Float64Range(0, 2).Draw(t, "pressure"),
		Curve: loading.Curve{
			{Pressure: 0.5, Inflation: rapid.Float64Range(1, 2).Draw(t, "inflation")},
			{Pressure: 2, Inflation: rapid.Float64Range(2, 3).Draw(t, "more inflation")},
		},
		Of: 1,
	}}}
}

// assignAll assigns each job to the device with the fewest jobs.
func assignAll(t rapid.TB, kind loading.Devices, jobs []loading.Vector) []loading.Vector {
	t.Helper()
	assigned := loading.NewAssignments([]loading.Devices{kind})
	all := make([]loading.Vector, len(jobs))
	for j, v := range jobs {
		all[j] = assign(t, assigned, v, assigned.LeastUsed(0))
	}
	return all
}

func assign(t rapid.TB, assigned *loading.Assignments, v loading.Vector, device int) loading.Vector {
	t.Helper()
	at, err := assigned.Assign(v, []int{device})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// dilations returns those on a node with a device of each resource after the first.
func dilations(t rapid.TB, jobs []loading.Vector) []float64 {
	t.Helper()
	p, err := contention.Predict(jobs, []int{4, 1, 1}, queueing.Options{Solver: queueing.Schweitzer})
	if err != nil {
		t.Fatal(err)
	}
	return p.Dilations
}

// near reports whether two dilations agree up to where fixed points stop.
func near(a, b float64) bool { return math.Abs(a-b) <= 5e-3*b }

// Jobs of different devices never interact: each is dilated as if the jobs of the other devices were not there. Which
// number a device has, and in which order jobs are listed, changes nothing.
func TestJobsOfDifferentDevicesNeverInteract(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := gpus(rapid.IntRange(1, 4).Draw(t, "devices"), rapid.SampledFrom(sharings).Draw(t, "sharing"))
		n := rapid.IntRange(1, 8).Draw(t, "jobs")
		renamed := rapid.Permutation([]int{1, 2, 3, 4}[:kind.Count]).Draw(t, "renamed")
		assigned := loading.NewAssignments([]loading.Devices{kind})
		byDevice := make([][]int, kind.Count)
		var jobs, others []loading.Vector
		for j := range n {
			device := rapid.IntRange(1, kind.Count).Draw(t, "device")
			byDevice[device-1] = append(byDevice[device-1], j)
			v := drawDeviceJob(t)
			jobs = append(jobs, assign(t, assigned, v, device))
			others = append(others, assign(t, assigned, v, renamed[device-1]))
		}
		together := dilations(t, jobs)
		slices.Reverse(others)
		permuted := dilations(t, others)
		for j := range jobs {
			if !near(permuted[n-1-j], together[j]) {
				t.Fatalf("job %d is dilated %v, and %v once devices are renamed and jobs listed backwards", j, together[j], permuted[n-1-j])
			}
		}
		for _, on := range byDevice {
			only := make([]loading.Vector, len(on))
			for k, j := range on {
				only[k] = jobs[j]
			}
			for k, alone := range dilations(t, only) {
				if !near(together[on[k]], alone) {
					t.Fatalf("job %d is dilated %v among all devices, %v with its own", on[k], together[on[k]], alone)
				}
			}
		}
	})
}

// With one device the model is that without devices: a time-sliced one is a resource with one server.
func TestOneTimeSlicedDeviceIsAResource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var jobs []loading.Vector
		for range rapid.IntRange(1, 6).Draw(t, "jobs") {
			v := drawDeviceJob(t)
			v[0] = loading.Symmetric((1 - v[1].Loading) * rapid.Float64Range(0, 1).Draw(t, "computes"))
			v[2] = loading.Demand{}
			jobs = append(jobs, v)
		}
		want := dilations(t, jobs)
		for j, got := range dilations(t, assignAll(t, gpus(1, loading.TimeSliced), jobs)) {
			if got != want[j] {
				t.Fatalf("job %d is dilated %v on a device, %v at a resource", j, got, want[j])
			}
		}
	})
}

// Equal jobs at a device that serves one at a time are machines and a repairman: the finite-source queue M/M/1//n, whose
// closed form is that of Palm (1947).
func TestTimeSlicedDeviceIsAFiniteSourceQueue(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0.1, 0.5, 0.9} {
		for n := 1; n <= 6; n++ {
			// The chance that all n are elsewhere is 1 / Σ n!/(n−k)!·ρᵏ, ρ being service over time elsewhere.
			sum, term := 1.0, 1.0
			for k := range n {
				term *= float64(n-k) * p / (1 - p)
				sum += term
			}
			throughput := (1 - 1/sum) / p
			want := float64(n) / throughput
			jobs := make([]loading.Vector, 2*n) // on two devices
			for j := range jobs {
				jobs[j] = loading.Vector{{}, loading.Symmetric(p)}
			}
			p, err := contention.Predict(assignAll(t, gpus(2, loading.TimeSliced), jobs), []int{4, 1, 1}, queueing.Options{Solver: queueing.Exact})
			if err != nil {
				t.Fatal(err)
			}
			for j, got := range p.Dilations {
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("job %d of %d per device with loading %v is dilated %v, want %v", j, n, p, got, want)
				}
			}
		}
	}
}

// Blame and delays add up, and no job is blamed for a delay at another device.
func TestBlameStaysWithinADevice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var jobs []loading.Vector
		for range rapid.IntRange(1, 8).Draw(t, "jobs") {
			jobs = append(jobs, drawDeviceJob(t))
		}
		jobs = assignAll(t, gpus(rapid.IntRange(1, 3).Draw(t, "devices"), rapid.SampledFrom(sharings).Draw(t, "sharing")), jobs)
		p, err := contention.Predict(jobs, []int{4, 1, 1}, queueing.Options{Solver: queueing.FirstOrder})
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range jobs {
			delays := 0.0
			for i := range v {
				delay, blamed := p.Delay(j, i), 0.0
				delays += delay
				for k, blame := range p.BlameAt(j, i) {
					blamed += blame
					if blame > 0 && jobs[k][i].Device != v[i].Device {
						t.Fatalf("job %d at device %d is blamed for the dilation of job %d at device %d", k, jobs[k][i].Device, j, v[i].Device)
					}
				}
				if math.Abs(delay-blamed) > 1e-9 {
					t.Fatalf("job %d, resource %d: delay %v, blame %v in all", j, i, delay, blamed)
				}
			}
			if math.Abs(delays-(p.Dilations[j]-1)) > 1e-9 {
				t.Fatalf("job %d: delays of %v in all, dilation %v", j, delays, p.Dilations[j])
			}
		}
	})
}

// Beside one that is always there, a job is slowed by its curve alone, at the processor and at the device alike.
func TestSlowerServiceAtTwoResources(t *testing.T) {
	t.Parallel()
	slow := func(inflation float64) *loading.Effect {
		return &loading.Effect{Curve: loading.Curve{{Pressure: 1, Inflation: inflation}}}
	}
	job := loading.Vector{loading.Symmetric(0.25), loading.Symmetric(0.5), {Effect: slow(3)}, {Effect: slow(2)}}
	neighbour := loading.Vector{{}, loading.Symmetric(1), {Effect: &loading.Effect{Pressure: 1}}, {Effect: &loading.Effect{Pressure: 1, Exclusive: 1}}}
	jobs := assignAll(t, gpus(1, loading.Concurrent), []loading.Vector{job, neighbour})
	p, err := contention.Predict(jobs, []int{8, 1, 1, 1}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A quarter of its time takes twice as long, and half of it, at the device, three times.
	if want := 1 + 0.25*(2-1) + 0.5*(3-1); math.Abs(p.Dilations[0]-want) > 1e-6 {
		t.Errorf("dilated %v, want %v", p.Dilations[0], want)
	}
	if at, want := p.Delay(0, 2), 1.0; math.Abs(at-want) > 1e-6 {
		t.Errorf("the device adds %v, want %v", at, want)
	}
	if at, want := p.Delay(0, 3), 0.25; math.Abs(at-want) > 1e-6 {
		t.Errorf("the cache adds %v, want %v", at, want)
	}
	if p.Dilations[1] != 1 {
		t.Errorf("the neighbour, which nothing presses on, is dilated %v", p.Dilations[1])
	}
}

// A concurrent device slows jobs as caches slow those that have cores enough.
func TestConcurrentDevicesAreLikeCores(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var onDevice, onCores []loading.Vector
		for range rapid.IntRange(2, 6).Draw(t, "jobs") {
			v := drawDeviceJob(t)
			onDevice = append(onDevice, v)
			e := *v[2].Effect
			e.Of = 0
			onCores = append(onCores, loading.Vector{v[1], {Effect: &e}})
		}
		device := dilations(t, assignAll(t, gpus(1, loading.Concurrent), onDevice))
		cores, err := contention.Predict(onCores, []int{64, 1}, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range cores.Dilations {
			if math.Abs(device[j]-want) > 1e-6*want {
				t.Fatalf("job %d of %d is dilated %v on a device, %v on cores", j, len(onDevice), device[j], want)
			}
		}
	})
}

// A candidate pays the price of the device that it gets, as if its node had no other.
func TestPricesOfDevices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := []int{4, 1, 1}
		sharing := rapid.SampledFrom(sharings).Draw(t, "sharing")
		kinds, only := []loading.Devices{gpus(3, sharing)}, loading.NewAssignments([]loading.Devices{gpus(1, sharing)})
		assigned, load := loading.NewAssignments(kinds), price.NewLoad(servers)
		byDevice := map[int]*price.Load{1: price.NewLoad(servers), 2: price.NewLoad(servers), 3: price.NewLoad(servers)}
		for n := range 9 {
			device := assigned.LeastUsed(0)
			candidateVector := drawDeviceJob(t)
			candidate := price.NewCandidate(assign(t, only, candidateVector, 1))
			load.AssignNext(assigned.Next())
			got, want := load.Prices().Of(candidate), byDevice[device].Prices().Of(candidate)
			if math.Abs(got-want) > 1e-9 || sharing == loading.WholeDevices && got != 0 {
				t.Fatalf("job %d costs %v on device %d, and %v where that is the only one", n, got, device, want)
			}
			load.Add(assign(t, assigned, candidateVector, device))
			byDevice[device].Add(assign(t, only, candidateVector, 1))
		}
	})
}

func TestTying(t *testing.T) {
	t.Parallel()
	job := loading.Vector{loading.Symmetric(0.1), loading.Symmetric(0.5), {Effect: &loading.Effect{Pressure: 1, Of: 1}}}
	assigned := loading.NewAssignments([]loading.Devices{gpus(3, loading.TimeSliced)})
	if processor := (loading.Vector{loading.Symmetric(1)}); &assign(t, assigned, processor, 0)[0] != &processor[0] {
		t.Error("a vector that uses no device is another one")
	}
	for n, want := range []int{1, 2, 3, 1} {
		if got := assigned.LeastUsed(0); got != want {
			t.Errorf("job %d goes to device %d, want %d", n, got, want)
		}
		v := assign(t, assigned, job, want)
		if v[0].Device != 0 || v[1].Device != want || v[2].Effect != nil || job[1].Device != 0 {
			t.Errorf("job %d: %+v of %+v", n, v, job)
		}
	}
	assign(t, assigned, job, 2)
	if got := assigned.LeastUsed(0); got != 3 {
		t.Errorf("beside 2, 2 and 1 jobs the next goes to device %d, want 3", got)
	}
	for _, wrong := range []int{-1, 4} {
		if _, err := assigned.Assign(job, []int{wrong}); err == nil {
			t.Errorf("device %d is no error", wrong)
		}
	}
	for _, sharing := range sharings {
		if v := assign(t, loading.NewAssignments([]loading.Devices{gpus(1, sharing)}), job, 0); v[0] != job[0] || v[1] != (loading.Demand{}) || v[2].Effect != nil {
			t.Errorf("sharing %d: a job of no device is %+v", sharing, v)
		}
	}
	whole := assign(t, loading.NewAssignments([]loading.Devices{gpus(1, loading.WholeDevices)}), job, 1)
	if whole[0] != job[0] || whole[1] != (loading.Demand{}) || whole[2].Effect != nil {
		t.Errorf("a job with a whole device is %+v", whole)
	}
	concurrent := assign(t, loading.NewAssignments([]loading.Devices{gpus(1, loading.Concurrent)}), job, 1)
	if e := concurrent[2].Effect; concurrent[1] != (loading.Demand{}) || e.Of != 1 || e.Exclusive != 0.5 || e.Pressure != 1 || concurrent[2].Device != 1 {
		t.Errorf("a job of a concurrent device is %+v", concurrent)
	}
	other := loading.Devices{Count: 1, Sharing: loading.Concurrent, Resource: 1}
	if v := assign(t, loading.NewAssignments([]loading.Devices{other}), job, 1); v[2].Effect != nil {
		t.Errorf("an effect on the service of a device that has no such resource is %+v", v[2])
	}
}

// Weights at the processor and devices go together.
func TestDevicesBesideWeights(t *testing.T) {
	t.Parallel()
	job := loading.Vector{loading.Symmetric(0.5), loading.Symmetric(0.5)}
	sharing := contention.Sharing{Shares: []loading.Share{{Weight: 1}, {Weight: 4}}}
	apart, err := contention.PredictSharing(assignAll(t, gpus(2, loading.TimeSliced), []loading.Vector{job, job}), []int{1, 1}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	only, err := contention.PredictSharing([]loading.Vector{job[:1], job[:1]}, []int{1}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		if math.Abs(apart.Dilations[j]-only.Dilations[j]) > 1e-6 || apart.Delay(j, 1) != 0 {
			t.Errorf("job %d: %v with a device each (%v at it), %v with the processor alone", j, apart.Dilations[j], apart.Delay(j, 1), only.Dilations[j])
		}
	}
	margins, err := apart.Margins([]contention.Unsure{{Jobs: []int{1}, Resource: 1, Margins: contention.Margins{Loading: 0.1}}}, queueing.Options{})
	if err != nil || margins[0] > 0.05 {
		t.Errorf("margins %v, %v", margins, err)
	}
}

func TestDevicesAreValidated(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]loading.Vector{
		"device: -1 is not between 1 and 64":                        {{}, {Device: -1}},
		"device: 65 is not between 1 and 64":                        {{}, {Device: loading.MaxDevices + 1}},
		"effect.of: 1 is not the index of a resource with a queue":  {{}, {Effect: &loading.Effect{Of: 1}}},
		"effect.of: 2 is not the index of a resource with a queue":  {{}, {Effect: &loading.Effect{Of: 2}}, {Effect: &loading.Effect{}}},
		"effect.of: -1 is not the index of a resource with a queue": {{}, {Effect: &loading.Effect{Of: -1}}},
		"effect.of: 3 is not the index of one of 3 resources":       {{}, {Effect: &loading.Effect{Of: 3}}},
	} {
		if _, err := contention.Predict([]loading.Vector{v}, []int{1, 1, 1}, queueing.Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
	mixes, err := mix.NewMixes(mix.NodeClass{Servers: []int{1, 1}, Processor: 0}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mixes.Stretch(&mix.JobType{Name: "train", Vector: loading.Vector{{}, {Loading: 1, Pressure: 1, Device: 2}}})
	if mixes.Err() == nil {
		t.Error("mixes take jobs that are tied to devices")
	}
}
