//go:build linux

// Podnet lays the pods' network on a node of kind: it configures the node's network plugins with the node's range of pod
// addresses, and lays routes to the ranges of all other nodes, which must be on the same link. It looks for them once a
// second, and runs as a pod on each node, in the node's network.
//
// NODE_NAME is the node's name. CONTROL_PLANE_ENDPOINT, the host and port of the API server, spares it waiting for kube-proxy.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"loadline.dev/loadline/hack/cluster/node"
)

// configFile is where containerd looks for the configuration of network plugins.
const configFile = "/etc/cni/net.d/10-podnet.conflist"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && ctx.Err() == nil { // else the kubelet ends us
		fmt.Fprintln(os.Stderr, "podnet:", err)
		os.Exit(1) //nolint:gocritic // what is deferred ends with us
	}
}

// run keeps the network until ctx ends. A step that fails ends it: the kubelet starts it anew.
func run(ctx context.Context) error {
	self := os.Getenv("NODE_NAME")
	if self == "" {
		return errors.New("NODE_NAME is not set")
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	if endpoint := os.Getenv("CONTROL_PLANE_ENDPOINT"); endpoint != "" {
		config.Host = "https://" + endpoint
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil { // the API server is starting, or away for a moment
			fmt.Fprintln(os.Stderr, "podnet:", err)
			return false, nil
		}
		for i := range nodes.Items {
			if err := connect(self, &nodes.Items[i]); err != nil {
				return false, fmt.Errorf("node %s: %w", nodes.Items[i].Name, err)
			}
		}
		return false, nil
	})
}

// connect configures the network plugins if the node is our own, and lays a route to its pods if it is another. A node without
// a range or an address is not ready for that.
func connect(self string, node *corev1.Node) error {
	if node.Spec.PodCIDR == "" {
		return nil
	}
	if node.Name == self {
		return configure(configFile, node.Spec.PodCIDR)
	}
	route, err := routeTo(node)
	if err != nil || route.Gw == nil {
		return err
	}
	return netlink.RouteReplace(route)
}

// routeTo returns the route to the pods of a node. It has no gateway while the node has no address.
func routeTo(node *corev1.Node) (*netlink.Route, error) {
	_, pods, err := net.ParseCIDR(node.Spec.PodCIDR)
	if err != nil {
		return nil, fmt.Errorf("spec.podCIDR: %w", err)
	}
	route := &netlink.Route{Dst: pods}
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP && route.Gw == nil {
			route.Gw = net.ParseIP(address.Address)
		}
	}
	return route, nil
}

// configure writes the configuration into a file, in one step, unless it is there already.
func configure(path, pods string) error {
	want, err := node.Network{Pods: pods, Inside: true}.Config()
	if err != nil {
		return err
	}
	if has, err := os.ReadFile(path); err == nil && bytes.Equal(has, want) {
		return nil
	}
	partial := filepath.Join(filepath.Dir(path), ".partial")
	if err := os.WriteFile(partial, want, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
