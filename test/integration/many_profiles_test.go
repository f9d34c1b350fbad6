package integration

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
)

// manyProfiles is how many profiles come in each round of the test below. docs/evidence/scheduling-cost.md
// has what comes of 10,000.
var manyProfiles = flag.Int("many-profiles", 300, "how many profiles come and go in each round")

const mebibyte = 1 << 20

// Profiles come from 16 clients at once, and go again, in several rounds, while pods are
// placed. Each pod is placed once; what the scheduler keeps does not grow from round to
// round; and in the end it counts no pod that is gone: a burst spreads as on new nodes.
func TestPodsArePlacedWhileManyProfilesComeAndGo(t *testing.T) {
	t.Parallel()
	const (
		rounds = 3
		pods   = 100 // in each round
	)
	// What the live heap may grow by after the first round: what client-go keeps of events,
	// and less than half of what a profile takes that is kept.
	growth := float64(3*mebibyte + 1024**manyProfiles)
	e := ownEnvironment(t)
	e.schedulerFlags = append(e.schedulerFlags, "--authorization-always-allow-paths", "/debug/pprof/heap")
	p := e.newPlace(t, 20)
	process := p.startScheduler(t, onlyDilation)
	placed, first := 0, 0.0
	for round := range rounds {
		began := time.Now()
		p.createProfiles(t, *manyProfiles, pods, round)
		took := time.Since(began)
		p.awaitPods(t, pods)
		placed += pods
		full := usedBy(t, process)
		must(t, p.DeleteAllOf(t.Context(), &v1alpha1.WorkloadProfile{}, client.InNamespace(p.namespace)))
		placed += p.awaitNoProfiles(t, process)
		empty := usedBy(t, process)
		t.Logf("round %d: %.0f profiles/s; the scheduler has used %.1f s of processor time, its live heap is %.1f MiB with them and %.1f MiB without, resident %.0f MiB",
			round+1, float64(*manyProfiles)/took.Seconds(), empty.processor, full.live/mebibyte, empty.live/mebibyte, empty.resident/mebibyte)
		if round == 0 {
			first = empty.live
		} else if empty.live > first+growth {
			t.Errorf("after round %d the scheduler keeps %.1f MiB, after the first %.1f MiB", round+1, empty.live/mebibyte, first/mebibyte)
		}
	}
	checkAttempts(t, process, placed)
	p.burst(t)
	p.checkSpread(t, p.awaitBound(t, 200), 0)
}

// createProfiles creates profiles, of which one in a hundred selects all pods and the
// others those of an app of their own, and meanwhile pods: of these apps, and of others.
func (p *place) createProfiles(t *testing.T, profiles, pods, round int) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for i := range profiles {
		group.Go(func() error {
			app := fmt.Sprintf("app-%05d", i)
			w := p.profile(app, map[string]string{"cpu": "0.5", "disk": "0.25"})
			if i%100 == 0 {
				w.Spec.Selector = &metav1.LabelSelector{}
			}
			if err := p.Create(ctx, w); err != nil {
				return err
			}
			// The pods are spread evenly over the profiles.
			for n := i * pods / profiles; n < (i+1)*pods/profiles; n++ {
				if n%2 == 1 {
					app = "other"
				}
				if err := p.Create(ctx, p.pod(fmt.Sprintf("pod-%d-%03d", round, n), app)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
}

// awaitPods waits until n pods are on nodes, and deletes all.
func (p *place) awaitPods(t *testing.T, n int) {
	t.Helper()
	p.awaitAll(t, fmt.Sprintf("%d pods to be placed", n), local.AllBound(n))
	must(t, p.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(p.namespace), client.GracePeriodSeconds(0)))
	p.awaitAll(t, "no pod to be left", func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
}

// awaitAll waits until all pods of the place are as they should be, for longer than a busy
// machine needs.
func (p *place) awaitAll(t *testing.T, what string, holds func(map[string]*corev1.Pod) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if pods, err := local.AwaitPods(ctx, p, p.namespace, holds); err != nil {
		t.Fatalf("waiting for %s: %v; there are %d", what, err, len(pods))
	}
}

// awaitNoProfiles waits until a scheduler has no profile left in use, and returns how many
// pods it placed for that: it counts profiles when it places a pod.
func (p *place) awaitNoProfiles(t *testing.T, process *local.Process) (placed int) {
	t.Helper()
	const tries = 1000
	for placed < tries {
		must(t, p.Create(t.Context(), p.pod("last", "other")))
		p.awaitPods(t, 1)
		placed++
		if metricsOf(t, process)[`loadline_dilation_profiles{state="used"}`] == 0 {
			return placed
		}
	}
	t.Fatalf("after %d pods the scheduler still has profiles in use", placed)
	return placed
}

// used is what a process uses of its machine.
type used struct {
	live      float64 // bytes of the heap that are in use after a garbage collection
	resident  float64 // bytes
	processor float64 // seconds since it started
}

// usedBy has a scheduler collect its garbage, and returns what it uses.
func usedBy(t *testing.T, process *local.Process) used {
	t.Helper()
	_, err := process.Get(t.Context(), "/debug/pprof/heap?gc=1")
	must(t, err)
	metrics := metricsOf(t, process)
	u := used{live: metrics["go_gc_heap_live_bytes"], resident: metrics["process_resident_memory_bytes"], processor: metrics["process_cpu_seconds_total"]}
	if u.live == 0 || u.resident == 0 || u.processor == 0 {
		t.Fatalf("the scheduler does not say what it uses: %+v", u)
	}
	return u
}
