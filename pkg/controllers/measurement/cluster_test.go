package measurement

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/test/journal"
)

// tick is how finely the simulated nodes are looked at.
const tick = 100 * time.Millisecond

// simulation is a cluster whose nodes behave as the contention model says: probes and targets run, slow each other
// down, and report.
type simulation struct {
	client.Client
	cache      client.Client // the controller's reads, see shared
	t          *testing.T
	reconciler *Reconciler
	clock      *clocktesting.FakePassiveClock
	random     *rand.Rand
	noise      float64
	events     *events.FakeRecorder
	heard      []string // events so far
	journal    *journal.Journal
	registry   *prometheus.Registry

	// The truth, by resource in the order of names.
	names   []string
	servers []int
	target  loading.Vector
	neutral time.Duration
	// background are the vectors of pods that run from the start, by app label.
	background map[string]loading.Vector
	// self is the dilation of a probe beside its own copy, as probes report it.
	self map[string]float64
	// overlap, if set, is the loading of the target at every resource.
	overlap float64
	// speeds are those of nodes that are not as fast as others, which are 1.
	speeds map[string]float64
	// computing is the fraction of its time that a probe of the disk computes, and reach
	// that of the rest in which the disk serves it.
	computing, reach float64
	// bootID is that of the nodes.
	bootID string

	running map[types.UID]*process
	// others are the vectors of the background pods, by node, and predicted the dilations by the set of processes
	// on a node.
	others    map[string][]loading.Vector
	predicted map[string]*shared
	// Hooks. before handles a pod that is about to run and reports whether it runs (false leaves the pod as the
	// hook left it); says gives the output of a pod's
	// containers.
	before func(pod *corev1.Pod) bool
	says   func(pod *corev1.Pod, container, message string) string
	// hypervisor says which share of the processors it takes at a time; nil is none.
	hypervisor func(time.Time) float64
	serial     int
}

// shared holds the dilations of the processes of a node, and the time that each computes longer because of
// interference, in its own times.
type shared struct{ dilations, longer []float64 }

// process is the process of a pod.
type process struct {
	pod     *corev1.Pod
	vector  loading.Vector
	begin   time.Time
	left    time.Duration // of the work of a target, alone
	whole   time.Duration // of a target: its initial work
	longer  float64       // of a target: by how much longer it computed, in own times
	end     time.Time     // of a probe
	speed   float64       // of a probe, units per second of all its workers
	workers int           // of a probe
	// computing is the fraction of its time that a probe of the disk computes.
	computing float64
	units     float64
	series    []int64
	stolen    time.Duration // by the hypervisor
	thefts    []int64       // the same in microseconds, over time
	isTarget  bool
}

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func newSimulation(t *testing.T, objects ...client.Object) *simulation {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &simulation{
		t: t, clock: clocktesting.NewFakePassiveClock(noon), random: rand.New(rand.NewPCG(1, 2)), noise: 0.005,
		events: events.NewFakeRecorder(1000),
		names:  []string{"cpu", "disk"}, servers: []int{1, 1}, reach: 1,
		target: loading.Loadings(0.58, 0.42), neutral: 20 * time.Second,
		background: map[string]loading.Vector{}, self: map[string]float64{}, bootID: "boot", running: map[types.UID]*process{},
		predicted: map[string]*shared{},
	}
	s.journal = journal.New(t, s.clock)
	server := interceptor.NewClient(newStore(t, scheme, objects...), s.journal.Writes())
	s.Client, s.cache = server, interceptor.NewClient(server, interceptor.Funcs{List: s.shared})
	s.restart()
	return s
}

// shared lists from the cache. A plan only reads the nodes and profiles of a cluster, of which there may be many:
// none may be copied.
func (s *simulation) shared(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	switch list.(type) {
	case *corev1.NodeList, *v1alpha1.NodeProfileList, *v1alpha1.WorkloadProfileList:
		if !ptr.Deref(options.UnsafeDisableDeepCopy, false) {
			s.t.Errorf("%T is copied", list)
		}
	}
	return c.List(ctx, list, opts...)
}

