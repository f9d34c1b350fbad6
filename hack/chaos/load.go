package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// load is what goes on in a cluster while things fail: pods come and go, and all of Loadline's objects are in use.
type load struct {
	c      *cluster
	seed   uint64
	random *rand.Rand
	shop   string    // the namespace of what runs
	lab    string    // the namespace of what is measured and replayed, which a fault may delete
	count  int       // of bare pods and changes
	rested time.Time // when the load was brought to rest

	mu       sync.Mutex
	bare     map[string]string // pods that no controller has, and that must be there: their nodes as far as known, by namespace and name
	lostNode sets.Set[string]
}

func newLoad(c *cluster, seed uint64) *load {
	return &load{
		c: c, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), shop: fmt.Sprintf("shop-%d", seed), lab: fmt.Sprintf("lab-%d", seed),
		bare: map[string]string{}, lostNode: sets.New[string](),
	}
}

// Names of what the load consists of. A PoolPlan scales checkout.
const (
	web      = "web"
	batch    = "batch"
	disk     = "disk"
	limited  = "limited"
	checkout = "checkout"
	db       = "db"
	task     = "task"
	measured = "filecomp"
)

// atRest is how many replicas there are at the end.
var atRest = map[string]int32{web: 4, batch: 2, disk: 3, limited: 2}

// restRate is the rate of requests at the end.
const restRate = "60"

// begin creates the objects of the load.
func (l *load) begin(ctx context.Context) error {
	l.c.rates.set(l.query(), restRate)
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.shop, Labels: map[string]string{v1alpha1.GuardLabel: "enforce", "chaos": l.shop}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.lab, Labels: map[string]string{"chaos": l.lab}}},
		l.profile(web, "1.5", map[string]string{"cpu": "0.3"}), l.profile(batch, "", map[string]string{"cpu": "0.5", "disk": "0.4"}),
		l.profile(disk, "1.45", map[string]string{"disk": "0.9"}), l.profile(task, "", map[string]string{"cpu": "0.2"}),
		l.nodeProfile(), l.tree(), l.policy(), l.target(), l.measuredProfile(), l.jobProfile(), l.replay("first"),
		l.set(), l.deployment(checkout, 2), l.plan(),
	}
	for name, n := range atRest {
		objects = append(objects, l.deployment(name, n))
	}
	for _, o := range objects {
		if err := l.c.Create(ctx, o); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// name is that of the objects of the load that are in no namespace.
func (l *load) name() string { return fmt.Sprintf("chaos-%d", l.seed) }

// query is that of the plan.
func (l *load) query() string { return fmt.Sprintf("rate_%d", l.seed) }

func (l *load) profile(app, bound string, loadings map[string]string) *v1alpha1.WorkloadProfile {
	w := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.shop, Name: app},
		Spec:       v1alpha1.WorkloadProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}
	for _, name := range []string{"cpu", "disk"} {
		if text := loadings[name]; text != "" {
			w.Spec.Resources = append(w.Spec.Resources, v1alpha1.ResourceDemand{Name: name, Loading: new(resource.MustParse(text))})
		}
	}
	if bound != "" {
		w.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse(bound))}
	}
	return w
}

func (l *load) nodeProfile() *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: l.name()},
		Spec: v1alpha1.NodeProfileSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"chaos": "node"}}, Resources: []v1alpha1.ResourceServers{{Name: "disk", Servers: new(int32(1))}},
		},
	}
}

func (l *load) tree() *v1alpha1.ShareTree {
	quantity := func(n string) *resource.Quantity { return new(resource.MustParse(n)) }
	return &v1alpha1.ShareTree{
		ObjectMeta: metav1.ObjectMeta{Name: l.name()},
		Spec: v1alpha1.ShareTreeSpec{
			Processors: new(int32(1)), Groups: []v1alpha1.ShareGroup{{Name: "a", Share: new(int32(60))}, {Name: "b", Share: new(int32(40))}},
			Workloads: []v1alpha1.ShareWorkload{
				{Name: "a.x", Group: "a", Share: new(int32(100)), Utilization: quantity("0.3"), ServiceMillis: new(int64(20))},
				{Name: "b.x", Group: "b", Share: new(int32(100)), Utilization: quantity("0.2"), ServiceMillis: new(int64(20))},
			},
		},
	}
}

// policy lets all changes be made at once.
func (l *load) policy() *v1alpha1.RemediationPolicy {
	many := new(int32(100))
	return &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: l.name()},
		Spec: v1alpha1.RemediationPolicySpec{
			Mode: v1alpha1.RemediationAutomatic, Allow: []string{v1alpha1.ActionRaiseLimit, v1alpha1.ActionMove},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"chaos": l.shop}},
			MinPodAgeSeconds:  new(int32(0)), CoolDownSeconds: new(int32(0)), ObserveSeconds: new(int32(30)),
			Budget: &v1alpha1.RemediationBudget{AtOnce: many, PerNode: many, PerWorkload: many, PerNamespace: many, PerHour: many},
		},
	}
}

