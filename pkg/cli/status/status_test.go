package status_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/installation"
)

func TestStatusSaysThatAllIsWell(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, append(append(clitest.Installed(), clitest.SomeProfiles()...), clitest.GaugesOn(3))...)
	code, stdout, stderr := server.Ask(t, "status")
	want := `CHECK                  STATE   WHAT
cluster                ok      Kubernetes v1.36.3 at ` + server.URL + `
resource definitions   ok      7 kinds are served
manager                ok      2 of 2 replicas ready, version 0.2.0, loadline-manager-7d9-abc leads
scheduler              ok      2 of 2 replicas ready, version 0.2.0, loadline-scheduler-7d9-abc leads; places pods with schedulerName loadline
gauges                 ok      ready on 3 of 3 nodes, version 0.2.0
admission policies     ok      in force: measurement.loadline.dev, loadline-pools
WorkloadProfiles       ok      3: 2 ready (1 measured), 1 being measured, 1 not measured yet; 9 pods follow them
NodeProfiles           ok      1: 1 ready (1 calibrated); 4 nodes follow them
contention             ok      none: no node that was looked at has a pod that uses anything
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

// checkNamed returns a check of an answer.
func checkNamed(t *testing.T, a *installation.Answer, name string) installation.Check {
	t.Helper()
	i := slices.IndexFunc(a.Checks, func(c installation.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %q in %+v", name, a.Checks)
	}
	return a.Checks[i]
}

func TestStatusSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	edit := func(change func(*appsv1.Deployment), component string) []client.Object {
		objects := clitest.Installed()
		for _, o := range objects {
			if d, is := o.(*appsv1.Deployment); is && d.Name == "loadline-"+component {
				change(d)
			}
		}
		return objects
	}
	drop := func(drop func(client.Object) bool, more ...client.Object) []client.Object {
		return append(slices.DeleteFunc(clitest.Installed(), drop), more...)
	}
	isLease := func(o client.Object) bool { _, is := o.(*coordinationv1.Lease); return is }
	for name, test := range map[string]struct {
		server *clitest.Server
		args   []string
		check  string
		state  installation.State
		what   string
		do     string
	}{
		"no definitions": {
			clitest.NewServer(t, clitest.Installed()...).Without("loadline.dev"), nil, "resource definitions", installation.StateFailed,
			"not served: NodeProfile, PoolPlan, Remediation, RemediationPolicy, ShareTree, TraceReplay, WorkloadProfile", "kubectl apply --server-side -k config/crd",
		},
		"no definitions, so no profiles": {
			clitest.NewServer(t, clitest.Installed()...).Without("loadline.dev"), nil, "WorkloadProfiles", installation.StateWarning, "there can be none without their definition", "",
		},
		"nothing installed": {clitest.NewServer(t), nil, "manager", installation.StateFailed, "not installed: no Deployment with the label", "install it with the chart"},
		"no scheduler": {
			clitest.NewServer(t, drop(func(o client.Object) bool { return o.GetName() == "loadline-scheduler" })...), nil,
			"scheduler", installation.StateFailed, "not installed", "give --without scheduler",
		},
		"a scheduler that is not to be there": {
			clitest.NewServer(t, clitest.Installed()...), []string{"--without", "scheduler"}, "scheduler", installation.StateWarning, "loadline-system/loadline-scheduler is there, which it is not to be", "",
		},
		"scaled to nothing": {
			clitest.NewServer(t, edit(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }, "manager")...), nil,
			"manager", installation.StateFailed, "loadline-system/loadline-manager is scaled to 0", "kubectl scale deployment/loadline-manager -n loadline-system --replicas=2",
		},
		"no replica is ready": {
			clitest.NewServer(t, edit(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 }, "scheduler")...), nil,
			"scheduler", installation.StateFailed, "0 of 2 replicas are ready", "kubectl logs deployment/loadline-scheduler -n loadline-system say why",
		},
		"one of two is ready": {
			clitest.NewServer(t, edit(func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 1 }, "manager")...), nil,
			"manager", installation.StateWarning, "1 of 2 replicas ready, version 0.2.0, loadline-manager-7d9-abc leads", "kubectl describe deployment/loadline-manager",
		},
		"no replica leads": {
			clitest.NewServer(t, drop(isLease)...), nil, "manager", installation.StateFailed, "no replica leads: none of its pods holds a Lease", "may its service account create and update Leases?",
		},
		"the leader is gone": {
			clitest.NewServer(t, drop(isLease, clitest.Lease(installation.Scheduler, deployed.ElectionNamespace, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))...), nil,
			"scheduler", installation.StateFailed, "no replica leads: Lease kube-system/loadline-scheduler was last renewed at 2026-03-01T12:00:00Z", "kubectl logs",
		},
		"a lease that was never renewed": {
			clitest.NewServer(t, drop(isLease, clitest.Unrenewed(clitest.Lease(installation.Scheduler, deployed.ElectionNamespace, time.Now())))...), nil,
			"scheduler", installation.StateFailed, "no replica leads: Lease kube-system/loadline-scheduler was never renewed", "kubectl logs",
		},
		"two act at once": {
			clitest.NewServer(t, slices.DeleteFunc(edit(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Args = nil }, "manager"), isLease)...), nil,
			"manager", installation.StateFailed, "2 replicas act at once: they do not elect a leader", "",
		},
		"one that need not be elected": {
			clitest.NewServer(t, slices.DeleteFunc(edit(func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers[0].Args, d.Spec.Replicas, d.Status.ReadyReplicas = nil, new(int32(1)), 1
			}, "manager"), isLease)...), nil,
			"manager", installation.StateOK, "1 of 1 replicas ready, version 0.2.0", "",
		},
		"a scheduler without the plugin": {
			clitest.NewServer(t, append([]client.Object{clitest.SchedulerConfigMap("kind: KubeSchedulerConfiguration")}, drop(func(o client.Object) bool {
				return o.GetName() == "loadline-scheduler-5t6h"
			})...)...), nil,
			"scheduler", installation.StateFailed, "no profile of its configuration enables the plugin Dilation", "enable it",
		},
		"a configuration that is not there": {
			clitest.NewServer(t, drop(func(o client.Object) bool { return o.GetName() == "loadline-scheduler-5t6h" })...), nil,
			"scheduler", installation.StateOK, "which pods it places is not known: reading ConfigMap loadline-system/loadline-scheduler-5t6h: ", "",
		},
		"no policies": {
			clitest.NewServer(t, drop(func(o client.Object) bool {
				return strings.Contains(o.GetName(), "loadline.dev") || o.GetName() == "loadline-pools"
			})...), nil,
			"admission policies", installation.StateWarning, "none: all users who may write profiles may have Jobs run", "config/admission",
		},
		"a policy without a binding": {
			clitest.NewServer(t, drop(func(o client.Object) bool { _, is := o.(*admissionv1.ValidatingAdmissionPolicyBinding); return is })...), nil,
			"admission policies", installation.StateWarning, "without a binding, so not in force: measurement.loadline.dev", "config/admission",
		},
		"Deployments that may not be seen": {
			clitest.NewServer(t, clitest.Installed()...).Refuse("/apis/apps/v1/*"), nil, "manager", installation.StateFailed, "cannot tell: listing Deployments: ", "ask for the right",
		},
		"Leases that may not be seen": {
			clitest.NewServer(t, clitest.Installed()...).Refuse("/apis/coordination.k8s.io/v1/*"), nil, "manager", installation.StateFailed, "cannot tell who leads: listing Leases in ", "ask for the right",
		},
		"policies that may not be seen": {
			clitest.NewServer(t, clitest.Installed()...).Refuse("/apis/admissionregistration.k8s.io/v1/*"), nil, "admission policies", installation.StateWarning, "cannot tell: listing admission policies", "ask",
		},
		"profiles that may not be seen": {
			clitest.NewServer(t, clitest.Installed()...).Refuse("/apis/loadline.dev/v1alpha1/*"), nil, "NodeProfiles", installation.StateWarning, "cannot tell: ", "ask for the right",
		},
		"an invalid profile": {
			clitest.NewServer(t, append(clitest.Installed(), clitest.WorkloadProfile("bad", func(p *v1alpha1.WorkloadProfile) {
				p.Status.Conditions = clitest.Conditions(metav1.ConditionFalse, false)
			}))...), nil,
			"WorkloadProfiles", installation.StateWarning, "1: 0 ready (0 measured), 1 invalid; 0 pods follow them", "kubectl describe workloadprofiles says what is wrong with etl/bad",
		},
		"profiles in conflict": {
			clitest.NewServer(t, append(clitest.Installed(), clitest.WorkloadProfile("twin", func(p *v1alpha1.WorkloadProfile) {
				p.Status.Conditions = clitest.Conditions(metav1.ConditionTrue, true)
			}))...), nil,
			"WorkloadProfiles", installation.StateWarning, "1: 1 ready (0 measured), 1 in conflict; 0 pods follow them", "make the selectors differ of etl/twin",
		},
		"a profile that the manager has not seen": {
			clitest.NewServer(t, append(clitest.Installed(), clitest.WorkloadProfile("new", func(p *v1alpha1.WorkloadProfile) { p.Generation = 2 }))...), nil,
			"WorkloadProfiles", installation.StateWarning, "1: 0 ready (0 measured), 1 not looked at; 0 pods follow them", "the manager has not seen etl/new",
		},
		"no profiles yet": {clitest.NewServer(t, clitest.Installed()...), nil, "WorkloadProfiles", installation.StateOK, "none yet", ""},
		"no profiles yet, so contention is not known": {
			clitest.NewServer(t, append(clitest.Installed(), &corev1.Node{})...), nil, "contention", installation.StateOK, "no profile says what pods use", "",
		},
		"profiles that no pod follows": {
			clitest.NewServer(t, contended(0)...), nil,
			"contention", installation.StateOK, "no pod on the nodes follows a profile, and requests do not say what pods use", "",
		},
		"nodes that may not be seen": {
			clitest.NewServer(t, contended(3)...).Refuse("/api/v1/nodes"), nil, "contention", installation.StateWarning, "cannot tell: listing nodes: ", "ask for the right",
		},
		"pods that may not be seen": {
			clitest.NewServer(t, contended(3)...).Refuse("/api/v1/pods"), nil, "contention", installation.StateWarning, "cannot tell: listing the pods of nodes: ", "ask for the right",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := test.server.Ask(t, append([]string{"status", "-o", "json"}, test.args...)...)
			var a installation.Answer
			if err := json.Unmarshal([]byte(stdout), &a); err != nil {
				t.Fatalf("%v: exit code %d, errors %q", err, code, stderr)
			}
			c := checkNamed(t, &a, test.check)
			if c.State != test.state || !strings.Contains(c.Message, test.what) {
				t.Errorf("the check is %+v, want %s: %s", c, test.state, test.what)
			}
			if !strings.Contains(c.Do, test.do) || test.do == "" && c.State == installation.StateOK && c.Do != "" {
				t.Errorf("what to do is %q, want %q", c.Do, test.do)
			}
			wrong := slices.ContainsFunc(a.Checks, func(c installation.Check) bool { return c.State == installation.StateFailed })
			if a.OK == wrong || (code == 1) != wrong || wrong != strings.HasPrefix(stderr, "Error: not all is well: ") {
				t.Errorf("exit code %d, ok %t, errors %q, checks %+v", code, a.OK, stderr, a.Checks)
			}
			if code, stdout, _ = test.server.Ask(t, append([]string{"status"}, test.args...)...); c.Do != "" && !strings.Contains(stdout, "  "+c.Name+": "+c.Do) {
				t.Errorf("exit code %d, and the table does not say what to do:\n%s", code, stdout)
			}
		})
	}
}

// contended is an installation with two nodes of four cores, on the first of which some pods compute all the time, beside one without a
// profile.
func contended(pods int) []client.Object {
	objects := append(clitest.Installed(), clitest.WorkloadProfile("sort", func(p *v1alpha1.WorkloadProfile) {
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "sort"}}
		p.Spec.Resources = []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("1"))}}
	}))
	for _, name := range []string{"worker-1", "worker-2"} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
		objects = append(objects, n)
	}
	for i := range pods {
		objects = append(objects, clitest.SortPod(fmt.Sprintf("sort-%d", i), corev1.PodRunning))
	}
	other := clitest.SortPod("other", corev1.PodRunning)
	other.Labels = nil
	return append(objects, other)
}

func TestStatusSaysWhatThereIsToWin(t *testing.T) {
	t.Parallel()
	for pods, want := range map[int]string{
		3: "Excess dilation here is 0.00: there is little to win; 1 of 4 pods follow no profile and count by their requests",
		7: "Excess dilation here is 0.75, load 90 %, 1.0 pods a core, unlikeness 0.00: on simulated clusters like this Loadline took ",
		9: "Excess dilation here is 1.24, load 115 %, 1.2 pods a core, unlikeness 0.00: what there is to win is not known (load 115 %, where the map has ",
	} {
		server := clitest.NewServer(t, contended(pods)...)
		code, stdout, stderr := server.Ask(t, "status", "-o", "json")
		var a installation.Answer
		if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil {
			t.Fatalf("%d pods: exit code %d, errors %q, %v", pods, code, stderr, err)
		}
		c := checkNamed(t, &a, "contention")
		if !strings.HasPrefix(c.Message, want) || c.State != installation.StateOK || c.Message != a.Contention.String() {
			t.Errorf("%d pods: %+v, want %s", pods, c, want)
		}
		if got := a.Contention; got.Nodes != 2 || got.AllNodes != 2 || got.Pods != pods+1 || got.WithoutProfile != 1 || (got.Here == nil) != (got.Outside != "") {
			t.Errorf("%d pods: %+v", pods, got)
		}
		if code, stdout, stderr = server.Ask(t, "status"); code != 0 || !strings.Contains(stdout, "contention             ok      "+c.Message+"\n") {
			t.Errorf("%d pods: exit code %d, errors %q:\n%s", pods, code, stderr, stdout)
		}
	}
}

func TestStatusLooksAtSomeNodesOfALargeCluster(t *testing.T) {
	t.Parallel()
	objects := contended(7)
	for i := range 250 {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("x-%03d", i)}})
	}
	code, stdout, stderr := clitest.NewServer(t, objects...).Ask(t, "status")
	if code != 0 || !strings.Contains(stdout, "; 100 of 252 nodes were looked at\n") {
		t.Errorf("exit code %d, errors %q:\n%s", code, stderr, stdout)
	}
}

func TestStatusWithoutASchedulerIsWellIfThatIsSo(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, slices.DeleteFunc(clitest.Installed(), func(o client.Object) bool { return o.GetName() == "loadline-scheduler" })...)
	if code, stdout, stderr := server.Ask(t, "status", "--without", "scheduler"); code != 0 {
		t.Errorf("exit code %d: %s\n%s", code, stderr, stdout)
	}
}

func TestStatusWaitsUntilAllIsWellOrTheTimeIsOver(t *testing.T) {
	t.Parallel()
	if code, _, stderr := clitest.NewServer(t, clitest.Installed()...).Ask(t, "status", "--wait", "1h"); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	code, stdout, _ := clitest.NewServer(t).Ask(t, "status", "--wait", "50ms")
	if code != 1 || !strings.Contains(stdout, "failed") {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
}

func TestStatusOfAClusterThatIsAwayFails(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t)
	for name, args := range map[string][]string{"at once": nil, "after a while": {"--wait", "50ms"}} {
		code, stdout, stderr := server.Ask(t, append([]string{"status", "--context", "there"}, args...)...)
		if code != 3 || stdout != "" || !strings.Contains(stderr, "the cluster does not answer; are --kubeconfig and --context right?") {
			t.Errorf("%s: exit code %d, output %q, errors %q", name, code, stdout, stderr)
		}
	}
}

func TestStatusRefusesWrongUse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown component": {[]string{"--without", "gauge"}, `--without: "gauge" is not one of manager, scheduler`},
		"a negative time":      {[]string{"--wait", "-1s"}, "--wait: -1s is negative"},
		"no cluster":           {[]string{"--kubeconfig", clitest.WriteFile(t, "empty", "")}, "there is no kubeconfig, so no cluster to ask"},
	} {
		code, stdout, stderr := clitest.Run(t, "", append([]string{"status"}, test.args...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit code %d, output %q, errors %q", name, code, stdout, stderr)
		}
	}
}
