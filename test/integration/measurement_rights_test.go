package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
)

// writesProfiles is the right to write profiles, createsJobs that to create Jobs.
var (
	writesProfiles = rbacv1.PolicyRule{
		APIGroups: []string{"loadline.dev"}, Resources: []string{"workloadprofiles", "workloadprofiles/status", "nodeprofiles"}, Verbs: []string{"*"},
	}
	createsJobs = rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"create"}}
)

// user returns a client of a user who has rights in some namespaces; the empty
// namespace stands for all.
func (e *environment) user(t *testing.T, name string, rights map[string][]rbacv1.PolicyRule) client.Client {
	t.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	for namespace, rules := range rights {
		meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
		if namespace == "" {
			must(t, e.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}))
			must(t, e.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}}))
			continue
		}
		must(t, e.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}))
		must(t, e.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}))
	}
	config := rest.CopyConfig(e.plane.RESTConfig())
	config.Impersonate.UserName = name
	c, err := local.NewClient(config)
	must(t, err)
	return c
}

// withRights is a control plane that lets only those measure who may create Jobs,
// and once it does.
func withRights(t *testing.T) *environment {
	t.Helper()
	e := ownEnvironment(t)
	e.createFrom(t, "config/admission/measurement.yaml",
		&admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
		&admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{})
	nobody := e.user(t, "nobody", map[string][]rbacv1.PolicyRule{"": {writesProfiles}})
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		a := nobody.Create(ctx, asking("default", "trial"), client.DryRunAll)
		b := nobody.Create(ctx, calibrating("trial"), client.DryRunAll)
		return apierrors.IsForbidden(a) && apierrors.IsForbidden(b), nil // a policy counts a moment after it was created
	}))
	return e
}

// asking is a profile to be measured.
func asking(namespace, name string) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Resources:   []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.5"))}},
			Measurement: &v1alpha1.Measurement{Target: &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetJob, Name: "etl"}},
		},
	}
}

// calibrating is a profile of nodes to be calibrated.
func calibrating(name string) *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.NodeProfileSpec{
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"class": name}},
			Resources:   []v1alpha1.ResourceServers{{Name: "gpu", Servers: new(int32(4))}},
			Calibration: &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{{Name: "cpu"}}},
		},
	}
}

// refused fails the test unless an error says that something is forbidden, for that reason.
func refused(t *testing.T, what string, err error, message string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), message) {
		t.Errorf("%s: got %v, want it forbidden: %s", what, err, message)
	}
}

