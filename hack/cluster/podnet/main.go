//go:build linux

// Podnet lays the pods' network on a node of kind: it configures the node's network plugins with the node's range of pod
// addresses, and keeps routes to the ranges of all other nodes, which must be on the same link. It runs as a pod on each node,
// in the node's network.
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

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/hack/cluster/node"
)

// configFile is where containerd looks for the configuration of network plugins.
const configFile = "/etc/cni/net.d/10-podnet.conflist"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
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
	kept, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	do := func(what func(*corev1.Node) error) func(any) {
		return func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if node, ok := object.(*corev1.Node); ok {
				if err := what(node); err != nil {
					fail(fmt.Errorf("node %s: %w", node.Name, err))
				}
			}
		}
	}
	connect, disconnect := do(func(node *corev1.Node) error { return connect(self, node) }), do(func(node *corev1.Node) error { return disconnect(self, node) })
	factory := informers.NewSharedInformerFactory(client, 0)
	_, err = factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: connect, UpdateFunc: func(_, node any) { connect(node) }, DeleteFunc: disconnect,
	})
	if err != nil {
		return err
	}
	factory.StartWithContext(kept)
	<-kept.Done()
	factory.Shutdown()
	if ctx.Err() != nil { // the kubelet ends us
		return nil
	}
	return context.Cause(kept)
}

// connect configures the network plugins if the node is our own, and lays a route to its pods if it is another. A node without
// a range or an address is not ready for that; another event follows.
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

// disconnect removes the route to the pods of a node that is gone.
func disconnect(self string, node *corev1.Node) error {
	if node.Name == self || node.Spec.PodCIDR == "" {
		return nil
	}
	route, err := routeTo(node)
	if err != nil || route.Gw == nil {
		return err
	}
	if err := netlink.RouteDel(route); err != nil && !errors.Is(err, syscall.ESRCH) { // ESRCH: there is none
		return err
	}
	return nil
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
