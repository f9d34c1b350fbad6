//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

// newNamespace makes a namespace for a test, under the restricted Pod Security
// Standard, and removes it, and all in it, when the test ends.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	must(t, cluster.Create(t.Context(), namespace))
	removeAtEnd(t, namespace)
	t.Cleanup(func() {
		if t.Failed() {
			describe(t, namespace.Name)
		}
	})
	return namespace.Name
}

// removeAtEnd removes an object when the test ends.
func removeAtEnd(t *testing.T, object client.Object) {
	t.Helper()
	t.Cleanup(func() {
		if err := cluster.Delete(context.WithoutCancel(t.Context()), object); err != nil {
			t.Error(err)
		}
	})
}

// reserved are the workers that tests have to themselves, by their places.
var reserved = struct {
	*sync.Cond // whenever one is given back
	places     map[int]bool
}{sync.NewCond(&sync.Mutex{}), map[int]bool{}}

// reserve returns the names of some workers, by their places, that the test has to
// itself until it ends: nobody else's pods run there when it begins. It takes all at
// once or none, so that no test waits for one while others wait for it.
func reserve(t *testing.T, places ...int) []string {
	t.Helper()
	reserved.L.Lock()
	for slices.ContainsFunc(places, func(place int) bool { return reserved.places[place] }) {
		reserved.Wait()
	}
	for _, place := range places {
		reserved.places[place] = true
	}
	reserved.L.Unlock()
	t.Cleanup(func() {
		reserved.L.Lock()
		defer reserved.L.Unlock()
		for _, place := range places {
			delete(reserved.places, place)
		}
		reserved.Broadcast()
	})
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = cluster.workers[place].Name
		awaitQuiet(t, names[i])
	}
	return names
}

// awaitQuiet waits until the pods of others are gone from a node.
func awaitQuiet(t *testing.T, node string) {
	t.Helper()
	await(t, "nobody's pods run on "+node, nodeOf(node), func() (bool, string) {
		var pods corev1.PodList
		must(t, cluster.List(t.Context(), &pods, client.MatchingFields{"spec.nodeName": node}))
		return probejob.Quiet(node, pods.Items)
	})
}

// describe logs what became of a namespace's pods.
func describe(t *testing.T, namespace string) {
	var pods corev1.PodList
	var events corev1.EventList
	if err := cluster.List(context.WithoutCancel(t.Context()), &pods, client.InNamespace(namespace)); err != nil {
		t.Log(err)
	}
	if err := cluster.List(context.WithoutCancel(t.Context()), &events, client.InNamespace(namespace)); err != nil {
		t.Log(err)
	}
	for _, pod := range pods.Items {
		t.Logf("pod %s on %s: %s", pod.Name, pod.Spec.NodeName, state(&pod))
	}
	for _, event := range events.Items {
		if event.InvolvedObject.Kind == "Pod" && event.Type == corev1.EventTypeNormal || event.Reason == "MissingClusterDNS" {
			continue // pods that come and go as they should
		}
		t.Logf("%s %s: %s: %s", event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Reason, event.Message)
	}
}

// probePod returns a pod that runs loadline-probe on a node, which it reaches by the
// scheduler.
func probePod(namespace, name, node string, args ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: probeSpec(args...)}
	pod.Spec.Affinity = onNode(node)
	return pod
}

// probeSpec returns what a pod is made of that runs loadline-probe once.
func probeSpec(args ...string) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "probe", Image: *probeImage, ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         append([]string{"loadline-probe"}, args...),
			Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		}},
	}
}

// onNode says that a pod must run on a node.
func onNode(name string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
		}},
	}}}
}

// runPod creates a pod and returns it when it has ended well.
func runPod(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	must(t, cluster.Create(t.Context(), pod))
	await(t, fmt.Sprintf("pod %s ends well", pod.Name), pod, func() (bool, string) {
		if pod.Status.Phase == corev1.PodFailed {
			t.Fatalf("pod %s: %s", pod.Name, state(pod))
		}
		return pod.Status.Phase == corev1.PodSucceeded, state(pod)
	})
	return pod
}

// terminationMessage returns what a container of a pod that has ended says of its run.
func terminationMessage(t *testing.T, pod *corev1.Pod, container string) string {
	t.Helper()
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if status.Name == container && status.State.Terminated != nil {
			return status.State.Terminated.Message
		}
	}
	t.Fatalf("pod %s: container %s has not ended: %s", pod.Name, container, state(pod))
	return ""
}

// state tells in a line how a pod is.
func state(pod *corev1.Pod) string {
	line := string(pod.Status.Phase)
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		switch {
		case status.State.Waiting != nil:
			line += fmt.Sprintf("; %s waits: %s: %s", status.Name, status.State.Waiting.Reason, status.State.Waiting.Message)
		case status.State.Terminated != nil:
			end := status.State.Terminated
			line += fmt.Sprintf("; %s ended with exit code %d: %s: %s", status.Name, end.ExitCode, end.Reason, end.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
			line += "; " + condition.Message
		}
	}
	return line
}

// patience is how long a test waits for what should come, on a machine in use too,
// and longPatience for what takes minutes by itself.
const (
	patience     = 5 * time.Minute
	longPatience = 20 * time.Minute
)

// await reads an object until a condition of it holds. The condition also tells how
// things stand, for the message of a test that waited in vain.
func await(t *testing.T, what string, object client.Object, holds func() (done bool, stand string)) {
	t.Helper()
	awaitLong(t, what, patience, object, holds)
}

// awaitLong is await with another patience.
func awaitLong(t *testing.T, what string, patience time.Duration, object client.Object, holds func() (done bool, stand string)) {
	t.Helper()
	stand := "it was never read"
	err := wait.PollUntilContextTimeout(t.Context(), 500*time.Millisecond, patience, true, func(ctx context.Context) (done bool, err error) {
		if err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err
		}
		done, stand = holds()
		return done, nil
	})
	if err != nil {
		t.Fatalf("%s: %v; at last: %s", what, err, stand)
	}
}

// awaitCondition reads an object until one of its conditions is as it should be for
// the present spec, and returns it.
func awaitCondition(t *testing.T, object client.Object, conditions *[]metav1.Condition, kind string, status metav1.ConditionStatus) *metav1.Condition {
	t.Helper()
	await(t, fmt.Sprintf("%s is %s: %s", object.GetName(), kind, status), object, func() (bool, string) {
		condition := meta.FindStatusCondition(*conditions, kind)
		if condition == nil {
			return false, "there is no such condition"
		}
		return condition.Status == status && condition.ObservedGeneration == object.GetGeneration(),
			fmt.Sprintf("%s: %s: %s", condition.Status, condition.Reason, condition.Message)
	})
	return meta.FindStatusCondition(*conditions, kind)
}

// createFrom creates the objects of a manifest in testdata, in order, in a
// namespace, into the variables given.
func createFrom(t *testing.T, file, namespace string, objects ...client.Object) {
	t.Helper()
	content, err := os.Open("testdata/" + file)
	must(t, err)
	defer content.Close()
	documents := yaml.NewYAMLOrJSONDecoder(content, 4096)
	for _, object := range objects {
		must(t, documents.Decode(object))
		object.SetNamespace(namespace)
		must(t, cluster.Create(t.Context(), object))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
