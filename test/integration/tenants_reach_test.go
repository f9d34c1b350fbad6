package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// thing names an object, which need not be there: rights are decided before.
type thing struct{ apiVersion, kind, name string }

func (x thing) in(namespace string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(x.apiVersion)
	o.SetKind(x.kind)
	o.SetNamespace(namespace)
	o.SetName(x.name)
	return o
}

// request is one for an object, which RBAC decides about by a verb and a subresource.
type request struct {
	verb, subresource string
	send              func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error
}

// reading and writing are all requests for an object of any kind.
var (
	reading = []request{
		{"get", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Get(ctx, client.ObjectKeyFromObject(o), o)
		}},
		{"list", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.List(ctx, listOf(o), client.InNamespace(o.GetNamespace()))
		}},
		{"watch", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			w, err := c.Watch(ctx, listOf(o), client.InNamespace(o.GetNamespace()))
			if err == nil {
				w.Stop()
			}
			return err
		}},
	}
	writing = []request{
		{"create", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Create(ctx, o)
		}},
		{"update", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Update(ctx, o)
		}},
		{"patch", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Patch(ctx, o, labelled)
		}},
		{"delete", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Delete(ctx, o)
		}},
		{"deletecollection", "", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.DeleteAllOf(ctx, o, client.InNamespace(o.GetNamespace()))
		}},
	}
	writingStatus = []request{
		{"update", "status", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Status().Update(ctx, o)
		}},
		{"patch", "status", func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
			return c.Status().Patch(ctx, o, labelled)
		}},
	}
	anything = slices.Concat(reading, writing)
)

