package comparison

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/loadwatcher"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/scenario"
)

// patience returns how long some pods may take to be bound or to be gone.
func patience(pods int) time.Duration {
	return 3*time.Minute + time.Duration(pods)*300*time.Millisecond
}

// requests is how many requests for pods are made at once.
const requests = 32

// Cluster is a control plane on which schedulers place pods, one scheduler after the other.
type Cluster struct {
	client.WithWatch
	// Programs are the paths of the schedulers, by their names; those without a program of their own are run by that of
	// [Loadline], which is kube-scheduler with additional plugins.
	Programs map[string]string
	Progress *Progress

	plane *controlplane.ControlPlane
	dir   string // for the configurations
	nodes int    // that there are
	runs  int    // so far
}

// NewCluster returns a cluster on a control plane, on which Loadline's resource definitions are installed. The folder is for
// temporary files.
func NewCluster(plane *controlplane.ControlPlane, root, dir string, programs map[string]string, progress *Progress) (*Cluster, error) {
	c, err := local.NewClient(plane.RESTConfig())
	if err != nil {
		return nil, err
	}
	if err := local.InstallCRDs(plane.RESTConfig(), root); err != nil {
		return nil, err
	}
	return &Cluster{WithWatch: c, Programs: programs, Progress: progress, plane: plane, dir: dir}, nil
}