// restart replaces the manager.
func (s *simulation) restart() {
	s.registry = prometheus.NewRegistry()
	metrics := NewMetrics(s.registry)
	s.reconciler = &Reconciler{
		Client: s.cache, API: s.Client, Made: s.Client, Recorder: s.journal.Recorder(s.events), Clock: s.clock, Metrics: metrics,
		Probes: &probejob.Settings{Image: "example.test/probe", Memory: resource.MustParse("512Mi"), MaxParallel: 2},
		Slots:  slots.New(2, s.clock),
	}
}

// now returns the time as an object of the API has it.
func (s *simulation) now() metav1.Time { return toSeconds(s.clock.Now()) }

func toSeconds(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// reconcile has the controller look once.
func (s *simulation) reconcile() reconcile.Result {
	s.t.Helper()
	result, err := s.reconciler.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "etl", Name: "filecomp"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.journal.Looked(result)
	return result
}

// profile reads the profile that is measured.
func (s *simulation) profile() *v1alpha1.WorkloadProfile {
	s.t.Helper()
	p := &v1alpha1.WorkloadProfile{}
	if err := s.Get(s.t.Context(), types.NamespacedName{Namespace: "etl", Name: "filecomp"}, p); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// condition returns the condition Measured.
func (s *simulation) condition() metav1.Condition {
	s.t.Helper()
	c := meta.FindStatusCondition(s.profile().Status.Conditions, v1alpha1.ConditionMeasured)
	if c == nil {
		return metav1.Condition{}
	}
	return *c
}

// until reconciles and lets time pass until the condition has a reason. After every
// reconciliation each is called.
func (s *simulation) until(reason string, each ...func()) *v1alpha1.WorkloadProfile {
	s.t.Helper()
	deadline := s.clock.Now().Add(12 * time.Hour)
	for s.clock.Now().Before(deadline) {
		result := s.reconcile()
		for _, f := range each {
			f()
		}
		if c := s.condition(); c.Reason == reason && s.profile().Status.Measuring == nil {
			return s.profile()
		}
		switch result.RequeueAfter {
		case atOnce:
		case 0:
			s.pass(10 * time.Second)
		default:
			s.pass(min(result.RequeueAfter, 10*time.Second))
		}
	}
	s.t.Fatalf("the condition never has the reason %s; it is %+v, and the status %+v", reason, s.condition(), s.profile().Status.Measuring)
	return nil
}

// pass lets time pass, until something happens or it is over.
func (s *simulation) pass(d time.Duration) {
	s.t.Helper()
	end := s.clock.Now().Add(d)
	for n := 0; s.clock.Now().Before(end); n++ {
		s.clock.SetTime(s.clock.Now().Add(tick))
		// Pods are made at once, and begin after a second.
		ended := s.run()
		changed := (n == 0 || n == 10) && s.step()
		if ended || changed {
			return
		}
	}
}

// step acts for the Job controller, the scheduler and the kubelets, and reports whether a pod changed.
func (s *simulation) step() bool {
	s.t.Helper()
	ctx := s.t.Context()
	changed := s.jobs(ctx)
	var pods corev1.PodList
	s.must(s.List(ctx, &pods))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Labels[probejob.MeasurementKey] != "" && pod.Status.Phase == corev1.PodPending && s.clock.Now().Sub(pod.CreationTimestamp.Time) >= time.Second {
			changed = s.begin(ctx, pod) || changed
		}
	}
	s.others = map[string][]loading.Vector{}
	for i := range pods.Items {
		if v, ok := s.background[pods.Items[i].Labels["app"]]; ok && pods.Items[i].Labels[probejob.MeasurementKey] == "" {
			s.others[pods.Items[i].Spec.NodeName] = append(s.others[pods.Items[i].Spec.NodeName], v)
		}
	}
	return changed
}

// jobs makes the pods of Jobs, and removes those whose Job is gone.
func (s *simulation) jobs(ctx context.Context) bool {
	var jobs batchv1.JobList
	s.must(s.List(ctx, &jobs))
	var pods corev1.PodList
	s.must(s.List(ctx, &pods))
	alive, changed := map[types.UID]bool{}, false
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if job.UID == "" {
			s.serial++
			job.UID = types.UID(fmt.Sprintf("job-%d", s.serial))
			job.CreationTimestamp = s.now()
			s.must(s.Update(ctx, job))
			job.Status.StartTime = new(job.CreationTimestamp)
			s.must(s.Status().Update(ctx, job))
		}
		alive[job.UID] = true
		changed = s.endOverdue(ctx, job, pods.Items) || changed
		if job.Labels[probejob.MeasurementKey] == "" || jobstatus.Finished(job) || slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return metav1.IsControlledBy(&p, job) }) {
			continue
		}
		s.serial++
		pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
		pod.Namespace, pod.Name, pod.UID = job.Namespace, fmt.Sprintf("%s-%d", job.Name, s.serial), types.UID(fmt.Sprintf("pod-%d", s.serial))
		pod.Labels[batchv1.ControllerUidLabel] = string(job.UID)
		pod.CreationTimestamp = s.now()
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		pod.Spec.NodeName = pinnedTo(pod)
		pod.Status.Phase = corev1.PodPending
		s.must(s.Create(ctx, pod))
		changed = true
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" && !alive[owner.UID] {
			delete(s.running, pod.UID)
			s.must(client.IgnoreNotFound(s.Delete(ctx, pod)))
			changed = true
		}
	}
	return changed
}

