package measurement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/model/loading"
)

// In every situation that a measurement comes through something happens, once.
func TestWhateverHappensAtWhateverStepItEndsWell(t *testing.T) {
	t.Parallel()
	two := func(m *v1alpha1.Measurement) { m.MaxRounds = new(int32(2)) }
	start := func() *simulation {
		return newSimulation(t, filecomp(only("cpu"), two), targetJob(), worker("worker-1", 1), worker("worker-2", 1))
	}
	var situations []int // the reconciliation that each is first seen after
	seen, n := map[string]bool{}, 0
	scout := start()
	scout.noise = 0.0001
	scout.until(v1alpha1.ReasonMeasured, func() {
		n++
		if now := scout.situation(); !seen[now] {
			seen[now] = true
			situations = append(situations, n)
		}
	})
	if len(situations) < 10 {
		t.Fatalf("only %d situations: %v", len(situations), seen)
	}
	ours := func(s *simulation, list client.ObjectList) {
		s.must(s.List(t.Context(), list, client.HasLabels{probejob.MeasurementKey}))
	}
	for name, happen := range map[string]func(*simulation){
		"the manager is restarted": func(s *simulation) { s.restart() },
		"the pods are deleted": func(s *simulation) {
			var pods corev1.PodList
			ours(s, &pods)
			for i := range pods.Items {
				if probejob.Ended(&pods.Items[i]) {
					continue
				}
				delete(s.running, pods.Items[i].UID)
				s.must(s.Delete(t.Context(), &pods.Items[i]))
				s.finish(t.Context(), &pods.Items[i], batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
			}
		},
		"the Jobs are deleted": func(s *simulation) {
			var jobs batchv1.JobList
			ours(s, &jobs)
			for i := range jobs.Items {
				s.must(s.Delete(t.Context(), &jobs.Items[i]))
			}
		},
		"the node is lost, with the manager": func(s *simulation) {
			if m := s.profile().Status.Measuring; m != nil {
				s.must(client.IgnoreNotFound(s.Delete(t.Context(), worker(m.Node, 1))))
				s.lose(m.Node)
			}
			s.restart()
		},
		"the node is cordoned": func(s *simulation) {
			if m := s.profile().Status.Measuring; m != nil {
				n := worker(m.Node, 1)
				s.must(s.Get(t.Context(), client.ObjectKeyFromObject(n), n))
				n.Spec.Unschedulable = true
				s.must(s.Update(t.Context(), n))
			}
		},
		"a pod of somebody else comes to the node and goes": func(s *simulation) {
			if m := s.profile().Status.Measuring; m != nil {
				pod := service("stranger", "cart", m.Node)
				pod.CreationTimestamp = s.now()
				s.must(s.Create(t.Context(), pod))
				s.reconcile()
				s.must(s.Delete(t.Context(), pod))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := 0; i < len(situations); i += thinned {
				at := situations[i]
				s := start()
				s.t, s.noise = t, 0.0001 // two rounds must do
				n := 0
				p := s.until(v1alpha1.ReasonMeasured, func() {
					if n++; n == at {
						happen(s)
					}
				})
				vector(t, p, v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.58})
				s.nothingLeft()
				if t.Failed() {
					t.Fatalf("it happened at reconciliation %d: %v", at, s.emitted())
				}
			}
		})
	}
}

// situation describes the state of a measurement: its step, and the state of its pods.
func (s *simulation) situation() string {
	s.t.Helper()
	where := ""
	if m := s.profile().Status.Measuring; m != nil {
		where = m.Step
	}
	var jobs batchv1.JobList
	s.must(s.List(s.t.Context(), &jobs, client.HasLabels{probejob.MeasurementKey}))
	where += fmt.Sprint(" ", len(jobs.Items))
	var pods corev1.PodList
	s.must(s.List(s.t.Context(), &pods, client.HasLabels{probejob.MeasurementKey}))
	for i := range pods.Items {
		where += fmt.Sprint(" ", isTarget(&pods.Items[i]), pods.Items[i].Status.Phase)
	}
	return where
}

