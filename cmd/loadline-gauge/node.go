package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/podnames"
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// nodeNameVariable is the environment variable that names the node where the flag does not.
const nodeNameVariable = "NODE_NAME"

// node is where the node's accounting is, in flags.
type node struct{ name, proc, cgroup, podLogs string }

func (n *node) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&n.name, "node-name", "", "Name of the node. Defaults to that in "+nodeNameVariable+", else to the host's.")
	flags.StringVar(&n.proc, "proc", "/proc", "Where the proc file system of the node is, with the processes of all pods.")
	flags.StringVar(&n.cgroup, "cgroup", "/sys/fs/cgroup", "Where the control groups of the node are, of version 2.")
	flags.StringVar(&n.podLogs, "pod-logs", "/var/log/pods", "Folder of the logs of pods, whose folders name the pods. Nothing in it is opened. Empty to report pods by their UIDs.")
}

// sampler makes a first reading, and returns what samples from there on. Named is told after each sample whether the names
// of pods could be listed.
func (n *node) sampler(named func(error)) (history.Sampler, error) {
	name, err := n.named()
	if err != nil {
		return nil, err
	}
	reader := reading.Reader{Proc: n.proc, Cgroup: n.cgroup}
	if n.podLogs == "" {
		nameless := func(string) (string, string) { return "", "" }
		return history.Differences(reader.Read, func(before, after *reading.Reading) *usage.Interval {
			return reading.Between(before, after, name, nameless)
		})
	}
	names := podnames.At(n.podLogs)
	return history.Differences(reader.Read, func(before, after *reading.Reading) *usage.Interval {
		v := reading.Between(before, after, name, names.ForInterval())
		named(names.Err())
		return v
	})
}

// named returns the name of the node.
func (n *node) named() (string, error) {
	if n.name != "" {
		return n.name, nil
	}
	if name := os.Getenv(nodeNameVariable); name != "" {
		return name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("--node-name: there is none, and the host does not say its own: %w", err)
	}
	return name, nil
}
