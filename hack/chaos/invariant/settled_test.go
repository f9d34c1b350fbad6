package invariant

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/evaluate/profiles"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

// whole is a cluster in which all is as it should be.
func whole(t *testing.T) *State {
	t.Helper()
	s := &State{
		Now: noon, Namespaces: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}}, Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}},
		Pods: []corev1.Pod{*pod("a", "web", "one"), *pod("bare", "task", "one")}, Bare: sets.New("shop/bare"), Rates: map[string]float64{"rate": 60},
	}
	s.Pods[0].OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", UID: "set"}}
	s.StatefulSets = []appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "set"}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(1))}}}
	s.WorkloadProfiles = []v1alpha1.WorkloadProfile{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "profile"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.5"))}},
		},
	}}
	s.NodeProfiles = []v1alpha1.NodeProfile{{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1alpha1.NodeProfileSpec{
		Selector: &metav1.LabelSelector{}, Resources: []v1alpha1.ResourceServers{{Name: "disk", Servers: new(int32(1))}},
	}}}
	s.ShareTrees = []v1alpha1.ShareTree{{ObjectMeta: metav1.ObjectMeta{Name: "tree"}, Spec: v1alpha1.ShareTreeSpec{
		Processors: new(int32(1)), Groups: []v1alpha1.ShareGroup{{Name: "g", Share: new(int32(1))}},
		Workloads: []v1alpha1.ShareWorkload{{Name: "w", Group: "g", Share: new(int32(1)), Utilization: new(resource.MustParse("0.2")), ServiceMillis: new(int64(20))}},
	}}}
	s.Policies = []v1alpha1.RemediationPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "policy"}}}
	s.addPlan(t)
	s.addStatuses(t)
	return s
}

// addPlan adds a plan, and the Deployment that it scales, as it needs to be.
func (s *State) addPlan(t *testing.T) {
	t.Helper()
	plan := v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "plan"}, Spec: v1alpha1.PoolPlanSpec{
		Mode: v1alpha1.ModeApply, Prometheus: &v1alpha1.PrometheusSource{Address: "http://prometheus"},
		Classes: []v1alpha1.PoolClass{{
			Name: "c", Arrival: &v1alpha1.ClassArrival{Query: "rate"}, Service: &v1alpha1.ClassService{MeanMillis: new(int64(100))}, SLA: &v1alpha1.ClassSLA{ResponseTimeMillis: new(int64(500))},
		}},
		Pools: []v1alpha1.PlannedPool{{
			Name: "p", Classes: []string{"c"}, MaxServers: new(int32(40)), ServersPerReplica: new(int32(5)),
			ScaleTarget: &v1alpha1.ScaleTarget{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "checkout"},
		}},
	}}
	answer, err := pools.Plan(t.Context(), pools.Input{Plan: &plan, Quick: true, Measured: []pools.Measurement{{Class: "c", Arrival: &pools.Reading{Value: 60}}}})
	if err != nil {
		t.Fatal(err)
	}
	n := int32(answer.Pools[0].Bounds.Replicas)
	plan.Status.Pools = []v1alpha1.PoolStatus{{Name: "p", DesiredReplicas: &n, CurrentReplicas: new(n)}}
	s.PoolPlans = []v1alpha1.PoolPlan{plan}
	s.Deployments = []appsv1.Deployment{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"}, Spec: appsv1.DeploymentSpec{Replicas: new(n)}, Status: appsv1.DeploymentStatus{ReadyReplicas: n},
	}}
}

// addStatuses gives objects the statuses that they should have.
func (s *State) addStatuses(t *testing.T) {
	t.Helper()
	now := metav1.NewTime(noon)
	s.WorkloadProfiles[0].Status = profiles.WorkloadProfiles(s.WorkloadProfiles, []labels.Set{{"app": "web"}, {"app": "task"}}, s.NodeProfiles, now)[0]
	s.NodeProfiles[0].Status = profiles.NodeProfiles(s.NodeProfiles, []labels.Set{nil}, now)[0]
	answer, why := shares.OfTree(t.Context(), shares.TreeInput{Tree: &s.ShareTrees[0]})
	s.ShareTrees[0].Status = shares.Status(&s.ShareTrees[0], answer, why, now)
	s.Remediations = []v1alpha1.Remediation{*raised("r", "200m", "300m")}
	s.Remediations[0].Spec.Policy = "policy"
	s.Remediations[0].Status.Conditions = complete(metav1.ConditionFalse, v1alpha1.ReasonObserving, noon)
	s.Policies[0].Status = remediations.Status(&remediations.Input{Policy: &s.Policies[0], Remediations: s.Remediations, Now: now})
	s.TraceReplays = []v1alpha1.TraceReplay{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "replay", UID: "replay", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Status:     v1alpha1.TraceReplayStatus{Conditions: complete(metav1.ConditionTrue, v1alpha1.ReasonSucceeded, noon)},
	}}
}

