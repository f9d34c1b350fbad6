//go:build linux

package realnode

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// The network of the nodes: see the package comment.
const (
	machineAddress   = "198.18.0.1"
	machineInterface = "loadline0"
	podNetworks      = "198.19.0.0/16"
)

// nodeAddress returns the address of node n.
func nodeAddress(n int) string { return fmt.Sprintf("198.18.0.%d", 10+n) }

// podNetwork returns the network of the pods on node n.
func podNetwork(n int) string { return fmt.Sprintf("198.19.%d.0/24", n) }

// layNetwork makes a bridge inside the namespace hub and connects the machine to it. nodes is how many nodes there
// will be.
func layNetwork(hub *namespaces, nodes int) error {
	err := hub.do(func() error {
		return ip("link add name nodes type bridge\nlink set nodes up\n")
	})
	if err != nil {
		return fmt.Errorf("make the bridge between the nodes: %w", err)
	}
	script := fmt.Sprintf(`link add name %[1]s type veth peer name machine netns %[2]d
addr add %[3]s/24 dev %[1]s
link set %[1]s up
`, machineInterface, hub.holder.PID(), machineAddress)
	if err := ip(script + routesToPods(nodes, -1)); err != nil {
		return fmt.Errorf("connect this machine to the nodes: %w", err)
	}
	err = hub.do(func() error {
		return ip("link set machine master nodes up\n")
	})
	if err != nil {
		return fmt.Errorf("connect this machine to the nodes: %w", err)
	}
	return nil
}

// unplug takes this machine's interface away, if it is there: by itself it vanishes only a moment after its hub.
func unplug() error {
	const folder = "/sys/class/net/" + machineInterface
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	err := ip("link del dev " + machineInterface + "\n")
	if _, gone := os.Stat(folder); errors.Is(gone, os.ErrNotExist) {
		return nil
	}
	return err
}

// connect connects node n to the bridge in hub. nodes is how many nodes there are.
func connect(hub, node *namespaces, n, nodes int) error {
	pid := node.holder.PID()
	plug := fmt.Sprintf("node%d.%d", n, pid) // that of an earlier start may take a moment to vanish
	err := hub.do(func() error {
		return ip(fmt.Sprintf("link add name %[1]s type veth peer name eth0 netns %[2]d\nlink set %[1]s master nodes up\n", plug, pid))
	})
	if err != nil {
		return fmt.Errorf("connect the node to the others: %w", err)
	}
	err = node.do(func() error {
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
			return err
		}
		script := fmt.Sprintf("link set lo up\naddr add %s/24 dev eth0\nlink set eth0 up\nroute add default via %s\n", nodeAddress(n), machineAddress)
		return ip(script + routesToPods(nodes, n))
	})
	if err != nil {
		return fmt.Errorf("set up the node's network: %w", err)
	}
	return nil
}

// routesToPods are the routes to the pods of all nodes but one.
func routesToPods(nodes, but int) string {
	var script strings.Builder
	for n := range nodes {
		if n != but {
			fmt.Fprintf(&script, "route add %s via %s\n", podNetwork(n), nodeAddress(n))
		}
	}
	return script.String()
}
