package installation

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/given"
)

// deployed is a component of two replicas, which are ready.
func deployed(name string, args ...string) Component {
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}, Status: appsv1.DeploymentStatus{ReadyReplicas: 2}}
	d.Namespace, d.Name = "loadline-system", "loadline-"+name
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "loadline-" + name + ":0.2.0", Args: args}}
	c, _ := NewComponent(d)
	return c
}

// led is a Lease that a pod of a component renewed at noon.
func led(name string) coordinationv1.Lease {
	l := coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
		HolderIdentity: new("loadline-" + name + "-abc_0b1c"), LeaseDurationSeconds: new(int32(15)), RenewTime: new(metav1.NewMicroTime(given.Noon.Time)),
	}}
	l.Namespace, l.Name = "kube-system", "loadline-"+name
	return l
}

// conditioned returns the profile as the manager has seen it.
func conditioned(p v1alpha1.WorkloadProfile, ready, conflicted metav1.ConditionStatus) v1alpha1.WorkloadProfile {
	p.Status.ObservedGeneration = new(p.Generation)
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: ready}, {Type: v1alpha1.ConditionConflicted, Status: conflicted}}
	return p
}

// well are the facts of an installation that works.
func well() *Facts {
	used := conditioned(given.Workload("web", 0), metav1.ConditionTrue, metav1.ConditionFalse)
	used.Status.Pods = new(int32(1204))
	return &Facts{
		Host: "https://there", Kubernetes: "v1.36.3", Kinds: slices.Clone(kinds),
		Components: []Component{deployed(Manager, "--leader-elect"), deployed(Scheduler)},
		Scheduler:  &SchedulerFacts{Names: []string{"loadline"}, Elects: true},
		Leases:     []coordinationv1.Lease{led(Manager), led(Scheduler)},
		Policies:   []Policy{{Name: "measurement.loadline.dev", Bound: true}},
		Workloads:  []v1alpha1.WorkloadProfile{used},
	}
}

func TestAnInstallationThatWorksIsWell(t *testing.T) {
	t.Parallel()
	a := well().Judge(given.Noon.Time)
	want := []Check{
		{Name: "cluster", State: StateOK, Message: "Kubernetes v1.36.3 at https://there"},
		{Name: "resource definitions", State: StateOK, Message: "7 kinds are served"},
		{Name: "manager", State: StateOK, Message: "2 of 2 replicas ready, version 0.2.0, loadline-manager-abc leads"},
		{Name: "scheduler", State: StateOK, Message: "2 of 2 replicas ready, version 0.2.0, loadline-scheduler-abc leads; places pods with schedulerName loadline"},
		{Name: "admission policies", State: StateOK, Message: "in force: measurement.loadline.dev"},
		{Name: "WorkloadProfiles", State: StateOK, Message: "1: 1 ready (0 measured); 1,204 pods follow them"},
		{Name: "NodeProfiles", State: StateOK, Message: "none yet"},
		{Name: "contention", State: StateOK, Message: "none: no node that was looked at has a pod that uses anything"},
	}
	if diff := cmp.Diff(want, a.Checks); !a.OK || diff != "" {
		t.Errorf("ok is %t (-want +got):\n%s", a.OK, diff)
	}
	if diff := cmp.Diff(&ProfileCounts{Total: 1, Ready: 1, Followers: 1204}, a.WorkloadProfiles); diff != "" {
		t.Errorf("unexpected counts (-want +got):\n%s", diff)
	}
}

