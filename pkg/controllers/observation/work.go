package observation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/prometheus"
)

const (
	// readEvery is how often work counters are read, and readPatience how long one may take.
	readEvery, readPatience = 30 * time.Second, 5 * time.Second
	// maxReaders is how many are read at once.
	maxReaders = 32
	// maxWorkPods is of how many pods of a profile counters are read, maxWorkProfiles of how many profiles, and maxWorkOfNamespace of how
	// many profiles of a namespace.
	maxWorkPods, maxWorkProfiles, maxWorkOfNamespace = 20, 200, 10
)

// WorkReader reads the work counters of pods and keeps what they say with what gauges observe.
type WorkReader struct {
	// Prometheus is the address of the one to ask for the counters of profiles that say so; empty for none.
	Prometheus string
	Clock      clock.WithTicker
	Log        logr.Logger
	// Client asks for counters, Prometheus included. Nil is [prometheus.NewPodClient].
	Client *http.Client
	// Readable reports whether an address may be asked. Nil is [routable].
	Readable func(ip string) bool

	history inflations.History

	mutex sync.Mutex
	// counters are those of the profiles that are read, targets the pods by the names of their nodes, and failed says by the profile why the
	// last reading of one of its pods failed.
	counters map[types.NamespacedName]*v1alpha1.Work
	targets  map[string]nodeTargets
	failed   map[types.NamespacedName]string
	analyzed map[inflations.Key]time.Time
}

// nodeTargets are the pods of a node whose counters are read.
type nodeTargets struct {
	pods []target
	seen time.Time
}

// target is a pod whose counter is read.
type target struct {
	profile                  types.NamespacedName
	uid, name, namespace, ip string
	hostNetwork              bool
}

// choose takes the profiles whose counters are read: of each namespace the first ones by their names, and of all a bounded number, by namespaces
// in turn.
func (w *WorkReader) choose(profiles []v1alpha1.WorkloadProfile) {
	type candidate struct {
		rank    int
		profile *v1alpha1.WorkloadProfile
	}
	var all []candidate
	for i := range profiles {
		if profiles[i].Spec.Work != nil {
			all = append(all, candidate{profile: &profiles[i]})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.profile.Namespace, b.profile.Namespace), cmp.Compare(a.profile.Name, b.profile.Name))
	})
	for i := 1; i < len(all); i++ {
		if all[i].profile.Namespace == all[i-1].profile.Namespace {
			all[i].rank = all[i-1].rank + 1
		}
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.rank >= maxWorkOfNamespace })
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	counters := map[types.NamespacedName]*v1alpha1.Work{}
	for _, c := range all[:min(len(all), maxWorkProfiles)] {
		for i := range c.profile.Status.Work {
			o := &c.profile.Status.Work[i]
			w.history.Remember(inflations.Key{Profile: client.ObjectKeyFromObject(c.profile), Class: o.NodeProfile}, o, w.Clock.Now())
		}
		counters[types.NamespacedName{Namespace: c.profile.Namespace, Name: c.profile.Name}] = c.profile.Spec.Work.DeepCopy()
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.counters = counters
	maps.DeleteFunc(w.failed, func(name types.NamespacedName, _ string) bool { return counters[name] == nil })
}