// complete is the condition Complete since a time.
func complete(status metav1.ConditionStatus, reason string, since time.Time) []metav1.Condition {
	return []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(since)}}
}

// all returns what is broken of a cluster.
func all(s *State) (broken []string) {
	for _, rule := range AllSettled() {
		for _, text := range rule.Broken(s) {
			broken = append(broken, rule.Name+": "+text)
		}
	}
	return broken
}

func TestNothingIsBrokenOfAClusterInWhichAllIsAsItShouldBe(t *testing.T) {
	t.Parallel()
	if broken := all(whole(t)); len(broken) > 0 {
		t.Error(strings.Join(broken, "\n"))
	}
}

func TestWhatIsBrokenIsSaid(t *testing.T) {
	t.Parallel()
	job := func(s *State, label map[string]string, owners ...metav1.OwnerReference) {
		s.Jobs = append(s.Jobs, batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "job", Labels: label, OwnerReferences: owners}})
	}
	step := func(reason string, ago time.Duration) func(*State) {
		return func(s *State) {
			s.Remediations[0].Status.Conditions = complete(metav1.ConditionFalse, reason, noon.Add(-ago))
		}
	}
	for name, test := range map[string]struct {
		spoil func(*State)
		want  string
	}{
		"a pod is on no node":        {func(s *State) { s.Pods[1].Spec.NodeName, s.Pods[1].Status.Phase = "", corev1.PodPending }, `pod shop/bare does not run: Pending on node ""`},
		"a bare pod is gone":         {func(s *State) { s.Pods = s.Pods[:1] }, "pod shop/bare is gone"},
		"a pod of a set is gone":     {func(s *State) { s.Pods[0].OwnerReferences = nil }, "StatefulSet shop/db has 0 pods that run, and should have 1"},
		"a Deployment lacks pods":    {func(s *State) { s.Deployments[0].Status.ReadyReplicas = 0 }, "Deployment shop/checkout has 0 pods that are ready"},
		"an object does not go":      {func(s *State) { s.Namespaces[0].DeletionTimestamp = new(metav1.NewTime(noon.Add(-time.Minute))) }, "*v1.Namespace shop is being deleted since 11:59:00"},
		"a Job of a profile is left": {func(s *State) { job(s, map[string]string{probejob.MeasurementKey: "gone"}) }, "Job shop/job is left behind: its profile is gone"},
		"a Job of no measurement":    {func(s *State) { job(s, map[string]string{probejob.MeasurementKey: "profile"}) }, "Job shop/job is left behind: nothing is measured"},
		"a Job of a replay is left":  {func(s *State) { job(s, nil, metav1.OwnerReference{Kind: "TraceReplay", UID: "gone"}) }, "Job shop/job is left behind: its TraceReplay is gone"},
		"the count of pods is old":   {func(s *State) { s.WorkloadProfiles[0].Status.Pods = new(int32(7)) }, "the status of WorkloadProfile shop/web is not what it should be"},
		"the count of nodes is old":  {func(s *State) { s.NodeProfiles[0].Status.Nodes = new(int32(7)) }, "the status of NodeProfile all is not what it should be"},
		"a tree is of old":           {func(s *State) { s.ShareTrees[0].Status.WorkloadCount = new(int32(7)) }, "the status of ShareTree tree is not what it should be"},
		"a plan needs more":          {func(s *State) { s.Rates["rate"] = 120 }, "PoolPlan plan says that pool p needs"},
		"a plan does not count":      {func(s *State) { s.PoolPlans[0].Status.Pools[0].CurrentReplicas = nil }, "PoolPlan plan says that pool p has unknown replicas"},
		"a plan says nothing":        {func(s *State) { s.PoolPlans[0].Status.Pools = nil }, "PoolPlan plan says nothing of pool p"},
		"a plan has no answer":       {func(s *State) { s.Rates["rate"] = -1 }, "PoolPlan plan"},
		"a target was not scaled":    {func(s *State) { *s.Deployments[0].Spec.Replicas = 8; s.Deployments[0].Status.ReadyReplicas = 8 }, "Deployment shop/checkout has 8 replicas, and the pool needs"},
		"a policy does not count":    {func(s *State) { s.Policies[0].Status.Running = new(int32(7)) }, "the status of RemediationPolicy policy is not what it should be"},
		"a change has no status":     {func(s *State) { s.Remediations[0].Status.Conditions = nil }, "Remediation shop/r has no status"},
		"a change is stuck":          {step(v1alpha1.ReasonEvicting, time.Hour), "Remediation shop/r is at Evicting since 11:00:00"},
		"a pod in place of another is not": {func(s *State) {
			step(v1alpha1.ReasonReplacing, time.Hour)(s)
			s.Remediations[0].Status.Conditions[0].Message = "b is in its place, and not ready: it is Pending"
		}, "Remediation shop/r says that pod b is in the place of another"},
		"a change was not made": {func(s *State) {
			s.Pods[0].Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("200m")
		}, "the limit of its container is 200m, not 300m"},
		"a replay has no status":    {func(s *State) { s.TraceReplays[0].Status.Conditions = nil }, "TraceReplay shop/replay has no status"},
		"a replay does not end":     {func(s *State) { s.TraceReplays[0].Status.Conditions = complete(metav1.ConditionFalse, "Running", noon) }, "TraceReplay shop/replay is not complete: Running"},
		"a node measures no more":   {func(s *State) { s.WorkloadProfiles[0].Status.Measuring = &v1alpha1.MeasurementProgress{Node: "two"} }, "WorkloadProfile shop/web is measured on node two, which is gone"},
		"a node is said to measure": {func(s *State) { measuredOnGone(s, v1alpha1.ReasonMeasuring) }, "WorkloadProfile shop/web is measured on node two, which is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whole(t)
			test.spoil(s)
			if broken := all(s); !slices.ContainsFunc(broken, func(text string) bool { return strings.Contains(text, test.want) }) {
				t.Errorf("got %q, want one with %q", broken, test.want)
			}
		})
	}
}

