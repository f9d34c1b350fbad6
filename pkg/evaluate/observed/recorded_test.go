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
		all = append(all, usage.DiskService{Direction: d, Bytes: classOf(s.Job.Bytes), Seconds: seconds / float64(operations), Intervals: 1})
	}
	return all
}

// learned are services with what a gauge learns of the pods of a mix while each runs alone, as far as the disk is quiet then: see package history.
func (m *recordedMix) learned(services []usage.DiskService) []usage.DiskService {
	all := slices.Clone(services)
	for i := range m.Runs {
		if len(m.Runs[i].Jobs) > 1 {
			continue
		}
		for k := range m.Runs[i].Interval.Disks {
			d := &m.Runs[i].Interval.Disks[k]
			inFlight := d.QueuedSeconds
			if d.Flushes != nil {
				inFlight -= d.Flushes.Seconds
			}
			if inFlight > 1.1*d.BusySeconds {
				continue
			}
			for direction, t := range map[string]usage.Transfers{usage.Read: d.Reads, usage.Write: d.Writes} {
				if t.Operations < 10 || t.Seconds < 0.02 {
					continue
				}
				s := usage.DiskService{Direction: direction, Bytes: classOf(t.Bytes / t.Operations), Seconds: t.Seconds / float64(t.Operations), Intervals: 1}
				all = append(slices.DeleteFunc(all, func(of usage.DiskService) bool { return of.Direction == s.Direction && of.Bytes == s.Bytes }), s)
			}
		}
	}
	return all
}

// classOf returns the upper end of the class of a size.
func classOf(bytes int64) int64 {
	return 1 << bits.Len64(uint64(min(max(bytes, usage.MinServiceBytes), usage.MaxServiceBytes)-1))
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

// score is how far dilations are off: relatively, and by which factor, which counts twice as much and half as much the same.
type score struct{ pods, off, bias, worst, factor float64 }

func (s *score) add(got, want float64) {
	off := got/want - 1
	s.pods, s.off, s.bias, s.worst = s.pods+1, s.off+math.Abs(off), s.bias+off, max(s.worst, math.Abs(off))
	s.factor += math.Abs(math.Log(got / want))
}

func (s *score) mean() float64 { return s.off / s.pods }

// times returns the geometric mean of the factors.
func (s *score) times() float64 { return math.Exp(s.factor / s.pods) }

// The recording was made on two processors that others used, of a single run of two seconds each: what a pod suffered is uncertain by more than a
// tenth. The kernel accounts no task's blocked time there, and its pressure is too low by more than a half; what the account of the tasks would
// have is by their own clocks. Bounds are what was reached, rounded up. Writes that last wait for the cache of the disk to be emptied, too: where
// they wait long for others, they are found to wait longer than they do.
func TestDilationsAtARecordedDisk(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	services := r.services()
	for name, c := range map[string]struct {
		of    func(j *recordedJob) bool
		tasks bool
		// most is the factor by which they are off at most, and without at least that where all blocked time is time alone.
		most, without float64
	}{
		"direct and random reads":              {func(j *recordedJob) bool { return j.Operation == "read" }, true, 1.17, 1.5},
		"direct and random reads, by pressure": {func(j *recordedJob) bool { return j.Operation == "read" }, false, 1.34, 1.5},
		"direct writes":                        {func(j *recordedJob) bool { return j.Operation == "write" && j.Sync == "" }, true, 1.14, 1.6},
		"direct writes, by pressure":           {func(j *recordedJob) bool { return j.Operation == "write" && j.Sync == "" }, false, 1.32, 1.6},
		"writes that last":                     {func(j *recordedJob) bool { return j.Sync != "" }, true, 1.48, 2},
		"writes that last, by pressure":        {func(j *recordedJob) bool { return j.Sync != "" }, false, 1.39, 2},
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
				seen, _ := changed.observe(t, m.learned(services), len(m.Jobs))
				for job, truth := range m.Truth {
					if j := &m.Jobs[job]; truth.Dilation > 0 && j.waits() && c.of(j) {
						with.add(seen[job].Dilation, truth.Dilation*alone[job])
						without.add(run.pod(job).Dilation, truth.Dilation*alone[job])
					}
				}
			}
			t.Logf("%.0f pods: off by %.0f %% on average, bias %.0f %%, worst %.0f %%, by a factor of %.2f; without disks %.0f %%, a factor of %.2f", with.pods,
				100*with.mean(), 100*with.bias/with.pods, 100*with.worst, with.times(), 100*without.mean(), without.times())
			if with.times() > c.most || without.times() < c.without {
				t.Errorf("off by a factor of %.3f, want at most %.2f; without disks %.3f, want at least %.2f", with.times(), c.most, without.times(), c.without)
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
		_, causes := run.observe(t, m.learned(services), len(m.Jobs))
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