// lose takes away what ran on a node.
func (s *simulation) lose(node string) {
	for uid, p := range s.running {
		if p.pod.Spec.NodeName == node {
			delete(s.running, uid)
		}
	}
	var pods corev1.PodList
	s.must(s.List(s.t.Context(), &pods, client.MatchingFields{"spec.nodeName": node}))
	for i := range pods.Items {
		s.must(s.Delete(s.t.Context(), &pods.Items[i]))
		if !probejob.Ended(&pods.Items[i]) {
			s.finish(s.t.Context(), &pods.Items[i], batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
		}
	}
}

func TestThePodsThatAreMeasuredAreTheTargetsOwn(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("disk")), targetJob(), worker("worker-1", 1))
	var pods []corev1.Pod
	s.before = func(pod *corev1.Pod) bool { pods = append(pods, *pod.DeepCopy()); return true }
	s.until(v1alpha1.ReasonMeasured)
	target := slices.IndexFunc(pods, func(p corev1.Pod) bool { return isTarget(&p) })
	probe := slices.IndexFunc(pods, func(p corev1.Pod) bool { return !isTarget(&p) })
	copied, standard := &pods[target], &pods[probe]
	if copied.Labels["app"] != "" || copied.Spec.ServiceAccountName != "etl" || copied.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("the copy has labels %v, service account %s and restarts %s", copied.Labels, copied.Spec.ServiceAccountName, copied.Spec.RestartPolicy)
	}
	if copied.Spec.ShareProcessNamespace == nil || !*copied.Spec.ShareProcessNamespace || copied.Spec.InitContainers[0].Name != probejob.WatchContainer {
		t.Errorf("the copy is not observed: %+v", copied.Spec)
	}
	// Half a core each fits on one core, but for the observer's thousandth.
	for _, pod := range []*corev1.Pod{copied, standard} {
		if got := pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue(); got != 499 {
			t.Errorf("%s asks for %d thousandths of a core, want 499", pod.Spec.Containers[0].Name, got)
		}
	}
	if standard.Spec.AutomountServiceAccountToken == nil || *standard.Spec.AutomountServiceAccountToken {
		t.Error("the probe has a token")
	}
}

func TestAResultIsRenewedWhenItIsStale(t *testing.T) {
	t.Parallel()
	short := func(m *v1alpha1.Measurement) { m.ValidSeconds = new(int64(3600)) }
	s := newSimulation(t, filecomp(only("cpu"), short), targetJob(), worker("worker-1", 1))
	first := s.until(v1alpha1.ReasonMeasured).Status.Measurements[0].Time.Time
	result := s.reconcile()
	if want := first.Add(time.Hour).Sub(s.clock.Now()); result.RequeueAfter != want {
		t.Errorf("it looks again after %v, want %v", result.RequeueAfter, want)
	}
	s.clock.SetTime(s.clock.Now().Add(result.RequeueAfter))
	s.reconcile()
	if c := s.condition(); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonStale {
		t.Errorf("while it is renewed the condition is %+v", c)
	}
	if p := s.profile(); len(p.Status.Measurements) != 1 {
		t.Error("the old result is not in use any more")
	}
	if second := s.until(v1alpha1.ReasonMeasured).Status.Measurements[0].Time.Time; !second.After(first) {
		t.Error("the result is the old one")
	}
}

func TestAnotherTemplateIsAnotherQuestion(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.until(v1alpha1.ReasonMeasured)
	s.edit(func(j *batchv1.Job) {
		j.Spec.Template.Labels = map[string]string{"batch.kubernetes.io/controller-uid": "other"}
	})
	s.reconcile()
	if s.profile().Status.Measuring != nil {
		t.Fatal("it is measured again for another label")
	}
	s.edit(func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Args = []string{"--fast"} })
	s.target = s.target[:1:1]
	s.target[0].Loading, s.target[0].Pressure = 0.2, 0.2
	s.reconcile()
	s.pass(30 * time.Second)
	s.reconcile()
	s.edit(func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Args = []string{"--faster"} })
	s.reconcile()
	if m := s.profile().Status.Measuring; m != nil {
		t.Errorf("the measurement of another template goes on: %+v", m)
	}
	vector(t, s.until(v1alpha1.ReasonMeasured), v1alpha1.NoNodeProfile, map[string]float64{"cpu": 0.2})
	s.nothingLeft()
}

