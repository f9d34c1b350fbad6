package observations_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/test/given"
)

func node(cpu string) *corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("110")}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts}}
}

func pod(app string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: app, UID: types.UID("uid-" + app), Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		}}},
	}
}

// waiting is a pod of one thread that took that many times longer than alone.
func waiting(app string, loading, dilation float64) usage.Pod {
	return usage.Pod{
		UID: "uid-" + app, Seconds: 10, Tasks: 1, Threads: 1, Dilation: dilation, CPULoading: loading,
		Times: usage.Times{Run: 10 * loading / dilation, Wait: 10 * (1 - 1/dilation)},
	}
}

func snapshot(profiles ...v1alpha1.WorkloadProfile) *profile.Snapshot {
	index := profile.NewIndex(nil, logr.Discard())
	for i := range profiles {
		index.OnAdd(&profiles[i], true)
	}
	return index.Snapshot()
}

// Two jobs that always run share a core: each takes twice as long, whatever the model.
func TestPredictionsAreOfPodsThatFollowAProfile(t *testing.T) {
	t.Parallel()
	profiles := snapshot(given.Workload("cart", time.Hour, given.CPU("0.2")), given.Measured(given.Workload("new", time.Hour)))
	pods := []corev1.Pod{pod("cart"), pod("sort"), pod("new")}
	v := interval(waiting("cart", 1, 1.6), waiting("sort", 1, 2), waiting("new", 0, 1))
	got, err := observations.Predictions(node("1"), pods, []usage.Interval{v, v, v}, profiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Profile != cart {
		t.Fatalf("got %+v", got)
	}
	const rounding = 1e-6
	if p := got[0]; math.Abs(p.Predicted-2) > rounding || math.Abs(p.Observed-1.6) > rounding || math.Abs(p.Error()-0.25) > rounding {
		t.Errorf("got %+v, an error of %v", p, p.Error())
	}
	if short, err := observations.Predictions(node("1"), pods, []usage.Interval{v}, profiles); err != nil || len(short) != 0 {
		t.Errorf("of one interval there are %v, %v", short, err)
	}
}

// Two readers meet at the disk as in disks_test.go: alone each is there for 0.45 s of 0.55 s, and comes to it while the other is there for that part of
// the time, if that serves one at once (mean value analysis).
func TestPredictionsHaveTheDiskOfAClassThatSaysWhatItServes(t *testing.T) {
	t.Parallel()
	v := withDisk(2, reader("uid-cart", 0.9, 4500), reader("uid-backup", 0.9, 4500))
	for i := range v.Pods { // of two processors
		v.Pods[i].CPULoading, v.Pods[i].Run = 0.05, 0.5
	}
	v.CPUs, v.BusySeconds = 2, 1
	worker := node("2")
	worker.Labels = map[string]string{"class": "fast"}
	one, many := given.Class("fast", v1alpha1.ResourceServers{Name: "disk", Servers: new(int32(1))}), given.Serving(given.Calibrated(given.Class("fast"), "disk"), "disk", 8)
	plain := given.Class("fast")
	for name, c := range map[string]struct {
		class *v1alpha1.NodeProfile
		want  float64
	}{
		"none":           {nil, 1 / 0.55},
		"says nothing":   {&plain, 1 / 0.55},
		"one at once":    {&one, 1 + 0.45/0.55*0.45/0.55},
		"eight, by test": {&many, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := profile.NewIndex(nil, logr.Discard())
			workload := given.Workload("cart", time.Hour, given.CPU("0.1"))
			x.OnAdd(&workload, true)
			if c.class != nil {
				x.OnAdd(c.class, true)
			}
			got, err := observations.Predictions(worker, []corev1.Pod{pod("cart"), pod("backup")}, []usage.Interval{v, v, v}, x.Snapshot())
			if err != nil || len(got) != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if p := got[0]; math.Abs(p.Predicted-c.want) > 1e-9 || math.Abs(p.Observed-1/0.55) > 1e-9 {
				t.Errorf("got %+v, want %v", p, c.want)
			}
		})
	}
}

func TestAccuracyIsTheMeanRelativeErrorOfAnHour(t *testing.T) {
	t.Parallel()
	h := &observations.History{}
	h.AddPrediction(cart, noon.Add(-2*time.Hour), 10, 1)
	h.AddPrediction(cart, noon.Add(-30*time.Minute), 2, 1.6)
	h.AddPrediction(cart, noon, 1, 2)
	want := observations.Accuracy{MeanError: (0.25 + 0.5) / 2, Predictions: 2, Last: noon}
	if got := h.Accuracies(noon.Add(time.Minute))[cart]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := h.Accuracies(noon.Add(2 * time.Hour)); len(got) != 0 {
		t.Errorf("later there are %v", got)
	}
}

// BenchmarkPredictions is of a node with eight processors and thirty pods, of which ten follow a profile.
func BenchmarkPredictions(b *testing.B) {
	var pods []corev1.Pod
	var seenPods []usage.Pod
	for n := range 30 {
		app := fmt.Sprintf("app-%d", n)
		if n < 10 {
			app = fmt.Sprintf("cart-%d", n)
		}
		p := pod(app)
		if n < 10 {
			p.Labels["app"] = "cart"
		}
		pods = append(pods, p)
		seenPods = append(seenPods, waiting(app, 0.2, 1.2))
	}
	profiles := snapshot(given.Workload("cart", time.Hour, given.CPU("0.2")))
	v := interval(seenPods...)
	v.CPUs = 8
	for b.Loop() {
		got, err := observations.Predictions(node("8"), pods, []usage.Interval{v, v, v}, profiles)
		if err != nil || len(got) != 10 {
			b.Fatalf("got %d predictions, %v", len(got), err)
		}
	}
}