func allowed(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestOnlyWhoMayCreateJobsMayHaveAWorkloadMeasured(t *testing.T) {
	t.Parallel()
	e := withRights(t)
	for _, name := range []string{"shop", "etl"} {
		must(t, e.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	may := e.user(t, "ada", map[string][]rbacv1.PolicyRule{"shop": {writesProfiles, createsJobs}})
	mayNot := e.user(t, "carol", map[string][]rbacv1.PolicyRule{"shop": {writesProfiles}})
	stranger := e.user(t, "eve", map[string][]rbacv1.PolicyRule{"shop": {writesProfiles}, "etl": {writesProfiles, createsJobs}})
	const message = "spec.measurement has Jobs run in the namespace shop, and carol may not create jobs.batch there: get that right, or leave spec.measurement out"
	ctx := t.Context()

	refused(t, "carol creates one", mayNot.Create(ctx, asking("shop", "web")), message)
	refused(t, "eve creates one where she may not", stranger.Create(ctx, asking("shop", "web")), "the namespace shop, and eve may not create jobs.batch there")
	allowed(t, "eve creates one where she may", stranger.Create(ctx, asking("etl", "web")))
	allowed(t, "ada creates one", may.Create(ctx, asking("shop", "web")))

	// changing returns what a user is told who changes the stored profile.
	changing := func(c client.Client, change func(*v1alpha1.WorkloadProfile)) error {
		var p v1alpha1.WorkloadProfile
		must(t, e.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "web"}, &p))
		change(&p)
		return c.Update(ctx, &p)
	}
	of := func(target string) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement.Target.Name = target }
	}
	selecting := func(app string) func(*v1alpha1.WorkloadProfile) {
		return func(p *v1alpha1.WorkloadProfile) { p.Spec.Selector.MatchLabels["app"] = app }
	}
	refused(t, "carol changes the target", changing(mayNot, of("secret")), message)
	refused(t, "carol changes the selector", changing(mayNot, selecting("db")), message)
	allowed(t, "ada changes both", changing(may, func(p *v1alpha1.WorkloadProfile) {
		of("nightly")(p)
		selecting("db")(p)
	}))
	allowed(t, "carol changes a label", changing(mayNot, func(p *v1alpha1.WorkloadProfile) { p.Labels = map[string]string{"team": "a"} }))
	allowed(t, "carol changes nothing", changing(mayNot, func(*v1alpha1.WorkloadProfile) {}))

	var p v1alpha1.WorkloadProfile
	must(t, e.Get(ctx, client.ObjectKey{Namespace: "shop", Name: "web"}, &p))
	before := client.MergeFrom(p.DeepCopy())
	p.Status.Pods = new(int32(3))
	allowed(t, "carol, as the manager does, writes the status", mayNot.Status().Patch(ctx, &p, before))

	allowed(t, "carol takes the measurement out", changing(mayNot, func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = nil }))
	allowed(t, "carol changes what is not measured", changing(mayNot, selecting("web")))
	refused(t, "carol sets it again", changing(mayNot, func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = &v1alpha1.Measurement{} }), message)
	applied := asking("shop", "web")
	applied.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("WorkloadProfile"))
	//nolint:staticcheck // there are no generated apply configurations of our kinds
	refused(t, "carol applies one", mayNot.Patch(ctx, applied, client.Apply, client.FieldOwner("carol"), client.ForceOwnership), message)
	allowed(t, "ada sets it again", changing(may, func(p *v1alpha1.WorkloadProfile) { p.Spec.Measurement = &v1alpha1.Measurement{} }))
	allowed(t, "carol deletes it", mayNot.Delete(ctx, asking("shop", "web")))
}

func TestOnlyWhoMayCreateJobsEverywhereMayHaveNodesCalibrated(t *testing.T) {
	t.Parallel()
	e := withRights(t)
	must(t, e.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}))
	may := e.user(t, "ada", map[string][]rbacv1.PolicyRule{"": {writesProfiles, createsJobs}})
	mayNot := e.user(t, "carol", map[string][]rbacv1.PolicyRule{"": {writesProfiles}, "shop": {createsJobs}})
	const message = "spec.calibration has Jobs run on the nodes of the class, and carol may not create jobs.batch in all namespaces: get that right, or leave spec.calibration out"
	ctx := t.Context()

	refused(t, "carol creates one", mayNot.Create(ctx, calibrating("ssd")), message)
	allowed(t, "ada creates one", may.Create(ctx, calibrating("ssd")))
	changing := func(c client.Client, change func(*v1alpha1.NodeProfile)) error {
		var p v1alpha1.NodeProfile
		must(t, e.Get(ctx, client.ObjectKey{Name: "ssd"}, &p))
		change(&p)
		return c.Update(ctx, &p)
	}
	everywhere := func(p *v1alpha1.NodeProfile) { p.Spec.Selector = &metav1.LabelSelector{} }
	refused(t, "carol changes the selector", changing(mayNot, everywhere), message)
	allowed(t, "ada changes the selector", changing(may, everywhere))
	allowed(t, "carol changes a label", changing(mayNot, func(p *v1alpha1.NodeProfile) { p.Labels = map[string]string{"team": "a"} }))
	allowed(t, "carol takes the calibration out", changing(mayNot, func(p *v1alpha1.NodeProfile) { p.Spec.Calibration = nil }))
	refused(t, "carol sets it again", changing(mayNot, func(p *v1alpha1.NodeProfile) { p.Spec.Calibration = calibrating("ssd").Spec.Calibration }), message)
}
