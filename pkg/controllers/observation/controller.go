package observation

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/profile"
)

const (
	// TokenFile is where the manager's pod has a token for gauges.
	TokenFile = "/var/run/secrets/loadline.dev/gauges/token" //nolint:gosec // a path

	// recommendEvery is the shortest time between two changes of a recommendation.
	recommendEvery = 5 * time.Minute
	// predictEvery is the shortest time between two predictions of the dilations of a node, and between two looks at what the scheduler assumes of
	// its pods.
	predictEvery = 2 * time.Minute
)

// Controller collects the observations of gauges and writes them to the status of WorkloadProfiles.
type Controller struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.WithTicker
	// Writers bound how many statuses are written at once. Nil writes one after another.
	Writers *statuses.Writers
	// TokenFile has the token for gauges, and GaugeNamespace is where they run.
	TokenFile, GaugeNamespace string
	// ObservedProfiles is the mode of namespaces without the label v1alpha1.ObservedProfilesLabel: v1alpha1.ModeOff (also if it
	// is empty), ModeAdvise or ModeApply.
	ObservedProfiles string

	// Recall returns the nodes whose gauges are asked for all that they keep when the controller starts, as of [collect.Collector]; nil is
	// none.
	Recall func(ctx context.Context) (map[string]bool, error)
	// Collected keeps the observations for others to read, unless it is nil.
	Collected *collected.History
	// Work reads the work counters of pods, unless it is nil.
	Work *WorkReader

	// Sites are set by SetupWithManager unless they are given.
	Sites *Sites
	// Metrics are set by SetupWithManager unless they are given.
	Metrics *Metrics

	informers cache.Informers
	index     *profile.Index
	history   observations.History
	log       logr.Logger
	// unprofiled holds the observations of workloads without a profile, in the namespaces that want them to have one.
	unprofiled observations.History
	modes      atomic.Pointer[modes]
	wrong      map[string]string // labels of namespaces that are no mode
	// observed has a value when there are observations that were not looked at for statuses. Statuses are written beside rounds: thousands take
	// longer than the time between two of these.
	observed chan struct{}
	// drifted are the resources at which the last verdict on each key was a drift, recommended is when its recommendation changed, and
	// updated when statuses were written last, zero where they are to be written again, and wrote when in any case.
	drifted     map[observations.Key][]string
	recommended map[observations.Key]time.Time
	updated     time.Time
	wrote       time.Time
	workSeen    map[types.NamespacedName]time.Time // when the work of a profile's pods was known last
	// refused are the gauges whose last answers were refused, by the last round.
	refused []usage.Refusal

	lists sync.Pool // of *[]corev1.Pod: the pods of a node, of which nothing is kept

	mutex     sync.Mutex
	predicted map[string]time.Time // when, by the names of nodes
	// priors are the loadings that the scheduler assumes of pods whose profile has no vector.
	priors map[types.NamespacedName]observations.Recommended
}

// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles;nodeprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=pods;nodes,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager has the manager run the controller while it leads, with the pods of its cluster.
func (c *Controller) SetupWithManager(mgr ctrl.Manager, pods Pods) (err error) {
	if c.Sites == nil {
		if c.Sites, err = newSites(mgr, c.GaugeNamespace, pods); err != nil {
			return err
		}
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(metrics.Registry)
	}
	c.informers = mgr.GetCache()
	if err := c.prepare(mgr.GetLogger().WithName("observation")); err != nil {
		return err
	}
	return mgr.Add(c)
}

func (c *Controller) prepare(log logr.Logger) error {
	rules, err := config.LoadDilationArgs(nil)
	if err != nil {
		return fmt.Errorf("reading the default rules for pods without a profile: %w", err)
	}
	c.log = log
	c.observed = make(chan struct{}, 1)
	c.index = profile.NewIndex(rules.Requests, logr.Discard()) // the conditions of profiles report their errors
	c.drifted = map[observations.Key][]string{}
	c.recommended = map[observations.Key]time.Time{}
	c.predicted = map[string]time.Time{}
	c.workSeen = map[types.NamespacedName]time.Time{}
	c.priors = map[types.NamespacedName]observations.Recommended{}
	return nil
}

// Start collects and writes until the context is done.
func (c *Controller) Start(ctx context.Context) error {
	for _, kind := range []client.Object{&v1alpha1.WorkloadProfile{}, &v1alpha1.NodeProfile{}} {
		informer, err := c.informers.GetInformer(ctx, kind)
		if err != nil {
			return fmt.Errorf("watching profiles: %w", err)
		}
		handler, err := informer.AddEventHandler(c.index)
		if err != nil {
			return fmt.Errorf("watching profiles: %w", err)
		}
		if !toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			return nil // the context is done
		}
	}
	if c.Work != nil {
		go c.Work.start(ctx)
	}
	return c.run(ctx)
}

// run collects, and writes beside that.
func (c *Controller) run(ctx context.Context) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() { c.write(ctx) })
	return c.collector().Start(ctx)
}

