package integration

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// beyond is a profile that asks for more than the limits, as its definition lets it.
func beyond(name string) *v1alpha1.WorkloadProfile {
	p := asking("default", name)
	p.Spec.Resources[0].Threads = new(int32(1024))
	p.Spec.Measurement.Resources = []v1alpha1.ProbedResource{{Name: "disk", Job: v1alpha1.ProbeDiskRead, Threads: new(int32(512))}}
	p.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse("1"))}
	p.Spec.Importance = new(resource.MustParse("100"))
	return p
}

// applyLimits applies the policy of limits, of an operator who allows 64 threads, fewer than the definition does, and waits until
// it counts.
func (e *environment) applyLimits(t *testing.T) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	e.createFrom(t, "config/admission/limits.yaml", policy, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{})
	threads := slices.IndexFunc(policy.Spec.Variables, func(v admissionregistrationv1.Variable) bool { return v.Name == "maxThreads" })
	e.change(t, policy, func() { policy.Spec.Variables[threads].Expression = "64" })
	trial := beyond("trial")
	trial.Spec.SLA = nil // what is refused first is the threads
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsInvalid(e.Create(ctx, trial, client.DryRunAll)), nil
	}))
}

const limitsBy = " (the policy limits.loadline.dev: the administrators of the cluster set it)"

func TestAProfileAsksForNoMoreThanTheLimits(t *testing.T) {
	t.Parallel()
	e := ownEnvironment(t)
	before := beyond("before")
	must(t, e.Create(t.Context(), before))
	e.applyLimits(t)

	sla := func(most string) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) { p.Spec.SLA.MaxDilation = new(resource.MustParse(most)) }
	}
	threads := func(n int32) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Threads = &n }
	}
	measured := func(n int32) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement.Resources[0].Threads = &n }
	}
	importance := func(times string) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) { p.Spec.Importance = new(resource.MustParse(times)) }
	}
	const (
		lowest  = "spec.sla.maxDilation: 1 is less than 1.05, the lowest that a profile may promise" + limitsBy
		many    = "spec.resources[cpu].threads: 65 is more than 64, the most that a pod may be said to have" + limitsBy
		probed  = "spec.measurement.resources[disk].threads: 65 is more than 64, the most that a pod may be said to have" + limitsBy
		largest = "spec.importance: 11 is more than 10, the largest that a profile may have" + limitsBy
	)
	for name, test := range map[string]struct {
		change func(*v1alpha1.WorkloadProfile)
		want   string
	}{
		"at the lowest":         {sla("1.05"), ""},
		"in thousandths":        {sla("1050m"), ""},
		"a whole number":        {sla("2"), ""},
		"below the lowest":      {sla("1"), lowest},
		"just below the lowest": {sla("1.049"), "spec.sla.maxDilation: "},
		"no maxDilation":        {func(p *v1alpha1.WorkloadProfile) { p.Spec.SLA = nil }, ""},
		"another promise":       {func(p *v1alpha1.WorkloadProfile) { p.Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(5))} }, ""},
		"as many threads":       {threads(64), ""},
		"more threads":          {threads(65), many},
		"as many as measured":   {measured(64), ""},
		"more that measure":     {measured(65), probed},
		"as important":          {importance("10"), ""},
		"more important":        {importance("11"), largest},
		"just more important":   {importance("10.001"), "spec.importance: "},
		"no importance":         {func(p *v1alpha1.WorkloadProfile) { p.Spec.Importance = nil }, ""},
		"without what measure":  {func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = nil }, ""},
		"one of two resources": {
			func(p *v1alpha1.WorkloadProfile) {
				p.Spec.Resources = append(p.Spec.Resources, v1alpha1.ResourceDemand{Name: "network", Loading: new(resource.MustParse("0.1")), Threads: new(int32(100))})
			}, "spec.resources[network].threads: 100 is more than 64",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := beyond("new")
			for _, within := range []func(*v1alpha1.WorkloadProfile){sla("1.5"), threads(4), measured(4), importance("5"), test.change} {
				within(p)
			}
			err := e.Create(t.Context(), p, client.DryRunAll)
			if test.want == "" {
				allowed(t, "it", err)
			} else if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	t.Run("a profile from before the limits", func(t *testing.T) {
		t.Parallel()
		e.keepsWhatItHad(t, before)
	})
}