// observe takes what a gauge observed of the pods of a node.
func (w *WorkReader) observe(o *collect.Observed, class string, pods []corev1.Pod, snapshot *profile.Snapshot) {
	w.mutex.Lock()
	counters := w.counters
	w.mutex.Unlock()
	var there nodeTargets
	var followers []*corev1.Pod
	for i := range pods {
		pod := &pods[i]
		p := snapshot.Workload(pod)
		if p == nil || counters[nameOf(p)] == nil {
			continue
		}
		followers = append(followers, pod)
		there.pods = append(there.pods, target{nameOf(p), uidOf(pod), pod.Name, pod.Namespace, pod.Status.PodIP, pod.Spec.HostNetwork})
	}
	there.seen = w.Clock.Now()
	w.mutex.Lock()
	if w.targets == nil {
		w.targets = map[string]nodeTargets{}
	}
	w.targets[o.Node] = there
	w.mutex.Unlock()
	if len(followers) == 0 {
		return
	}
	use := useOf(o, pods)
	if use.seconds <= 0 || use.stolen > observations.MaxStolen*(use.busy+use.stolen) {
		return
	}
	span := inflations.Span{Start: o.Ended.Add(-time.Duration(use.seconds * float64(time.Second))), End: o.Ended}
	for i, pod := range followers {
		uid := there.pods[i].uid
		const whole = 0.9 // of the span, that a pod must have been seen for
		if use.seen[uid] < whole*use.seconds {
			continue
		}
		span.CPU, span.Beside = use.run[uid], use.beside(pod)
		w.history.Observe(inflations.Key{Profile: there.pods[i].profile, Class: class}, inflations.Pod{UID: uid, Name: pod.Name, Revision: revisionOf(pod)}, span)
	}
}

// revisionOf returns the version of the template of a pod, by the labels of the controllers of Deployments, StatefulSets and DaemonSets.
func revisionOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Labels["pod-template-hash"], pod.Labels["controller-revision-hash"])
}

// use is what the pods of a node used in the intervals of a gauge.
type use struct {
	seconds, busy, stolen float64
	run, seen             map[string]float64 // by the UIDs of control groups
	ofWorkload            map[string]inflations.Neighbour
	pods                  []corev1.Pod
}

func useOf(o *collect.Observed, pods []corev1.Pod) *use {
	u := &use{run: map[string]float64{}, seen: map[string]float64{}, ofWorkload: map[string]inflations.Neighbour{}, pods: pods}
	for i := range o.Intervals {
		v := &o.Intervals[i]
		u.seconds, u.busy, u.stolen = u.seconds+v.Seconds, u.busy+v.BusySeconds, u.stolen+v.StolenSeconds
		for k := range v.Pods {
			u.run[v.Pods[k].UID] += v.Pods[k].Run
			u.seen[v.Pods[k].UID] += v.Pods[k].Seconds
		}
	}
	for i := range pods {
		name, run := workloads.Of(&pods[i]), u.run[uidOf(&pods[i])]
		n, is := u.ofWorkload[name]
		if uid := string(pods[i].UID); !is || uid < n.PodUID {
			n.PodUID = uid
		}
		n.CPU += run
		u.ofWorkload[name] = n
	}
	return u
}

// beside returns what the workloads beside a pod used.
func (u *use) beside(pod *corev1.Pod) map[string]inflations.Neighbour {
	others := maps.Clone(u.ofWorkload)
	own := workloads.Of(pod)
	n := others[own]
	n.CPU = max(0, n.CPU-u.run[uidOf(pod)])
	others[own] = n
	return others
}

// start reads counters until the context is done.
func (w *WorkReader) start(ctx context.Context) {
	ticker := w.Clock.NewTicker(readEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			w.read(ctx)
		}
	}
}

// read reads the counters of all pods once.
func (w *WorkReader) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readEvery)
	defer cancel()
	var wait sync.WaitGroup
	slots := make(chan struct{}, maxReaders)
	failed := map[types.NamespacedName]string{}
	var mutex sync.Mutex
	for name, pods := range w.due() {
		w.mutex.Lock()
		counter := w.counters[name]
		w.mutex.Unlock()
		if counter == nil {
			continue
		}
		tasks := []func() error{}
		if counter.Metrics != nil {
			for _, t := range pods {
				tasks = append(tasks, func() error { return w.readPod(ctx, counter.Metrics, t) })
			}
		} else if counter.Prometheus != nil {
			tasks = append(tasks, func() error { return w.readPrometheus(ctx, counter.Prometheus, pods) })
		}
		for _, task := range tasks {
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				if err := task(); err != nil {
					mutex.Lock()
					defer mutex.Unlock()
					failed[name] = err.Error()
				}
			})
		}
	}
	wait.Wait()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.failed = failed
}

