//go:build kueue

package kueue

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/test/docs/page"
)

var binary = flag.String("kueue", "../../bin/tools/kueue", "path of Kueue's manager")

// namespace is that of the example.
const namespace = "etl"

// site is a cluster in which Kueue and Loadline run.
type site struct {
	client.WithWatch
	plane *controlplane.ControlPlane
}

func TestKueueStartsJobsAndLoadlinePlacesTheirPods(t *testing.T) {
	t.Parallel()
	s, root := newSite(t)
	free, busy := s.nodes(t)
	queues, report := example(t, root)
	for _, o := range queues {
		s.createAwaiting(t, o) // its webhook may not answer at once
	}

	// A Job that takes the whole quota, and has no node yet.
	first := report.DeepCopy()
	first.SetName("first")
	must(t, unstructured.SetNestedField(first.Object, "later", "spec", "template", "spec", "nodeSelector", "room"))
	must(t, unstructured.SetNestedField(first.Object, "first", "spec", "template", "metadata", "labels", "app"))
	must(t, s.Create(t.Context(), first))
	s.awaitJob(t, "first", func(job *batchv1.Job) bool { return !*job.Spec.Suspend && job.Status.Active == 4 })

	must(t, s.Create(t.Context(), report))
	message := s.awaitPending(t, "report")
	t.Logf("Kueue says: %s", message)
	if !strings.Contains(message, "insufficient unused quota for cpu") {
		t.Errorf("Kueue says %q", message)
	}
	s.awaitJob(t, "report", func(job *batchv1.Job) bool { return *job.Spec.Suspend })
	if pods := s.pods(t, "report"); len(pods) > 0 {
		t.Errorf("a suspended Job has %d pods", len(pods))
	}

	// The first gets its node. Its pods end as soon as they run there, and then the other Job's turn has come. Its pods end
	// as soon, so that some of them may have been on a node one after the other.
	must(t, s.plane.AddNodes(t.Context(), node("later", map[string]string{"room": "later"})))
	s.awaitJob(t, "first", complete)
	s.awaitJob(t, "report", complete)
	pods := s.pods(t, "report")
	if len(pods) != 4 {
		t.Errorf("the Job had %d pods, want 4", len(pods))
	}
	for i := range pods {
		on := pods[i].Spec.NodeName
		t.Logf("%s was on %s", pods[i].Name, on)
		if slices.Contains(busy, on) || !slices.Contains(append(free, "later"), on) {
			t.Errorf("%s was on %s, whose disk another pod uses; free were %v", pods[i].Name, on, free)
		}
	}
}

// newSite starts a control plane, Kueue and Loadline's scheduler as it is shipped.
func newSite(t *testing.T) (s *site, root string) {
	t.Helper()
	root, err := local.Root(t.Context())
	must(t, err)
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Log: os.Stderr})
	must(t, err)
	t.Cleanup(func() { must(t, plane.Stop()) })
	c, err := local.NewClient(plane.RESTConfig())
	must(t, err)
	must(t, local.InstallCRDs(plane.RESTConfig(), root))

	config := filepath.Join(moduleFolder(t, root), "config", "components")
	port := freePort(t)
	kubeconfig := install(t, c, plane, config, port)
	start(t, c, *binary, kubeconfig, config, port)

	dir := t.TempDir()
	scheduler, err := local.Build(t.Context(), root, dir, "loadline-scheduler")
	must(t, err)
	profiles, err := local.ShippedProfiles(root)
	must(t, err)
	file, err := local.SchedulerConfig(dir, plane.Kubeconfig(), profiles)
	must(t, err)
	process, err := local.StartScheduler(t.Context(), scheduler, file)
	must(t, err)
	t.Cleanup(func() { must(t, process.Kill()) })
	return &site{c, plane}, root
}

// node returns a node of 8 cores.
func node(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}},
	}
}