// endOverdue ends the Jobs that take longer than they may, and reports whether it is one.
func (s *simulation) endOverdue(ctx context.Context, job *batchv1.Job, pods []corev1.Pod) bool {
	limit := job.Spec.ActiveDeadlineSeconds
	if limit == nil || jobstatus.Finished(job) || s.clock.Now().Sub(job.Status.StartTime.Time) < time.Duration(*limit)*time.Second {
		return false
	}
	for i := range pods {
		if pod := &pods[i]; metav1.IsControlledBy(pod, job) {
			delete(s.running, pod.UID)
			pod.Status.Phase = corev1.PodFailed
			s.must(s.Status().Update(ctx, pod))
			s.finish(ctx, pod, batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
		}
	}
	return true
}

// pinnedTo returns the node that a pod must run on.
func pinnedTo(pod *corev1.Pod) string {
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

// begin runs a pod.
func (s *simulation) begin(ctx context.Context, pod *corev1.Pod) bool {
	if s.before != nil && !s.before(pod) {
		return false
	}
	p := &process{pod: pod, begin: s.clock.Now()}
	container := pod.Spec.Containers[0]
	if container.Name == probejob.ProbeContainer {
		args := arguments(container.Command)
		duration, err := time.ParseDuration(args["--duration"])
		s.must(err)
		if check := args["--check"]; check != "" {
			d, err := time.ParseDuration(check)
			s.must(err)
			p.begin = p.begin.Add(d)
		}
		intensity, err := strconv.Atoi(args["--intensity"])
		s.must(err)
		p.end, p.speed, p.workers = p.begin.Add(duration), 1000*cmp.Or(s.speeds[pod.Spec.NodeName], 1), intensity
		p.vector = make(loading.Vector, len(s.names))
		here, there := resourceOf(args["--job"]), 1.0
		if here != "cpu" {
			p.computing, there = s.computing, s.reach*(1-s.computing)
			p.vector[0] = loading.Demand{Loading: p.computing, Pressure: p.computing, Threads: intensity}
		}
		p.vector[slices.Index(s.names, here)] = loading.Demand{Loading: there, Pressure: there, Threads: intensity}
		if text := args["--pressure"]; text != "" {
			pressure, err := strconv.ParseFloat(text, 64)
			s.must(err)
			p.vector[0] = loading.Symmetric(1)
			p.vector[slices.Index(s.names, here)] = loading.Demand{Effect: &loading.Effect{
				Pressure: pressure, Curve: loading.Curve{{Pressure: 1, Inflation: s.self[here]}},
			}}
		}
	} else {
		p.isTarget, p.vector = true, s.target
		p.left = time.Duration(float64(s.neutral) * math.Exp(s.noise*s.random.NormFloat64()))
		p.whole = p.left
	}
	s.running[pod.UID] = p
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: container.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: s.now()}},
	}}
	s.must(s.Status().Update(ctx, pod))
	return true
}

