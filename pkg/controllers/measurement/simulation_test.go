package measurement

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

func TestATargetIsMeasuredByProbes(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(), targetJob(), worker("worker-1", 1))
	p := s.until(v1alpha1.ReasonMeasured)
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58, "disk": 0.42})
	if got := time.Duration(*m.NeutralMillis) * time.Millisecond; math.Abs(float64(got-s.neutral)) > 0.02*float64(s.neutral) {
		t.Errorf("the neutral time is %v, want %v", got, s.neutral)
	}
	s.nothingLeft()
}

func TestWhatAHypervisorTakesFromTheNodeIsNoContention(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(func(m *v1alpha1.Measurement) { m.Resources = []v1alpha1.ProbedResource{{Name: "cpu"}} }), targetJob(), worker("worker-1", 1))
	s.target = loading.Loadings(0.6, 0)
	s.hypervisor = func(t time.Time) float64 { // now and then, never in step with the rounds
		if t.Unix()/7%3 == 0 {
			return 0.4
		}
		return 0
	}
	p := s.until(v1alpha1.ReasonMeasured)
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.6})
	if got := time.Duration(*m.NeutralMillis) * time.Millisecond; math.Abs(float64(got-s.neutral)) > 0.02*float64(s.neutral) {
		t.Errorf("the neutral time is %v, want %v", got, s.neutral)
	}
}

func TestServicesAreMeasuredAsTheyRun(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(asService), worker("worker-1", 1), worker("worker-2", 1), service("a", "filecomp", "worker-2"))
	s.background["filecomp"] = loading.Loadings(0.3, 0.5)
	p := s.until(v1alpha1.ReasonMeasured)
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.3, "disk": 0.5})
	if m.NeutralMillis != nil {
		t.Errorf("a service has the neutral time %d ms", *m.NeutralMillis)
	}
	s.nothingLeft()
}

// A probe of the disk computes between its requests, and meets the target there too. Its
// requests may be on the way for a while.
func TestWhereAProbeOfTheDiskIsBetweenItsRequestsIsNoPartOfTheDisk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		objects []client.Object
		target  loading.Vector
		edits   []func(*v1alpha1.Measurement)
	}{
		"of a job that only computes": {[]client.Object{worker("worker-1", 1)}, loading.Loadings(1, 0), nil},
		"of a job at both":            {[]client.Object{worker("worker-1", 1)}, loading.Loadings(0.6, 0.4), nil},
		"on several cores":            {[]client.Object{worker("worker-1", 4)}, loading.Loadings(0.6, 0.4), nil},
		"among neighbours": {
			[]client.Object{worker("worker-1", 1), neighbour(), service("c", "cart", "worker-1")},
			loading.Loadings(0.6, 0.3),
			[]func(*v1alpha1.Measurement){correct},
		},
		"of a service": {
			[]client.Object{worker("worker-1", 1), worker("worker-2", 1), service("a", "filecomp", "worker-1")},
			loading.Loadings(0.6, 0.3),
			[]func(*v1alpha1.Measurement){asService},
		},
	} {
		for where, probe := range map[string]struct{ computing, reach float64 }{
			"computing": {0.15, 1}, "on the way": {0, 0.92}, "both": {0.15, 0.92},
		} {
			t.Run(name+", "+where, func(t *testing.T) {
				t.Parallel()
				s := newSimulation(t, append(slices.Clone(test.objects), filecomp(test.edits...), targetJob())...)
				s.computing, s.reach, s.target = probe.computing, probe.reach, test.target
				s.background["filecomp"], s.background["cart"] = test.target, loading.Loadings(0.3, 0.2)
				if name == "on several cores" {
					s.servers = []int{4, 1}
				}
				p := s.until(v1alpha1.ReasonMeasured)
				vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": test.target[0].Loading, "disk": test.target[1].Loading})
				s.nothingLeft()
			})
		}
	}
}

// The speed of a processor does not matter: its time measures how slow a probe is.
func TestTheCPUOfAServiceIsMeasuredOnItsOwnNodeAlone(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(asService, only("cpu")), worker("worker-1", 1), worker("worker-2", 1), service("a", "filecomp", "worker-2"))
	s.background["filecomp"], s.speeds = loading.Loadings(0.3, 0), map[string]float64{"worker-2": 0.8}
	p := s.until(v1alpha1.ReasonMeasured, func() {
		if m := s.profile().Status.Measuring; m != nil && (m.Node != "worker-2" || m.BaselineNode != "") {
			t.Errorf("it is measured on %s and %s, want worker-2 alone", m.Node, m.BaselineNode)
		}
	})
	vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.3})
	s.nothingLeft()
}

