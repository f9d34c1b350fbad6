package observed

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// recording is what pods did at a real disk, which time themselves, alone, together and without each other one: see the README beside it.
type recording struct {
	Sweep []recordedRun
	Mixes []recordedMix
}

// recordedMix is some pods, and what each suffered from the others by its own clock.
type recordedMix struct {
	Name  string
	Jobs  []recordedJob
	Runs  []recordedRun
	Truth []struct {
		Dilation float64
		// Without has the units per second without each other pod, and Culprit is the one without which there are most, -1 for none.
		Without []float64
		Culprit int
	}
}

type recordedJob struct {
	Operation, Access, Cache, Sync string
	Bytes                          int64
	Depth                          int
}

// waits reports whether each operation of the job waits for the disk.
func (j *recordedJob) waits() bool {
	return j.Cache == "direct" || j.Cache == "buffered" && (j.Operation == "read" && j.Access == "random" || j.Sync != "")
}

// recordedRun is some of the jobs that ran together, and what Loadline's gauge read of them.
type recordedRun struct {
	Jobs    []int
	Job     *recordedJob // of a sweep
	Seconds float64
	Device  struct {
		Reads, Writes             int64
		ReadSeconds, WriteSeconds float64
	}
	Pods []struct {
		Units   int64
		Latency float64
	}
	Interval *usage.Interval
}