// due returns the pods to read by their profiles, a bounded number of each, and forgets those of nodes that were not heard of.
func (w *WorkReader) due() map[types.NamespacedName][]target {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := w.Clock.Now()
	maps.DeleteFunc(w.targets, func(_ string, n nodeTargets) bool { return now.Sub(n.seen) > forgetTargets })
	due := map[types.NamespacedName][]target{}
	for _, n := range w.targets {
		for _, t := range n.pods {
			due[t.profile] = append(due[t.profile], t)
		}
	}
	for name, pods := range due {
		slices.SortFunc(pods, func(a, b target) int { return cmp.Compare(a.uid, b.uid) })
		due[name] = pods[:min(len(pods), maxWorkPods)]
	}
	return due
}

// forgetTargets is after which time pods are not read whose gauge was not heard of.
const forgetTargets = 5 * time.Minute

var (
	errHostNetwork  = errors.New("the pod is in the network of its node, of which no port is read")
	errNoAddress    = errors.New("the pod has no address that may be read")
	errNoPrometheus = errors.New("the manager was given no Prometheus: its flag --work-prometheus, or manager.workCounters.prometheus of the chart")
	errPrometheus   = errors.New("the Prometheus that the manager was given does not answer; the log of the manager says why")
)

// readPod reads the counter that a pod serves.
func (w *WorkReader) readPod(ctx context.Context, m *v1alpha1.WorkMetrics, t target) error {
	readable := w.Readable
	if readable == nil {
		readable = routable
	}
	switch {
	case t.hostNetwork:
		return fmt.Errorf("pod %s: %w", t.name, errHostNetwork)
	case !readable(t.ip):
		return fmt.Errorf("pod %s: %w", t.name, errNoAddress)
	case m.Port == nil:
		return fmt.Errorf("pod %s: the profile has no port", t.name)
	}
	address := "http://" + net.JoinHostPort(t.ip, strconv.Itoa(int(*m.Port))) + cmp.Or(m.Path, "/metrics")
	value, err := prometheus.ReadCounter(ctx, w.client(), address, m.Name, labelsOf(&m.WorkCounter))
	if err != nil {
		return fmt.Errorf("pod %s: %w", t.name, err)
	}
	w.history.Read(t.uid, w.Clock.Now(), value)
	return nil
}

// readPrometheus reads the counters of pods of a profile from Prometheus.
func (w *WorkReader) readPrometheus(ctx context.Context, c *v1alpha1.WorkCounter, pods []target) error {
	if w.Prometheus == "" {
		return errNoPrometheus
	}
	names := make([]string, len(pods))
	for i := range pods {
		names[i] = pods[i].name
	}
	// Prometheus' time is that of the question: its samples may be as old as the time between two scrapes.
	counters, err := prometheus.CountersByPod(ctx, w.client(), w.Prometheus, c.Name, labelsOf(c), pods[0].namespace, names)
	if err != nil { // its words are not for those who read the profile
		w.Log.Info("Prometheus does not answer with work counters", "namespace", pods[0].namespace, "counter", c.Name, "reason", err.Error())
		return errPrometheus
	}
	if len(counters) == 0 {
		return fmt.Errorf("%w: no series of %s of these pods", prometheus.ErrNoData, c.Name)
	}
	for i := range pods {
		if s, is := counters[pods[i].name]; is {
			w.history.Read(pods[i].uid, w.Clock.Now(), s.Value)
		}
	}
	return nil
}

func (w *WorkReader) client() *http.Client {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.Client == nil {
		w.Client = prometheus.NewPodClient(readPatience)
	}
	return w.Client
}

func labelsOf(c *v1alpha1.WorkCounter) []prometheus.Label {
	labels := make([]prometheus.Label, len(c.MatchLabels))
	for i, l := range c.MatchLabels {
		labels[i] = prometheus.Label{Name: l.Name, Value: l.Value}
	}
	return labels
}

// routable reports whether an address can be that of a pod: not that of the manager itself, nor of what every node has at a local address.
func routable(ip string) bool {
	address, err := netip.ParseAddr(ip)
	return err == nil && address.Zone() == "" && !address.IsLoopback() && !address.IsLinkLocalUnicast() && !address.IsMulticast() && !address.IsUnspecified()
}
