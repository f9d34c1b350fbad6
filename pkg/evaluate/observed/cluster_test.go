package observed

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// The time that the model takes grows with its threads, so a gauge that lies about them must not choose their number.
func TestTheModelGetsABoundedNumberOfThreads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		capacity   string // by the API server, none if empty
		cpus       int    // by the gauge
		threads    float64
		want       int
		wantDemand float64 // processors that a pod of a loading of 0.01 asks for
	}{
		"as many as a gauge may report":        {"1", 1, 16384, 64, 64},
		"more than there are":                  {"1", 1, 1e300, 64, 64},
		"with processors that do not exist":    {"1", 16384, 16384, 64, 64},
		"with more than can be":                {"1", math.MaxInt, 16384, 64, 64},
		"on a large node":                      {"100", 100, 16384, 200, 163.84},
		"on one of which half is online":       {"100", 50, 16384, 100, 100},
		"on one of which the size is unknown":  {"", 100, 16384, 64, 64},
		"hardly too many":                      {"1", 1, 128, 64, 1.28},
		"as many as are taken":                 {"1", 1, 64, 64, 0.64},
		"few, as they are":                     {"1", 1, 3, 3, 0.03},
		"a fraction of a thread, to the whole": {"1", 1, 3.6, 4, 0.04},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := &Input{Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}}}
			if test.capacity != "" {
				in.Nodes[0].Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(test.capacity)}
			}
			v := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: test.cpus, BusySeconds: 1e9}
			for i := range 110 {
				uid := fmt.Sprintf("uid-%d", i)
				in.Pods = append(in.Pods, corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("cart-%d", i), UID: types.UID(uid)},
					Spec:       corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main"}}},
				})
				v.Pods = append(v.Pods, usage.Pod{UID: uid, Seconds: 10, Tasks: 1, Threads: test.threads, Dilation: 2, CPULoading: 0.01})
			}
			in.Sights = []Sight{{Node: "worker-1", Intervals: []usage.Interval{v, v}}}
			model := Observe(in, DefaultAbove).Nodes[0].Model
			if len(model.Pods) != len(in.Pods) {
				t.Fatalf("%d pods are in the model", len(model.Pods))
			}
			for _, p := range model.Pods {
				d := p.Vector[0]
				const rounding = 1e-9
				if demand := float64(d.Threads) * d.Loading; d.Threads != test.want || math.Abs(demand-test.wantDemand) > rounding || d.Pressure != d.Loading {
					t.Fatalf("got %+v, which ask for %v processors, want %d threads that ask for %v", d, demand, test.want, test.wantDemand)
				}
			}
			if largest := max(64, test.want); model.System.Vector[0].Threads > largest {
				t.Errorf("what runs outside of pods has %d threads, more than %d", model.System.Vector[0].Threads, largest)
			}
			if err := model.System.Vector.Validate(); err != nil {
				t.Errorf("what runs outside of pods: %v", err)
			}
		})
	}
}

// What a pod ran that has ended since is no load any more, and nothing that runs outside of pods. A pod that goes on may be unknown, to a
// user who may not list all.
func TestPodsThatHaveEndedAreNoLoad(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last            []string // the pods of the last interval
		leftOut         int
		system, running float64
	}{
		"one has ended":                            {[]string{"cart"}, 0, 0.1, 0.3},
		"one goes on that is unknown":              {[]string{"cart", "other"}, 0, 0.4, 0.6},
		"one is perhaps among those that are left": {[]string{"cart"}, 1, 0.4, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := func(name string, run float64) usage.Pod {
				return usage.Pod{UID: "uid-" + name, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1, CPULoading: run / 10, Times: usage.Times{Run: run}}
			}
			first := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 1, BusySeconds: 9, Pods: []usage.Pod{pod("cart", 2), pod("other", 6)}}
			last := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 1, BusySeconds: 3, LeftOut: test.leftOut}
			for _, name := range test.last {
				last.Pods = append(last.Pods, pod(name, map[string]float64{"cart": 2}[name]))
			}
			c := Observe(&Input{
				Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}},
				Pods: []corev1.Pod{{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "uid-cart"},
					Spec:       corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main"}}},
				}},
				Sights: []Sight{{Node: "worker-1", Intervals: []usage.Interval{first, last}}},
			}, DefaultAbove)
			const rounding = 1e-9
			if got := c.Nodes[0].Model.System.Vector[0].Loading; math.Abs(got-test.system) > rounding {
				t.Errorf("outside of pods %v processors are busy, want %v", got, test.system)
			}
			if got := c.Nodes[0].Running(); math.Abs(got-test.running) > rounding {
				t.Errorf("%v processors are busy with what goes on, want %v", got, test.running)
			}
		})
	}
}

// Of a large cluster the intervals take as much memory as its pods: what was observed keeps none, where nothing waits at a disk.
func TestWhatWasObservedKeepsNoIntervals(t *testing.T) {
	t.Parallel()
	in := &Input{Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}}, Sights: []Sight{{Node: "worker-1"}}}
	for range 3 {
		v := usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 1, Pods: []usage.Pod{{UID: "uid-a", Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1}}}
		in.Sights[0].Intervals = append(in.Sights[0].Intervals, v)
	}
	first, last := weak.Make(&in.Sights[0].Intervals[0].Pods[0]), weak.Make(&in.Sights[0].Intervals[2].Pods[0])
	c := Observe(in, DefaultAbove)
	in.Sights = nil
	runtime.GC()
	if first.Value() != nil || last.Value() != nil {
		t.Errorf("the first interval is kept: %t, the last one: %t", first.Value() != nil, last.Value() != nil)
	}
	runtime.KeepAlive(c)
}
