package findings_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// with returns a pod with another container, of an ID that is its name, which a runtime has of both.
func with(p corev1.Pod, name, limit string) corev1.Pod {
	c := corev1.Container{Name: name}
	if limit != "" {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	p.Spec.Containers = append(p.Spec.Containers, c)
	p.Status.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, ContainerID: "containerd://" + c.Name})
	}
	return p
}

// container is what a gauge saw of one that computes for a fraction of its time, and is held back for a fraction of an interval.
func container(name string, loading, throttled float64) usage.Container {
	c := usage.Container{ID: name, Times: usage.Times{Run: 10 * loading * (1 - throttled), Throttled: 10 * throttled}}
	if throttled > 0 {
		c.Threads, c.CPULoading, c.BurstSeconds, c.Periods, c.ThrottledPeriods = 1, loading, 0.001, 100, 80
	}
	return c
}

// seenOf returns what a gauge saw of a pod of some containers.
func seenOf(name string, containers ...usage.Container) usage.Pod {
	p := usage.Pod{UID: "uid-" + name, Seconds: 10, Tasks: 2, Threads: 2, Dilation: 1.25, CPULoading: 0.25, Containers: containers}
	for _, c := range containers {
		p.Run += c.Run
		p.Throttled += c.Throttled
	}
	return p
}

func limitOf(t *testing.T, p corev1.Pod, s usage.Pod) (observed.Cause, findings.Remedy) {
	t.Helper()
	f := only(t, &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "8")}, Pods: []corev1.Pod{p}, Sights: []observed.Sight{sight("worker-1", 8, 0, s)}})
	if len(f.Causes) != 1 || f.Causes[0].Kind != observed.ByLimit {
		t.Fatalf("causes: %+v", f.Causes)
	}
	return f.Causes[0], f.Remedy
}

// It uses 100m on average, a tenth of a second at a time: a quarter of a core stops it three times for each burst.
func TestAPodThatItsLimitHoldsBackInItsBurstsIsToldToRaiseItAlthoughItUsesLess(t *testing.T) {
	t.Parallel()
	cause, remedy := limitOf(t, pod("web", "worker-1", "50m", "250m"), seen("web", 0.13, 0, 0.225))
	if cause.Limit.String() != "250m" || cause.Container != "" || cause.Assumed {
		t.Errorf("cause: %+v", cause)
	}
	if remedy.Action != findings.RaiseLimit || remedy.Container != "" || remedy.Limit.String() != "1" {
		t.Errorf("remedy: %+v", remedy)
	}
	near(t, "dilation then", remedy.Dilation, 1, 1e-9)
}

func TestTheLimitThatHoldsAPodBackIsThatOfAContainer(t *testing.T) {
	t.Parallel()
	two := with(pod("web", "worker-1", "500m", "2"), "proxy", "100m")
	native := *two.DeepCopy()
	native.Spec.InitContainers = []corev1.Container{native.Spec.Containers[1]}
	native.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	native.Spec.Containers = native.Spec.Containers[:1]
	native.Status.InitContainerStatuses, native.Status.ContainerStatuses = native.Status.ContainerStatuses[1:], native.Status.ContainerStatuses[:1]
	for name, p := range map[string]corev1.Pod{
		"both have one": two, "only the proxy has one": with(pod("web", "worker-1", "500m", ""), "proxy", "100m"), "a native sidecar": native,
	} {
		cause, remedy := limitOf(t, p, seenOf("web", container("main", 0.3, 0), container("proxy", 0.167, 0.4)))
		if cause.Container != "proxy" || cause.Limit.String() != "100m" || cause.Assumed {
			t.Errorf("%s: cause: %+v", name, cause)
		}
		if remedy.Action != findings.RaiseLimit || remedy.Container != "proxy" || remedy.Limit.String() != "260m" {
			t.Errorf("%s: remedy: %+v", name, remedy)
		}
		near(t, name+": dilation then", remedy.Dilation, 1, 0.01)
	}
}

func TestLimitsThatHoldAPodBackAreCausesOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := with(with(pod("web", "worker-1", "500m", "500m"), "proxy", "100m"), "log", "2")
	s := seenOf("web", container("main", 0.5, 0.1), container("proxy", 0.3, 0.3), container("log", 0.1, 0))
	f := only(t, &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "8")}, Pods: []corev1.Pod{p}, Sights: []observed.Sight{sight("worker-1", 8, 0, s)}})
	if len(f.Causes) != 2 || f.Causes[0].Container != "proxy" || f.Causes[1].Container != "main" || f.Causes[1].Limit.String() != "500m" {
		t.Fatalf("causes: %+v", f.Causes)
	}
	near(t, "the proxy's part", f.Causes[0].Dilation, 0.75*0.25, 1e-9)
}

