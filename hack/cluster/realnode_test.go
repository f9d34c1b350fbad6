//go:build e2e && linux

package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/internal/proctest"
)

// These tests are not parallel: a machine has one cluster with real nodes.

func TestARealNodeCrashesAndComesBack(t *testing.T) { //nolint:paralleltest // see above
	nodes := upReal(t)
	nodes.load(t, "./pause")
	nodes.create(t, pod("steady"))
	nodes.awaitPhase(t, "steady", corev1.PodRunning)
	if cpus := nodes.cpusOf(t, "steady"); cpus != "0" {
		t.Errorf("the pod may use the CPUs %s, want 0, the worker's own", cpus)
	}

	nodes.do(t, "kill-kubelet")
	if _, stderr, code := call(t, "node", "kill-kubelet", "worker-1", "--dir", nodes.dir); code != exitFailed || !strings.Contains(stderr, "its kubelet is not running") {
		t.Errorf("killing a kubelet twice: exit code %d: %s", code, stderr)
	}
	if nodes.pids(t) == nil {
		t.Error("the pod ended with the kubelet")
	}
	nodes.create(t, pod("later"))
	nodes.do(t, "start")
	nodes.awaitPhase(t, "later", corev1.PodRunning)
	nodes.do(t, "start") // which is nothing to a node that runs

	nodes.do(t, "stop")
	if pids := nodes.pids(t); pids != nil {
		t.Errorf("processes of pods on a node without power: %v", pids)
	}
	nodes.do(t, "start")
	nodes.awaitPhase(t, "steady", corev1.PodFailed) // restartPolicy is Never
	nodes.create(t, pod("after"))
	nodes.awaitPhase(t, "after", corev1.PodRunning) // with the image that was loaded before

	if _, stderr, code := call(t, "node", "stop", "worker-7", "--dir", nodes.dir); code != exitFailed || !strings.Contains(stderr, "there are system, worker-1") {
		t.Errorf("a node that is none: exit code %d: %s", code, stderr)
	}
	if _, stderr, code := call(t, "down", "--dir", nodes.dir); code != exitDone {
		t.Errorf("down: exit code %d: %s", code, stderr)
	}
	nothingIsLeft(t, nodes.dir)
}

func TestPodsOnARealNodeReachTheAPIServerAndTheirLogsAreThere(t *testing.T) { //nolint:paralleltest // see above
	nodes := upReal(t)
	nodes.load(t, "./internal/proctest/dial")
	dialer := pod("dialer")
	dialer.Spec.Containers[0].Image, dialer.Spec.Containers[0].Command = "loadline/dial:dev", []string{"dial"}
	nodes.create(t, dialer)
	nodes.awaitPhase(t, "dialer", corev1.PodSucceeded)
	logs, err := nodes.client.CoreV1().Pods("default").GetLogs("dialer", &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(logs), "reached 10.96.0.1") {
		t.Errorf("the pod says %q, want that it reached the Service kubernetes", logs)
	}
}

func TestKillingTheProgramEndsRealNodesAndDownRemovesTheRest(t *testing.T) { //nolint:paralleltest // see above
	nodes := upReal(t)
	nodes.load(t, "./pause")
	nodes.create(t, pod("steady"))
	nodes.awaitPhase(t, "steady", corev1.PodRunning)

	if err := nodes.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	exitCode(t, nodes.server)
	proctest.AwaitNone(t, nodes.dir)
	if pids := nodes.pids(t); pids != nil {
		t.Errorf("processes of pods: %v", pids)
	}
	if _, stderr, code := call(t, "down", "--dir", nodes.dir); code != exitDone {
		t.Errorf("down: exit code %d: %s", code, stderr)
	}
	nothingIsLeft(t, nodes.dir)
}

func TestASecondClusterWithRealNodesIsRefused(t *testing.T) { //nolint:paralleltest // see above
	nodes := upReal(t)
	_, stderr, code := call(t, "up", "--real-nodes", "1", "--dir", filepath.Join(filepath.Dir(nodes.dir), "second"))
	if code != exitFailed || !strings.Contains(stderr, "another process has real nodes on this machine, in "+nodes.dir) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// realNodes is a running cluster with one worker.
type realNodes struct {
	dir    string
	server *exec.Cmd
	client kubernetes.Interface
}

// upReal starts a cluster with one worker that ends with the test.
func upReal(t *testing.T) *realNodes {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cluster")
	nodes := &realNodes{dir: dir, server: up(t, dir, "--real-nodes", "1")}
	t.Cleanup(func() { // before the folder is removed
		if _, stderr, code := call(t, "down", "--dir", dir); code != exitDone {
			t.Errorf("down: exit code %d: %s", code, stderr)
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	nodes.client = kubernetes.NewForConfigOrDie(config)
	return nodes
}

// load builds a program of this module and loads its image.
func (n *realNodes) load(t *testing.T, pkg string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if err := image.BuildProgram(t.Context(), ".", pkg, binary); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := call(t, "load", "--dir", n.dir, binary); code != exitDone {
		t.Fatalf("load: exit code %d: %s", code, stderr)
	}
}

// do does something to the worker.
func (n *realNodes) do(t *testing.T, verb string) {
	t.Helper()
	if _, stderr, code := call(t, "node", verb, "worker-1", "--dir", n.dir); code != exitDone {
		t.Fatalf("node %s: exit code %d: %s", verb, code, stderr)
	}
}

// pod is a pod that does nothing on the worker until it is told to end.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: "worker-1", RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{Name: "main", Image: "loadline/pause:dev", Command: []string{"pause"}, ImagePullPolicy: corev1.PullNever}},
		},
	}
}

func (n *realNodes) create(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if _, err := n.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (n *realNodes) awaitPhase(t *testing.T, name string, phase corev1.PodPhase) {
	t.Helper()
	var last corev1.PodStatus
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		pod, err := n.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = pod.Status
		return last.Phase == phase, nil
	})
	if err != nil {
		t.Fatalf("pod %s is not %s: %v: %+v", name, phase, err, last)
	}
}

// cpusOf returns the CPUs that a pod's container may use.
func (n *realNodes) cpusOf(t *testing.T, name string) string {
	t.Helper()
	pod, err := n.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"} {
		files, err := filepath.Glob(mount + "/loadline/worker-1/kubepods/*/*/" + id + "/cpuset.cpus")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(text))
		}
	}
	t.Fatalf("there is no cgroup of container %s", id)
	return ""
}

// pids returns the processes of pods.
func (*realNodes) pids(t *testing.T) []string {
	t.Helper()
	var pids []string
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"} {
		files, err := filepath.Glob(mount + "/loadline/worker-1/kubepods/*/*/*/cgroup.procs")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, strings.Fields(string(text))...)
		}
	}
	return pids
}

// nothingIsLeft checks that a cluster is gone, with its cgroups, interfaces and folders.
func nothingIsLeft(t *testing.T, dir string) {
	t.Helper()
	if parts := proctest.Mentioning(t, dir); len(parts) != 0 {
		t.Errorf("still running: %v", parts)
	}
	for _, pattern := range []string{"/sys/fs/cgroup/loadline", "/sys/fs/cgroup/*/loadline", filepath.Join(dir, "nodes")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	if _, err := net.InterfaceByName("loadline0"); err == nil {
		t.Error("left: the interface loadline0")
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), dir) {
		t.Errorf("left: mounts in %s:\n%s", dir, mounts)
	}
}