// target is what is measured.
func (l *load) target() *batchv1.Job {
	pod := template(measured)
	pod.Spec.RestartPolicy, pod.Spec.SchedulerName = corev1.RestartPolicyNever, ""
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: l.lab, Name: measured}, Spec: batchv1.JobSpec{Suspend: new(true), Template: pod}}
}

func (l *load) measuredProfile() *v1alpha1.WorkloadProfile {
	w := l.profile(measured, "", map[string]string{"cpu": "0.1"})
	w.Namespace = l.lab
	w.Spec.Measurement = &v1alpha1.Measurement{
		Target: &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetJob, Name: measured}, Resources: []v1alpha1.ProbedResource{{Name: "cpu"}},
		Nodes: &metav1.LabelSelector{MatchLabels: map[string]string{"chaos": "node"}},
	}
	return w
}

// jobProfile is that of the jobs of replays.
func (l *load) jobProfile() *v1alpha1.WorkloadProfile {
	w := l.profile("job", "", map[string]string{"cpu": "0.6", "disk": "0.3"})
	w.Namespace, w.Spec.NeutralMillis = l.lab, new(int64(1000))
	return w
}

func (l *load) replay(name string) *v1alpha1.TraceReplay {
	return &v1alpha1.TraceReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.lab, Name: name},
		Spec: v1alpha1.TraceReplaySpec{
			Arrivals: &v1alpha1.ReplayArrivals{
				Jobs: new(int64(100)), Interarrival: v1alpha1.Interarrival{MeanMillis: new(int64(400))}, Types: []v1alpha1.ReplayJobType{{Profile: "job"}},
			},
			Nodes: []v1alpha1.ReplayNodes{{Name: "small", Count: new(int32(3))}}, Policies: []v1alpha1.ReplayPolicy{{Name: "round-robin"}, {Name: "least-dilation"}}, Seeds: new(int32(2)),
		},
	}
}

// template is that of the pods of an app.
func template(app string) corev1.PodTemplateSpec {
	container := corev1.Container{Name: "main", Image: "example.test/none", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	}}
	if app == limited {
		container.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("300m")
	}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName: "loadline", TerminationGracePeriodSeconds: new(int64(1)), NodeSelector: map[string]string{"chaos": "node"}, Containers: []corev1.Container{container},
		},
	}
}

func (l *load) deployment(app string, n int32) *appsv1.Deployment {
	labels := map[string]string{"app": app}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.shop, Name: app},
		Spec:       appsv1.DeploymentSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(app)},
	}
}

func (l *load) set() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.shop, Name: db},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": db}}, Template: template(db), PodManagementPolicy: appsv1.ParallelPodManagement,
		},
	}
}

// plan scales checkout between 1 and 8 replicas.
func (l *load) plan() *v1alpha1.PoolPlan {
	return &v1alpha1.PoolPlan{
		ObjectMeta: metav1.ObjectMeta{Name: l.name()},
		Spec: v1alpha1.PoolPlanSpec{
			Mode:       v1alpha1.ModeApply,
			Prometheus: &v1alpha1.PrometheusSource{Address: "http://" + l.c.links[toPrometheus].Address(), IntervalSeconds: new(int32(1)), MaxAgeSeconds: new(int32(3))},
			Classes: []v1alpha1.PoolClass{{
				Name: checkout, Arrival: &v1alpha1.ClassArrival{Query: l.query()}, Service: &v1alpha1.ClassService{MeanMillis: new(int64(100))},
				SLA: &v1alpha1.ClassSLA{ResponseTimeMillis: new(int64(500))},
			}},
			Pools: []v1alpha1.PlannedPool{{
				Name: checkout, Classes: []string{checkout}, MinServers: new(int32(5)), MaxServers: new(int32(40)), ServersPerReplica: new(int32(5)),
				ScaleTarget: &v1alpha1.ScaleTarget{APIVersion: "apps/v1", Kind: "Deployment", Namespace: l.shop, Name: checkout},
			}},
			Scaling: &v1alpha1.PoolScaling{StabilizationSeconds: new(int32(3)), MinSecondsBetweenSteps: new(int32(1)), MaxStepServers: new(int32(10))},
		},
	}
}

// run does something again and again until ctx ends. What fails, because of what else fails, is left undone.
func (l *load) run(ctx context.Context) {
	for {
		timer := time.NewTimer(time.Duration(200+l.random.IntN(1200)) * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		acts := []func(context.Context) error{l.scale, l.scale, l.scale, l.restart, l.deletePod, l.addBare, l.raise, l.raise, l.move, l.move, l.setRate, l.addReplay}
		l.expected() // to see where bare pods are
		_ = acts[l.random.IntN(len(acts))](within)
		cancel()
	}
}

func (l *load) scale(ctx context.Context) error {
	app := []string{web, batch, disk, limited}[l.random.IntN(4)]
	return l.scaleTo(ctx, app, 1+l.random.IntN(map[string]int{web: 10, batch: 5, disk: 6, limited: 4}[app]))
}

func (l *load) scaleTo(ctx context.Context, app string, n int) error {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: l.shop, Name: app}}
	return l.c.Patch(ctx, d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, n)))
}