// Prepare creates all of a scenario that stays: nodes, profiles and Services. All scenarios on a cluster must have as many nodes.
func (c *Cluster) Prepare(ctx context.Context, s *scenario.Scenario) error {
	if c.nodes == 0 {
		c.Progress.Step("creating %d nodes", len(s.Nodes))
		if err := c.plane.AddNodes(ctx, s.NodeObjects()...); err != nil {
			return err
		}
		c.nodes = len(s.Nodes)
	}
	if len(s.Nodes) != c.nodes {
		return fmt.Errorf("%d nodes, where there are %d already", len(s.Nodes), c.nodes)
	}
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace()}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(), Name: "default"}},
	}
	for _, p := range s.NodeProfiles() {
		objects = append(objects, p)
	}
	for _, p := range s.WorkloadProfiles() {
		objects = append(objects, p)
	}
	for _, service := range s.Services() {
		objects = append(objects, service)
	}
	for _, o := range objects {
		if err := client.IgnoreAlreadyExists(c.Create(ctx, o)); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// Run takes a prepared scenario through its steps with a scheduler, and removes the pods.
func (c *Cluster) Run(ctx context.Context, s *scenario.Scenario, scheduler *Scheduler, judge *Judge) (o *Outcome, err error) {
	c.Progress.Step("seed %d: placing %d pods with %s", s.Seed, len(s.Pods), scheduler.Name)
	c.runs++
	p := &placing{Cluster: c, scenario: s, scheduler: scheduler, judge: judge, suffix: fmt.Sprintf("-run-%d", c.runs)}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	return Run(ctx, s, p, judge)
}

// placing is a run with a scheduler.
type placing struct {
	*Cluster
	scenario  *scenario.Scenario
	scheduler *Scheduler
	judge     *Judge
	suffix    string // of the names of pods: what plays the kubelet may delete a pod of an earlier run by its name, late
	process   *local.Process
	watcher   *loadwatcher.Server
}

// Place has the scheduler place pods.
func (p *placing) Place(ctx context.Context, step int, at Placement) error {
	present := p.scenario.Present(step)
	ctx, cancel := context.WithTimeout(ctx, patience(len(present)))
	defer cancel()
	if err := p.remove(ctx, step); err != nil {
		return err
	}
	if err := p.start(ctx, at); err != nil {
		return err
	}
	if err := p.each(ctx, p.scenario.Coming(step), func(ctx context.Context, pod *corev1.Pod) error { return p.Create(ctx, pod) }); err != nil {
		return err
	}
	left := awaited(present)
	pods, err := local.AwaitPods(ctx, p, p.scenario.Namespace(), func(pods map[string]*corev1.Pod) bool {
		left = left.without(func(i int) bool {
			pod := pods[p.name(i)]
			return pod != nil && (pod.Spec.NodeName != "" || isUnschedulable(pod))
		})
		p.Progress.Count("decided", len(present)-len(left), len(present))
		return len(left) == 0
	})
	if err != nil {
		return fmt.Errorf("waiting for %s to place the pods: %w\n%s", p.scheduler.Name, err, p.process.Log())
	}
	return p.read(pods, present, at)
}

// awaited are pods that something is awaited of.
type awaited []int

// without returns the pods from the first for which it has not come. What has come is not asked again: with n events for n
// pods these are O(n) questions, not O(n²).
func (w awaited) without(come func(pod int) bool) awaited {
	for len(w) > 0 && come(w[0]) {
		w = w[1:]
	}
	return w
}

// name returns the name of a pod in this run.
func (p *placing) name(pod int) string { return p.scenario.Pods[pod].Name + p.suffix }

// each makes a request for each of some pods, many at once.
func (p *placing) each(ctx context.Context, pods []int, request func(context.Context, *corev1.Pod) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	for _, i := range pods {
		group.Go(func() error {
			pod := p.scenario.PodObject(&p.scenario.Pods[i], p.scheduler.SchedulerName)
			pod.Name = p.name(i)
			return request(ctx, pod)
		})
	}
	return group.Wait()
}

// remove deletes the pods that leave.
func (p *placing) remove(ctx context.Context, step int) error {
	going := p.scenario.Going(step)
	err := p.each(ctx, going, func(ctx context.Context, pod *corev1.Pod) error {
		return p.Delete(ctx, pod, client.GracePeriodSeconds(0))
	})
	if err != nil || len(going) == 0 {
		return err
	}
	left := awaited(going)
	_, err = local.AwaitPods(ctx, p, p.scenario.Namespace(), func(pods map[string]*corev1.Pod) bool {
		left = left.without(func(i int) bool { return pods[p.name(i)] == nil })
		return len(left) == 0
	})
	return err
}

// read sets where pods are.
func (p *placing) read(pods map[string]*corev1.Pod, present []int, at Placement) error {
	for _, i := range present {
		name := pods[p.name(i)].Spec.NodeName
		at[i] = slices.IndexFunc(p.scenario.Nodes, func(n scenario.Node) bool { return n.Name == name })
		if name != "" && at[i] == Nowhere {
			return fmt.Errorf("pod %s is on node %s, which is not one of the scenario", p.name(i), name)
		}
	}
	return nil
}

func isUnschedulable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// start starts the scheduler, if it does not run yet. Trimaran is started anew for each step, to read what is measured by then.
func (p *placing) start(ctx context.Context, at Placement) error {
	if p.scheduler.Name == Trimaran {
		return p.startWatching(ctx, at)
	}
	if p.process != nil {
		return nil
	}
	return p.run(ctx, p.scheduler.Profiles)
}

// startWatching starts Trimaran and its load watcher, with more time each time that it took too long.
func (p *placing) startWatching(ctx context.Context, at Placement) error {
	percent, err := p.judge.utilizations(at)
	if err != nil {
		return err
	}
	for starting := 4 * time.Second; ; starting *= 2 {
		if err := p.stop(); err != nil {
			return err
		}
		if p.watcher, err = loadwatcher.Start(ctx, percent, starting); err != nil {
			return err
		}
		if err := p.run(ctx, os.Expand(p.scheduler.Profiles, func(string) string { return p.watcher.Address })); err != nil {
			return err
		}
		if err := p.watcher.Await(ctx); !errors.Is(err, loadwatcher.ErrTooLate) {
			return err
		}
	}
}

// run starts the program of the scheduler.
func (p *placing) run(ctx context.Context, profiles string) error {
	program := p.Programs[p.scheduler.Name]
	if program == "" {
		program = p.Programs[Loadline]
	}
	config, err := local.SchedulerConfig(p.dir, p.plane.Kubeconfig(), profiles)
	if err != nil {
		return err
	}
	p.process, err = local.StartScheduler(ctx, program, config)
	return err
}

// stop stops the scheduler, if it runs, and the load watcher.
func (p *placing) stop() (err error) {
	if p.process != nil {
		err = p.process.Stop()
	}
	if p.watcher != nil {
		err = errors.Join(err, p.watcher.Close())
	}
	p.process, p.watcher = nil, nil
	return err
}

// close stops the scheduler and removes all pods.
func (p *placing) close(ctx context.Context) error {
	if err := p.stop(); err != nil {
		return err
	}
	var left corev1.PodList
	if err := p.List(ctx, &left, client.InNamespace(p.scenario.Namespace())); err != nil {
		return err
	}
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	for i := range left.Items {
		group.Go(func() error {
			return client.IgnoreNotFound(p.Delete(deleting, &left.Items[i], client.GracePeriodSeconds(0)))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err := local.AwaitPods(ctx, p, p.scenario.Namespace(), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
	return err
}