// keepsWhatItHad changes a profile beyond the limits that was there before them.
func (e *environment) keepsWhatItHad(t *testing.T, before *v1alpha1.WorkloadProfile) {
	t.Helper()
	for name, test := range map[string]struct {
		change func(*v1alpha1.WorkloadProfile)
		want   string
	}{
		"a label":         {func(p *v1alpha1.WorkloadProfile) { p.Labels = map[string]string{"team": "a"} }, ""},
		"the selector":    {func(p *v1alpha1.WorkloadProfile) { p.Spec.Selector.MatchLabels["app"] = "other" }, ""},
		"another loading": {func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Loading = new(resource.MustParse("0.6")) }, ""},
		"the same, written so": {func(p *v1alpha1.WorkloadProfile) {
			p.Spec.SLA.MaxDilation, p.Spec.Importance = new(resource.MustParse("1000m")), new(resource.MustParse("100.0"))
		}, ""},
		"within the limits":  {func(p *v1alpha1.WorkloadProfile) { p.Spec.SLA.MaxDilation = new(resource.MustParse("1.2")) }, ""},
		"nearer to the one":  {func(p *v1alpha1.WorkloadProfile) { p.Spec.SLA.MaxDilation = new(resource.MustParse("1.01")) }, "spec.sla.maxDilation: "},
		"fewer, too many":    {func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Threads = new(int32(200)) }, "spec.resources[cpu].threads: 200"},
		"fewer that measure": {func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement.Resources[0].Threads = new(int32(200)) }, "spec.measurement.resources[disk].threads: 200"},
		"less important":     {func(p *v1alpha1.WorkloadProfile) { p.Spec.Importance = new(resource.MustParse("50")) }, "spec.importance: 50"},
		"of another resource": {
			func(p *v1alpha1.WorkloadProfile) { p.Spec.Resources[0].Name = "network" }, "spec.resources[network].threads: 1024",
		},
	} {
		p := before.DeepCopy()
		test.change(p)
		err := e.Update(t.Context(), p, client.DryRunAll)
		if test.want == "" {
			allowed(t, name, err)
		} else if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
	status := before.DeepCopy()
	status.Status.Pods = new(int32(3))
	allowed(t, "the status", e.Status().Update(t.Context(), status))
}

// As Kubernetes' own roles have it, who may edit a namespace, or is its admin, may write profiles in it, and decides nothing about the
// guard: that is for those who may change the namespace itself.
func TestOnlyWhoMayChangeANamespaceLetsItGuard(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	p.applyRoles(t, "rbac/users.yaml")
	for role, from := range map[string][]string{"edit": {"view", "edit"}, "admin": {"view", "edit", "admin"}} {
		name := p.namespace + "-" + role
		user := p.user(t, name, map[string][]rbacv1.PolicyRule{p.namespace: p.aggregated(t, from...)})
		profile := asking(p.namespace, role)
		profile.Spec.Measurement = nil
		must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			err := user.Create(ctx, profile, client.DryRunAll)
			return err == nil, client.IgnoreNotFound(ignoreForbidden(err)) // a role counts a moment after it was created
		}))
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
		allowed(t, role+" reads the namespace", user.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace))
		label := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"`+v1alpha1.GuardLabel+`": "enforce"}}}`))
		const message = "cannot patch resource \"namespaces"
		refused(t, role+" patches the label", user.Patch(t.Context(), namespace, label), message)
		refused(t, role+" patches it by way of the status", user.Status().Patch(t.Context(), namespace, label), message)
		guarding := namespace.DeepCopy()
		guarding.Labels[v1alpha1.GuardLabel] = "enforce"
		refused(t, role+" updates the namespace", user.Update(t.Context(), guarding), "cannot update resource \"namespaces")
		refused(t, role+" finalizes it", user.SubResource("finalize").Update(t.Context(), guarding), "cannot update resource \"namespaces/finalize")
		refused(t, role+" creates another", user.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}), "cannot create resource \"namespaces")
	}
}

// ignoreForbidden returns nil for what is forbidden.
func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// aggregated returns the rules that Kubernetes' roles of some names are made of, which the controller manager would do.
func (e *environment) aggregated(t *testing.T, names ...string) (rules []rbacv1.PolicyRule) {
	t.Helper()
	list := &rbacv1.ClusterRoleList{}
	must(t, e.List(t.Context(), list))
	for i := range list.Items {
		role := &list.Items[i]
		if slices.ContainsFunc(names, func(name string) bool { return role.Labels["rbac.authorization.k8s.io/aggregate-to-"+name] == "true" }) {
			rules = append(rules, role.Rules...)
		}
	}
	if len(rules) < 10 {
		t.Fatalf("the roles %q have %d rules", names, len(rules))
	}
	return rules
}