func arguments(command []string) map[string]string {
	args := map[string]string{}
	for i := 0; i+1 < len(command); i++ {
		args[command[i]] = command[i+1]
	}
	return args
}

func resourceOf(job string) string {
	if job == v1alpha1.ProbeDiskRead || job == v1alpha1.ProbeDiskWrite {
		return "disk"
	}
	return job
}

// run advances all processes by a tick, and reports whether one ended.
func (s *simulation) run() bool {
	s.t.Helper()
	changed := false
	here := map[string][]*process{}
	for _, uid := range slices.Sorted(maps.Keys(s.running)) {
		p := s.running[uid]
		here[p.pod.Spec.NodeName] = append(here[p.pod.Spec.NodeName], p)
	}
	for _, node := range slices.Sorted(maps.Keys(here)) {
		processes := here[node]
		vectors := slices.Clone(s.others[node])
		for _, p := range processes {
			vectors = append(vectors, p.vector)
		}
		key := string(keyOf(vectors))
		if s.overlap > 0 && len(vectors) == 2 { // each dilates the other, whatever the resource
			s.predicted[key] = &shared{[]float64{1 + s.overlap, 1 + s.overlap}, []float64{0, 0}}
		}
		if s.predicted[key] == nil {
			predicted, err := contention.Predict(vectors, s.servers, queueing.Options{})
			s.must(err)
			s.predicted[key] = &shared{dilations: predicted.Dilations, longer: make([]float64, len(vectors))}
			for j, v := range vectors {
				for i, d := range v {
					if d.Effect != nil {
						s.predicted[key].longer[j] += predicted.Delay(j, i)
					}
				}
			}
		}
		for i, p := range processes {
			p.longer = s.predicted[key].longer[len(s.others[node])+i]
			changed = s.progress(p, s.predicted[key].dilations[len(s.others[node])+i]) || changed
		}
	}
	return changed
}

// keyOf returns a key of the vectors.
func keyOf(vectors []loading.Vector) (key []byte) {
	for _, v := range vectors {
		for _, d := range v {
			key = fmt.Append(key, d.Loading, d.Pressure, d.Sensitivity, d.Threads)
			if d.Effect != nil {
				key = fmt.Append(key, *d.Effect)
			}
		}
		key = fmt.Append(key, ";")
	}
	return key
}

// progress advances a process by a tick, and reports whether it ended.
func (s *simulation) progress(p *process, dilation float64) bool {
	stolen := 0.0
	if s.hypervisor != nil {
		stolen = s.hypervisor(s.clock.Now())
	}
	p.stolen += time.Duration(stolen * float64(tick))
	switch {
	case p.isTarget:
		if p.left -= time.Duration(float64(tick) * (1 - stolen) / dilation); p.left <= 0 {
			s.endTarget(s.t.Context(), p)
			return true
		}
	case s.clock.Now().After(p.begin):
		speed := p.speed * math.Exp(s.noise*s.random.NormFloat64())
		p.units += speed * tick.Seconds() * (1 - stolen) / dilation
		p.series = append(p.series, int64(p.units*1000))
		p.thefts = append(p.thefts, p.stolen.Microseconds())
		if !s.clock.Now().Before(p.end) {
			s.endProbe(s.t.Context(), p)
			return true
		}
	}
	return false
}

func nanos(t time.Time) int64 { return t.Sub(noon).Nanoseconds() + int64(time.Hour) }

func (s *simulation) endTarget(ctx context.Context, p *process) {
	message, err := result.Encode(result.Watch{
		BootID: s.bootID, Begin: nanos(p.begin), End: nanos(s.clock.Now().Add(time.Duration(float64(p.left)))), Processes: 1, Complete: true,
		StolenNanos: p.stolen.Nanoseconds(), CPUNanos: s.computed(p),
	})
	s.must(err)
	s.end(ctx, p, probejob.WatchContainer, string(message))
}

// computed returns the running time of a target's threads, in nanoseconds, 0 where the simulation does not have it:
// of a target without interference.
func (s *simulation) computed(p *process) int64 {
	if !slices.ContainsFunc(p.vector, func(d loading.Demand) bool { return d.Effect != nil }) {
		return 0
	}
	return int64(float64(p.whole) * (p.vector[0].Loading + p.longer))
}

