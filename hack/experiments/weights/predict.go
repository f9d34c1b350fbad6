package main

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
)

// predictors are the models that are compared, in the order of the columns: requests are weights and limits quotas, or
// all share alike what limits let through.
var predictors = []string{"weights", "equal"}

// predict returns the dilations of the pods of a mix on a node of cgroup v1, by each of the predictors. loadings are the
// fractions of a thread's time alone on a processor.
func predict(m mix, loadings []float64, cores int) ([][]float64, error) {
	pods := make([]*corev1.Pod, len(m))
	for i := range m {
		pods[i] = m[i].pod(fmt.Sprintf("pod-%d", i+1))
	}
	// With one core the policy is the same, but no pod can have the only one.
	pool, err := cgroup.NewPool(pods, cores, cgroup.Options{Pods: cgroup.None, Containers: cgroup.None, StaticCPUs: cores > 1})
	if err != nil {
		return nil, err
	}
	sharing := pool.Sharing(0)
	sharing.Shares = slices.Clone(sharing.Shares)
	var declared, limited []contention.Vector
	for i := range m {
		j := &m[i]
		share := &sharing.Shares[i]
		share.Burst = j.burst.Seconds()
		threads := len(j.requests) * j.threads
		least := loadings[i]
		if share.Limit > 0 {
			least = math.Min(least, share.Limit/float64(threads))
		}
		declared = append(declared, pool.InPool(i, vector(loadings[i], threads), 0))
		limited = append(limited, pool.InPool(i, vector(least, threads), 0))
	}
	weighted, err := contention.PredictSharing(declared, []int{pool.Cores}, sharing, queueing.Options{})
	if err != nil {
		return nil, err
	}
	equal, err := contention.Predict(limited, []int{pool.Cores}, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return [][]float64{weighted.Dilations, equal.Dilations}, nil
}

func vector(loading float64, threads int) contention.Vector {
	return contention.Vector{{Loading: loading, Pressure: loading, Threads: threads}}
}

// coresOf returns how many cores there are for a pod of the mix: alone it would have as many.
func (m mix) coresOf(pod, cores int) int {
	if cores == 1 || cgroup.Exclusive(m[pod].pod("any")) > 0 {
		return cores
	}
	for i := range m {
		cores -= cgroup.Exclusive(m[i].pod("any"))
	}
	return cores
}
