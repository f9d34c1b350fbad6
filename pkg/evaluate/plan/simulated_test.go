package plan

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/test/oracle/linuxsched"
)

// carried is how many changes of each kind are carried out on simulated nodes. Sixty take a minute.
var carried = flag.Int("carried", 8, "how many changes of each kind are carried out on simulated nodes")

const (
	// simulatedAbove is the dilation above which pods of simulated nodes have an excess.
	simulatedAbove = 1.1
	// offAtMost is by what part of itself a prediction, or a proof, may be off in the median.
	offAtMost = 0.15
	// span is the length of an interval of a simulation, and spans are how many say how a pod fares in the long run.
	span, spans = 10 * time.Second, 30
)

// Changes are carried out on nodes that run a simulation of the scheduler of Linux, which shares no code with the model. Predictions come
// true, and proofs find what is true, to offAtMost in the median.
func TestChangesWinOnSimulatedNodesWhatTheyPromise(t *testing.T) {
	t.Parallel()
	for name, allow := range map[string][]Action{"request": {RaiseRequest, LowerRequest}, "move": {MovePod}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 1))
			var predictions, proofs []float64
			for seed := uint64(1); len(proofs) < *carried; seed++ {
				if seed > uint64(20**carried) {
					t.Fatalf("of %d nodes only %d have a change that helps", seed, len(proofs))
				}
				nodes, pods := drawSimulated(rng, name == "move")
				before, is := simulate(t, nodes, pods, seed)
				p := planOf(t, before, Options{Max: 1, Allow: allow, Above: simulatedAbove})
				if len(p.Steps) == 0 {
					continue
				}
				step := &p.Steps[0]
				if step.Win.Value < observed.WorthAtLeast {
					t.Errorf("%+v wins %v, too little to be worth a change", step.Change, step.Win.Value)
				}
				since, then := simulate(t, nodes, changed(pods, &step.Change), seed+1<<32)
				won := trueExcess(is) - trueExcess(then)
				proven := provenBy(t, before, since, &step.Change)
				t.Logf("%s of %s: predicted %.2f (%.2f to %.2f), is %.2f, proven %.2f (%.2f to %.2f)",
					step.Action, step.Pod, step.Win.Value, step.Win.Low, step.Win.High, won, proven.Value, proven.Low, proven.High)
				predictions, proofs = append(predictions, math.Abs(won/step.Win.Value-1)), append(proofs, math.Abs(proven.Value/won-1))
			}
			nearEnough(t, "predictions", predictions)
			nearEnough(t, "proofs", proofs)
		})
	}
}

// nearEnough fails the test where something is off by too much in the median, given by what parts of itself it is.
func nearEnough(t *testing.T, what string, off []float64) {
	t.Helper()
	slices.Sort(off)
	middle := off[len(off)/2]
	t.Logf("%s of %d changes are off by %.1f %% in the median, by %.1f %% at worst", what, len(off), 100*middle, 100*off[len(off)-1])
	if !(middle <= offAtMost) {
		t.Errorf("%s are off by %.1f %% in the median, want %.0f at most", what, 100*middle, 100*offAtMost)
	}
}

// provenBy returns what a change won by what gauges saw before and since.
func provenBy(t *testing.T, before, since *observed.Input, change *Change) Interval {
	t.Helper()
	was, _ := looked(t, before, simulatedAbove)
	is, _ := looked(t, since, simulatedAbove)
	proof, err := Prove(was, is, change, change.Pod, &Options{Above: simulatedAbove})
	if err != nil || proof.Unknown != "" {
		t.Fatalf("%+v: %v, %s", change, err, proof.Unknown)
	}
	return proof.Win
}

// trueExcess returns that of pods by their dilations.
func trueExcess(dilations map[string]float64) float64 {
	sum := 0.0
	for _, d := range dilations {
		sum += max(0, d-simulatedAbove)
	}
	return sum
}

// program is a workload that a simulated node runs.
type program struct {
	workload

	burst time.Duration
	shape linuxsched.Shape
}

