package comparison

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// What the manager does by default: it collects what gauges have read, and changes recommendations.
const (
	observed       = time.Hour
	collectEvery   = 30 * time.Second
	recommendEvery = 5 * time.Minute
)

// Observed returns what profiles that follow what gauges observe say, by the names of applications, after an hour in which pods are where
// they are: of applications with a pod on some node.
//
// Gauges compare counters of the kernel, the manager keeps samples and moves its recommendations from what is assumed of a pod without a
// profile, all by their own code. The counters are the simulation's: where the time of a pod's threads goes on average on its node. There is
// no noise from one interval to the next, and no account of the time that threads wait for block I/O, so that no disk is recommended.
func Observed(s *scenario.Scenario, at Placement, simulation *Simulation) (map[string]loading.Vector, error) {
	samples, err := sampled(s, at, simulation)
	if err != nil {
		return nil, err
	}
	recommended := map[string]observations.Recommended{}
	for _, a := range s.Applications {
		v, err := assumed(s.PodObject(&scenario.Pod{Application: a}, ""))
		if err != nil {
			return nil, err
		}
		recommended[a.Name] = observations.Recommended{CPULoading: v[scenario.CPU].Loading, Threads: v[scenario.CPU].ThreadCount()}
	}
	var history observations.History
	seen := map[string]bool{}
	for now := time.Unix(0, 0).Add(collectEvery); now.Sub(time.Unix(0, 0)) <= observed; now = now.Add(collectEvery) {
		for i, sample := range samples {
			history.Add(observations.Key{Profile: types.NamespacedName{Name: s.Pods[i].Application.Name}}, now, sample)
		}
		if now.Unix()%int64(recommendEvery.Seconds()) != 0 {
			continue
		}
		for key, summary := range history.Summaries(now) {
			if summary.CPU.Enough() {
				recommended[key.Profile.Name], seen[key.Profile.Name] = observations.Recommend(recommended[key.Profile.Name], &summary), true
			}
		}
	}
	declared := map[string]loading.Vector{}
	for name := range seen {
		r := recommended[name]
		fraction := math.Round(1000*r.CPULoading) / 1000 // as a status has it
		declared[name] = loading.Vector{{Loading: fraction, Pressure: fraction, Threads: r.Threads}}
	}
	return declared, nil
}

// assumed returns what Loadline assumes of a pod without a profile, by its requests.
func assumed(pod *corev1.Pod) (loading.Vector, error) {
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		return nil, fmt.Errorf("reading the default rules for pods without a profile: %w", err)
	}
	snapshot := profile.NewIndex(args.Requests, logr.Discard()).Snapshot()
	return loading.Vector{snapshot.VectorOn("", pod)[snapshot.Resources().Processor()]}, nil
}

// sampled returns what the manager takes from the gauges for each collection, by the indices of pods.
func sampled(s *scenario.Scenario, at Placement, simulation *Simulation) (map[int]*observations.Sample, error) {
	samples := map[int]*observations.Sample{}
	for n, pods := range at.byNode(s) {
		found, err := simulation.simulate(n, pods)
		if err != nil {
			return nil, err
		}
		before, after := &reading.Reading{At: time.Unix(0, 0)}, &reading.Reading{At: time.Unix(0, 0).Add(collectEvery)}
		for _, r := range []*reading.Reading{before, after} {
			r.Uptime, r.CPUs, r.Version = observed+r.At.Sub(before.At), s.Nodes[n].Size.Servers[scenario.CPU], 2
			for k, i := range pods {
				threads := s.Pods[i].Application.Vector.ThreadsAt(scenario.CPU)
				r.Pods = append(r.Pods, counters(i, threads, &found[k], r.At.Sub(before.At)))
			}
		}
		interval := reading.Between(before, after, s.Nodes[n].Name, nil)
		if interval == nil {
			continue
		}
		byUID := observations.Samples([]usage.Interval{*interval})
		for _, i := range pods {
			if sample := byUID[uid(i)]; sample != nil {
				samples[i] = sample
			}
		}
	}
	return samples, nil
}

// uid returns one of a pod, by its index.
func uid(pod int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", pod) }

// counters returns the kernel's account of a pod without a limit after some time, which goes where it goes on average in the simulation.
func counters(pod, threads int, found *nodesim.Dilation, elapsed time.Duration) reading.Pod {
	u := &found.Usage
	part := func(of time.Duration) time.Duration {
		return time.Duration(float64(elapsed) * float64(of) / float64(u.Elapsed))
	}
	group := reading.Group{ID: strconv.Itoa(pod)}
	for k := range threads {
		group.Tasks = append(group.Tasks, reading.Task{ID: pod<<16 + k, Run: part(u.Run), Wait: part(u.WaitOwn + u.WaitOther)})
		group.Usage += part(u.Run)
	}
	return reading.Pod{UID: uid(pod), Usage: group.Usage, Pressure: reading.Unknown, Groups: []reading.Group{group}}
}
