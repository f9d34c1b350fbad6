package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/podnames"
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// The environment variables that say which node and which pod it is where the flags do not.
const (
	nodeNameVariable = "NODE_NAME"
	podUIDVariable   = "POD_UID"
)

// node is where the node's accounting is, in flags.
type node struct {
	name, pod, proc, cgroup, podLogs string

	// stalls, if not nil, are polled between readings.
	stalls *reading.Stalls
}

func (n *node) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&n.name, "node-name", "", "Name of the node. Defaults to that in "+nodeNameVariable+", else to the host's.")
	flags.StringVar(&n.pod, "pod-uid", "", "UID of the pod that this runs in, by which its node is distinguished from others on the same machine. Defaults to that in "+podUIDVariable+".")
	flags.StringVar(&n.proc, "proc", "/proc", "Where the proc file system of the node is, with the processes of all pods.")
	flags.StringVar(&n.cgroup, "cgroup", "/sys/fs/cgroup", "Where the control groups of the node are.")
	flags.StringVar(&n.podLogs, "pod-logs", "/var/log/pods", "Folder of the logs of pods, whose folders name the pods. Nothing in it is opened. Empty to report pods by their UIDs.")
}

// sampler makes a first reading, and returns what samples from there on. It calls named after each sample, with the error of
// listing the names of pods, nil for none.
func (n *node) sampler(named func(error)) (history.Sampler, error) {
	name, err := n.named()
	if err != nil {
		return nil, err
	}
	reader := reading.Reader{Proc: n.proc, Cgroup: n.cgroup, Pod: cmp.Or(n.pod, os.Getenv(podUIDVariable)), Stalls: n.stalls}
	between := func(before, after *reading.Reading, called func(uid string) (namespace, name string)) *usage.Interval {
		v := reading.Between(before, after, name, called)
		reader.Follow(after, v)
		return v
	}
	if n.podLogs == "" {
		return history.Differences(reader.Read, func(before, after *reading.Reading) *usage.Interval {
			return between(before, after, nil)
		})
	}
	names := podnames.At(n.podLogs)
	return history.Differences(reader.Read, func(before, after *reading.Reading) *usage.Interval {
		v := between(before, after, names.ForInterval())
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
	return strings.ToLower(strings.TrimSpace(name)), nil // as the kubelet names its node
}
