package probing

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
)

// The range of one measured dilation. Noise takes those near 1 a little below it;
// what lies outside the range was disturbed, or is another quantity.
const (
	LeastDilation = 0.8
	MostDilation  = 1e6
)

// Pressure returns how much a thread of the target stands in others' way at a
// resource, q = c (λ − 1)/t, from the dilation λ of a probe with as many workers as
// the resource has servers. It is exact for one thread and processor sharing, and
// for more threads true to first order: see the package's documentation.
//
// The result is not clamped: noise makes it a little negative, or more than 1. The
// error is for a dilation beyond [LeastDilation] and [MostDilation], or a number of
// servers or threads (0 means 1) that no node has.
func Pressure(probeDilation float64, servers, threads int) (float64, error) {
	if err := validate(servers, threads); err != nil {
		return 0, err
	}
	if rule := dilationRule(probeDilation); rule != "" {
		return 0, fmt.Errorf("dilation of the probe: %v %s", probeDilation, rule)
	}
	return float64(servers) * (probeDilation - 1) / float64(max(threads, 1)), nil
}

// Sensitivity returns what waiting at a resource costs the target, s = c (λ − 1),
// from its dilation λ beside a probe with as many workers as the resource has
// servers. It is exact for a target with one thread and processor sharing; more
// threads wait for each other too, so that it is an upper bound.
//
// The result is not clamped. The error is as that of [Pressure].
func Sensitivity(targetDilation float64, servers int) (float64, error) {
	if err := validate(servers, 1); err != nil {
		return 0, err
	}
	if rule := dilationRule(targetDilation); rule != "" {
		return 0, fmt.Errorf("dilation of the target: %v %s", targetDilation, rule)
	}
	return float64(servers) * (targetDilation - 1), nil
}

// Loading returns the fraction of its time alone that each thread of the target is
// served at a resource, p = λ_target · c · (1 − 1/λ_probe)/t, by conservation of
// work: exact in any order of service and for any number of threads, if the probe
// keeps all servers busy. Where there are no more threads than servers the time
// alone is the neutral time.
//
// The result is not clamped. The error is as that of [Pressure].
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
	if servers < 1 || servers > contention.MaxServers {
		return fmt.Errorf("servers: %d is not between 1 and %d", servers, contention.MaxServers)
	}
	if threads < 0 || threads > contention.MaxThreads {
		return fmt.Errorf("threads: %d is not between 1 and %d", threads, contention.MaxThreads)
	}
	return nil
}

// dilationRule returns the rule that a measured dilation breaks, or nothing.
func dilationRule(dilation float64) string {
	if !(dilation >= LeastDilation && dilation <= MostDilation) { // also catches NaN
		return fmt.Sprintf("is not between %v and %v: a dilation is the time taken in company over the time taken alone, and noise takes it no further below 1",
			LeastDilation, float64(MostDilation))
	}
	return ""
}
