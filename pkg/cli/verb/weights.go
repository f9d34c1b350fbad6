package verb

import (
	"fmt"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/cgroup"
)

// Weights is the flags that say how a node makes weights of the CPU requests of its pods. The zero value is a node without
// known settings.
type Weights struct {
	cgroup string
	policy string
}

// Values of flags.
const (
	cgroupV1     = "v1"
	cgroupV2     = "v2"
	policyNone   = "none"
	policyStatic = "static"
)

// Add adds the flags to a verb.
func (w *Weights) Add(command *cobra.Command) {
	command.Flags().StringVar(&w.cgroup, "cgroup", cgroupV2, "version of cgroups on the node: v1 or v2")
	Complete(command, "cgroup", OneOf([]string{cgroupV1, cgroupV2}))
	w.AddPolicy(command)
}

// AddPolicy adds the flag for the CPU manager to a verb that has the version of cgroups from elsewhere.
func (w *Weights) AddPolicy(command *cobra.Command) {
	command.Flags().StringVar(&w.policy, "cpu-manager-policy", policyNone, "policy of the kubelet's CPU manager: none, or static, by which Guaranteed pods have the whole cores that they request for themselves")
	Complete(command, "cpu-manager-policy", OneOf([]string{policyNone, policyStatic}))
}

// IsV1 reports whether weights are those of cgroup v1.
func (w *Weights) IsV1() bool { return w.cgroup == cgroupV1 }

// Options returns how the node makes weights. The error names the flag, its value and the values that it may have.
func (w *Weights) Options() (options cgroup.Options, err error) {
	switch w.cgroup {
	case cgroupV1:
		options = cgroup.Options{Pods: cgroup.None, Containers: cgroup.None}
	case cgroupV2, "":
	default:
		return options, fmt.Errorf("--cgroup: %q is not one of %s, %s", w.cgroup, cgroupV1, cgroupV2)
	}
	switch w.policy {
	case policyStatic:
		options.StaticCPUs = true
	case policyNone, "":
	default:
		return options, fmt.Errorf("--cpu-manager-policy: %q is not one of %s, %s", w.policy, policyNone, policyStatic)
	}
	return options, nil
}