func TestATargetThatIsGoneDoesNotSpoilTheResult(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.until(v1alpha1.ReasonMeasured)
	s.must(s.Delete(t.Context(), targetJob()))
	s.reconcile()
	if c := s.condition(); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonMeasured {
		t.Errorf("the condition is %+v", c)
	}
}

func TestNothingIsLeftWhenTheMeasurementIsNoLongerAskedFor(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(), targetJob(), worker("worker-1", 1))
	for s.profile().Status.Measuring == nil || s.profile().Status.Measuring.Step == "alone" {
		s.reconcile()
		s.pass(10 * time.Second)
	}
	s.reconcile()
	p := s.profile()
	p.Spec.Measurement = nil
	s.must(s.Update(t.Context(), p))
	s.reconcile()
	if p := s.profile(); p.Status.Measuring != nil || len(p.Status.Measurements) > 0 || s.condition().Type != "" {
		t.Errorf("the status is %+v", p.Status)
	}
	s.nothingLeft()
	if !s.reconciler.Slots.Acquire(slots.Owner{Namespace: "shop", UID: "another"}, "worker-1") {
		t.Error("the node is still taken")
	}
}

func TestANodeIsForOneMeasurementAtATime(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	other := slots.Owner{Namespace: "shop", UID: "another"}
	s.reconciler.Slots.Acquire(other, "worker-1")
	s.reconcile()
	if c := s.condition(); c.Reason != v1alpha1.ReasonQueued || !strings.Contains(c.Message, "worker-1") {
		t.Errorf("the condition is %+v", c)
	}
	s.reconciler.Slots.Release(other.UID)
	s.until(v1alpha1.ReasonMeasured)
	if !s.reconciler.Slots.Acquire(other, "worker-1") {
		t.Error("the node is still taken")
	}
}

// A result that holds is in use wherever its nodes are, and the condition says so.
func TestAResultOutlivesItsNodes(t *testing.T) {
	t.Parallel()
	change := func(f func(*corev1.Node)) func(*simulation) {
		return func(s *simulation) {
			n := worker("worker-1", 1)
			s.must(s.Get(s.t.Context(), client.ObjectKeyFromObject(n), n))
			before := n.DeepCopy()
			f(n)
			s.must(s.Status().Patch(s.t.Context(), n.DeepCopy(), client.MergeFrom(before)))
			s.must(s.Patch(s.t.Context(), n, client.MergeFrom(before)))
		}
	}
	down := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	gone := func(s *simulation) { s.must(s.Delete(s.t.Context(), worker("worker-1", 1))) }
	fewRounds := func(m *v1alpha1.Measurement) {
		m.MaxRounds, m.Precision = new(int32(2)), new(resource.MustParse("0.001"))
	}
	for name, test := range map[string]struct {
		edits  []func(*v1alpha1.Measurement)
		happen func(*simulation)
		first  string
		status metav1.ConditionStatus
		reason string
		says   []string
	}{
		"a node that is down":      {happen: change(down), status: metav1.ConditionTrue, reason: v1alpha1.ReasonMeasured, says: []string{"cpu 0.5", "no usable node", "worker-1: it is not ready"}},
		"a node that is cordoned":  {happen: change(func(n *corev1.Node) { n.Spec.Unschedulable = true }), status: metav1.ConditionTrue, reason: v1alpha1.ReasonMeasured},
		"a node that was removed":  {happen: gone, status: metav1.ConditionTrue, reason: v1alpha1.ReasonMeasured, says: []string{"cpu 0.5", "no usable node"}},
		"an imprecise result":      {edits: []func(*v1alpha1.Measurement){fewRounds}, first: v1alpha1.ReasonImprecise, happen: change(down), status: metav1.ConditionTrue, reason: v1alpha1.ReasonImprecise, says: []string{"less precise than ± 0.001", "no usable node"}},
		"a service without pods":   {edits: []func(*v1alpha1.Measurement){asService}, happen: func(s *simulation) { s.must(s.Delete(s.t.Context(), service("a", "filecomp", "worker-1"))) }, status: metav1.ConditionTrue, reason: v1alpha1.ReasonMeasured, says: []string{"no pod that follows the profile"}},
		"a result that is too old": {happen: func(s *simulation) { change(down)(s); s.clock.SetTime(s.clock.Now().Add(defaultValid)) }, status: metav1.ConditionTrue, reason: v1alpha1.ReasonNoNode, says: []string{"no usable node", "so far cpu 0.5"}},
		"a class without a result": {
			happen: func(s *simulation) {
				s.must(s.Create(s.t.Context(), class("other", map[string]int32{"disk": 1})))
				n := worker("worker-3", 1, "other")
				n.Spec.Unschedulable = true
				s.must(s.Create(s.t.Context(), n))
				p := s.profile()
				p.Spec.Measurement.Nodes = &metav1.LabelSelector{MatchLabels: map[string]string{"other": "true"}}
				s.must(s.Update(s.t.Context(), p))
			},
			status: metav1.ConditionFalse, reason: v1alpha1.ReasonNoNode, says: []string{"no usable node"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSimulation(t, filecomp(append(test.edits, only("cpu"))...), targetJob(), worker("worker-1", 1), service("a", "filecomp", "worker-1"))
			s.background["filecomp"] = loading.Loadings(0.5, 0)
			if s.profile().Spec.Measurement.Target != nil {
				s.must(s.Delete(t.Context(), service("a", "filecomp", "worker-1")))
			}
			s.until(cmp.Or(test.first, v1alpha1.ReasonMeasured))
			s.emitted()
			test.happen(s)
			s.reconcile()
			c := s.condition()
			if c.Status != test.status || c.Reason != test.reason {
				t.Errorf("the condition is %s %s: %s", c.Status, c.Reason, c.Message)
			}
			for _, text := range test.says {
				if !strings.Contains(c.Message, text) {
					t.Errorf("the message %q lacks %q", c.Message, text)
				}
			}
			if m := s.profile().Status.Measurements; len(m) != 1 {
				t.Errorf("there are %d results", len(m))
			}
		})
	}
}

