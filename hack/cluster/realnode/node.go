//go:build linux

package realnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/internal/cgroupfs"
	"loadline.dev/loadline/hack/cluster/internal/process"
	"loadline.dev/loadline/hack/cluster/node"
)

const (
	// nodeDeadline is how long a node may take to become ready, also on a busy machine.
	nodeDeadline = 4 * time.Minute
	// nodeKinds are the kinds of namespaces that make up a node.
	nodeKinds = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC
)

// The programs of a node, in the order in which they start.
const (
	containerdName = "containerd"
	kubeletName    = "kubelet"
	kubeProxyName  = "kube-proxy"
)

// Node is a real node. Its methods may be called from several goroutines at once.
type Node struct {
	name    string
	number  int // see network
	cores   cpuset.CPUSet
	dir     string
	machine *Machine
	plane   *controlplane.ControlPlane

	mu      sync.Mutex // guards the rest
	inside  *namespaces
	running map[string]*process.Process
}

// Start starts what of the node is not running, all of it when it was stopped, and returns when it is ready for pods.
// A node that was stopped comes back as a machine does after a power cut: with its images, and with pods that are
// started again if their restart policy says so.
func (n *Node) Start(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	begin := time.Now()
	if n.inside == nil {
		if err := n.powerOn(); err != nil {
			return errors.Join(err, n.powerOff())
		}
	}
	if err := n.launch(containerdName, containerdName, "--config", n.file("containerd.toml")); err != nil {
		return err
	}
	if err := n.awaitContainerd(ctx); err != nil {
		return err
	}
	if err := n.importImage(ctx, n.machine.pauseImage()); err != nil {
		return err
	}
	since := metav1.Time{} // a kubelet that runs has reported, and does so again minutes later only
	if !n.runs(kubeletName) {
		since = metav1.Now()
	}
	if err := n.launch(kubeletName, filepath.Join(n.machine.binaries, kubeletName),
		"--config="+n.file("kubelet.yaml"), "--kubeconfig="+n.file("kubelet.kubeconfig"),
		"--hostname-override="+n.name, "--node-ip="+nodeAddress(n.number), "--cert-dir=/var/lib/kubelet/pki"); err != nil {
		return err
	}
	if err := n.launch(kubeProxyName, filepath.Join(n.machine.binaries, kubeProxyName), "--config="+n.file("kube-proxy.yaml")); err != nil {
		return err
	}
	if err := n.awaitReady(ctx, since); err != nil {
		return err
	}
	fmt.Fprintf(n.machine.log, "node %s ready after %.1fs\n", n.name, time.Since(begin).Seconds())
	return nil
}

// powerOn makes the node's namespaces and cgroup, and writes its configuration.
func (n *Node) powerOn() (err error) {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	if err := n.configure(); err != nil {
		return err
	}
	weight := uint64(cgroupfs.NormalWeight)
	if n.name == SystemNode {
		weight = cgroupfs.LowWeight
	}
	if err := ourCgroup.Make(n.name, n.machine.cores.All, weight); err != nil { // the kubelet tells pods which of these cores are theirs
		return err
	}
	if n.inside, err = hold(n.machine.pause, "node "+n.name, n.log("node"), nodeKinds); err != nil {
		return err
	}
	err = n.inside.do(func() error {
		if err := unix.Sethostname([]byte(n.name)); err != nil {
			return fmt.Errorf("set the host name: %w", err)
		}
		return mountNode(n.dir)
	})
	if err != nil {
		return err
	}
	return connect(n.machine.hub, n.inside, n.number, n.machine.workers+1)
}

// Stop stops the node and all pods on it at once, as a power cut does, and returns when everything is gone. A node that
// is not running stays so.
func (n *Node) Stop(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.powerOff()
}

func (n *Node) powerOff() error {
	if n.inside == nil {
		return nil
	}
	var errs []error
	for name, p := range n.running {
		errs = append(errs, p.Kill())
		delete(n.running, name)
	}
	errs = append(errs, n.inside.end(), ourCgroup.Within(n.name).Remove())
	n.inside = nil
	return errors.Join(errs...)
}

