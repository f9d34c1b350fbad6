package usage_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/usage"
)

func interval() usage.Interval {
	return usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 2, BusySeconds: 9, Pods: []usage.Pod{{
		UID: "a", Seconds: 10, Times: usage.Times{Run: 4, Wait: 2}, Tasks: 1, Threads: 1, Dilation: 1.25, CPULoading: 0.5, DiskLoading: 0.5,
		PressureSeconds: new(2.0), Containers: []usage.Container{{ID: "c", Times: usage.Times{Run: 4, Wait: 2}}},
	}}}
}

func TestAReportOfAGaugeIsValidAndSurvivesItsFormat(t *testing.T) {
	want := interval()
	if err := want.Validate(); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got usage.Interval
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAReportThatNoGaugeMakesIsRefusedByItsField(t *testing.T) {
	for want, spoil := range map[string]func(*usage.Interval, *usage.Pod){
		"node: is empty":                                 func(v *usage.Interval, _ *usage.Pod) { v.Node = "" },
		"seconds: 0 is not above 0":                      func(v *usage.Interval, _ *usage.Pod) { v.Seconds = 0 },
		"seconds: NaN":                                   func(v *usage.Interval, _ *usage.Pod) { v.Seconds = math.NaN() },
		"seconds: +Inf":                                  func(v *usage.Interval, _ *usage.Pod) { v.Seconds = math.Inf(1) },
		"cpus: 0 is less than 1":                         func(v *usage.Interval, _ *usage.Pod) { v.CPUs = 0 },
		"cgroupVersion: 3 is not 1 or 2":                 func(v *usage.Interval, _ *usage.Pod) { v.CgroupVersion = 3 },
		"leftOut: -1":                                    func(v *usage.Interval, _ *usage.Pod) { v.LeftOut = -1 },
		"busySeconds: -1":                                func(v *usage.Interval, _ *usage.Pod) { v.BusySeconds = -1 },
		"stolenSeconds: NaN":                             func(v *usage.Interval, _ *usage.Pod) { v.StolenSeconds = math.NaN() },
		"pods: 1001 are more than 1000":                  func(v *usage.Interval, _ *usage.Pod) { v.Pods = make([]usage.Pod, usage.MaxPods+1) },
		`pods[1].uid: "a" is there twice`:                func(v *usage.Interval, p *usage.Pod) { v.Pods = append(v.Pods, *p) },
		"pods[0].uid: is empty":                          func(_ *usage.Interval, p *usage.Pod) { p.UID = "" },
		"pods[0].tasks: -1":                              func(_ *usage.Interval, p *usage.Pod) { p.Tasks = -1 },
		"pods[0].threads: 0":                             func(_ *usage.Interval, p *usage.Pod) { p.Threads = 0 },
		"pods[0].dilation: 0.5":                          func(_ *usage.Interval, p *usage.Pod) { p.Dilation = 0.5 },
		"pods[0].slowedSeconds: -1":                      func(_ *usage.Interval, p *usage.Pod) { p.SlowedSeconds = -1 },
		"pods[0].slowedSeconds: NaN":                     func(_ *usage.Interval, p *usage.Pod) { p.SlowedSeconds = math.NaN() },
		"busySeconds: 1e+16 is more than 1e+15":          func(v *usage.Interval, _ *usage.Pod) { v.BusySeconds = 1e16 },
		"seconds: 1e-09 is less than 1e-06":              func(v *usage.Interval, _ *usage.Pod) { v.Seconds = 1e-9 },
		"seconds: 1e+16 is more than 1e+15":              func(v *usage.Interval, _ *usage.Pod) { v.Seconds = 1e16 },
		"pods[0].waitSeconds: 1e+16 is more than 1e+15":  func(_ *usage.Interval, p *usage.Pod) { p.Wait = 1e16 },
		"pods[0].threads: 1e+16 is more than 1e+15":      func(_ *usage.Interval, p *usage.Pod) { p.Threads = 1e16 },
		"pods[0].dilation: 1e+16 is more than 1e+15":     func(_ *usage.Interval, p *usage.Pod) { p.Dilation = 1e16 },
		"pods[0].slowedSeconds: 1e+300":                  func(_ *usage.Interval, p *usage.Pod) { p.SlowedSeconds = 1e300 },
		"pods[0].dilation: +Inf":                         func(_ *usage.Interval, p *usage.Pod) { p.Dilation = math.Inf(1) },
		"pods[0].seconds: -1":                            func(_ *usage.Interval, p *usage.Pod) { p.Seconds = -1 },
		"pods[0].cpuLoading: with diskLoading it is 1.1": func(_ *usage.Interval, p *usage.Pod) { p.CPULoading = 0.6 },
		"pods[0].burstSeconds: -1":                       func(_ *usage.Interval, p *usage.Pod) { p.BurstSeconds = -1 },
		"pods[0].burstSeconds: NaN":                      func(_ *usage.Interval, p *usage.Pod) { p.BurstSeconds = math.NaN() },
		"pods[0].burstSeconds: 2e+09":                    func(_ *usage.Interval, p *usage.Pod) { p.BurstSeconds = 2e9 },
		"pods[0].pressureSeconds: -1":                    func(_ *usage.Interval, p *usage.Pod) { p.PressureSeconds = new(-1.0) },
		"pods[0].waitSeconds: NaN":                       func(_ *usage.Interval, p *usage.Pod) { p.Wait = math.NaN() },
		"pods[0].containers[0].throttledSeconds: +Inf":   func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].Throttled = math.Inf(1) },
		"pods[0].containers[0].threads: 0.5":             func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].Threads = 0.5 },
		"pods[0].containers[0].threads: NaN":             func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].Threads = math.NaN() },
		"pods[0].containers[0].cpuLoading: 1.5":          func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].CPULoading = 1.5 },
		"pods[0].containers[0].dilation: 0.5":            func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].Dilation = 0.5 },
		"pods[0].containers[0].dilation: NaN":            func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].Dilation = math.NaN() },
		"pods[0].containers[0].burstSeconds: NaN":        func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].BurstSeconds = math.NaN() },
		"pods[0].containers[0].burstSeconds: 2e+09":      func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].BurstSeconds = 2e9 },
		"pods[0].containers[0].quotaBurstSeconds: -1":    func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].QuotaBurstSeconds = -1 },
		"pods[0].containers[0].quotaBurstSeconds: +Inf":  func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].QuotaBurstSeconds = math.Inf(1) },
		"pods[0].containers[0].periods: -1":              func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].Periods = -1 },
		"pods[0].containers[0].throttledPeriods: 1":      func(_ *usage.Interval, p *usage.Pod) { p.Containers[0].ThrottledPeriods = 1 },
		"pods[0].containers: 101 are more than 100":      func(_ *usage.Interval, p *usage.Pod) { p.Containers = make([]usage.Container, 101) },
	} {
		v := interval()
		spoil(&v, &v.Pods[0])
		if err := v.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}