func TestGaugesAloneAreAnInstallation(t *testing.T) {
	t.Parallel()
	alone := func(ready int32) *Answer {
		f := &Facts{Host: "https://there", Kubernetes: "v1.30.14", Gauges: gauges(3, ready)}
		return f.Judge(given.Noon.Time)
	}
	want := []Check{
		{Name: "cluster", State: StateOK, Message: "Kubernetes v1.30.14 at https://there"},
		{Name: "installed", State: StateOK, Message: "gauges alone: there is no manager and no scheduler, and there are no resource definitions"},
		{Name: "gauges", State: StateOK, Message: "ready on 3 of 3 nodes, version 0.2.0"},
	}
	if a := alone(3); !a.OK || !cmp.Equal(want, a.Checks) {
		t.Errorf("ok is %t (-want +got):\n%s", a.OK, cmp.Diff(want, a.Checks))
	}
	if a := alone(0); a.OK {
		t.Errorf("without a gauge that is ready: %+v", a.Checks)
	}
	for name, change := range map[string]func(*Facts){
		"nothing":              func(f *Facts) { f.Gauges = nil },
		"definitions":          func(f *Facts) { f.Kinds = kinds },
		"hidden definitions":   func(f *Facts) { f.KindsErr = errors.New("forbidden") },
		"hidden Deployments":   func(f *Facts) { f.ComponentsErr = errors.New("forbidden") },
		"a manager besides it": func(f *Facts) { f.Components = well().Components[:1] },
	} {
		f := &Facts{Gauges: gauges(3, 3)}
		change(f)
		if a := f.Judge(given.Noon.Time); a.OK {
			t.Errorf("%s: all is well", name)
		}
	}
}

