package probing

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/loading"
)

// Loading returns the fraction of its time alone that each thread of the target is
// served at a resource, p = λ_target · c · (1 − 1/λ_probe)/t, by conservation of
// work: exact in any order of service and for any number of threads, if the probe
// keeps all servers busy. Where there are no more threads than servers the time
// alone is the neutral time.
//
// The result is not clamped: noise makes it a little negative, or more than 1. The error is for a
// dilation beyond [MinDilation] and [MaxDilation], or a number of servers or threads (0 means 1)
// that no node has.
func Loading(targetDilation, probeDilation float64, servers, threads int) (float64, error) {
	if err := validate(servers, threads); err != nil {
		return 0, err
	}
	if rule := dilationRule(targetDilation); rule != "" {
		return 0, fmt.Errorf("dilation of the target: %v %s", targetDilation, rule)
	}
	if rule := dilationRule(probeDilation); rule != "" {
		return 0, fmt.Errorf("dilation of the probe: %v %s", probeDilation, rule)
	}
	return targetDilation * float64(servers) * (1 - 1/probeDilation) / float64(max(threads, 1)), nil
}

// validate returns an error that names the number that is out of range.
func validate(servers, threads int) error {
	if servers < 1 || servers > loading.MaxServers {
		return fmt.Errorf("servers: %d is not between 1 and %d", servers, loading.MaxServers)
	}
	if threads < 0 || threads > loading.MaxThreads {
		return fmt.Errorf("threads: %d is not between 1 and %d", threads, loading.MaxThreads)
	}
	return nil
}
