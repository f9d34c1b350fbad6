package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
)

// Namespaces of the load, of which the first has pods on nodes that are played, and the second such that compute on real ones.
const (
	shop      = "soak-shop"
	computing = "soak-real"
)

//go:embed load/*.yaml
var manifests embed.FS

// manifest returns the objects of a manifest of the load, for a number.
func manifest(file string, number int) ([]*unstructured.Unstructured, error) {
	content, err := manifests.ReadFile("load/" + file + ".yaml")
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer("NUMBER", strconv.Itoa(number), "ADDRESS", addressOf(number)).Replace(string(content))
	objects, err := local.Decode(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("load/%s.yaml: %w", file, err)
	}
	return objects, nil
}

// load is what goes on in the cluster: the same in every cycle, so that cycles can be compared.
type load struct {
	*cluster

	kubectl string
	nodes   int // that are there all the time
	cycle   time.Duration
	tally   *tally
}

// tally counts what was done, and what failed with how often.
type tally struct {
	mu           sync.Mutex
	done, failed map[string]int
}

func newTally() *tally { return &tally{done: map[string]int{}, failed: map[string]int{}} }

// note counts that something was done, or why it failed.
func (t *tally) note(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed[what+": "+err.Error()]++
		return
	}
	t.done[what]++
}

// begin creates what is there all the time.
func (l *load) begin(ctx context.Context) error {
	l.progress.Step("creating %d nodes and the load", l.nodes)
	for i := range l.nodes {
		if err := l.create(ctx, "node", i); err != nil {
			return err
		}
	}
	return errors.Join(l.create(ctx, "gauges", 0), l.create(ctx, "base", 0))
}

// create creates the objects of a manifest for a number.
func (l *load) create(ctx context.Context, file string, number int) error {
	objects, err := manifest(file, number)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := l.Create(ctx, o); err != nil {
			return fmt.Errorf("creating %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// remove deletes the objects of a manifest for a number, the last one first. What has gone already is well.
func (l *load) remove(ctx context.Context, file string, number int) error {
	objects, err := manifest(file, number)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range slices.Backward(objects) {
		errs = append(errs, client.IgnoreNotFound(l.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground))))
	}
	return errors.Join(errs...)
}

// end deletes the load, with what may be left of a cycle that did not end, and returns when it is gone.
func (l *load) end(ctx context.Context, cycles int) error {
	meta := metav1.ObjectMeta{Name: "soak"}
	objects := []client.Object{
		&v1alpha1.RemediationPolicy{ObjectMeta: meta}, &v1alpha1.PoolPlan{ObjectMeta: meta}, &v1alpha1.ShareTree{ObjectMeta: meta}, &v1alpha1.NodeProfile{ObjectMeta: meta},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: computing}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "soak-guest-" + strconv.Itoa(cycles)}},
	}
	errs := []error{l.removeAll(ctx, objects), l.remove(ctx, "gauges", 0)}
	for i := range l.nodes {
		errs = append(errs, l.remove(ctx, "node", i))
	}
	return errors.Join(append(errs, l.remove(ctx, "node", extra(cycles)))...)
}

// turns is how many parts a cycle has, in each of which the load changes.
const turns = 20

// turn is what happens in a part of a cycle, or in that of every few cycles.
type turn struct {
	part  int
	every int // cycles; 0 is 1
	after int // which of these
	what  string
	do    func(l *load, ctx context.Context, cycle int) error
}

// extra is the number of the node that is there for a part of a cycle.
func extra(cycle int) int { return 1000 + cycle }

// creates and removes return what creates the objects of a manifest, and what removes those of the same cycle or of one before.
func creates(file string) func(*load, context.Context, int) error {
	return func(l *load, ctx context.Context, cycle int) error { return l.create(ctx, file, cycle) }
}

func removes(file string, before int) func(*load, context.Context, int) error {
	return func(l *load, ctx context.Context, cycle int) error { return l.remove(ctx, file, cycle-before) }
}

// restarts returns what restarts the pods of a Deployment.
func restarts(namespace, name string) func(*load, context.Context, int) error {
	return func(l *load, ctx context.Context, cycle int) error {
		return l.patch(ctx, deployment(namespace, name), `{"spec":{"template":{"metadata":{"annotations":{"soak.loadline.dev/cycle":"%d"}}}}}`, cycle)
	}
}

// asks returns what runs a command of kubectl loadline.
func asks(args ...string) func(*load, context.Context, int) error {
	return func(l *load, ctx context.Context, _ int) error { return l.ask(ctx, args...) }
}