// KillKubelet kills the kubelet, as a crash would. The pods run on, and are not supervised until Start.
func (n *Node) KillKubelet(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.running[kubeletName]
	if p == nil {
		return fmt.Errorf("node %s: its kubelet is not running", n.name)
	}
	delete(n.running, kubeletName)
	return p.Kill()
}

// runs reports whether a program of the node is running.
func (n *Node) runs(name string) bool {
	p := n.running[name]
	if p == nil {
		return false
	}
	select {
	case <-p.Exited():
		return false
	default:
		return true
	}
}

// launch starts a program of the node unless it is running.
func (n *Node) launch(name, program string, args ...string) error {
	if n.runs(name) {
		return nil
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Name: name + " of " + n.name, Path: path, Args: args, Env: []string{"HOME=/", "PATH=" + node.SearchPath}, Log: n.log(name),
		Enter: n.inside.enter,
		// It ends with the node, and cannot see this process, which is outside.
		Attributes: func(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = 0 },
	})
	if err != nil {
		return err
	}
	n.running[name] = p
	go func() {
		<-p.Exited()
		if !p.Unwanted() {
			fmt.Fprintln(n.machine.log, p.Failure())
		}
	}()
	return nil
}

func (n *Node) awaitContainerd(ctx context.Context) error {
	return n.running[containerdName].AwaitReady(ctx, nodeDeadline, func(ctx context.Context) error {
		return n.ctr(ctx, "version")
	})
}

// awaitReady returns when the node has said that it is ready, after the moment given, and nothing keeps its pods away.
// It gives the node the label of its role.
func (n *Node) awaitReady(ctx context.Context, since metav1.Time) error {
	client, err := kubernetes.NewForConfig(n.plane.RESTConfig())
	if err != nil {
		return err
	}
	role := "worker"
	if n.name == SystemNode {
		role = "control-plane"
	}
	label := fmt.Appendf(nil, `{"metadata": {"labels": {"node-role.kubernetes.io/%s": ""}}}`, role) // which a kubelet may not do
	return n.running[kubeletName].AwaitReady(ctx, nodeDeadline, func(ctx context.Context) error {
		node, err := client.CoreV1().Nodes().Patch(ctx, n.name, types.MergePatchType, label, metav1.PatchOptions{})
		if err != nil {
			return err
		}
		return readySince(node, since)
	})
}

// readySince returns nil when the node has reported to be ready since a moment, else why it is not.
func readySince(node *corev1.Node, since metav1.Time) error {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return fmt.Errorf("it has the taint %s", taint.Key)
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("it is not ready: %s", condition.Message)
		}
		if condition.LastHeartbeatTime.Time.Before(since.Truncate(time.Second)) {
			return errors.New("it has not reported yet")
		}
		return nil
	}
	return errors.New("it has not reported yet")
}

// load imports an image into the node, by its digest if the repository is named that it is of.
func (n *Node) load(ctx context.Context, archive, repository string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.inside == nil {
		return errors.New("it is not running")
	}
	if repository != "" {
		return n.importImage(ctx, "--digests", "--base-name", repository, archive)
	}
	return n.importImage(ctx, archive)
}

func (n *Node) importImage(ctx context.Context, args ...string) error {
	return n.ctr(ctx, append([]string{"--namespace", "k8s.io", "images", "import"}, args...)...)
}

// ctr runs containerd's command line inside the node.
func (n *Node) ctr(ctx context.Context, args ...string) error {
	return n.inside.do(func() error {
		cmd := exec.CommandContext(ctx, "ctr", args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ctr %v: %w: %s", args, err, bytes.TrimSpace(out))
		}
		return nil
	})
}

func (n *Node) file(name string) string { return filepath.Join(n.dir, name) }

func (n *Node) log(program string) string {
	return filepath.Join(n.plane.Logs(), n.name+"-"+program+".log")
}