func recorded(t *testing.T) *recording {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "test", "testdata", "disklab", "6.18-virtio.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{}
	if err := json.NewDecoder(text).Decode(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// services are what operations took on the disk when one was in flight at a time, by the disk's own counters.
func (r *recording) services() (all []usage.DiskService) {
	for i := range r.Sweep {
		s := &r.Sweep[i]
		if s.Job.Depth > 1 || s.Job.Sync != "" {
			continue
		}
		d, seconds, operations := usage.Read, s.Device.ReadSeconds, s.Device.Reads
		if s.Job.Operation == "write" {
			d, seconds, operations = usage.Write, s.Device.WriteSeconds, s.Device.Writes
		}
		all = append(all, usage.DiskService{Direction: d, Bytes: 1 << bits.Len64(uint64(s.Job.Bytes-1)), Seconds: seconds / float64(operations), Intervals: 1})
	}
	return all
}

// together returns the run of all jobs of a mix, and for how long each waited for processors alone, as a dilation: the machine was busy.
func (m *recordedMix) together() (run *recordedRun, alone []float64) {
	alone = make([]float64, len(m.Jobs))
	for i := range m.Runs {
		r := &m.Runs[i]
		switch len(r.Jobs) {
		case len(m.Jobs):
			run = r
		case 1:
			alone[r.Jobs[0]] = r.pod(r.Jobs[0]).Dilation
		}
	}
	return run, alone
}

// pod returns what the gauge read of a job.
func (r *recordedRun) pod(job int) *usage.Pod {
	for i := range r.Interval.Pods {
		if p := &r.Interval.Pods[i]; p.UID[len(p.UID)-3:] == "00"+strconv.Itoa(job) {
			return p
		}
	}
	return nil
}

// byTasks makes the blocked time of pods what the kernel's account of each task would have: their operations by their own clocks.
func (r *recordedRun) byTasks(m *recordedMix) {
	for i, job := range r.Jobs {
		p, own, threads := r.pod(job), &r.Pods[i], float64(m.Jobs[job].Depth)
		p.BlockedBy, p.Threads, p.Blocked = usage.ByTasks, threads, own.Latency*float64(own.Units)
		p.DiskLoading = min(1-p.CPULoading, p.Blocked/(threads*r.Seconds)*p.Dilation)
	}
}

// observe returns the observations of pods in a run, by job.
func (r *recordedRun) observe(t *testing.T, services []usage.DiskService, jobs int) (all []*Observation, causes []Causes) {
	t.Helper()
	v := *r.Interval
	v.Disks = slices.Clone(v.Disks)
	for i := range v.Disks {
		v.Disks[i].Service = services
	}
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	seen := observe([]usage.Interval{v}, DefaultAbove, Window, true)
	n := &Node{last: &v}
	for job := range jobs {
		p := &Pod{Observation: seen[r.pod(job).UID], UID: r.pod(job).UID, Node: n, Index: -1}
		p.Object = podNamed("p" + strconv.Itoa(job))
		n.Pods = append(n.Pods, p)
	}
	for _, p := range n.Pods {
		all, causes = append(all, p.Observation), append(causes, p.byDisks().Sorted())
	}
	return all, causes
}

// score is how far dilations are off.
type score struct{ pods, off, bias, worst float64 }

func (s *score) add(got, want float64) {
	off := got/want - 1
	s.pods, s.off, s.bias, s.worst = s.pods+1, s.off+math.Abs(off), s.bias+off, max(s.worst, math.Abs(off))
}

func (s *score) mean() float64 { return s.off / s.pods }

// The recording was made on two processors that others used, of a single run of two seconds each: what a pod suffered is uncertain by more than a
// tenth. The kernel accounts no task's blocked time there, and its pressure is too low by more than a half; what the account of the tasks would
// have is by their own clocks. Bounds are what was reached, rounded up. Writes that last wait for the cache of the disk to be emptied, too, of which
// no service is learned: with the account of the tasks their dilation is further off than without disks.
func TestDilationsAtARecordedDisk(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	services := r.services()
	for name, c := range map[string]struct {
		of    func(j *recordedJob) bool
		tasks bool
		// most is the mean error at most, and without at least that where all blocked time is time alone.
		most, without float64
	}{
		"direct and random reads":              {func(j *recordedJob) bool { return j.Operation == "read" }, true, 0.16, 0.29},
		"direct and random reads, by pressure": {func(j *recordedJob) bool { return j.Operation == "read" }, false, 0.22, 0.29},
		"direct writes":                        {func(j *recordedJob) bool { return j.Operation == "write" && j.Sync == "" }, true, 0.25, 0.3},
		"direct writes, by pressure":           {func(j *recordedJob) bool { return j.Operation == "write" && j.Sync == "" }, false, 0.22, 0.3},
		"writes that last":                     {func(j *recordedJob) bool { return j.Sync != "" }, true, 0.5, 0.4},
		"writes that last, by pressure":        {func(j *recordedJob) bool { return j.Sync != "" }, false, 0.3, 0.4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var with, without score
			for i := range r.Mixes {
				m := &r.Mixes[i]
				run, alone := m.together()
				changed := *run
				changed.Interval = new(*run.Interval)
				changed.Interval.Pods = slices.Clone(run.Interval.Pods)
				if c.tasks {
					changed.byTasks(m)
				}
				seen, _ := changed.observe(t, services, len(m.Jobs))
				for job, truth := range m.Truth {
					if j := &m.Jobs[job]; truth.Dilation > 0 && j.waits() && c.of(j) {
						with.add(seen[job].Dilation, truth.Dilation*alone[job])
						without.add(run.pod(job).Dilation, truth.Dilation*alone[job])
					}
				}
			}
			t.Logf("%.0f pods: off by %.0f %% on average, bias %.0f %%, worst %.0f %%; without disks %.0f %%", with.pods, 100*with.mean(),
				100*with.bias/with.pods, 100*with.worst, 100*without.mean())
			if with.mean() > c.most || without.mean() < c.without {
				t.Errorf("off by %.3f on average, want at most %.2f; without disks %.3f, want at least %.2f", with.mean(), c.most, without.mean(), c.without)
			}
		})
	}
}

// The culprit is the pod without which the victim is fastest. Of those that are slowed by 1.2 or more, in mixes of three pods and more.
func TestCulpritsAtARecordedDisk(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	services := r.services()
	victims, named, right, near, pairs, rightPairs := 0, 0, 0, 0, 0, 0
	for i := range r.Mixes {
		m := &r.Mixes[i]
		run, _ := m.together()
		_, causes := run.observe(t, services, len(m.Jobs))
		for job, truth := range m.Truth {
			if truth.Culprit < 0 || !m.Jobs[job].waits() {
				continue
			}
			first := slices.IndexFunc(causes[job], func(c Cause) bool { return c.Kind == ByNeighbour })
			blamed := -1
			if first >= 0 {
				blamed, _ = strconv.Atoi(causes[job][first].Pod[len("shop/p"):])
			}
			switch {
			case truth.Without == nil:
				pairs++
				if blamed == truth.Culprit {
					rightPairs++
				}
				continue
			case blamed == truth.Culprit:
				right++
			}
			victims++
			if blamed >= 0 {
				named++
				if truth.Without[blamed] >= 0.97*truth.Without[truth.Culprit] {
					near++
				}
			}
		}
	}
	t.Logf("of %d victims %d have a culprit, %d the right one, %d one of which the removal helps within 3 %% as much; of %d pairs %d are right", victims, named, right, near, pairs, rightPairs)
	if victims != 73 || right < 45 || near < 50 || pairs != 7 || rightPairs < 6 {
		t.Errorf("of %d victims %d right, %d near; of %d pairs %d right", victims, right, near, pairs, rightPairs)
	}
}