// measuredOnGone has a profile measured on a node that is gone, with a reason of its condition.
func measuredOnGone(s *State, reason string) {
	status := &s.WorkloadProfiles[0].Status
	status.Measuring = &v1alpha1.MeasurementProgress{Node: "two"}
	status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionMeasured, Status: metav1.ConditionFalse, Reason: reason}}
}

func TestAMeasurementThatWaitsForANodeIsNotBroken(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{v1alpha1.ReasonNoNode, v1alpha1.ReasonNoQuietNode, v1alpha1.ReasonQueued} {
		s := whole(t)
		measuredOnGone(s, reason)
		if broken := MeasurementsTrue(s); len(broken) > 0 {
			t.Errorf("%s: %v", reason, broken)
		}
	}
}

func TestAChangeThatIsOnItsWayIsNotBroken(t *testing.T) {
	t.Parallel()
	s := whole(t)
	s.Remediations[0].Status.Conditions = complete(metav1.ConditionFalse, v1alpha1.ReasonEvicting, noon.Add(-stepWithin))
	if broken := s.remediation(&s.Remediations[0]); len(broken) > 0 {
		t.Error(broken)
	}
	later := raised("later", "300m", "400m")
	later.Status.StartTime = new(metav1.NewTime(noon.Add(time.Second)))
	later.Spec.Pod.UID = s.Remediations[0].Spec.Pod.UID
	s.Remediations[0].Status.Conditions = complete(metav1.ConditionFalse, v1alpha1.ReasonObserving, noon)
	s.Remediations = append(s.Remediations, *later)
	s.Pods[0].UID = types.UID(later.Spec.Pod.UID)
	s.Pods[0].Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("400m")
	if broken := s.remediation(&s.Remediations[0]); len(broken) > 0 {
		t.Errorf("a later change is taken for this one: %v", broken)
	}
}
