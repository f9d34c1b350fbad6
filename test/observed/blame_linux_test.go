package observed

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

var (
	culprits       = flag.Int("culprits", 0, "runs in which one of several neighbours slows a pod down; needs root")
	limits         = flag.Int("limits", 0, "runs in which its own limit slows a pod down; needs root")
	quiets         = flag.Int("quiets", 0, "runs in which nothing slows any pod down; needs root")
	quietIntervals = flag.Int("quiet-intervals", 2, "intervals of a run in which nothing slows any pod down")
	intervalLength = flag.Duration("interval", 8*time.Second, "length of an interval; there are two per run, but for -quiets")
)

// member is a pod of a run, with the name of its part.
type member struct {
	name string
	madePod
}

// light is a neighbour that does little.
func light(rng *rand.Rand, i int) member {
	m := member{name: fmt.Sprintf("light-%d", i)}
	m.Threads, m.CPUs, m.shares = 1, []int{0}, []int{51, 102, 256}[rng.IntN(3)]
	m.Burst = time.Duration((0.5 + 4*rng.Float64()) * float64(time.Millisecond))
	m.Sleep = time.Duration(float64(m.Burst) * (1/(0.02+0.06*rng.Float64()) - 1))
	return m
}

// pod returns a pod of that part that runs for a fraction of its time.
func working(rng *rand.Rand, name string, fraction float64, shares int) member {
	m := member{name: name}
	m.Threads, m.CPUs, m.shares = 1, []int{0}, shares
	m.Burst = time.Duration((1 + 9*rng.Float64()) * float64(time.Millisecond))
	m.Sleep = time.Duration(float64(m.Burst) * (1/fraction - 1))
	return m
}

// object returns the pod as the API server has it.
func (m *member) object(uid string) corev1.Pod {
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: m.name, UID: types.UID(uid)},
		Spec:       corev1.PodSpec{NodeName: "this", Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://container"}}},
	}
	r := &pod.Spec.Containers[0].Resources
	r.Requests = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(m.shares)*1000/1024+1, resource.DecimalSI)}
	if m.limit > 0 {
		r.Limits = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(m.limit*1000), resource.DecimalSI)}
	}
	return pod
}

// judged is what findings say of a run of two intervals.
func judged(t *testing.T, members []member) *findings.Answer {
	t.Helper()
	return judge(t, watched(t, members, 2))
}

// judge is what findings say.
func judge(t *testing.T, in *observed.Input) *findings.Answer {
	t.Helper()
	answer, err := findings.Find(in, &plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if problem := answer.Nodes[0].Problem; problem != "" {
		t.Fatal(problem)
	}
	return answer
}

// watched runs pods on the first processor for some intervals, and returns what a gauge sees of them.
func watched(t *testing.T, members []member, intervals int) *observed.Input {
	t.Helper()
	s := settled(t, members, 1)
	s.watch(t, intervals)
	s.stop(t)
	return s.in
}

// scene is pods that run on the first processors of this machine, which stand for a node.
type scene struct {
	in      *observed.Input
	groups  *groups
	running []*running
	cpus    int
}

// settled starts pods, and returns once all of them run.
func settled(t *testing.T, members []member, cpus int) *scene {
	t.Helper()
	s := &scene{groups: newGroups(t), cpus: cpus}
	s.in = &observed.Input{Weights: cgroup.Options{Pods: cgroup.None, Containers: cgroup.None}}
	if s.groups.v2 {
		s.in.Weights = cgroup.Options{}
	}
	amounts := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI), corev1.ResourcePods: resource.MustParse("110")}
	s.in.Nodes = []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "this"}, Status: corev1.NodeStatus{Allocatable: amounts}}}
	for i := range members {
		s.running = append(s.running, s.groups.start(t, i, &members[i].madePod))
		s.in.Pods = append(s.in.Pods, members[i].object(s.groups.uid(i)))
	}
	for _, r := range s.running {
		r.await(t)
	}
	<-time.After(time.Second) // what starts, runs unlike what goes on
	return s
}

// watch adds what a gauge sees of some intervals.
func (s *scene) watch(t *testing.T, intervals int) {
	t.Helper()
	s.watchFor(t, intervals, *intervalLength)
}