// A measurement that waits for another measurement says so in the condition alone; one that waits
// for other pods names them, and never names its own.
func TestWhatIsWaitedForIsSaid(t *testing.T) {
	t.Parallel()
	probe := func(of string) *corev1.Pod {
		pod := service("probe-of-"+of, "", "worker-1")
		pod.Labels[probejob.MeasurementKey] = of
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "of-" + of, UID: "job", Controller: new(true)}}
		return pod
	}
	forged := func(of string) *corev1.Pod {
		pod := probe(of)
		pod.Name = "forged"
		return pod
	}
	ended := func(pod *corev1.Pod) *corev1.Pod { pod.Status.Phase = corev1.PodSucceeded; return pod }
	correct := func(m *v1alpha1.Measurement) { m.Neighbours = v1alpha1.NeighboursCorrect }
	for name, test := range map[string]struct {
		profile *v1alpha1.WorkloadProfile
		nodes   []string
		pods    []*corev1.Pod
		held    []string // nodes, by others
		before  string   // a node that others measured until now
		reason  string
		says    string
	}{
		"a measurement that goes on":                    {nodes: []string{"worker-1"}, pods: []*corev1.Pod{probe("other")}, held: []string{"worker-1"}, reason: v1alpha1.ReasonQueued, says: "waiting for other measurements to end, which use worker-1"},
		"a measurement that goes on, between two steps": {nodes: []string{"worker-1"}, held: []string{"worker-1"}, reason: v1alpha1.ReasonQueued, says: "which use worker-1"},
		"a measurement whose pods have not ended":       {nodes: []string{"worker-1"}, pods: []*corev1.Pod{probe("other")}, before: "worker-1", reason: v1alpha1.ReasonQueued, says: "which use worker-1"},
		"the same beside neighbours": {
			profile: filecomp(only("cpu"), correct), nodes: []string{"worker-1"}, pods: []*corev1.Pod{probe("other")}, before: "worker-1", reason: v1alpha1.ReasonQueued, says: "which use worker-1",
		},
		"as many measurements as there may be": {
			nodes: []string{"worker-1", "worker-2"}, held: []string{"worker-8", "worker-9"}, reason: v1alpha1.ReasonQueued, says: "as many go on as --max-measurements of loadline-manager allows",
		},
		"pods of others beside those of a measurement": {
			nodes: []string{"worker-1"}, pods: []*corev1.Pod{probe("other"), service("cart", "cart", "worker-1")}, before: "worker-1", reason: v1alpha1.ReasonNoQuietNode, says: "worker-1: pod etl/cart runs there;",
		},
		"nothing, beside a probe that has ended":                  {nodes: []string{"worker-1"}, pods: []*corev1.Pod{ended(probe("other"))}, reason: v1alpha1.ReasonMeasuring},
		"nothing, on the other of two nodes":                      {nodes: []string{"worker-1", "worker-2"}, held: []string{"worker-1"}, reason: v1alpha1.ReasonMeasuring, says: "worker-2"},
		"nothing, beside probes on another's node":                {nodes: []string{"worker-1", "worker-2"}, pods: []*corev1.Pod{probe("other")}, before: "worker-1", reason: v1alpha1.ReasonMeasuring, says: "worker-2"},
		"a pod with the label of a measurement that there is not": {nodes: []string{"worker-1"}, pods: []*corev1.Pod{forged("other")}, reason: v1alpha1.ReasonNoQuietNode, says: "worker-1: pod etl/forged runs there"},
		"a pod with the label of one on another node":             {nodes: []string{"worker-1"}, pods: []*corev1.Pod{forged("other")}, held: []string{"worker-2"}, reason: v1alpha1.ReasonNoQuietNode, says: "worker-1: pod etl/forged runs there"},
		"a pod with the label of the measurement itself":          {nodes: []string{"worker-1"}, pods: []*corev1.Pod{forged("1234")}, reason: v1alpha1.ReasonNoQuietNode, says: "worker-1: pod etl/forged runs there"},
		"nothing, beside a labelled neighbour":                    {profile: filecomp(only("cpu"), correct), nodes: []string{"worker-1"}, pods: []*corev1.Pod{forged("other")}, reason: v1alpha1.ReasonMeasuring},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := test.profile
			if profile == nil {
				profile = filecomp(only("cpu"))
			}
			objects := []client.Object{profile, targetJob()}
			for _, name := range test.nodes {
				objects = append(objects, worker(name, 1))
			}
			for _, pod := range test.pods {
				objects = append(objects, pod)
			}
			s := newSimulation(t, objects...)
			other := slots.Owner{Namespace: "etl", UID: "other"}
			if len(test.held) > 0 && !s.reconciler.Slots.Acquire(other, test.held...) {
				t.Fatal("the nodes are not free")
			}
			if test.before != "" {
				s.reconciler.Slots.Acquire(other, test.before)
				s.reconciler.Slots.Release(other.UID)
			}
			s.reconcile()
			c := s.condition()
			if c.Reason != test.reason || !strings.Contains(c.Message, test.says) || strings.Contains(c.Message, "probe-of") {
				t.Errorf("the condition is %s: %s", c.Reason, c.Message)
			}
			if emitted := strings.Join(s.emitted(), "\n"); strings.Contains(emitted, "Warning") != (test.reason == v1alpha1.ReasonNoQuietNode) {
				t.Errorf("the events are:\n%s", emitted)
			}
		})
	}
}