func TestWhatIsWrongSaysWhatToDo(t *testing.T) {
	t.Parallel()
	hidden := errors.New("forbidden")
	for name, test := range map[string]struct {
		change func(*Facts)
		check  string
		state  State
		what   string
		do     string
	}{
		"a kind is not served": {func(f *Facts) { f.Kinds = f.Kinds[1:] }, "resource definitions", StateFailed, "not served: NodeProfile", "kubectl apply --server-side -k config/crd"},
		"no manager":           {func(f *Facts) { f.Components = f.Components[1:] }, Manager, StateFailed, "not installed: no Deployment with the label app.kubernetes.io/part-of=loadline", "give --without manager"},
		"one that is unwanted": {func(f *Facts) { f.Without = []string{Scheduler} }, Scheduler, StateWarning, "loadline-system/loadline-scheduler is there, which it is not to be", ""},
		"scaled to nothing":    {func(f *Facts) { f.Components[0].Replicas = 0 }, Manager, StateFailed, "is scaled to 0", "kubectl scale deployment/loadline-manager -n loadline-system --replicas=2"},
		"gauges everywhere":    {func(f *Facts) { f.Gauges = gauges(3, 3) }, "gauges", StateOK, "ready on 3 of 3 nodes, version 0.2.0", ""},
		"a gauge is missing":   {func(f *Facts) { f.Gauges = gauges(3, 2) }, "gauges", StateWarning, "ready on 2 of 3 nodes", "kubectl describe daemonset/loadline-gauge -n loadline-gauge"},
		"no gauge is ready":    {func(f *Facts) { f.Gauges = gauges(3, 0) }, "gauges", StateFailed, "ready on 0 of 3 nodes", "kubectl logs daemonset/loadline-gauge -n loadline-gauge say why"},
		"gauges nowhere":       {func(f *Facts) { f.Gauges = gauges(0, 0) }, "gauges", StateWarning, "ready on 0 of 0 nodes", "on which nodes they may run"},
		"hidden DaemonSets":    {func(f *Facts) { f.GaugesErr = hidden }, "gauges", StateWarning, "cannot tell: forbidden", "ask for the right"},
		"no gauge answers": {
			func(f *Facts) { f.Observed = &ObservedFacts{Gauges: 3, Problem: "worker-1: no route"} },
			"observations", StateFailed, "there are answers about 0 of 3 nodes, 0 of them from the manager; worker-1: no route", "docs/troubleshooting.md",
		},
		"a gauge does not answer": {
			func(f *Facts) {
				f.Observed = &ObservedFacts{Gauges: 3, Answered: 2, ByManager: 2, Problem: "worker-1: no route", Note: "the manager is old"}
			},
			"observations", StateWarning, "there are answers about 2 of 3 nodes, 2 of them from the manager; worker-1: no route; the manager is old", "docs/troubleshooting.md",
		},
		"the manager answers": {
			func(f *Facts) { f.Observed = &ObservedFacts{Gauges: 3, Answered: 3, ByManager: 3} },
			"observations", StateOK, "there are answers about 3 of 3 nodes, 3 of them from the manager", "",
		},
		"gauges may not be asked": {func(f *Facts) { f.ObservedErr = hidden }, "observations", StateWarning, "cannot tell: forbidden", "ask for the role loadline-gauge-user"},
		"none is ready":           {func(f *Facts) { f.Components[0].ReadyReplicas = 0 }, Manager, StateFailed, "0 of 2 replicas are ready", "kubectl logs deployment/loadline-manager -n loadline-system say why"},
		"one is not ready":        {func(f *Facts) { f.Components[0].ReadyReplicas = 1 }, Manager, StateWarning, "1 of 2 replicas ready", "kubectl describe deployment/loadline-manager"},
		"no replica leads":        {func(f *Facts) { f.Leases = nil }, Scheduler, StateFailed, "no replica leads: none of its pods holds a Lease", "may its service account create and update Leases?"},
		"a lease not renewed":     {func(f *Facts) { f.Leases[0].Spec.RenewTime = nil }, Manager, StateFailed, "no replica leads: Lease kube-system/loadline-manager was never renewed", "kubectl logs"},
		"a lease that ran out":    {func(f *Facts) { f.Leases[0].Spec.RenewTime.Time = given.Noon.Add(-76 * time.Second) }, Manager, StateFailed, "was last renewed at 2026-07-01T11:58:44Z", "kubectl logs"},
		"within a clock's error":  {func(f *Facts) { f.Leases[0].Spec.RenewTime.Time = given.Noon.Add(-74 * time.Second) }, Manager, StateOK, "loadline-manager-abc leads", ""},
		"two act at once":         {func(f *Facts) { f.Components[0], f.Leases = deployed(Manager), f.Leases[1:] }, Manager, StateFailed, "2 replicas act at once: they do not elect a leader", ""},
		"one need not be elected": {
			func(f *Facts) {
				f.Components[0], f.Leases = deployed(Manager), f.Leases[1:]
				f.Components[0].Replicas, f.Components[0].ReadyReplicas = 1, 1
			},
			Manager, StateOK, "1 of 1 replicas ready, version 0.2.0", "",
		},
		"no plugin":             {func(f *Facts) { f.Scheduler.Names = nil }, Scheduler, StateFailed, "no profile of its configuration enables the plugin Dilation", "enable it"},
		"configuration unknown": {func(f *Facts) { f.Scheduler, f.SchedulerErr = nil, hidden }, Scheduler, StateOK, "which pods it places is not known: forbidden", ""},
		"a scheduler too new": {
			func(f *Facts) { f.Kubernetes, f.BuiltWith = "v1.35.4-eks-1a2b3c", "1.36" },
			Scheduler, StateWarning, "; it is made of kube-scheduler 1.36, and the API server is 1.35", "with --emulated-version=1.35",
		},
		"a scheduler that emulates the version of the API server": {
			func(f *Facts) {
				f.Kubernetes, f.BuiltWith = "v1.35.4", "1.37"
				f.Components[1] = deployed(Scheduler, "--emulated-version=1.35")
			},
			Scheduler, StateOK, "places pods with schedulerName loadline", "",
		},
		"a scheduler that emulates a version too old": {
			func(f *Facts) {
				f.Kubernetes, f.BuiltWith = "v1.37.2", "1.37"
				f.Components[1] = deployed(Scheduler, "--emulated-version=kube=1.35")
			},
			Scheduler, StateWarning, "; it emulates kube-scheduler 1.35, and the API server is 1.37", "with --emulated-version=1.37",
		},
		"a scheduler too old": {
			func(f *Facts) { f.Kubernetes, f.BuiltWith = "v1.38.0", "1.36" },
			Scheduler, StateWarning, "; it is made of kube-scheduler 1.36, and the API server is 1.38", "or the one before",
		},
		"a scheduler one version older": {func(f *Facts) { f.Kubernetes, f.BuiltWith = "v1.37.2", "1.36" }, Scheduler, StateOK, "places pods with schedulerName loadline", ""},
		"no policies for pools": {
			func(f *Facts) { f.NoMutating = true },
			"admission policies", StateOK, "in force: measurement.loadline.dev; pods of a pool get no nodes by a policy, as the API server has no MutatingAdmissionPolicy v1", "",
		},
		"no policies":           {func(f *Facts) { f.Policies = nil }, "admission policies", StateWarning, "none: all users who may write profiles may have Jobs run", "config/admission"},
		"a policy not in force": {func(f *Facts) { f.Policies[0].Bound = false }, "admission policies", StateWarning, "without a binding, so not in force: measurement.loadline.dev", "config/admission"},
		"hidden Deployments":    {func(f *Facts) { f.Components, f.ComponentsErr = nil, hidden }, Manager, StateFailed, "cannot tell: forbidden", "ask for the right"},
		"hidden Leases":         {func(f *Facts) { f.LeasesErr = hidden }, Manager, StateFailed, "cannot tell who leads: forbidden", "ask for the right"},
		"hidden policies":       {func(f *Facts) { f.PoliciesErr = hidden }, "admission policies", StateWarning, "cannot tell: forbidden", "ask for the right"},
		"hidden profiles":       {func(f *Facts) { f.NodesErr = hidden }, "NodeProfiles", StateWarning, "cannot tell: forbidden", "ask for the right"},
		"an invalid profile": {func(f *Facts) {
			f.Workloads[0] = conditioned(f.Workloads[0], metav1.ConditionFalse, metav1.ConditionFalse)
		}, "WorkloadProfiles", StateWarning, "1: 0 ready (0 measured), 1 invalid", "kubectl describe workloadprofiles says what is wrong with shop/web"},
		"profiles in conflict": {func(f *Facts) {
			f.Workloads[0] = conditioned(f.Workloads[0], metav1.ConditionTrue, metav1.ConditionTrue)
		}, "WorkloadProfiles", StateWarning, "1 in conflict", "make the selectors differ of shop/web"},
		"a profile not measured": {func(f *Facts) {
			f.Workloads[0] = conditioned(f.Workloads[0], metav1.ConditionUnknown, metav1.ConditionFalse)
		}, "WorkloadProfiles", StateOK, "1 not measured yet", ""},
		"a profile that is advice": {func(f *Facts) {
			f.Workloads[0] = conditioned(f.Workloads[0], metav1.ConditionUnknown, metav1.ConditionFalse)
			f.Workloads[0].Status.Conditions[0].Reason = v1alpha1.ReasonAdvising
		}, "WorkloadProfiles", StateOK, "1 with advice only", ""},
		"a profile not observed": {func(f *Facts) {
			f.Workloads[0] = conditioned(f.Workloads[0], metav1.ConditionUnknown, metav1.ConditionFalse)
			f.Workloads[0].Status.Conditions[0].Reason = v1alpha1.ReasonNotObserved
		}, "WorkloadProfiles", StateOK, "1 not observed yet", ""},
		"a profile not seen": {func(f *Facts) { f.Workloads[0].Generation++ }, "WorkloadProfiles", StateWarning, "1 not looked at", "the manager has not seen shop/web"},
	} {
		f := well()
		test.change(f)
		a := f.Judge(given.Noon.Time)
		i := slices.IndexFunc(a.Checks, func(c Check) bool { return c.Name == test.check })
		c := a.Checks[i]
		if c.State != test.state || !strings.Contains(c.Message, test.what) || !strings.Contains(c.Do, test.do) || test.do == "" && c.State == StateOK && c.Do != "" {
			t.Errorf("%s: the check is %+v, want %s: %s (%s)", name, c, test.state, test.what, test.do)
		}
		if a.OK == (test.state == StateFailed) {
			t.Errorf("%s: ok is %t", name, a.OK)
		}
	}
}

func TestTheKindsThatHaveToBeServedAreThoseThatThereAre(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var there []string
	for kind, of := range scheme.KnownTypes(v1alpha1.GroupVersion) {
		if _, object := of.FieldByName("Spec"); object {
			there = append(there, kind)
		}
	}
	slices.Sort(there)
	if diff := cmp.Diff(there, kinds); diff != "" {
		t.Errorf("unexpected kinds (-want +got):\n%s", diff)
	}
}

// gauges returns the DaemonSet of the gauges of some nodes, of which some are ready.
func gauges(nodes, ready int32) []Gauges {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "loadline-gauge", Name: "loadline-gauge"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "loadline/loadline-gauge:0.2.0"}}
	d.Status.DesiredNumberScheduled, d.Status.NumberReady = nodes, ready
	return []Gauges{NewGauges(d)}
}
