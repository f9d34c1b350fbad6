//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/test/live"
)

// requesting returns a pod with another CPU request and limit; an empty limit is none.
func requesting(pod *corev1.Pod, request, limit string) *corev1.Pod {
	r := &pod.Spec.Containers[0].Resources
	r.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	if limit != "" {
		r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	return pod
}

// A pod that computes half of its time, with an eighth of the request of one that computes always, is found to be slowed
// down by it, and faster once it requests what it is told to.
func TestWhoNamesThePodThatSlowsAnotherAndWhatHelps(t *testing.T) {
	t.Parallel()
	node := reserve(t, 0)[0]
	namespace := cluster.NewNamespace(t)
	speed := cluster.Speed(t, namespace, node)
	half := func(name, request string) *corev1.Pod {
		pod := cluster.ProbePod(namespace, name, node)
		pod.Spec.Containers[0] = cluster.HalfBusy(speed, endlessly).Containers[0]
		return requesting(pod, request, "")
	}
	sort := requesting(cluster.ProbePod(namespace, "sort", node, "run", "--job", "cpu", "--duration", "1h"), "400m", "")
	must(t, cluster.Create(t.Context(), half("cart", "50m")))
	must(t, cluster.Create(t.Context(), sort))

	f := cluster.AwaitFinding(t, node, namespace, "cart", func(f *findings.Finding) bool { return f.Seconds > 50 })
	if c := f.Causes[0]; c.Kind != observed.ByNeighbour || c.Pod != namespace+"/sort" {
		t.Errorf("the first cause is %+v, want the pod sort", c)
	}
	if f.Remedy.Action != findings.RaiseRequest {
		t.Fatalf("the remedy is %+v, want another request", f.Remedy)
	}
	t.Logf("dilation %.2f ± %.2f, predicted %.2f, vector cpu %.3f; with a request of %s it is to be %.2f", f.Dilation, f.DilationError, *f.Predicted, f.CPULoading, f.Remedy.Request, f.Remedy.Dilation)

	must(t, cluster.Delete(t.Context(), half("cart", "50m")))
	must(t, cluster.Create(t.Context(), half("better", f.Remedy.Request.String())))
	var better *findings.Pod
	cluster.Await(t, "the pod with the new request to be observed", live.Node(node), func() (bool, string) {
		for _, p := range live.Who(t, namespace).Pods {
			if p.Pod == namespace+"/better" && p.Seconds > 50 {
				better = &p
				return true, ""
			}
		}
		return false, "it is not"
	})
	t.Logf("then it is %.2f", better.Dilation)
	if won, told := f.Dilation-better.Dilation, f.Dilation-f.Remedy.Dilation; won < 0.5*told || won > 2*told {
		t.Errorf("the request won %.2f, and %.2f was told", won, told)
	}
}

func TestWhoSaysThatAPodIsHeldBackByItsOwnLimit(t *testing.T) {
	t.Parallel()
	node := reserve(t, 1)[0]
	namespace := cluster.NewNamespace(t)
	speed := cluster.Speed(t, namespace, node)
	pod := cluster.ProbePod(namespace, "api", node)
	pod.Spec.Containers[0] = cluster.HalfBusy(speed, endlessly).Containers[0]
	must(t, cluster.Create(t.Context(), requesting(pod, "100m", "200m")))

	f := cluster.AwaitFinding(t, node, namespace, "api", func(f *findings.Finding) bool { return f.Seconds > 50 })
	if f.Causes[0].Kind != observed.ByLimit || f.Remedy.Action != findings.RaiseLimit {
		t.Errorf("the first cause is %+v, the remedy %+v: want its own limit, and a higher one", f.Causes[0], f.Remedy)
	}
	t.Logf("dilation %.2f ± %.2f: %+v; with a limit of %s it is to be %.2f", f.Dilation, f.DilationError, f.Causes, f.Remedy.Limit, f.Remedy.Dilation)
}

// A pod that reads one block after another waits for one that keeps the same disk busy, and is told so with the name of the disk. It is that of
// the machine, which need not be quiet.
func TestWhoNamesThePodThatSlowsAnotherAtTheDisk(t *testing.T) {
	t.Parallel()
	node := reserve(t, 0)[0]
	namespace := cluster.NewNamespace(t)
	reader := func(name, threads string) *corev1.Pod {
		pod := cluster.ProbePod(namespace, name, node, "run", "--job", "disk-read", "--intensity", threads, "--duration", "1h", "--dir", "/var/tmp")
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "files", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "files", MountPath: "/var/tmp"})
		return requesting(pod, "100m", "")
	}
	must(t, cluster.Create(t.Context(), reader("ledger", "1")))
	cluster.AwaitLong(t, "the gauge to know what the disk takes", 10*time.Minute, live.Node(node), func() (bool, string) {
		answer := live.Who(t, namespace)
		for i := range answer.Nodes {
			if n := &answer.Nodes[i]; n.Name == node && len(answer.Pods) > 0 {
				return len(n.UnlearnedDisks) == 0, fmt.Sprintf("it does not of %q", n.UnlearnedDisks)
			}
		}
		return false, "nothing is observed"
	})
	must(t, cluster.Create(t.Context(), reader("backup", "8")))

	f := cluster.AwaitFinding(t, node, namespace, "ledger", func(f *findings.Finding) bool { return f.Seconds > 50 })
	if c := f.Causes[0]; c.Kind != observed.ByNeighbour || c.Resource != observed.Disk || c.Device == "" || c.Pod != namespace+"/backup" {
		t.Errorf("the first cause is %+v, want the pod backup at a disk", c)
	}
	if f.Remedy.ByHand == nil || f.Remedy.ByHand.Pod != namespace+"/backup" {
		t.Errorf("the remedy is %+v, want advice about the pod backup", f.Remedy)
	}
	t.Logf("dilation %.2f ± %.2f: %+v", f.Dilation, f.DilationError, f.Causes)
}
