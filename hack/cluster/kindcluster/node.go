package kindcluster

import (
	"context"
	"os/exec"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// Node is the name of a node, which is that of its container.
type Node string

// Stop cuts the node's power.
func (n Node) Stop(ctx context.Context) error {
	_, err := docker(ctx, "kill", string(n))
	return err
}

// KillKubelet crashes the node's kubelet, which systemd starts anew.
func (n Node) KillKubelet(ctx context.Context) error {
	_, err := docker(ctx, "exec", string(n), "systemctl", "kill", "--signal=KILL", "kubelet.service")
	return err
}

// Start starts the node's container, unless it runs, and its kubelet, and returns when the node is ready.
func (n Node) Start(ctx context.Context) error {
	if _, err := docker(ctx, "start", string(n)); err != nil {
		return err
	}
	_, err := docker(ctx, "exec", string(n), "timeout", "180", "sh", "-euc", `
		until systemctl start kubelet.service; do sleep 0.2; done # systemd is not there from the beginning
		until kubectl --kubeconfig=/etc/kubernetes/kubelet.conf wait --for=condition=Ready --timeout=2m "node/$0"; do sleep 0.2; done`, string(n))
	return err
}

// docker runs the docker command and returns what it prints.
func docker(ctx context.Context, args ...string) (string, error) {
	return process.Output(exec.CommandContext(ctx, "docker", args...))
}