// withDisks is an interval with a disk that its pod uses.
func withDisks() usage.Interval {
	v := interval()
	v.Disks = []usage.Disk{{
		Name: "vda", Number: "254:0", Scheduler: "none", Beneath: []string{"sda"}, Reads: usage.Transfers{Operations: 9}, Flushes: &usage.Transfers{}, BusySeconds: 10,
		Service: []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 0.001, Intervals: 1}},
	}}
	p := &v.Pods[0]
	p.BlockedBy, p.DiskPressure, p.MemoryPressureSeconds = usage.ByPressure, &usage.DiskPressure{SomeSeconds: 2, FullSeconds: 1}, new(1.0)
	p.Disks = []usage.PodDisk{{Name: "vda", ReadOperations: 9, Limit: &usage.DiskLimit{ReadOperations: 5}}}
	return v
}

func TestDisksThatNoGaugeReportsAreRefusedByTheirField(t *testing.T) {
	t.Parallel()
	if v := withDisks(); v.Validate() != nil {
		t.Fatal(v.Validate())
	}
	for want, spoil := range map[string]func(*usage.Interval, *usage.Disk, *usage.Pod){
		"disksLeftOut: -1":                                func(v *usage.Interval, _ *usage.Disk, _ *usage.Pod) { v.DisksLeftOut = -1 },
		"disks: 65 are more than 64":                      func(v *usage.Interval, _ *usage.Disk, _ *usage.Pod) { v.Disks = make([]usage.Disk, 65) },
		`disks[1].name: "vda" is there twice`:             func(v *usage.Interval, d *usage.Disk, _ *usage.Pod) { v.Disks = append(v.Disks, *d) },
		`disks[0].name: "" is not`:                        func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Name = "" },
		`disks[0].name: "v\x1b" is not`:                   func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Name = "v\x1b" },
		`disks[0].name: "xxxx`:                            func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Name = strings.Repeat("x", 65) },
		`disks[0].number: "" is not`:                      func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Number = "" },
		`disks[0].scheduler: "a b"`:                       func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Scheduler = "a b" },
		"disks[0].queueDepth: -1":                         func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.QueueDepth = -1 },
		"disks[0].beneath: 33 are more than 32":           func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Beneath = make([]string, 33) },
		`disks[0].beneath[1]: "\n" is not`:                func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Beneath = []string{"a", "\n"} },
		"disks[0].reads.operations: -1":                   func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Reads.Operations = -1 },
		"disks[0].writes.bytes: 1000000000000001 is not":  func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Writes.Bytes = 1e15 + 1 },
		"disks[0].flushes.seconds: NaN":                   func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Flushes.Seconds = math.NaN() },
		"disks[0].busySeconds: 11 is more than the inter": func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.BusySeconds = 11 },
		"disks[0].queuedSeconds: +Inf":                    func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.QueuedSeconds = math.Inf(1) },
		"disks[0].service: 40 are more than 39":           func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service = make([]usage.DiskService, 40) },
		"disks[0].service[0].meanBytes: -1 is not":        func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].MeanBytes = -1 },
		`disks[0].service[0].direction: "trim" is not`:    func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].Direction = "trim" },
		"disks[0].service[0].bytes: 4097 is not":          func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].Bytes = 4097 },
		"disks[0].service[0].bytes: 2048 is not":          func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].Bytes = 2048 },
		"disks[0].service[0].intervals: 0":                func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].Intervals = 0 },
		"disks[0].service[0].inFlight: 1 is neither":      func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].InFlight = 1 },
		"disks[0].service[0].inFlight: NaN is neither":    func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].InFlight = math.NaN() },
		"disks[0].service[0].inFlight: +Inf":              func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].InFlight = math.Inf(1) },
		"disks[0].service[0].spread: -1":                  func(_ *usage.Interval, d *usage.Disk, _ *usage.Pod) { d.Service[0].Spread = -1 },
		`pods[0].blockedBy: "x" is not`:                   func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.BlockedBy = "x" },
		"pods[0].blockedBy: by nothing, ":                 func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.BlockedBy = usage.ByNothing },
		"pods[0].diskPressure.someSeconds: -1":            func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.DiskPressure.SomeSeconds = -1 },
		"pods[0].diskPressure.fullSeconds: 3 is more":     func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.DiskPressure.FullSeconds = 3 },
		"pods[0].memoryPressureSeconds: NaN":              func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.MemoryPressureSeconds = new(math.NaN()) },
		"pods[0].disks: 33 are more than 32":              func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.Disks = make([]usage.PodDisk, 33) },
		`pods[0].disks[0].name: "" is not`:                func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.Disks[0].Name = "" },
		`pods[0].disks[1].name: "vda" is there twice`:     func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.Disks = append(p.Disks, p.Disks[0]) },
		`pods[0].disks[0].name: "sdb" is no disk of the`:  func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.Disks[0].Name = "sdb" },
		"pods[0].disks[0].writeBytes: -1":                 func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.Disks[0].WriteBytes = -1 },
		"pods[0].disks[0].limit.readBytes: -1":            func(_ *usage.Interval, _ *usage.Disk, p *usage.Pod) { p.Disks[0].Limit.ReadBytes = -1 },
	} {
		v := withDisks()
		spoil(&v, &v.Disks[0], &v.Pods[0])
		if err := v.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}

