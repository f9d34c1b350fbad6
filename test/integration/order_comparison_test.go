package integration

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/model/sizing"
)

var (
	orderJobs = flag.Int("order-jobs", 0, "compare the orders of the queue with this number of pods for each, which takes minutes; 0 leaves it out")
	orderUnit = flag.Duration("order-unit", 5*time.Second, "the mean time that a pod of the comparison takes")
	orderSeed = flag.Uint64("order-seed", 507, "of the pods of the comparison; with 507, 600 pods are to attain about what many do in the long run")
)

// Two classes of pods on a node with room for eight, nine tenths of which is in use, as
// in the test of the plugin's package: in the paper's model, FIFO and HOL each miss the
// SLA of one class, and PDP meets both. Here kube-scheduler places pods on a real control
// plane, and the three orders get the same pods at the same times. What each class attains
// is reported, and not judged: few pods say little.
func TestOrdersAreCompared(t *testing.T) {
	t.Parallel()
	if *orderJobs == 0 {
		t.Skip("it takes minutes: run it with -parallel 3 -order-jobs 600 -timeout 30m")
	}
	for _, order := range []struct{ name, profiles string }{
		{"FIFO", "profiles:\n- schedulerName: loadline\n"},
		{"HOL", sortedBy("HOL")},
		{"PDP", sortedBy("PDP")},
	} {
		t.Run(order.name, func(t *testing.T) {
			t.Parallel()
			p := shared.newPlace(t, 1)
			classes := comparedClasses()
			for _, c := range classes {
				w := p.promising(c.Name, int64(c.SLA.Within*float64(orderUnit.Milliseconds())), fmt.Sprint(c.SLA.Probability))
				w.Spec.NeutralMillis = new(orderUnit.Milliseconds())
				must(t, p.Create(t.Context(), w))
			}
			p.startScheduler(t, order.profiles, func(config string) string {
				return config + "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1\n"
			})
			run := &comparison{place: p, pods: map[types.UID]*comparedPod{}}
			for k, attained := range run.play(t, classes) {
				t.Logf("%s: %s attains %.3f of %v, %d pods", order.name, classes[k].Name, attained, classes[k].SLA.Probability, run.all[k])
			}
		})
	}
}

// comparedClasses are in units of the mean time that a pod takes.
func comparedClasses() []sizing.Class {
	return []sizing.Class{
		{Name: "soon", Arrival: 3.6, Service: 1, SLA: sizing.SLA{Within: 2.7, Probability: 0.806}},
		{Name: "surely", Arrival: 3.7, Service: 1, SLA: sizing.SLA{Within: 4.7, Probability: 0.859}},
	}
}

// comparison is a run with one order of the queue.
type comparison struct {
	*place
	mu       sync.Mutex
	pods     map[types.UID]*comparedPod // that have not ended
	met, all [2]int
	ends     sync.WaitGroup // of pods
}

// comparedPod is a pod of a class.
type comparedPod struct {
	class   int
	created time.Time
	takes   time.Duration // once it runs
	running bool
}

// play has the pods come and end, and returns the fraction of each class that ended in
// time.
func (c *comparison) play(t *testing.T, classes []sizing.Class) [2]float64 {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watcher, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace(c.namespace))
	must(t, err)
	var kubelet sync.WaitGroup
	kubelet.Go(func() { c.run(ctx, t, watcher, classes) })
	random := rand.New(rand.NewPCG(*orderSeed, 2))
	rate := classes[0].Arrival + classes[1].Arrival
	next := time.Now()
	for i := range *orderJobs {
		next = next.Add(time.Duration(random.ExpFloat64() / rate * float64(*orderUnit)))
		class := 0
		if random.Float64()*rate > classes[0].Arrival {
			class = 1
		}
		takes := time.Duration(random.ExpFloat64() * float64(*orderUnit))
		awaitMoment(ctx, next)
		pod := c.requesting(fmt.Sprintf("%s-%d", classes[class].Name, i), classes[class].Name, "2")
		c.mu.Lock()
		err := c.Create(ctx, pod)
		c.pods[pod.UID] = &comparedPod{class: class, created: time.Now(), takes: takes}
		c.mu.Unlock()
		must(t, err)
	}
	_, err = local.AwaitPods(ctx, c, c.namespace, func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			if pod.Status.Phase != corev1.PodSucceeded {
				return false
			}
		}
		return true
	})
	must(t, err)
	c.ends.Wait()
	cancel()
	kubelet.Wait()
	return [2]float64{float64(c.met[0]) / float64(c.all[0]), float64(c.met[1]) / float64(c.all[1])}
}

// run plays the kubelet: it has pods end once they have run for their time.
func (c *comparison) run(ctx context.Context, t *testing.T, watcher watch.Interface, classes []sizing.Class) {
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-watcher.ResultChan():
			pod, ok := event.Object.(*corev1.Pod)
			if ctx.Err() != nil {
				return
			}
			if !open || !ok {
				t.Errorf("watching pods: %v", event.Object)
				return
			}
			c.mu.Lock()
			of := c.pods[pod.UID]
			begins := of != nil && !of.running && pod.Status.Phase == corev1.PodRunning
			if begins {
				of.running = true
			}
			c.mu.Unlock()
			if begins {
				c.ends.Go(func() { c.end(ctx, t, pod, of, classes) })
			}
		}
	}
}

// end has a pod end when its time has come.
func (c *comparison) end(ctx context.Context, t *testing.T, pod *corev1.Pod, of *comparedPod, classes []sizing.Class) {
	awaitMoment(ctx, time.Now().Add(of.takes))
	took := time.Since(of.created)
	if err := c.succeed(ctx, pod, took); err != nil {
		t.Errorf("ending %s: %v", pod.Name, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[of.class]++
	if took.Seconds() <= classes[of.class].SLA.Within*orderUnit.Seconds() {
		c.met[of.class]++
	}
}

// awaitMoment returns at a moment, which is what an arrival or an end of a simulation is.
func awaitMoment(ctx context.Context, moment time.Time) {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