func TestCopiesTellTheVectorOfAJobThatKeepsTwoResourcesBusy(t *testing.T) {
	t.Parallel()
	copies := func(m *v1alpha1.Measurement) { m.Method = v1alpha1.MethodCopies }
	s := newSimulation(t, filecomp(copies, only("cpu", "disk")), targetJob(), worker("worker-1", 1))
	s.target, s.noise = loading.Loadings(0.85, 0.15), 0.001
	p := s.until(v1alpha1.ReasonMeasured)
	vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.85, "disk": 0.15})
	s.nothingLeft()
}

func TestSeveralServersAndThreads(t *testing.T) {
	t.Parallel()
	threads := func(m *v1alpha1.Measurement) {
		m.Resources = []v1alpha1.ProbedResource{{Name: "cpu", Threads: new(int32(2))}, {Name: "disk", Job: v1alpha1.ProbeDiskWrite}}
		m.Precision = new(resource.MustParse("0.02"))
	}
	s := newSimulation(t, filecomp(threads), targetJob(), worker("worker-1", 4, "fast"), class("fast", map[string]int32{"disk": 2}))
	s.servers = []int{4, 2}
	s.target = loading.Vector{{Loading: 0.6, Pressure: 0.6, Threads: 2}, {Loading: 0.4, Pressure: 0.4, Threads: 1}}
	m := vector(t, s.until(v1alpha1.ReasonMeasured), "fast", map[string]float64{"cpu": 0.6, "disk": 0.4})
	if got := *m.Resources[0].Threads; got != 2 {
		t.Errorf("the result is of %d threads, want 2", got)
	}
	s.nothingLeft()
}

// The neutral time is the time of the target alone, with its threads waiting for each other. The
// vector is that of a thread that does not wait, and the prediction for a pod alone is that neutral
// time, not more.
func TestThreadsThatCrowdANodeAreNotCountedTwice(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]loading.Vector{
		"at the cpu":   {{Loading: 0.6, Pressure: 0.6, Threads: 2}, {Threads: 1}},
		"at both":      {{Loading: 0.5, Pressure: 0.5, Threads: 2}, {Loading: 0.4, Pressure: 0.4, Threads: 2}},
		"four threads": {{Loading: 0.4, Pressure: 0.4, Threads: 4}, {Loading: 0.2, Pressure: 0.2, Threads: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, filecomp(func(m *v1alpha1.Measurement) {
				m.Resources = []v1alpha1.ProbedResource{{Name: "cpu", Threads: new(int32(target[0].Threads))}, {Name: "disk", Threads: new(int32(target[1].Threads))}}
			}), targetJob(), worker("worker-1", 1))
			s.target = target
			p := s.until(v1alpha1.ReasonMeasured)
			m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": target[0].Loading, "disk": target[1].Loading})
			if got := time.Duration(*m.NeutralMillis) * time.Millisecond; math.Abs(float64(got-s.neutral)) > 0.02*float64(s.neutral) {
				t.Errorf("the neutral time is %v, want the time alone, %v", got, s.neutral)
			}
			together, err := contention.Predict([]loading.Vector{target, target}, s.servers, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for pods, want := range map[int]float64{1: 1, 2: together.Dilations[0]} {
				got, err := prediction.Predict(prediction.Input{
					Profiles: []v1alpha1.WorkloadProfile{*p}, Pods: []prediction.Pods{{Name: p.Name, Copies: pods}}, Cores: 1,
				})
				if err != nil {
					t.Fatal(err)
				}
				if dilation := got.Pods[0].Dilation; pods == 1 && dilation != 1 || math.Abs(dilation-want) > 0.05*want {
					t.Errorf("%d pods are predicted to be dilated by %v, want %v", pods, dilation, want)
				}
			}
			s.nothingLeft()
		})
	}
}