func TestAReportThatNoGaugeAnswersIsRefusedByItsField(t *testing.T) {
	t.Parallel()
	good := usage.Report{AgeSeconds: 3, Intervals: []usage.Interval{interval(), interval()}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*usage.Report){
		"ageSeconds: -1":                            func(r *usage.Report) { r.AgeSeconds = -1 },
		"ageSeconds: NaN":                           func(r *usage.Report) { r.AgeSeconds = math.NaN() },
		"intervals: 1001 are more than 1000":        func(r *usage.Report) { r.Intervals = make([]usage.Interval, 1001) },
		"intervals[1].cpus: 0":                      func(r *usage.Report) { r.Intervals[1].CPUs = 0 },
		`intervals[1].node: "worker-2" is not that`: func(r *usage.Report) { r.Intervals[1].Node = "worker-2" },
	} {
		r := usage.Report{AgeSeconds: 3, Intervals: []usage.Interval{interval(), interval()}}
		spoil(&r)
		if err := r.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}

func TestACollectionHasAnAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[float64]bool{0: true, 30: true, -1: false, math.Inf(1): false} {
		if err := (&usage.Collection{AgeSeconds: age}).Validate(); (err == nil) != want {
			t.Errorf("of an age of %v s: %v", age, err)
		}
	}
}
