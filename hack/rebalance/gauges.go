package main

import (
	"math"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/arrivals"
)

// Parameters of what is observed. They were written down before any remedy ran.
const (
	// intervals is how many of them a gauge has, each of seconds.
	intervals, seconds = 6, 10
	// useNoise and waitNoise are the standard deviations of the logarithms of what a pod uses and waits from one interval to the next.
	useNoise, waitNoise = 0.1, 0.2
)

// sights are what gauges saw of a cluster at a time.
type sights struct {
	nodes []corev1.Node
	pods  []corev1.Pod
	all   []observed.Sight
	// use is how many processors each pod kept busy, by its index in the scenario.
	use map[int]float64
}

// observe returns what gauges see of a cluster at a full hour. Noise follows from the scenario's seed, the hour and the pod, so that it is
// the same for all remedies.
func observe(c *cluster, hour int) (*sights, error) {
	fares, err := c.fares(float64(hour))
	if err != nil {
		return nil, err
	}
	s := &sights{nodes: c.nodes, pods: c.objects(), use: map[int]float64{}}
	for n, pods := range fares {
		sight := observed.Sight{Node: c.nodes[n].Name, Age: 3 * time.Second}
		sources := make([]*rand.Rand, len(pods))
		for k, f := range pods {
			sources[k] = rand.New(arrivals.Source(c.scenario.Seed<<40|uint64(hour)<<32|uint64(f.pod), gaugesStream))
		}
		for range intervals {
			v := usage.Interval{Node: sight.Node, Seconds: seconds, CPUs: c.scenario.Nodes[n].Size.Servers[scenario.CPU], CgroupVersion: 2}
			for k := range pods {
				p := pods[k].seen(string(uid(pods[k].pod)), sources[k])
				s.use[pods[k].pod] += p.Run / seconds / intervals
				v.BusySeconds += p.Run
				v.Pods = append(v.Pods, p)
			}
			sight.Intervals = append(sight.Intervals, v)
		}
		s.all = append(s.all, sight)
	}
	return s, nil
}

// seen returns a pod as a gauge sees it for an interval.
func (f *fare) seen(uid string, noise *rand.Rand) usage.Pod {
	computing := min(1, f.loading.Loading*math.Exp(useNoise*noise.NormFloat64()))
	dilation := 1 + (f.dilation-1)*math.Exp(waitNoise*noise.NormFloat64())
	threads := float64(f.loading.ThreadCount())
	return usage.Pod{
		UID: uid, Seconds: seconds, Tasks: int(threads), Threads: threads, Dilation: dilation, CPULoading: computing, BurstSeconds: f.loading.Burst,
		Times: usage.Times{Run: seconds * threads * computing / dilation, Wait: seconds * threads * (1 - 1/dilation)},
	}
}

// cluster returns the cluster as Loadline sees it, solved.
func (s *sights) cluster() *observed.Cluster {
	c := observed.Observe(&observed.Input{Nodes: s.nodes, Pods: s.pods, Sights: s.all}, observed.DefaultAbove)
	c.SolveAll()
	return c
}