func TestALimitOfThePodAsAWholeIsNoContainers(t *testing.T) {
	t.Parallel()
	whole := with(pod("web", "worker-1", "", ""), "proxy", "")
	whole.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m")}}
	nearer := *whole.DeepCopy()
	nearer.Spec.Containers[1].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	for name, p := range map[string]corev1.Pod{"only the pod has one": whole, "the pod is nearer to its own": nearer} {
		cause, remedy := limitOf(t, p, seenOf("web", container("main", 0.3, 0), container("proxy", 0.167, 0.4)))
		if cause.Container != "" || cause.Limit.String() != "300m" {
			t.Errorf("%s: cause: %+v", name, cause)
		}
		if remedy.Action != findings.RaiseLimit || remedy.Container != "" {
			t.Errorf("%s: remedy: %+v", name, remedy)
		}
	}
}

// Gauges before version 0.4 do not say what the threads of a container are like, and none says which container it is of one that a
// report has no room for: then the smallest limit is named, as one that may be it.
func TestWhereTheGaugeDoesNotTellWhichLimitItIsTheSmallestIsAssumed(t *testing.T) {
	t.Parallel()
	untold := seenOf("web")
	untold.Run, untold.Throttled = 4, 4
	cause, remedy := limitOf(t, with(pod("web", "worker-1", "500m", "2"), "proxy", "100m"), untold)
	if cause.Container != "proxy" || cause.Limit.String() != "100m" || !cause.Assumed || remedy.Container != "proxy" {
		t.Errorf("of two: %+v, %+v", cause, remedy)
	}
	cause, _ = limitOf(t, with(pod("web", "worker-1", "500m", ""), "proxy", "100m"), untold)
	if cause.Container != "proxy" || cause.Assumed {
		t.Errorf("of one: %+v", cause)
	}
	old := container("proxy", 0.167, 0.4)
	old.Threads, old.CPULoading = 0, 0
	cause, remedy = limitOf(t, with(pod("web", "worker-1", "500m", "2"), "proxy", "100m"), seenOf("web", container("main", 0.3, 0), old))
	if cause.Container != "proxy" || cause.Assumed || remedy.Action != findings.RaiseLimit || remedy.Container != "proxy" {
		t.Errorf("by its times: %+v, %+v", cause, remedy)
	}
	// What a container was held back before it began anew is in no account of a container that there is.
	anew := seenOf("web", container("main", 0.3, 0), container("proxy", 0.167, 0.4), container("before", 0.167, 0.4))
	cause, remedy = limitOf(t, with(pod("web", "worker-1", "500m", ""), "proxy", "100m"), anew)
	if cause.Container != "proxy" || remedy.Container != "proxy" || remedy.Limit.String() != "260m" {
		t.Errorf("of a container that began anew: %+v, %+v", cause, remedy)
	}
	gone := with(pod("web", "worker-1", "500m", ""), "proxy", "")
	if cause, remedy = limitOf(t, gone, untold); cause.Limit != nil || remedy.Action != findings.Leave {
		t.Errorf("without a limit: %+v, %+v", cause, remedy)
	}
}

// Nodes may lie.
func TestNoContainerMakesAFindingOfNoNumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]usage.Container{
		"all is as large as can be": {ID: "proxy", Times: usage.Times{Run: 1e308, Throttled: 1e308}, Threads: 1e308, CPULoading: 1},
		"hardly any loading":        {ID: "proxy", Times: usage.Times{Run: 1, Throttled: 4}, Threads: 1e300, CPULoading: 5e-324},
		"hardly any time":           {ID: "proxy", Times: usage.Times{Run: 5e-324, Throttled: 4}, Threads: 1, CPULoading: 1},
		"never ran":                 {ID: "proxy", Times: usage.Times{Throttled: 4}, Threads: 1, CPULoading: 0.5},
	} {
		s := seenOf("web", container("main", 0.3, 0))
		s.Containers = append(s.Containers, c)
		s.Throttled = 4
		cause, remedy := limitOf(t, with(pod("web", "worker-1", "500m", "2"), "proxy", "100m"), s)
		near(t, name, cause.Dilation, 0.25, 1e-9)
		if !(remedy.Dilation >= 1-1e-9 && remedy.Dilation <= 1.25+1e-9) {
			t.Errorf("%s: remedy: %+v", name, remedy)
		}
	}
}