// watchFor adds what a gauge sees of some intervals of a length.
func (s *scene) watchFor(t *testing.T, intervals int, length time.Duration) {
	t.Helper()
	var reader reading.Reader
	read := func() *reading.Reading {
		got, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	sight := observed.Sight{Node: "this"}
	before := read()
	for range intervals {
		<-time.After(length)
		after := read()
		v := reading.Between(before, after, "this", nil)
		onTheFirst(v, s.cpus, before, after)
		sight.Intervals = append(sight.Intervals, *v)
		before = after
	}
	s.in.Sights = []observed.Sight{sight}
}

func (s *scene) stop(t *testing.T) {
	t.Helper()
	for _, r := range s.running {
		r.stop(t)
	}
}

// onTheFirst makes an interval one of a node that is the first processors, to which the jobs keep.
func onTheFirst(v *usage.Interval, cpus int, before, after *reading.Reading) {
	v.CPUs, v.BusySeconds, v.StolenSeconds = cpus, 0, 0
	for i := range cpus {
		v.BusySeconds += (after.Processors[i].Busy - before.Processors[i].Busy).Seconds()
		v.StolenSeconds += (after.Processors[i].Stolen - before.Processors[i].Stolen).Seconds()
	}
}

// first returns the finding about the victim, and its first cause; nil and none if there is none.
func first(answer *findings.Answer) (*findings.Finding, observed.Cause) {
	for i := range answer.Findings {
		if f := &answer.Findings[i]; f.Pod.Pod == "shop/victim" {
			return f, f.Causes[0]
		}
	}
	return nil, observed.Cause{}
}

func TestTheCulpritIsNamedFirst(t *testing.T) {
	if *culprits == 0 {
		t.Skip("run it as root on a machine with nothing to do: go test ./test/observed -run TheCulprit -v -args -culprits 40")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 1))
	named, found := 0, 0
	for run := range *culprits {
		shares := []int{51, 102, 256, 512}
		members := []member{
			working(rng, "victim", 0.2+0.5*rng.Float64(), shares[rng.IntN(3)]),
			working(rng, "culprit", 0.7+0.3*rng.Float64(), shares[1+rng.IntN(3)]),
		}
		for i := range 2 + rng.IntN(4) {
			members = append(members, light(rng, i))
		}
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			answer := judged(t, members)
			f, cause := first(answer)
			if f == nil {
				t.Log("no finding about the victim")
				return
			}
			found++
			if cause.Pod == "shop/culprit" {
				named++
			}
			t.Logf("%d pods: %.2f ± %.2f, predicted %.2f: %s %s %.2f of %.2f", len(members), f.Dilation, f.DilationError, *f.Predicted, cause.Kind, cause.Pod, cause.Dilation, f.Dilation-1)
		})
	}
	t.Logf("the culprit is first in %d of %d findings, of %d runs", named, found, *culprits)
	if err := checkShare(named, found, minNamed); err != nil {
		t.Errorf("findings with the culprit first: %v", err)
	}
}

func TestTheOwnLimitIsToldFromNeighbours(t *testing.T) {
	if *limits == 0 {
		t.Skip("run it as root on a machine with nothing to do: go test ./test/observed -run OwnLimit -v -args -limits 10")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 2))
	told, found := 0, 0
	for run := range *limits {
		victim := working(rng, "victim", 0.3+0.6*rng.Float64(), 51)
		victim.limit = 0.1 + 0.15*rng.Float64()
		members := []member{victim}
		for i := range 2 + rng.IntN(4) {
			members = append(members, light(rng, i))
		}
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			f, cause := first(judged(t, members))
			if f == nil {
				t.Log("no finding about the victim")
				return
			}
			found++
			if cause.Kind == observed.ByLimit {
				told++
			}
			t.Logf("%.2f ± %.2f: %s %s %.2f of %.2f; %+v", f.Dilation, f.DilationError, cause.Kind, cause.Pod, cause.Dilation, f.Dilation-1, f.Remedy)
		})
	}
	t.Logf("its limit is first in %d of %d findings, of %d runs", told, found, *limits)
	if err := checkShare(told, found, minLimits); err != nil {
		t.Errorf("findings with the own limit first: %v", err)
	}
}

// After each interval the pods are judged by all intervals until then, as kubectl loadline who would.
func TestAQuietNodeHasNoFindings(t *testing.T) {
	if *quiets == 0 {
		t.Skip("run it as root on a machine with nothing to do: go test ./test/observed -run Quiet -v -args -quiets 4 -interval 1s -quiet-intervals 60")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 3))
	wrong, judgements, intervals := 0, 0, 0
	for run := range *quiets {
		var members []member
		for i := range 6 {
			members = append(members, light(rng, i))
		}
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			in := watched(t, members, *quietIntervals)
			all := in.Sights[0].Intervals
			for n := range all {
				intervals += len(all[n].Pods)
				in.Sights[0].Intervals = all[:n+1]
				answer := judge(t, in)
				judgements += len(answer.Pods) - answer.Short
				wrong += len(answer.Findings)
				for _, f := range answer.Findings {
					t.Logf("after %d intervals %s: %.2f ± %.2f: %+v", n+1, f.Pod.Pod, f.Dilation, f.DilationError, f.Causes[0])
				}
			}
		})
	}
	t.Logf("%d findings in %d judgements about a pod, by %d intervals of pods", wrong, judgements, intervals)
	if err := checkFalse(wrong, judgements); err != nil {
		t.Errorf("findings on a quiet node: %v", err)
	}
}
