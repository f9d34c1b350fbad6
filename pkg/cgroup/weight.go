package cgroup

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// What shares may be.
const (
	MinShares    = 2
	MaxShares    = 262144
	sharesPerCPU = 1024
)

// Shares are what the kubelet makes of a CPU request, given in thousandths of a
// CPU: 1024 for one CPU, rounded down, from [MinShares] to [MaxShares].
func Shares(milliCPU int64) int64 {
	const most = MaxShares * 1000 / sharesPerCPU
	return min(max(min(milliCPU, most)*sharesPerCPU/1000, MinShares), MaxShares)
}

// Conversion is how shares become the weights by which the kernel compares
// siblings.
type Conversion int

const (
	// Linear maps shares from 2 to 262144 to weights from 1 to 10000 by a straight
	// line: 1 CPU has 39, and up to 28 thousandths have 1. The kubelet does so
	// for pods and QoS classes, and runc before 1.3.2 and crun before 1.23 for
	// containers.
	Linear Conversion = iota
	// Logarithmic maps them so that the defaults, 1024 and 100, correspond, too.
	// Newer runtimes do so for containers.
	Logarithmic
	// None leaves shares as they are: cgroup v1.
	None
)

// String returns linear, log or none.
func (c Conversion) String() string {
	switch c {
	case Linear:
		return "linear"
	case Logarithmic:
		return "log"
	case None:
		return "none"
	default:
		return fmt.Sprintf("Conversion(%d)", int(c))
	}
}

// Weight converts shares, from [MinShares] to [MaxShares].
func (c Conversion) Weight(shares int64) int64 {
	switch {
	case c == None:
		return shares
	case shares >= MaxShares:
		return 10000
	case shares <= MinShares:
		return 1
	case c == Logarithmic:
		l := math.Log2(float64(shares))
		return int64(math.Ceil(math.Pow(10, (l*l+125*l)/612-7.0/34)))
	default:
		return 1 + (shares-MinShares)*9999/(MaxShares-MinShares)
	}
}

// Detect returns how the runtime of a node most probably converts the shares of
// containers, and why: the node's status has the version of containerd or CRI-O, not
// that of runc or crun, which they call.
func Detect(node *corev1.Node) (c Conversion, why string) {
	version := node.Status.NodeInfo.ContainerRuntimeVersion
	runtime, number, _ := strings.Cut(version, "://")
	switch {
	case version == "":
		return Linear, "the node does not say which container runtime it has"
	case runtime == "containerd" && atLeast(number, 2, 2):
		return Logarithmic, version + " comes with a runc of at least 1.3.2, if the node uses that"
	default:
		return Linear, "the version of runc or crun is not known from " + version
	}
}

// atLeast reports whether a version such as v2.2.1-rc.0 is at least major.minor.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}
