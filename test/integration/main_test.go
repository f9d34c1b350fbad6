// Package integration tests Loadline against a real API server: the rules of
// the resource definitions, and the commands as users run them.
package integration

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
)

// What all tests share: a control plane for those that do not harm it, and the
// commands under test.
var (
	root      string
	scheduler string // the path of the built command
	manager   string
	gauge     string
	plugin    string // kubectl-loadline
	shared    *environment
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	ctrl.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "loadline-integration-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	if root, err = local.Root(ctx); err != nil {
		return 0, err
	}
	if scheduler, err = local.Build(ctx, root, dir, "loadline-scheduler"); err != nil {
		return 0, err
	}
	if manager, err = local.Build(ctx, root, dir, "loadline-manager"); err != nil {
		return 0, err
	}
	if gauge, err = local.Build(ctx, root, dir, "loadline-gauge"); err != nil {
		return 0, err
	}
	if plugin, err = local.Build(ctx, root, dir, "kubectl-loadline"); err != nil {
		return 0, err
	}
	if shared, err = newEnvironment(ctx, controlplane.Options{}); err != nil {
		return 0, err
	}
	defer func() {
		if stopErr := shared.plane.Stop(); err == nil {
			err = stopErr
		}
	}()
	return m.Run(), nil
}

// environment is a control plane with Loadline's resource definitions.
type environment struct {
	plane *controlplane.ControlPlane
	client.WithWatch
	schedulerFlags []string // of all schedulers that tests start
}

func newEnvironment(ctx context.Context, options controlplane.Options) (*environment, error) {
	options.Log = os.Stderr
	plane, err := controlplane.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := local.InstallCRDs(plane.RESTConfig(), root); err != nil {
		return nil, err
	}
	c, err := local.NewClient(plane.RESTConfig())
	if err != nil {
		return nil, err
	}
	flags, err := emulation(ctx)
	if err != nil {
		return nil, err
	}
	return &environment{plane: plane, WithWatch: c, schedulerFlags: flags}, nil
}

// emulation returns the flags by which a scheduler does what one of the version of the control plane does, as in the chart; none for the
// version that it is made of.
func emulation(ctx context.Context) ([]string, error) {
	chosen, err := controlplane.Chosen(ctx)
	if err != nil {
		return nil, err
	}
	versions, err := controlplane.Versions(ctx)
	if err != nil || chosen == versions[0] {
		return nil, err
	}
	return []string{"--emulated-version=" + chosen}, nil
}

// ownEnvironment is for tests that would disturb others.
func ownEnvironment(t *testing.T) *environment {
	t.Helper()
	return startEnvironment(t, controlplane.Options{})
}

// startEnvironment is for tests that need another control plane.
func startEnvironment(t *testing.T, options controlplane.Options) *environment {
	t.Helper()
	e, err := newEnvironment(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// place is a namespace and the nodes that its pods go to.
type place struct {
	*environment
	namespace string
	nodes     []string
}

// places counts places, to tell those of one test from each other.
var places atomic.Int32

// newPlace makes a namespace and n nodes with 16 cores that only its pods use,
// so that tests share a cluster without seeing each other.
func (e *environment) newPlace(t *testing.T, n int) *place {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	name = name[:min(len(name), 45)]
	p := &place{environment: e, namespace: fmt.Sprintf("%s-%d", name, places.Add(1))}
	must(t, e.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}))
	// The controller manager makes it too; the API server admits no pod before.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "default"}}
	must(t, client.IgnoreAlreadyExists(e.Create(t.Context(), account)))
	var nodes []*corev1.Node
	for i := range n {
		name := fmt.Sprintf("%s-%02d", p.namespace, i)
		p.nodes = append(p.nodes, name)
		nodes = append(nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"place": p.namespace}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
			}},
		})
	}
	must(t, e.plane.AddNodes(t.Context(), nodes...))
	return p
}

// pod returns a pod of the place for the tested scheduler.
func (p *place) pod(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulerName: p.namespace,
			NodeSelector:  map[string]string{"place": p.namespace},
			Containers:    []corev1.Container{{Name: "main", Image: "example.test/none"}},
		},
	}
}

// profile returns a profile of the place for the pods of an app, with loadings
// by resource.
func (p *place) profile(app string, loadings map[string]string) *v1alpha1.WorkloadProfile {
	w := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: app},
		Spec:       v1alpha1.WorkloadProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}
	for _, name := range slices.Sorted(maps.Keys(loadings)) {
		w.Spec.Resources = append(w.Spec.Resources, v1alpha1.ResourceDemand{Name: name, Loading: new(resource.MustParse(loadings[name]))})
	}
	return w
}

// oneCore makes cpu a resource with one server on the nodes of the place.
func (p *place) oneCore() *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: p.namespace},
		Spec: v1alpha1.NodeProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"place": p.namespace}},
			Resources: []v1alpha1.ResourceServers{{Name: "cpu", Servers: new(int32(1))}},
		},
	}
}

// onlyDilation is a scheduler profile in which nothing else has a say.
const onlyDilation = `profiles:
- schedulerName: loadline
  plugins:
    preScore:
      disabled: [{name: "*"}]
      enabled: [{name: Dilation}]
    score:
      disabled: [{name: "*"}]
      enabled: [{name: Dilation, weight: 1}]
`

// startScheduler runs a scheduler for the pods of the place until the test ends.
// The profiles' scheduler is called loadline; the place's goes by its own name,
// so that no other test's scheduler takes its pods.
func (p *place) startScheduler(t *testing.T, profiles string, edits ...func(string) string) *local.Process {
	t.Helper()
	profiles = replaceOnce(profiles, "schedulerName: loadline\n", "schedulerName: "+p.namespace+"\n")
	config, err := local.SchedulerConfig(t.TempDir(), p.plane.Kubeconfig(), profiles)
	must(t, err)
	content, err := os.ReadFile(filepath.Clean(config))
	must(t, err)
	for _, edit := range edits {
		content = []byte(edit(string(content)))
	}
	must(t, os.WriteFile(config, content, 0o600))
	process, err := local.StartScheduler(t.Context(), scheduler, config, p.schedulerFlags...)
	must(t, err)
	t.Cleanup(func() {
		must(t, process.Kill())
		if t.Failed() {
			t.Logf("the scheduler's log:\n%s", process.Log())
		}
	})
	return process
}

// awaitBound waits until n pods of the place are on nodes and returns where.
func (p *place) awaitBound(t *testing.T, n int) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pods, err := local.AwaitPods(ctx, p, p.namespace, local.AllBound(n))
	if err != nil {
		for name, pod := range pods {
			if pod.Spec.NodeName == "" {
				t.Logf("%s is not on a node: %+v", name, pod.Status.Conditions)
			}
		}
		t.Fatalf("waiting for %d pods to be bound: %v", n, err)
	}
	nodes := make(map[string]string, len(pods))
	for name, pod := range pods {
		nodes[name] = pod.Spec.NodeName
	}
	return nodes
}

// change reads an object and changes it in the cluster, also while others write
// to it.
func (e *environment) change(t *testing.T, o client.Object, change func()) {
	t.Helper()
	must(t, e.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	before := o.DeepCopyObject().(client.Object) //nolint:errcheck // a copy is of the same type
	change()
	must(t, e.Patch(t.Context(), o, client.MergeFrom(before)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
