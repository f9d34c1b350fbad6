//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPluginsAreConfiguredWithTheNodesOwnRange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "podnet.conflist")
	for range 2 { // the second time there is nothing to do
		if err := configure(path, "10.244.1.0/24"); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"10.244.1.0/24"`) {
		t.Errorf("got %s, %v", text, err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("left %v, %v", files, err)
	}
}

func TestARouteToANodesPodsGoesByItsAddress(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{Spec: corev1.NodeSpec{PodCIDR: "10.244.2.0/24"}}
	if route, err := routeTo(node); err != nil || route.Gw != nil {
		t.Errorf("a node without an address is reached by %v, %v", route, err)
	}
	node.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "worker"}, {Type: corev1.NodeInternalIP, Address: "172.18.0.3"}, {Type: corev1.NodeInternalIP, Address: "fc00::3"},
	}
	route, err := routeTo(node)
	if err != nil || route.Dst.String() != "10.244.2.0/24" || route.Gw.String() != "172.18.0.3" {
		t.Errorf("got %v, %v", route, err)
	}
	node.Spec.PodCIDR = "10.244.2.0"
	if _, err := routeTo(node); err == nil || !strings.Contains(err.Error(), "spec.podCIDR") {
		t.Errorf("a range that is none gives %v", err)
	}
}

func TestANodeWithoutARangeHasNoNetworkYet(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{}
	node.Name = "worker"
	if err := connect("worker", node); err != nil {
		t.Error(err)
	}
}
