package kindcluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Do does something to a node: "stop" cuts its power, "kill-kubelet" crashes its kubelet, which systemd starts anew, and "start"
// brings the node back, and returns when it is ready.
func Do(ctx context.Context, verb, node string) error {
	switch verb {
	case "stop":
		_, err := docker(ctx, "kill", node)
		return err
	case "kill-kubelet":
		_, err := docker(ctx, "exec", node, "systemctl", "kill", "--signal=KILL", "kubelet.service")
		return err
	case "start":
		return start(ctx, node)
	default:
		return fmt.Errorf("nothing called %q can be done to a node", verb)
	}
}

// start starts a node's container, unless it runs, and its kubelet, and returns when the node is ready.
func start(ctx context.Context, node string) error {
	if _, err := docker(ctx, "start", node); err != nil {
		return err
	}
	_, err := docker(ctx, "exec", node, "timeout", "180", "sh", "-euc", `
		until systemctl start kubelet.service; do sleep 0.2; done # systemd is not there from the beginning
		until kubectl --kubeconfig=/etc/kubernetes/kubelet.conf wait --for=condition=Ready --timeout=2m "node/$0"; do sleep 0.2; done`, node)
	return err
}

// docker runs the docker command and returns what it prints, without the final newline.
func docker(ctx context.Context, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