// raised is the limit that is proposed for the proxy of a pod that does what is in some intervals of it.
func raised(t *testing.T, limit string, intervals ...usage.Container) resource.Quantity {
	t.Helper()
	s := sight("worker-1", 8, 0)
	s.Intervals = s.Intervals[:0]
	for i := range intervals {
		one := sight("worker-1", 8, 0, seenOf("web", container("main", 0.3, 0), intervals[i])).Intervals[0]
		s.Intervals = append(s.Intervals, one)
	}
	f := only(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "8")}, Pods: []corev1.Pod{with(pod("web", "worker-1", "500m", "2"), "proxy", limit)}, Sights: []observed.Sight{s},
	})
	if f.Remedy.Action != findings.RaiseLimit || f.Remedy.Container != "proxy" {
		t.Fatalf("remedy: %+v", f.Remedy)
	}
	return *f.Remedy.Limit
}

// burstyProxy is what a gauge sees of a proxy that computes for 40 ms at a time, a tenth of its time, within 200m.
func burstyProxy(burst float64) usage.Container {
	return usage.Container{
		ID: "proxy", Times: usage.Times{Run: 0.82, Throttled: 1.8}, Threads: 1, Dilation: 1.22, CPULoading: 0.1, BurstSeconds: burst, Periods: 60, ThrottledPeriods: 30,
	}
}

func TestBurstsThatVaryNeedAHigherLimit(t *testing.T) {
	t.Parallel()
	var alike, varying []usage.Container
	for _, burst := range []float64{0.02, 0.07, 0.03, 0.08, 0.02, 0.05} {
		alike, varying = append(alike, burstyProxy(0.04)), append(varying, burstyProxy(burst))
	}
	low, high := raised(t, "200m", alike...), raised(t, "200m", varying...)
	if l, h := low.MilliValue(), high.MilliValue(); l < 400 || l > 700 || h < 800 {
		t.Errorf("%v for bursts that are all alike, %v for others", low.String(), high.String())
	}
}

// What a container may save is in the kernel's cpu.max.burst. A quota of 20 ms that stops bursts of 20 ms is nearly enough, and one that
// stops as much although 50 ms are saved is not.
func TestTheSameThrottlingOfAContainerThatSavesItsQuotaIsThatOfLongerBursts(t *testing.T) {
	t.Parallel()
	var without, with []usage.Container
	for range 6 {
		c := burstyProxy(0.02)
		without = append(without, c)
		c.QuotaBurstSeconds = 0.05
		with = append(with, c)
	}
	low, high := raised(t, "200m", without...), raised(t, "200m", with...)
	if l, h := low.MilliValue(), high.MilliValue(); l > 350 || h < 500 {
		t.Errorf("%v without, %v with", low.String(), high.String())
	}
}

// A runtime has threads that do next to nothing, and are throttled with those that do.
func TestThreadsThatHardlyRunDoNotCountAsThrottled(t *testing.T) {
	t.Parallel()
	var alone, among []usage.Container
	for range 6 {
		c := burstyProxy(0.02)
		alone = append(alone, c)
		c.Throttled *= 3
		among = append(among, c)
	}
	one, other := raised(t, "200m", alone...), raised(t, "200m", among...)
	if one.Cmp(other) != 0 {
		t.Errorf("%v alone, %v among threads that hardly run", one.String(), other.String())
	}
}

// An interval in which a container is not throttled is part of what is seen of it.
func TestIntervalsWithoutThrottlingCount(t *testing.T) {
	t.Parallel()
	var always, sometimes []usage.Container
	for i := range 6 {
		c := burstyProxy(0)
		always = append(always, c)
		if i%2 == 0 {
			c = usage.Container{ID: "proxy", Times: usage.Times{Run: 1}, Periods: 60}
		}
		sometimes = append(sometimes, c)
	}
	high, low := raised(t, "200m", always...), raised(t, "200m", sometimes...)
	if low.Cmp(high) >= 0 {
		t.Errorf("%v where it is always throttled, %v where it is sometimes", high.String(), low.String())
	}
}
