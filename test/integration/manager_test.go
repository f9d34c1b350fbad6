package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
)

func (e *environment) startManager(t *testing.T) *local.Process {
	t.Helper()
	return e.startManagerAs(t, e.plane.Kubeconfig())
}

// The roles of config/rbac that config/manager binds to the manager in all namespaces.
const (
	managerRole  = "loadline-manager"
	measurerRole = "loadline-manager-measurer"
	replayerRole = "loadline-manager-replayer"
)

// startManagerWithItsRole starts a manager that may do what config/rbac allows
// and nothing else.
func (e *environment) startManagerWithItsRole(t *testing.T, flags ...string) *local.Process {
	t.Helper()
	return e.startManagerWithRoles(t, []string{managerRole, measurerRole, replayerRole}, flags...)
}

// startManagerWithRoles starts a manager that may do what some of these roles allow and nothing else.
func (e *environment) startManagerWithRoles(t *testing.T, roles []string, flags ...string) *local.Process {
	t.Helper()
	e.applyRoles(t, "rbac/role.yaml", "rbac/measurer.yaml", "rbac/replayer.yaml")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: managerRole}}
	must(t, e.Create(t.Context(), account))
	for _, role := range roles {
		must(t, e.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role}, RoleRef: clusterRole(role),
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
		}))
	}
	return e.startManagerAs(t, e.kubeconfigOf(t, account), flags...)
}

// kubeconfigOf returns the path of a kubeconfig file of a service account.
func (e *environment) kubeconfigOf(t *testing.T, account *corev1.ServiceAccount) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(e.plane.Kubeconfig())
	must(t, err)
	for _, user := range config.AuthInfos {
		*user = clientcmdapi.AuthInfo{Token: e.token(t, account)}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, kubeconfig))
	return kubeconfig
}

// token returns a token of a service account, for some audiences or for the API server.
func (e *environment) token(t *testing.T, account *corev1.ServiceAccount, audiences ...string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	must(t, e.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

func (e *environment) startManagerAs(t *testing.T, kubeconfig string, flags ...string) *local.Process {
	t.Helper()
	p, err := local.StartManager(t.Context(), manager, kubeconfig, flags...)
	must(t, err)
	stopManager(t, p)
	return p
}

// stopManager stops a manager when the test ends.
func stopManager(t *testing.T, p *local.Process) {
	t.Helper()
	t.Cleanup(func() {
		must(t, p.Stop())
		if t.Failed() {
			t.Logf("the manager's log:\n%s", p.Log())
		}
	})
}

// await polls until an object is as wanted.
func (e *environment) await(t *testing.T, o client.Object, wanted func() bool) {
	t.Helper()
	key := client.ObjectKeyFromObject(o)
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := e.Get(ctx, key, o); err != nil {
			return false, err
		}
		return wanted(), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v; it is %+v", key, err, o)
	}
}

// has reports whether a condition is as given, with a message that contains
// the text.
func has(conditions []metav1.Condition, kind string, status metav1.ConditionStatus, reason, text string) bool {
	c := meta.FindStatusCondition(conditions, kind)
	return c != nil && c.Status == status && c.Reason == reason && strings.Contains(c.Message, text)
}

func TestTheManagerSaysHowProfilesAreUsed(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 2)
	p.startManager(t)

	older := p.profile("job", map[string]string{"cpu": "0.6", "gpu": "0.4"})
	must(t, p.Create(t.Context(), older))
	p.await(t, older, func() bool {
		return has(older.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonUnknownResource, "gpu")
	})
	if got := older.Status.Resources; len(got) != 2 || got[0].Loading.String() != "600m" || *got[0].Threads != 1 {
		t.Errorf("the vector in use is %+v", got)
	}

	nodes := p.oneCore()
	nodes.Spec.Resources = append(nodes.Spec.Resources, v1alpha1.ResourceServers{Name: "gpu", Servers: new(int32(2))})
	must(t, p.Create(t.Context(), nodes))
	p.await(t, older, func() bool {
		return has(older.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDeclared, "")
	})
	p.await(t, nodes, func() bool {
		return nodes.Status.Nodes != nil && *nodes.Status.Nodes == 2 &&
			has(nodes.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDeclared, "")
	})

	must(t, p.Create(t.Context(), p.pod("one", "job")))
	p.await(t, older, func() bool { return older.Status.Pods != nil && *older.Status.Pods == 1 })

	rival := p.profile("rival", map[string]string{"disk": "1"})
	rival.Spec.Selector = older.Spec.Selector
	must(t, p.Create(t.Context(), rival))
	p.await(t, rival, func() bool {
		return has(rival.Status.Conditions, v1alpha1.ConditionConflicted, metav1.ConditionTrue, v1alpha1.ReasonSelectorOverlap, "job")
	})
	p.await(t, older, func() bool {
		return has(older.Status.Conditions, v1alpha1.ConditionConflicted, metav1.ConditionTrue, v1alpha1.ReasonSelectorOverlap, "rival")
	})
	p.awaitEvent(t, v1alpha1.ReasonSelectorOverlap)

	must(t, p.Delete(t.Context(), rival))
	must(t, p.Delete(t.Context(), p.pod("one", "job"), client.GracePeriodSeconds(0)))
	p.await(t, older, func() bool {
		return *older.Status.Pods == 0 &&
			has(older.Status.Conditions, v1alpha1.ConditionConflicted, metav1.ConditionFalse, v1alpha1.ReasonNoOverlap, "")
	})
}