func TestATimeThatIsUsedUpEndsTheMeasurement(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		budget int64
		status metav1.ConditionStatus
		says   string
	}{
		"with what is known":              {600, metav1.ConditionTrue, "after 2 rounds"},
		"with nothing in the first round": {30, metav1.ConditionFalse, "used up in the first round"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := func(m *v1alpha1.Measurement) {
				m.BudgetSeconds, m.Precision = new(test.budget), new(resource.MustParse("0.001"))
			}
			s := newSimulation(t, filecomp(only("cpu"), limit), targetJob(), worker("worker-1", 1))
			s.neutral = time.Minute
			s.until(v1alpha1.ReasonImprecise)
			if c := s.condition(); c.Status != test.status || !strings.Contains(c.Message, test.says) {
				t.Errorf("the condition is %+v", c)
			}
			s.nothingLeft()
		})
	}
}

func TestAnEventTellsOfTheBeginningAndOfTheEnd(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, filecomp(only("cpu")), targetJob(), worker("worker-1", 1))
	s.until(v1alpha1.ReasonMeasured)
	emitted := s.emitted()
	if len(emitted) != 2 || !strings.HasPrefix(emitted[0], "Normal Measuring measuring on node worker-1") || !strings.HasPrefix(emitted[1], "Normal Measured cpu 0.5") {
		t.Errorf("unexpected events: %v", fmt.Sprint(emitted))
	}
}