// timetable is what happens in a cycle, besides what is scaled in every part of it. What is measured takes three cycles.
var timetable = []turn{
	{part: 1, what: "namespace created", do: creates("guest")},
	{part: 2, what: "node created", do: func(l *load, ctx context.Context, cycle int) error { return l.create(ctx, "node", extra(cycle)) }},
	{part: 3, what: "profile created", do: creates("profile")},
	{part: 4, what: "TraceReplay created", do: creates("replay")},
	{part: 5, every: 2, what: "limited pods restarted", do: restarts(computing, "limited")},
	{part: 6, every: 3, what: "measurement begun", do: creates("measured")},
	{part: 7, what: "kubectl loadline who", do: asks("who")},
	{part: 8, what: "web restarted", do: restarts(shop, "web")},
	{part: 9, what: "kubectl loadline status", do: asks("status")},
	{part: 10, what: "profile changed", do: func(l *load, ctx context.Context, cycle int) error { return l.changeProfile(ctx, cycle) }},
	{part: 11, what: "pod deleted", do: func(l *load, ctx context.Context, _ int) error { return l.deletePod(ctx) }},
	{part: 12, what: "kubectl loadline plan", do: asks("plan")},
	{part: 13, what: "profile deleted", do: removes("profile", 0)},
	{part: 14, what: "node deleted", do: func(l *load, ctx context.Context, cycle int) error { return l.remove(ctx, "node", extra(cycle)) }},
	{part: 15, what: "class of nodes changed", do: func(l *load, ctx context.Context, cycle int) error { return l.changeClass(ctx, cycle) }},
	{part: 16, what: "namespace deleted", do: removes("guest", 0)},
	{part: 17, what: "kubectl loadline who", do: asks("who")},
	{part: 18, what: "TraceReplay deleted", do: removes("replay", 0)},
	{part: 19, every: 3, after: 2, what: "measured profile deleted", do: removes("measured", 2)},
}

// due returns what happens in a part of a cycle.
func due(cycle, part int) []turn {
	return slices.DeleteFunc(slices.Clone(timetable), func(t turn) bool {
		return t.part != part || cycle%max(t.every, 1) != t.after
	})
}

// replicas returns how many replicas a Deployment has in a part of a cycle: a mean, and more by day than by night.
func replicas(mean, part int) int {
	const swing = 0.6
	return int(math.Round(float64(mean) * (1 + swing*math.Sin(2*math.Pi*float64(part)/turns))))
}

// run goes through cycles until ctx ends, and returns the number of the last one.
func (l *load) run(ctx context.Context) int {
	ticks := time.NewTicker(l.cycle / turns)
	defer ticks.Stop()
	for number := 0; ; number++ {
		cycle, part := number/turns, number%turns
		l.do(ctx, "scaled", func(ctx context.Context) error { return l.scale(ctx, part) })
		for _, t := range due(cycle, part) {
			l.do(ctx, t.what, func(ctx context.Context) error { return t.do(l, ctx, cycle) })
		}
		select {
		case <-ctx.Done():
			return cycle
		case <-ticks.C:
		}
	}
}

// do does something within a bounded time, and counts it.
func (l *load) do(ctx context.Context, what string, f func(context.Context) error) {
	within, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	if err := f(within); ctx.Err() == nil {
		l.tally.note(what, err)
	}
}

func deployment(namespace, name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// patch merges a patch, as a format with its arguments, into an object.
func (l *load) patch(ctx context.Context, o client.Object, format string, args ...any) error {
	return l.Patch(ctx, o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...)))
}

// scale scales Deployments, and the rate by which a PoolPlan scales another one.
func (l *load) scale(ctx context.Context, part int) error {
	var errs []error
	for _, d := range []struct {
		namespace, name string
		mean, ahead     int
	}{{shop, "web", 40, 0}, {shop, "api", 30, turns / 3}, {shop, "batch", 30, turns / 2}, {computing, "cart", 2, 0}} {
		errs = append(errs, l.patch(ctx, deployment(d.namespace, d.name), `{"spec":{"replicas":%d}}`, replicas(d.mean, part+d.ahead)))
	}
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "soak"}}
	rate := fmt.Sprintf(`{"name":"checkout","arrival":{"ratePerSecond":"%d"},"service":{"meanMillis":100},"sla":{"responseTimeMillis":500}}`, replicas(60, part))
	return errors.Join(append(errs, l.patch(ctx, plan, `{"spec":{"classes":[%s]}}`, rate))...)
}

// changeProfile changes a loading vector to one of two, in turns.
func (l *load) changeProfile(ctx context.Context, cycle int) error {
	profile := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "web"}}
	return l.patch(ctx, profile, `{"spec":{"resources":[{"name":"cpu","loading":"0.3%d"},{"name":"disk","loading":"0.1"}]}}`, cycle%2)
}

// changeClass changes how many servers the disks of nodes have.
func (l *load) changeClass(ctx context.Context, cycle int) error {
	class := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "soak"}}
	return l.patch(ctx, class, `{"spec":{"resources":[{"name":"disk","servers":%d}]}}`, 2+cycle%2)
}

// deletePod deletes a pod that a ReplicaSet then makes anew.
func (l *load) deletePod(ctx context.Context) error {
	var pods corev1.PodList
	if err := l.List(ctx, &pods, client.InNamespace(shop), client.MatchingLabels{"app": "api"}); err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New("there is none")
	}
	return client.IgnoreNotFound(l.Delete(ctx, &pods.Items[0]))
}

// ask runs a command of kubectl loadline. That the answer is no, which exit code 1 says, is well.
func (l *load) ask(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, l.kubectl, append(args, "--kubeconfig", l.kubeconfig)...)
	var problems bytes.Buffer
	command.Stderr = &problems
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = brief
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %.300s", err, strings.TrimSpace(problems.String()))
	}
	return nil
}
