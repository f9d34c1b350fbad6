package controlplane_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/internal/proctest"
)

func TestNodesStayReadyAndRunPods(t *testing.T) {
	t.Parallel()
	plane := start(t, controlplane.Options{})
	client := kubernetes.NewForConfigOrDie(plane.RESTConfig())
	if err := plane.AddNodes(t.Context(), node("worker-1"), node("worker-2"), node("worker-3")); err != nil {
		t.Fatal(err)
	}

	_, err := client.CoreV1().Pods("default").Create(t.Context(), pod("web", "worker-2"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the pod runs", func(ctx context.Context) (bool, error) {
		pod, err := client.CoreV1().Pods("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})

	var first metav1.MicroTime
	await(t, "kwok renews a node's lease", func(ctx context.Context) (bool, error) {
		lease, err := client.CoordinationV1().Leases("kube-node-lease").Get(ctx, "worker-1", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil // not made yet
		}
		if err != nil {
			return false, err
		}
		if first.IsZero() {
			first = *lease.Spec.RenewTime
		}
		return first.Before(lease.Spec.RenewTime), nil
	})
}

func TestTheServerReportsAVersionThatClientsCanParse(t *testing.T) {
	t.Parallel()
	plane := start(t, controlplane.Options{WithoutControllerManager: true, WithoutKWOK: true})
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	version, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if want := "v" + version.Major + "." + version.Minor + "."; version.Major == "" || !strings.HasPrefix(version.GitVersion, want) {
		t.Errorf("git version %q does not begin with %q", version.GitVersion, want)
	}
}

func TestWithoutControllersPodsAreAdmittedAndNodesAreReady(t *testing.T) {
	t.Parallel()
	plane := start(t, controlplane.Options{WithoutControllerManager: true})
	if err := plane.AddNodes(t.Context(), node("worker")); err != nil {
		t.Error(err)
	}
	client := kubernetes.NewForConfigOrDie(plane.RESTConfig())
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod("web", "worker"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func TestRestartAPIServerKeepsObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plane := start(t, controlplane.Options{Dir: dir})
	client := kubernetes.NewForConfigOrDie(plane.RESTConfig())
	if err := plane.AddNodes(t.Context(), node("before")); err != nil {
		t.Fatal(err)
	}
	pid := proctest.Mentioning(t, dir)["kube-apiserver"]

	if err := plane.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := proctest.Mentioning(t, dir)["kube-apiserver"]; now == pid || now == 0 {
		t.Errorf("kube-apiserver was process %d and is process %d, want another", pid, now)
	}
	if _, err := client.CoreV1().Nodes().Get(t.Context(), "before", metav1.GetOptions{}); err != nil {
		t.Errorf("a node made before the restart: %v", err)
	}
	if err := plane.AddNodes(t.Context(), node("after")); err != nil {
		t.Errorf("a node made after the restart: %v", err)
	}
	select {
	case <-plane.Done():
		t.Errorf("the control plane ended: %v", plane.Err())
	default:
	}
}

func TestTheAuditLogSaysWhatAServiceAccountAskedAndWasAnswered(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "made", "audit.log")
	plane := start(t, controlplane.Options{WithoutKWOK: true, AuditLog: log})
	client := kubernetes.NewForConfigOrDie(plane.RESTConfig())
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(plane.RESTConfig())
	config.BearerToken = token.Status.Token
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	if _, err := pods.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a service account without rights gets %v, want it forbidden", err)
	}

	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"username":"system:serviceaccount:default:default"`, `"verb":"list"`, `"resource":"pods"`, `"code":403`, `"authorization.k8s.io/decision":"forbid"`,
	} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the audit log does not contain %s:\n%s", want, content)
		}
	}
	if lines := strings.Count(string(content), "\n"); lines != 1 {
		t.Errorf("the audit log has %d lines, want one of the one request: the others are not of service accounts", lines)
	}
}

func TestAnAuditPolicyTakesThePlaceOfOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	const all = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: RequestResponse, verbs: [create], resources: [{resources: [namespaces]}]}]
`
	if err := os.WriteFile(policy, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	plane := start(t, controlplane.Options{WithoutKWOK: true, AuditLog: log, AuditPolicy: policy})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "audited"}}
	if _, err := kubernetes.NewForConfigOrDie(plane.RESTConfig()).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"audited"`, `"responseObject":`, `"resourceVersion":`} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the audit log does not contain %s:\n%s", want, content)
		}
	}
}

func TestACrashIsReportedWithTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plane := start(t, controlplane.Options{Dir: dir, WithoutKWOK: true})
	if err := syscall.Kill(proctest.Mentioning(t, dir)["kube-controller-manager"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	<-plane.Done()
	contains(t, plane.Err(), "kube-controller-manager ended by itself (signal: killed)", "the end of its log:", "controller")
	if err := plane.Stop(); err != nil {
		t.Errorf("Stop after a crash: %v", err)
	}
}

func TestAFailedStartQuotesTheLogAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := controlplane.Start(t.Context(), controlplane.Options{Dir: dir, APIServerFlags: []string{"--no-such-flag"}})
	contains(t, err, "kube-apiserver ended by itself (exit status 1)", "unknown flag: --no-such-flag")
	leftNothing(t, dir)
}

func TestACancelledStartLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	log := &trigger{text: "etcd ready", pull: cancel}
	_, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, Log: log})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start: got %v, want context.Canceled", err)
	}
	leftNothing(t, dir)
}

func TestStopLeavesNoProcessAndNoFolder(t *testing.T) {
	t.Parallel()
	plane := start(t, controlplane.Options{})
	dir := filepath.Dir(plane.Kubeconfig())
	if parts := proctest.Mentioning(t, dir); len(parts) != 4 {
		t.Errorf("running: %v, want four parts", parts)
	}

	if err := plane.Stop(); err != nil {
		t.Fatal(err)
	}
	if parts := proctest.Mentioning(t, dir); len(parts) != 0 {
		t.Errorf("still running: %v", parts)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
	<-plane.Done()
	if err := plane.Err(); err != nil {
		t.Errorf("Err after an ordinary stop: %v", err)
	}
	if err := plane.Stop(); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
	if err := plane.RestartAPIServer(t.Context()); err == nil {
		t.Error("RestartAPIServer after Stop: no error")
	}
}

func TestAFolderIsForOneControlPlaneAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := controlplane.Find(dir); !errors.Is(err, controlplane.ErrNotRunning) {
		t.Errorf("Find before: %v, want ErrNotRunning", err)
	}
	plane := start(t, controlplane.Options{Dir: dir, WithoutControllerManager: true, WithoutKWOK: true})

	_, err := controlplane.Start(t.Context(), controlplane.Options{Dir: dir})
	contains(t, err, "a control plane already runs in "+dir)
	found, err := controlplane.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if found.PID != os.Getpid() || found.Kubeconfig != plane.Kubeconfig() {
		t.Errorf("Find: got %+v, want our process %d and %s", found, os.Getpid(), plane.Kubeconfig())
	}
	contains(t, plane.AddNodes(t.Context(), node("never-ready")), "kwok is not running")
}

// start starts a control plane that ends with the test.
func start(t *testing.T, options controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	options.Log = t.Output()
	plane, err := controlplane.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}
}

// await fails the test when the condition does not come true in a minute.
func await(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func contains(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not contain %q:\n%v", text, err)
		}
	}
}

// leftNothing checks that a control plane that did not start left no process, and nothing but logs.
func leftNothing(t *testing.T, dir string) {
	t.Helper()
	if parts := proctest.Mentioning(t, dir); len(parts) != 0 {
		t.Errorf("still running: %v", parts)
	}
	for _, name := range []string{"kubeconfig", "etcd", "credentials"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was left behind: %v", name, err)
		}
	}
}

// trigger is a log that calls pull when text is written to it.
type trigger struct {
	text string
	pull func()

	written bytes.Buffer
}

func (w *trigger) Write(p []byte) (int, error) {
	w.written.Write(p)
	if strings.Contains(w.written.String(), w.text) {
		w.pull()
	}
	return len(p), nil
}