// write writes what is observed to statuses until the context is done.
func (c *Controller) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.observed:
			if err := c.update(ctx); err != nil && ctx.Err() == nil {
				c.log.Error(err, "Cannot write what was observed; trying again after the next round")
			}
		}
	}
}

// collector returns the collector of the controller.
func (c *Controller) collector() *collect.Collector {
	return &collect.Collector{Gauges: c.Sites.list, Recall: c.Recall, Token: c.token, Receiver: c, Clock: c.Clock, Log: c.log, Done: c.done}
}

// token returns the token for gauges, which the kubelet replaces before it expires.
func (c *Controller) token() (string, error) {
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

// done is called after each round.
func (c *Controller) done(_ context.Context, r *collect.Round) {
	c.Metrics.collected(r)
	if c.Collected != nil {
		c.Collected.EndRound(r.Refused)
	}
	if r.Failed > 0 {
		c.log.Info("Some gauges did not answer", "gauges", r.Gauges, "asked", r.Asked, "failed", r.Failed)
	}
	c.logRefused(r.Refused)
	if r.Gauges == 0 {
		return
	}
	select {
	case c.observed <- struct{}{}:
	default: // it has one already
	}
}

// logRefused logs the gauges whose answers are refused, and why, when that has changed.
func (c *Controller) logRefused(refused []usage.Refusal) {
	for _, r := range refused {
		if !slices.Contains(c.refused, r) {
			c.log.Info("The answer of a gauge is refused", "node", r.Node, "reason", r.Reason)
		}
	}
	c.refused = refused
}

// Receive takes the observations of one gauge.
func (c *Controller) Receive(ctx context.Context, o *collect.Observed) {
	if c.Collected != nil {
		c.Collected.Add(o)
	}
	if err := c.take(ctx, o); err != nil && ctx.Err() == nil {
		c.log.V(1).Info("What a gauge observed is left out", "node", o.Node, "reason", err.Error())
	}
}

// take keeps the observations of the pods of a node that follow profiles.
func (c *Controller) take(ctx context.Context, o *collect.Observed) error {
	list, is := c.lists.Get().(*[]corev1.Pod)
	if !is {
		list = &[]corev1.Pod{}
	}
	defer c.lists.Put(list)
	node, pods, err := c.Sites.nodeWithPods(ctx, o.Node, *list)
	if err != nil {
		return err
	}
	*list = pods
	snapshot := c.index.Snapshot()
	class := snapshot.NodeClass(node).Class()
	if c.Work != nil {
		c.Work.observe(o, class, pods, snapshot)
	}
	samples := observations.Samples(o.Intervals)
	follow, due := false, c.mayPredict(o.Node)
	for i := range pods {
		pod, uid := &pods[i], uidOf(&pods[i])
		s := samples[uid]
		w := snapshot.Workload(pod)
		if w == nil {
			c.takeUnprofiled(pod, s, o.Ended)
			continue
		}
		follow = true
		if s != nil {
			s.Pod = uid // as the cache of pods has it, not the gauge's copy
			c.history.Add(observations.Key{Profile: nameOf(w), Class: class}, o.Ended, s)
			if due {
				c.takePrior(w, class, pod, snapshot)
			}
		}
	}
	if !follow || !due {
		return nil
	}
	predictions, err := observations.Predictions(node, pods, o.Intervals, snapshot)
	for i := range predictions {
		p := &predictions[i]
		c.history.AddPrediction(p.Profile, o.Ended, p.Predicted, p.Observed)
		c.Metrics.predicted(p)
	}
	return err
}

// takeUnprofiled keeps the observations of a pod without a profile, if its workload is to have one.
func (c *Controller) takeUnprofiled(pod *corev1.Pod, s *observations.Sample, until time.Time) {
	if s == nil || c.modes.Load().modeOf(pod.Namespace) == v1alpha1.ModeOff {
		return
	}
	if workload := workloads.Of(pod); observations.Recurs(workload) {
		c.unprofiled.Add(unprofiledKey(pod.Namespace, workload), until, s)
	}
}

// takePrior keeps the loading that the scheduler assumes of a pod whose profile has no vector.
func (c *Controller) takePrior(w *profile.Workload, class string, pod *corev1.Pod, snapshot *profile.Snapshot) {
	cpu := snapshot.Resources().Processor()
	if w.On(class) != nil || cpu < 0 {
		return
	}
	d := snapshot.VectorOn(class, pod)[cpu]
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.priors[nameOf(w)] = observations.Recommended{CPULoading: d.Loading, Threads: max(1, d.Threads)}
}

// mayPredict reports whether it is time to predict the dilations of a node again, and takes note that they are.
func (c *Controller) mayPredict(node string) bool {
	now := c.Clock.Now()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if last, is := c.predicted[node]; is && now.Sub(last) < predictEvery {
		return false
	}
	c.predicted[node] = now
	return true
}

// uidOf returns the UID of a pod's control groups: static pods have another one in the API.
func uidOf(pod *corev1.Pod) string {
	if hash := pod.Annotations[corev1.MirrorPodAnnotationKey]; hash != "" {
		return hash
	}
	return string(pod.UID)
}

func nameOf(w *profile.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}