func (s *simulation) endProbe(ctx context.Context, p *process) {
	every := (len(p.series) + result.MaxSamples - 1) / result.MaxSamples
	series := result.Series{Begin: nanos(p.begin), Interval: int64(every) * int64(tick), Thousandths: []int64{0}}
	stolen := result.Series{Begin: series.Begin, Interval: series.Interval, Thousandths: []int64{0}}
	for i := every - 1; i < len(p.series) && len(series.Thousandths) < result.MaxSamples; i += every {
		series.Thousandths, stolen.Thousandths = append(series.Thousandths, p.series[i]), append(stolen.Thousandths, p.thefts[i])
	}
	args := arguments(p.pod.Spec.Containers[0].Command)
	run := result.Run{
		Job: args["--job"], Intensity: p.workers, BootID: s.bootID, Begin: nanos(p.begin), Series: series, Units: uint64(p.units), Ended: result.EndedDuration,
	}
	perUnit := float64(p.workers) / p.speed // seconds
	run.CPUNanos = int64(p.units * perUnit * 1e9)
	if run.Job == result.CPU {
		run.Stolen, run.Processor = stolen, result.Series{Begin: series.Begin, Interval: series.Interval}
		for _, done := range series.Thousandths {
			run.Processor.Thousandths = append(run.Processor.Thousandths, int64(float64(done)*perUnit*1000))
		}
	} else {
		run.CPUNanos = int64(float64(run.CPUNanos) * p.computing)
	}
	if args["--check"] != "" {
		run.SelfDilation = 2
		if run.Job != result.CPU {
			run.SelfDilation = 1 + s.reach*s.reach
		}
		if self, ok := s.self[args["--job"]]; ok {
			run.SelfDilation = self
		}
	}
	message, err := result.Encode(run)
	s.must(err)
	s.end(ctx, p, probejob.ProbeContainer, string(message))
}

// end ends a pod well, and its Job.
func (s *simulation) end(ctx context.Context, p *process, container, message string) {
	delete(s.running, p.pod.UID)
	pod := &corev1.Pod{}
	s.must(s.Get(ctx, client.ObjectKeyFromObject(p.pod), pod))
	if s.says != nil {
		message = s.says(pod, container, message)
	}
	pod.Status.Phase = corev1.PodSucceeded
	ended := corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		StartedAt: toSeconds(p.begin), FinishedAt: s.now(), Message: message,
	}}}
	if container == probejob.WatchContainer {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{ended}
		ended.Name, ended.State = pod.Spec.Containers[0].Name, *ended.State.DeepCopy()
		ended.State.Terminated.Message = ""
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{ended}
	s.must(s.Status().Update(ctx, pod))
	s.finish(ctx, pod, batchv1.JobComplete, "")
}

// finish ends the Job of a pod.
func (s *simulation) finish(ctx context.Context, pod *corev1.Pod, how batchv1.JobConditionType, reason string) {
	job := &batchv1.Job{}
	s.must(s.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: metav1.GetControllerOf(pod).Name}, job))
	job.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue, Reason: reason}}
	s.must(s.Status().Update(ctx, job))
}

// fail ends a pod badly, and its Job.
func (s *simulation) fail(pod *corev1.Pod, code int32, message string) {
	delete(s.running, pod.UID)
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message},
	}}}
	s.must(s.Status().Update(s.t.Context(), pod))
	s.finish(s.t.Context(), pod, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
}

// nothingLeft fails the test if Jobs or pods of measurements are left.
func (s *simulation) nothingLeft() {
	s.t.Helper()
	s.reconcile()
	s.step()
	var jobs batchv1.JobList
	s.must(s.List(s.t.Context(), &jobs, client.HasLabels{probejob.MeasurementKey}))
	var pods corev1.PodList
	s.must(s.List(s.t.Context(), &pods, client.HasLabels{probejob.MeasurementKey}))
	if len(jobs.Items)+len(pods.Items) > 0 {
		s.t.Errorf("%d Jobs and %d pods are left", len(jobs.Items), len(pods.Items))
	}
}

func (s *simulation) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