// awaitEvent waits for an event of that reason in the namespace of the place.
func (p *place) awaitEvent(t *testing.T, reason string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var list eventsv1.EventList
		if err := p.List(ctx, &list, client.InNamespace(p.namespace)); err != nil {
			return false, err
		}
		for i := range list.Items {
			if list.Items[i].Reason == reason {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("waiting for the event %s: %v", reason, err)
	}
}

// An object that was stored before the rules were: the scheduler skips it and
// goes on, the manager says why.
func TestAStoredInvalidProfileIsSkippedAndReported(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 2)
	p.withoutRules(t, "workloadprofiles.loadline.dev", func() {
		broken := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal(fmt.Appendf(nil, `{
			"apiVersion": "loadline.dev/v1alpha1", "kind": "WorkloadProfile",
			"metadata": {"namespace": %q, "name": "broken"},
			"spec": {"selector": {}, "resources": [{"name": "cpu", "loading": "0.8"}, {"name": "disk", "loading": "0.7"}]}
		}`, p.namespace), broken))
		must(t, p.Create(t.Context(), broken))
	})
	must(t, p.Create(t.Context(), p.oneCore()))
	must(t, p.Create(t.Context(), p.profile("job", map[string]string{"cpu": "1"})))

	process := p.startScheduler(t, onlyDilation)
	for i := range 4 {
		must(t, p.Create(t.Context(), p.pod(fmt.Sprintf("job-%d", i), "job")))
	}
	on := map[string]int{}
	for _, node := range p.awaitBound(t, 4) {
		on[node]++
	}
	if on[p.nodes[0]] != 2 {
		t.Errorf("the valid profile is not followed: %v", on)
	}
	if log := process.Log(); !strings.Contains(log, "Ignored an invalid profile") || !strings.Contains(log, `name="broken"`) {
		t.Errorf("the scheduler does not say what it ignored:\n%s", log)
	}

	p.startManager(t)
	broken := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "broken"}}
	p.await(t, broken, func() bool {
		return has(broken.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalid, "spec.resources: Invalid value: \"1.5\"")
	})
	p.awaitEvent(t, v1alpha1.ReasonInvalid)
}

// withoutRules runs something while a resource definition accepts anything.
func (p *place) withoutRules(t *testing.T, name string, do func()) {
	t.Helper()
	must(t, apiextensionsv1.AddToScheme(p.Scheme()))
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
	var strict *apiextensionsv1.CustomResourceValidation
	p.change(t, crd, func() {
		strict = crd.Spec.Versions[0].Schema
		crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
		}
	})
	p.awaitRule(t, false)
	do()
	p.change(t, crd, func() { crd.Spec.Versions[0].Schema = strict })
	p.awaitRule(t, true)
}

// awaitRule waits until the server does or does not refuse an empty profile.
func (p *place) awaitRule(t *testing.T, refused bool) {
	t.Helper()
	empty := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "empty"}}
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := p.Create(ctx, empty.DeepCopy(), client.DryRunAll)
		return (err != nil) == refused, nil
	}))
}

func TestBadPluginArgumentsAreRefusedAtStartUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ args, want string }{
		"an unknown field":    {"{requets: []}", "requets: Forbidden: there is no such field"},
		"a bad utilization":   {"{requests: [{resource: cpu, utilization: '1.5'}]}", `requests[0].utilization: Invalid value: "1500m": must be more than 0 and at most 1`},
		"a resource twice":    {"{requests: [{resource: cpu}, {resource: cpu}]}", `requests[1].resource: Duplicate value: "cpu"`},
		"a negative time-out": {"{syncTimeoutSeconds: -1}", "syncTimeoutSeconds: Invalid value: -1: must be at least 0"},
		"another kind":        {"{apiVersion: config.loadline.dev/v1alpha1, kind: SomeArgs}", "SomeArgs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := local.SchedulerConfig(t.TempDir(), shared.plane.Kubeconfig(), onlyDilation+"  pluginConfig:\n  - name: Dilation\n    args: "+test.args+"\n")
			must(t, err)
			p, err := local.StartScheduler(t.Context(), scheduler, config)
			if err == nil {
				must(t, p.Kill())
				t.Fatal("the scheduler starts")
			}
			if got := strings.ReplaceAll(err.Error(), `\"`, `"`); !strings.Contains(got, test.want) { // quoted by the log
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Without Loadline's resource definitions the scheduler works by requests, and
// takes up profiles once they can exist.
func TestTheSchedulerNeedsNoProfilesAndFindsThemLater(t *testing.T) {
	t.Parallel()
	e := ownEnvironment(t)
	must(t, apiextensionsv1.AddToScheme(e.Scheme()))
	must(t, e.DeleteAllOf(t.Context(), &apiextensionsv1.CustomResourceDefinition{}))
	p := e.newPlace(t, 2)
	p.startScheduler(t, onlyDilation+"  pluginConfig:\n  - name: Dilation\n    args: {syncTimeoutSeconds: 0}\n")
	must(t, p.Create(t.Context(), p.pod("one", "job")))
	p.awaitBound(t, 1)

	must(t, local.InstallCRDs(e.plane.RESTConfig(), root))
	must(t, p.Create(t.Context(), p.profile("disk", map[string]string{"disk": "1"})))
	first := p.pod("disk-0", "disk")
	first.Spec.NodeName = p.nodes[0]
	must(t, p.Create(t.Context(), first))
	// Once the profile counts, a second disk-bound pod avoids the first, though
	// by requests the other node is the fuller one.
	other := p.pod("filler", "job")
	other.Spec.NodeName = p.nodes[1]
	must(t, p.Create(t.Context(), other))
	for i := range 100 {
		name := fmt.Sprintf("disk-%d", i+1)
		must(t, p.Create(t.Context(), p.pod(name, "disk")))
		if p.awaitBound(t, 4)[name] == p.nodes[1] {
			return
		}
		must(t, p.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}, client.GracePeriodSeconds(0)))
		p.awaitBound(t, 3)
	}
	t.Error("the profile never counts")
}