func TestEveryClassOfNodesIsMeasured(t *testing.T) {
	t.Parallel()
	tainted := worker("control-plane", 8)
	tainted.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	disk := map[string]int32{"disk": 1}
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), class("old", disk), class("new", disk),
		worker("old-1", 1, "old"), worker("new-1", 1, "new"), worker("new-2", 1, "new"), tainted)
	p := s.until(v1alpha1.ReasonMeasured)
	for len(p.Status.Measurements) < 2 {
		s.pass(time.Second)
		p = s.until(v1alpha1.ReasonMeasured)
	}
	vector(t, p, "old", map[string]float64{"cpu": 0.58})
	vector(t, p, "new", map[string]float64{"cpu": 0.58})
	s.nothingLeft()
	if c := s.condition(); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "old-1") || !strings.Contains(c.Message, "new-1") {
		t.Errorf("unexpected condition %+v", c)
	}
}

func TestSeveralPodsOfAServiceOnANodePressTogether(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(asService), worker("worker-1", 1), worker("worker-2", 1),
		service("a", "filecomp", "worker-2"), service("b", "filecomp", "worker-2"))
	s.background["filecomp"] = loading.Loadings(0.3, 0.5)
	vector(t, s.until(v1alpha1.ReasonMeasured), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.3, "disk": 0.5})
	s.nothingLeft()
}

// neighbour is the profile of pods of another team.
func neighbour() *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "cart", UID: "cart"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}},
			Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.3"))}, {Name: "disk", Loading: new(resource.MustParse("0.2"))}},
		},
	}
}

func correct(m *v1alpha1.Measurement) { m.Neighbours = v1alpha1.NeighboursCorrect }

func TestThePartOfNeighboursIsTakenOutOfTheResult(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*simulation{
		"of a target": newSimulation(t, filecomp(correct), targetJob(), neighbour(), worker("worker-1", 1), service("c", "cart", "worker-1")),
		"of a service": newSimulation(t, filecomp(correct, asService), neighbour(), worker("worker-1", 1), worker("worker-2", 1),
			service("c", "cart", "worker-1"), service("d", "cart", "worker-2"), service("e", "cart", "worker-2"), service("a", "filecomp", "worker-2")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.t = t
			s.background["cart"], s.background["filecomp"] = loading.Loadings(0.3, 0.2), loading.Loadings(0.5, 0.3)
			s.target = loading.Loadings(0.5, 0.3)
			m := vector(t, s.until(v1alpha1.ReasonMeasured), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.5, "disk": 0.3})
			if n := m.NeutralMillis; n != nil && math.Abs(float64(*n)-s.neutral.Seconds()*1000) > 0.03*s.neutral.Seconds()*1000 {
				t.Errorf("the neutral time is %d ms, want %v", *n, s.neutral)
			}
			s.nothingLeft()
		})
	}
}

func TestAManagerThatIsRestartedAllTheTimeGetsThere(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	starts := map[string]bool{}
	p := s.until(v1alpha1.ReasonMeasured, func() {
		s.restart()
		if m := s.profile().Status.Measuring; m != nil {
			starts[fmt.Sprint(*m.Round, m.Step, *m.Attempts)] = true
		}
	})
	m := vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
	if want := 2 * int(*m.Rounds); len(starts) != want {
		t.Errorf("%d rounds of 2 steps were begun %d times: %v", *m.Rounds, len(starts), starts)
	}
	s.nothingLeft()
}

func TestNoiseEndsAtMaxRoundsAndSaysSo(t *testing.T) {
	t.Parallel()
	few := func(m *v1alpha1.Measurement) { m.MaxRounds = new(int32(4)) }
	s := newSimulation(t, filecomp(few), targetJob(), worker("worker-1", 1))
	s.noise = 0.08
	p := s.until(v1alpha1.ReasonImprecise)
	if c := s.condition(); c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "after 4 rounds") || !strings.Contains(c.Message, "raise maxRounds") {
		t.Errorf("unexpected condition: %+v", c)
	}
	if got := *p.Status.Measurements[0].Rounds; got != 4 {
		t.Errorf("%d rounds, want 4", got)
	}
}

func TestAJobThatDoesNotUseAResourceHasNoneOfIt(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(), targetJob(), worker("worker-1", 1))
	s.target = loading.Loadings(0.7, 0)
	vector(t, s.until(v1alpha1.ReasonMeasured), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.7, "disk": 0})
}