// drawSimulated draws a node whose pods slow each other down, and another one on which little runs if one is to move.
func drawSimulated(rng *rand.Rand, moves bool) ([]corev1.Node, []program) {
	pick := func(of ...float64) float64 { return of[rng.IntN(len(of))] }
	cpus := int(pick(1, 1, 2))
	nodes := []corev1.Node{worker("worker-1", cpus)}
	if moves {
		nodes = append(nodes, worker("worker-2", cpus))
	}
	var pods []program
	for k := range 2 + rng.IntN(2*cpus+1) {
		p := program{
			workload: workload{
				name: fmt.Sprintf("pod-%d", k+1), node: "worker-1", request: int64(pick(50, 80, 100, 200, 400)),
				loading: pick(0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 1), threads: int(pick(1, 1, 1, 2)),
			},
			burst: time.Duration(math.Pow(50, rng.Float64()) * float64(time.Millisecond)),
			shape: linuxsched.Shape(rng.IntN(3)),
		}
		if moves && k > 1 && rng.IntN(2) == 0 {
			p.node, p.loading = "worker-2", pick(0.1, 0.2, 0.3)
		}
		if p.loading == 1 {
			p.burst = time.Hour
		}
		pods = append(pods, p)
	}
	return nodes, pods
}

// changed returns workloads as they are after a change.
func changed(pods []program, change *Change) []program {
	pods = slices.Clone(pods)
	p := &pods[slices.IndexFunc(pods, func(p program) bool { return "shop/"+p.name == change.Pod })]
	p.node = cmp.Or(change.To, p.node)
	if change.Request != nil {
		p.request = change.Request.MilliValue()
	}
	return pods
}

// simulate returns what gauges see of simulated nodes, and the dilations of their pods in the long run.
func simulate(t *testing.T, nodes []corev1.Node, pods []program, seed uint64) (*observed.Input, map[string]float64) {
	t.Helper()
	in, dilations := &observed.Input{Nodes: nodes}, map[string]float64{}
	for i := range pods {
		in.Pods = append(in.Pods, pods[i].pod())
	}
	for n := range nodes {
		v := usage.Interval{Node: nodes[n].Name, Seconds: span.Seconds(), CPUs: int(nodes[n].Status.Capacity.Cpu().Value()), CgroupVersion: 2}
		machine := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: v.CPUs, Seed: seed}
		var there []int
		var run []linuxsched.Pod
		for i := range pods {
			if pods[i].node == v.Node {
				there, run = append(there, i), append(run, pods[i].simulated(seed, i))
			}
		}
		s := observed.Sight{Node: v.Node, Age: 3 * time.Second}
		windows, err := machine.Windows(run, span, span)
		if err != nil {
			t.Fatal(err)
		}
		all, k := make([]linuxsched.Usage, len(run)), 0
		for result := range windows {
			v.BusySeconds, v.Pods = 0, nil
			for i, u := range result.Pods {
				all[i].Add(u)
				v.Pods = append(v.Pods, pods[there[i]].seen(&u))
				v.BusySeconds += u.Run.Seconds()
			}
			if k < intervals {
				s.Intervals = append(s.Intervals, v)
			}
			if k++; k == spans {
				break
			}
		}
		for i := range all {
			dilations[pods[there[i]].name] = dilated(&all[i])
		}
		in.Sights = append(in.Sights, s)
	}
	return in, dilations
}

// simulated returns the workload for a simulation, given its seed and the number of the workload.
func (p *program) simulated(seed uint64, nth int) linuxsched.Pod {
	pod := p.pod()
	s := linuxsched.Pod{Group: linuxsched.Group{Weight: int(cgroup.Flat(&pod).Weight)}}
	for k := range p.threads {
		s.Threads = append(s.Threads, linuxsched.Bursts(p.burst, p.loading, p.shape, seed^uint64(nth)<<40^uint64(k)<<48))
	}
	return s
}

// seen returns the workload as a gauge sees it in an interval.
func (p *program) seen(u *linuxsched.Usage) usage.Pod {
	pod := usage.Pod{
		UID: "uid-" + p.name, Namespace: "shop", Name: p.name, Seconds: span.Seconds(), Tasks: p.threads, Threads: float64(p.threads), Dilation: dilated(u),
		CPULoading: min(1, float64(u.Run)/float64(alone(u))), Times: usage.Times{Run: u.Run.Seconds(), Wait: (u.WaitOwn + u.WaitOther).Seconds()},
	}
	if u.Bursts > 0 {
		pod.BurstSeconds = u.Run.Seconds() / float64(u.Bursts)
	}
	return pod
}

// alone returns the time without waiting, and dilated how many times longer it took.
func alone(u *linuxsched.Usage) time.Duration { return u.Elapsed - u.WaitOwn - u.WaitOther }
func dilated(u *linuxsched.Usage) float64     { return float64(u.Elapsed) / float64(alone(u)) }