// nodes makes nodes of which most have a pod that uses the disk all the time, as those of the example's Job do. Their requests
// tell nothing of it.
func (s *site) nodes(t *testing.T) (free, busy []string) {
	t.Helper()
	const each = 4
	var nodes []*corev1.Node
	for i := range 4 * each {
		if name := fmt.Sprintf("busy-%02d", i); i >= each {
			busy = append(busy, name)
		} else {
			name = fmt.Sprintf("free-%02d", i)
			free = append(free, name)
		}
	}
	for _, name := range slices.Concat(free, busy) {
		nodes = append(nodes, node(name, nil))
	}
	must(t, s.plane.AddNodes(t.Context(), nodes...))
	must(t, s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	must(t, client.IgnoreAlreadyExists(s.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}})))
	for _, app := range []string{"report", "neighbour"} {
		must(t, s.Create(t.Context(), &v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app},
			Spec: v1alpha1.WorkloadProfileSpec{
				Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
				Resources: []v1alpha1.ResourceDemand{{Name: "disk", Loading: new(resource.MustParse("0.9"))}},
			},
		}))
	}
	for _, name := range busy {
		must(t, s.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "neighbour-" + name, Labels: map[string]string{"app": "neighbour"}},
			Spec:       corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "main", Image: "example.test/none"}}},
		}))
	}
	return free, busy
}

// example returns the queues and the Job of docs/workloads.md.
func example(t *testing.T, root string) (queues []*unstructured.Unstructured, job *unstructured.Unstructured) {
	t.Helper()
	p, err := page.Read(root, "docs/workloads.md")
	must(t, err)
	for i := range p.Blocks {
		if !strings.Contains(p.Blocks[i].Text, "kueue.x-k8s.io") {
			continue
		}
		for _, o := range read(t, []byte(p.Blocks[i].Text)) {
			if o.GetKind() == "Job" {
				job = o
			} else {
				queues = append(queues, o)
			}
		}
	}
	if job == nil || len(queues) != 3 {
		t.Fatalf("docs/workloads.md has %d objects of Kueue and the Job %v, want 3 and a Job", len(queues), job)
	}
	return queues, job
}

// createAwaiting creates an object once the webhooks take it.
func (s *site) createAwaiting(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	var last error
	s.await(t, func(ctx context.Context) (bool, error) {
		last = s.Create(ctx, o.DeepCopy(), client.FieldValidation(metav1.FieldValidationStrict))
		return last == nil, nil
	}, func() string { return fmt.Sprintf("creating %s %s: %v", o.GetKind(), o.GetName(), last) })
}

// await polls until a condition holds; what says what is the case if it does not in time.
func (s *site) await(t *testing.T, condition func(context.Context) (bool, error), what func() string) {
	t.Helper()
	const interval, limit = 100 * time.Millisecond, 2 * time.Minute
	if err := wait.PollUntilContextTimeout(t.Context(), interval, limit, true, condition); err != nil {
		t.Fatalf("%s: %v", what(), err)
	}
}

// awaitJob waits for a state of a Job.
func (s *site) awaitJob(t *testing.T, name string, is func(*batchv1.Job) bool) {
	t.Helper()
	var job batchv1.Job
	s.await(t, func(ctx context.Context) (bool, error) {
		if err := s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &job); err != nil {
			return false, err
		}
		return is(&job), nil
	}, func() string { return fmt.Sprintf("Job %s, suspended %v: %+v", name, *job.Spec.Suspend, job.Status) })
}

// complete reports whether a Job is complete.
func complete(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
	})
}

// awaitPending waits until Kueue says why it does not start a Job.
func (s *site) awaitPending(t *testing.T, job string) (message string) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kueue.x-k8s.io/v1beta2")
	list.SetKind("WorkloadList")
	s.await(t, func(ctx context.Context) (bool, error) {
		if err := s.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		for i := range list.Items {
			if owners := list.Items[i].GetOwnerReferences(); len(owners) == 0 || owners[0].Name != job {
				continue
			}
			conditions, _, err := unstructured.NestedSlice(list.Items[i].Object, "status", "conditions")
			if err != nil {
				return false, err
			}
			for _, c := range conditions {
				if c, ok := c.(map[string]any); ok && c["type"] == "QuotaReserved" && c["status"] == "False" {
					message = fmt.Sprint(c["message"])
				}
			}
		}
		return message != "", nil
	}, func() string { return fmt.Sprintf("no word of %s among %d Workloads", job, len(list.Items)) })
	return message
}

// pods returns the pods of a Job.
func (s *site) pods(t *testing.T, job string) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	must(t, s.List(t.Context(), &list, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: job}))
	return list.Items
}