func (l *load) restart(ctx context.Context) error {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: l.shop, Name: []string{web, limited}[l.random.IntN(2)]}}
	return l.c.Patch(ctx, d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"template": {"metadata": {"annotations": {"restarted": "%d"}}}}}`, l.random.Uint32())))
}

// some returns a pod of an app that runs, nil if there is none.
func (l *load) some(app string) *corev1.Pod {
	all := l.c.history.running(func(p *corev1.Pod) bool { return p.Namespace == l.shop && p.Labels["app"] == app })
	if len(all) == 0 {
		return nil
	}
	return all[l.random.IntN(len(all))]
}

func (l *load) deletePod(ctx context.Context) error {
	if pod := l.some([]string{web, batch, disk, db}[l.random.IntN(4)]); pod != nil {
		return l.c.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
	}
	return nil
}

// addBare creates a pod that no controller has.
func (l *load) addBare(ctx context.Context) error {
	l.count++
	like := template(task)
	pod := &corev1.Pod{ObjectMeta: like.ObjectMeta, Spec: like.Spec}
	pod.Namespace, pod.Name = l.shop, fmt.Sprintf("%s-%d", task, l.count)
	if err := l.c.Create(ctx, pod); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bare[pod.Namespace+"/"+pod.Name] = ""
	return nil
}

// change returns a proposal to change a pod.
func (l *load) change(pod *corev1.Pod, change v1alpha1.RemediationChange) *v1alpha1.Remediation {
	l.count++
	return &v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.shop, Name: "change-" + strconv.Itoa(l.count)},
		Spec: v1alpha1.RemediationSpec{
			Policy: l.name(), Pod: v1alpha1.RemediationPod{Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName}, Change: change,
			Prediction: v1alpha1.RemediationPrediction{Win: new(resource.MustParse("0.5")), Low: new(resource.MustParse("0.4")), High: new(resource.MustParse("0.6"))},
		},
	}
}

func (l *load) raise(ctx context.Context) error {
	pod := l.some(limited)
	if pod == nil {
		return nil
	}
	from := pod.Spec.Containers[0].Resources.Limits.Cpu().DeepCopy()
	to := from.DeepCopy()
	to.Add(resource.MustParse("100m"))
	return l.c.Create(ctx, l.change(pod, v1alpha1.RemediationChange{Action: v1alpha1.ActionRaiseLimit, Container: "main", Limit: &v1alpha1.CPUChange{From: &from, To: &to}}))
}

func (l *load) move(ctx context.Context) error {
	if pod := l.some([]string{web, db}[l.random.IntN(2)]); pod != nil {
		return l.c.Create(ctx, l.change(pod, v1alpha1.RemediationChange{Action: v1alpha1.ActionMove}))
	}
	return nil
}

func (l *load) setRate(context.Context) error {
	l.c.rates.set(l.query(), []string{"20", restRate, "120", "205", "900"}[l.random.IntN(5)])
	return nil
}

func (l *load) addReplay(ctx context.Context) error {
	l.count++
	return l.c.Create(ctx, l.replay("replay-"+strconv.Itoa(l.count)))
}

// losesNode says that a node is about to be gone, and with it the bare pods there.
func (l *load) losesNode(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lostNode.Insert(name)
}

// removeLab deletes the namespace of what is measured and replayed.
func (l *load) removeLab(ctx context.Context) error {
	return l.c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.lab}})
}

// expected returns the bare pods that must be there: those that were on a node which is gone need not.
func (l *load) expected() sets.Set[string] {
	l.mu.Lock()
	defer l.mu.Unlock()
	there := sets.New[string]()
	for name, node := range l.bare {
		if now := l.c.history.nodeOf(name); now != "" {
			l.bare[name], node = now, now
		}
		if !l.lostNode.Has(node) {
			there.Insert(name)
		}
	}
	return there
}

// rest brings the load to where it is judged.
func (l *load) rest(ctx context.Context) error {
	l.c.rates.set(l.query(), restRate)
	for app, n := range atRest {
		if err := l.scaleTo(ctx, app, int(n)); err != nil {
			return err
		}
	}
	l.rested = time.Now()
	return nil
}

// objects are those of the load that are in no namespace, and its namespaces.
func (l *load) objects() []client.Object {
	meta := metav1.ObjectMeta{Name: l.name()}
	return []client.Object{
		&v1alpha1.PoolPlan{ObjectMeta: meta}, &v1alpha1.ShareTree{ObjectMeta: meta}, &v1alpha1.RemediationPolicy{ObjectMeta: meta}, &v1alpha1.NodeProfile{ObjectMeta: meta},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.shop}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.lab}},
	}
}