// labelled sets the labels by which namespaces let Loadline do more, on an object of any kind.
var labelled = client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels":
	{"loadline.dev/guard": "enforce", "loadline.dev/pools": "any", "loadline.dev/observed-profiles": "apply", "loadline.dev/pool": "shop"}}}`))

func listOf(o *unstructured.Unstructured) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(o.GetAPIVersion())
	list.SetKind(o.GetKind() + "List")
	return list
}

// fetching is a request for what a subresource has.
func fetching(subresource string) request {
	return request{"get", subresource, func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
		return c.SubResource(subresource).Get(ctx, o, &unstructured.Unstructured{Object: map[string]any{}})
	}}
}

// posting is a request for what a subresource does.
func posting(subresource string, body thing) request {
	return request{"create", subresource, func(ctx context.Context, c client.WithWatch, o *unstructured.Unstructured) error {
		return c.SubResource(subresource).Create(ctx, o, body.in(""))
	}}
}

// table collects what mallory attempts, by sentences.
type table struct {
	*tenants
	t   *testing.T
	all map[string]attempt
}

func (b *table) add(name string, a attempt) {
	b.t.Helper()
	if _, twice := b.all[name]; twice {
		b.t.Fatalf("two attempts are called %q", name)
	}
	b.all[name] = a
}

// refuse adds that RBAC refuses some requests for some things of a namespace, or of the cluster.
func (b *table) refuse(namespace string, things []thing, requests ...request) {
	b.t.Helper()
	for _, x := range things {
		gv, err := schema.ParseGroupVersion(x.apiVersion)
		must(b.t, err)
		mapping, err := b.RESTMapper().RESTMapping(gv.WithKind(x.kind).GroupKind(), gv.Version)
		must(b.t, err)
		for _, r := range requests {
			plural, scope := mapping.Resource.Resource, ""
			if r.subresource != "" {
				plural += "/" + r.subresource
			}
			if namespace != "" {
				scope = fmt.Sprintf(" in the namespace %q", namespace)
			}
			b.add(fmt.Sprintf("%s %s %s %s", r.verb, plural, namespace, x.name), attempt{
				by:      b.mallory,
				do:      func(ctx context.Context, _ client.Client) error { return r.send(ctx, b.mallory, x.in(namespace)) },
				refused: fmt.Sprintf("User %q cannot %s resource %q in API group %q%s", "mallory", r.verb, plural, gv.Group, scope),
			})
		}
	}
}

// path is an attempt to get what is at a path. It is the API server's own, by the rights that Loadline's programs ask about, too.
func (b *table) path(path string) attempt {
	config := rest.CopyConfig(b.plane.RESTConfig())
	config.Impersonate.UserName = "mallory"
	c, err := kubernetes.NewForConfig(config)
	must(b.t, err)
	return attempt{by: b.mallory, refused: fmt.Sprintf("User %q cannot get path %q", "mallory", path), do: func(ctx context.Context, _ client.Client) error {
		return c.Discovery().RESTClient().Get().AbsPath(path).Do(ctx).Error()
	}}
}

// What Loadline has and reads, and what bounds it.
var (
	ofTeams = []thing{
		{"loadline.dev/v1alpha1", "WorkloadProfile", "web"},
		{"loadline.dev/v1alpha1", "TraceReplay", "week"},
		{"loadline.dev/v1alpha1", "Remediation", "cart-limit"},
		{"batch/v1", "Job", "nightly"},
		{"batch/v1", "CronJob", "nightly"},
		{"v1", "Pod", "web"},
		{"v1", "ConfigMap", "week"},
		{"v1", "Secret", "key"},
		{"v1", "PersistentVolumeClaim", "traces"},
	}
	ofOperators = []thing{
		{"loadline.dev/v1alpha1", "NodeProfile", "fast"},
		{"loadline.dev/v1alpha1", "ShareTree", "company"},
		{"loadline.dev/v1alpha1", "PoolPlan", "shop"},
		{"loadline.dev/v1alpha1", "RemediationPolicy", "shop"},
	}
	ofTheCluster = []thing{
		{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "limits.loadline.dev"},
		{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "limits.loadline.dev"},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "workloadprofiles.loadline.dev"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole", "loadline-manager"},
		{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "loadline-manager"},
		{"v1", "Node", "worker"},
		{"scheduling.k8s.io/v1", "PriorityClass", "mine"},
	}
	ofLoadline = []thing{
		{"apps/v1", "Deployment", "loadline-manager"},
		{"apps/v1", "Deployment", "loadline-scheduler"},
		{"apps/v1", "DaemonSet", "loadline-gauge"},
		{"v1", "ConfigMap", "loadline-scheduler-config"},
		{"v1", "Pod", "loadline-x"},
		{"v1", "Secret", "x"},
		{"v1", "ServiceAccount", "loadline-manager"},
		{"coordination.k8s.io/v1", "Lease", "loadline-manager"},
		{"networking.k8s.io/v1", "NetworkPolicy", "loadline-manager"},
		{"rbac.authorization.k8s.io/v1", "RoleBinding", "loadline-manager-leader"},
	}
	bounds = []thing{
		{"v1", "ResourceQuota", "team"}, {"v1", "LimitRange", "team"}, {"rbac.authorization.k8s.io/v1", "Role", "mine"}, {"rbac.authorization.k8s.io/v1", "RoleBinding", "mine"},
	}
)

// elsewhere adds what mallory tries in shop, of the cluster and of Loadline: nothing of it succeeds.
func (b *table) elsewhere() {
	b.refuse("shop", ofTeams, anything...)
	b.refuse("shop", ofTeams[:4], writingStatus...)
	b.refuse("", ofTeams, reading[1:]...) // of all namespaces
	b.refuse("", ofOperators, slices.Concat(anything, writingStatus)...)
	b.refuse("", ofTheCluster, anything...)
	b.refuse("", []thing{{"v1", "Node", "of-mallory"}}, writingStatus...)
	for _, namespace := range []string{"loadline-system", "loadline-gauge"} {
		b.refuse(namespace, ofLoadline, anything...)
		b.refuse(namespace, []thing{{"v1", "Pod", "loadline-x"}}, fetching("proxy"), fetching("log"), posting("exec", thing{"v1", "PodExecOptions", ""}), posting("proxy", thing{"v1", "PodProxyOptions", ""}))
		for _, account := range []string{"loadline-reader", "loadline-manager", "loadline-scheduler", "loadline-gauge"} {
			b.refuse(namespace, []thing{{"v1", "ServiceAccount", account}}, posting("token", thing{"authentication.k8s.io/v1", "TokenRequest", ""}))
		}
	}
	b.add("the metrics of the manager, the scheduler and the gauges", b.path("/metrics"))
	b.add("what gauges observed", b.path("/v1/usage"))
}

// atHome adds what mallory tries in the namespace that she may edit, beyond what a profile says.
func (b *table) atHome() {
	b.refuse("mallory", ofTeams[:4], writingStatus...)
	b.refuse("mallory", []thing{{"v1", "Pod", "web"}}, posting("binding", thing{"v1", "Binding", ""}))
	b.refuse("mallory", bounds, writing...)
	for _, namespace := range []string{"mallory", "shop"} {
		itself := []thing{{"v1", "Namespace", namespace}}
		b.refuse("", itself, slices.Concat(writing[:4], writingStatus)...)
	}
	b.add("a token of an account of her own for gauges, which shows them one without rights", attempt{by: b.mallory, do: func(ctx context.Context, c client.Client) error {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: "default"}}
		return c.SubResource("token").Create(ctx, account, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"loadline-gauge"}}})
	}})
	b.add("read the status of a profile", attempt{
		prepare: func() []client.Object { return []client.Object{following("seen")} }, by: b.mallory,
		do: func(ctx context.Context, c client.Client) error {
			return fetching("status").send(ctx, b.mallory, thing{"loadline.dev/v1alpha1", "WorkloadProfile", "seen"}.in("mallory"))
		},
	})
}

// following is a profile of mallory's that says no more than that it follows what is observed, but for changes.
func following(name string, change ...func(*v1alpha1.WorkloadProfile)) *v1alpha1.WorkloadProfile {
	p := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: name},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Observation: &v1alpha1.Observation{Mode: v1alpha1.ModeApply},
		},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func important(times string) func(*v1alpha1.WorkloadProfile) {
	return func(p *v1alpha1.WorkloadProfile) { p.Spec.Importance = new(resource.MustParse(times)) }
}

// profiles adds what mallory may say in profiles and in replays, and what bounds that. What is allowed does no harm to others, for
// the reasons of the table in docs/reference/who-may-set-what.md.
func (b *table) profiles() {
	threads := func(n int32) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) {
			p.Spec.Observation = nil
			p.Spec.Resources = []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("1")), Threads: &n}}
		}
	}
	sla := func(bound string) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) {
			p.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse(bound))}
		}
	}
	by := "(the policy limits.loadline.dev: the administrators of the cluster set it)"
	measured := func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = &v1alpha1.Measurement{} }
	inShop := func(p *v1alpha1.WorkloadProfile) { p.Namespace = "shop" }
	for name, a := range map[string]attempt{
		"1,024 threads, of which those count that a node can serve": {do: creating(following("threads", threads(1024)))},
		"1,025 threads": {do: creating(following("more-threads", threads(1025))), refused: "should be less than or equal to 1024"},
		"the lowest promise, for what is requested": {do: creating(following("sla", sla("1.05")))},
		"a lower promise": {do: creating(following("lower-sla", sla("1.04"))), refused: "spec.sla.maxDilation: 1040m is less than 1.05, the lowest that a profile may promise " + by},
		"the largest importance, which refuses no pod": {do: creating(following("importance", important("10")))},
		"a larger importance":                          {do: creating(following("more-important", important("11"))), refused: "spec.importance: 11 is more than 10, the largest that a profile may have " + by},
		"a measurement, which she could make herself":  {do: creating(following("measured", measured))},
		"a measurement in shop":                        {do: creating(following("measured", measured, inShop)), refused: `cannot create resource "workloadprofiles" in API group "loadline.dev" in the namespace "shop"`},
		"a share of a tree, which counts if the tree lists her": {do: creating(following("share", func(p *v1alpha1.WorkloadProfile) {
			p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Share: new(int32(1_000_000_000)), Utilization: new(resource.MustParse("4096"))}
		}))},
		"a profile as if the manager had made it, which it may delete": {do: creating(following("made", func(p *v1alpha1.WorkloadProfile) {
			p.Labels = map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByManager}
		}))},
		"a profile that guards, which is for the labels of namespaces": {do: creating(following("guards", func(p *v1alpha1.WorkloadProfile) {
			p.Labels = map[string]string{v1alpha1.GuardLabel: "enforce"}
		}))},
		"a change that she proposes":                 {do: creating(proposedMove("mallory", "own")), refused: `cannot create resource "remediations" in API group "loadline.dev" in the namespace "mallory"`},
		"her approval of a change of her own pods":   {prepare: func() []client.Object { return []client.Object{proposedMove("mallory", "hers")} }, do: patching(proposedMove("mallory", "hers"), `{"spec":{"approval":{"decision":"Approved","by":"mallory"}}}`)},
		"the approval of another user":               {prepare: func() []client.Object { return []client.Object{proposedMove("mallory", "forged")} }, do: patching(proposedMove("mallory", "forged"), `{"spec":{"approval":{"decision":"Approved","by":"shop"}}}`), refused: "spec.approval.by: shop is not the user who decides: write mallory"},
		"another node for a change that is proposed": {prepare: func() []client.Object { return []client.Object{proposedMove("mallory", "bent")} }, do: patching(proposedMove("mallory", "bent"), `{"spec":{"change":{"toNode":"node-9"}}}`), refused: "only the approval of a Remediation can be changed"},
		"an approval in shop":                        {prepare: func() []client.Object { return []client.Object{proposedMove("shop", "theirs")} }, do: patching(proposedMove("shop", "theirs"), `{"spec":{"approval":{"decision":"Approved","by":"mallory"}}}`), refused: `cannot patch resource "remediations" in API group "loadline.dev" in the namespace "shop"`},
		"a replay of her own trace":                  {do: creating(replaying("own"))},
		"a replay in shop":                           {do: creating(func() client.Object { r := replaying("own"); r.Namespace = "shop"; return r }()), refused: `cannot create resource "tracereplays" in API group "loadline.dev" in the namespace "shop"`},
		"a replay that is changed":                   {prepare: func() []client.Object { return []client.Object{replaying("fixed")} }, do: patching(replaying("fixed"), `{"spec":{"parallelism":1000}}`), refused: "the spec of a TraceReplay cannot be changed"},
		"a replay of a file elsewhere":               {do: creating(replaying("outside", onVolume("traces"), func(s *v1alpha1.TraceReplaySpec) { s.Trace.PersistentVolumeClaim.Path = "../../etc/shadow" })), refused: "neither begin it with '/' nor use '..'"},
	} {
		a.by = b.mallory
		b.add("say in a profile or a replay: "+name, a)
	}
}

// pods adds what mallory may say of her own pods and Jobs.
func (b *table) pods() {
	pod := func(name string, change func(*corev1.Pod)) client.Object {
		p := plainPod(name)
		change(p)
		return p
	}
	job := func(name string, change func(*batchv1.Job)) client.Object {
		j := plainJob(name)
		change(j)
		return j
	}
	owned := func(o metav1.Object, apiVersion, kind string) {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "web", UID: "5d1c0d3a-0000-4000-8000-000000000000", Controller: new(true)}})
	}
	for name, a := range map[string]attempt{
		"a label of Loadline's":          {do: creating(markedPod("marked", "loadline.dev/measurement")), refused: "only Loadline marks pods as its own"},
		"a label of Loadline's on a Job": {do: creating(markedJob("marked", "loadline.dev/trace-replay")), refused: "only Loadline marks Jobs as its own"},
		"a profile of shop as its Job's owner, which MeasuredProfile does not take for one": {do: creating(job("of-shops", func(j *batchv1.Job) { owned(j, "loadline.dev/v1alpha1", "WorkloadProfile") }))},
		"a Job as its owner, which it must have beside a mark":                              {do: creating(pod("of-a-job", func(p *corev1.Pod) { owned(p, "batch/v1", "Job") }))},
		"a DaemonSet, which belongs to the nodes when shop measures there": {do: creating(&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: "everywhere"},
			Spec: appsv1.DaemonSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "everywhere"}},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "everywhere"}}, Spec: plainPod("").Spec},
			},
		})},
		"devices that it does not have, which do not count": {do: creating(pod("devices", func(p *corev1.Pod) { p.Annotations = map[string]string{v1alpha1.DevicesAnnotation: "gpu-99"} }))},
		"the labels and annotations of a gauge, which takes hostPID in a namespace for gauges": {do: creating(pod("imitation", func(p *corev1.Pod) {
			p.Labels = map[string]string{"app.kubernetes.io/name": "loadline-gauge", "app.kubernetes.io/part-of": "loadline"}
			p.Annotations = map[string]string{"loadline.dev/reader": "loadline-reader", "loadline.dev/manager": "mallory"}
		}))},
		"the priority of the cluster's own, with which it belongs to its node, too": {do: creating(pod("critical", func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" }))},
		"any requests, which quotas and nodes bound": {do: creating(pod("large", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000000")}
		}))},
		"that it is the mirror of another pod": {prepare: func() []client.Object { return []client.Object{plainPod("mirror")} }, do: patching(plainPod("mirror"), `{"metadata":{"annotations":{"kubernetes.io/config.mirror":"5d1c0d3a"}}}`), refused: "may not add mirror pod annotation"},
	} {
		a.by = b.mallory
		b.add("say of a pod or a Job: "+name, a)
	}
}

// What a user who may edit a namespace can do to another namespace, to the cluster and to Loadline, as docs/reference/who-may-set-what.md has it.
func TestATenantReachesNothingBeyondItsNamespace(t *testing.T) {
	t.Parallel()
	s := newTenants(t)
	b := &table{tenants: s, t: t, all: map[string]attempt{}}
	for _, add := range []func(){b.elsewhere, b.atHome, b.profiles, b.pods} {
		add()
	}
	refused := 0
	for a := range maps.Values(b.all) {
		if a.refused != "" {
			refused++
		}
	}
	t.Logf("%d attempts: %d are refused, and %d are allowed and do no harm to others", len(b.all), refused, len(b.all)-refused)
	s.attempts(t, b.all)
}
