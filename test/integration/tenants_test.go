package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// tenants is a control plane with Loadline's roles and policies and two namespaces, each of
// which one user may edit, as Kubernetes' own role of that name has it.
type tenants struct {
	*environment
	mallory client.WithWatch // edits the namespace mallory
	manager client.Client    // has the manager's role
}

// newTenants returns it once roles and policies are in force.
func newTenants(t *testing.T) *tenants {
	t.Helper()
	e := ownEnvironment(t)
	for _, file := range []string{
		"manager/namespace.yaml", "gauge/namespace.yaml",
		"rbac/users.yaml", "rbac/role.yaml", "rbac/measurer.yaml", "rbac/replayer.yaml", "gauge/gauge.yaml", "gauge/gauge-user.yaml", "rbac/metrics-reader.yaml", "rbac/plugin.yaml", "remediation/remediator.yaml",
		"manager/rbac.yaml", "scheduler/rbac.yaml", "gauge/rbac.yaml",
		"admission/measurement.yaml", "admission/limits.yaml", "admission/replay.yaml", "admission/remediation.yaml", "admission/labels.yaml",
	} {
		e.createAll(t, "config/"+file)
	}
	for _, name := range []string{"mallory", "shop"} {
		must(t, e.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
		// The controller manager makes it too; the API server admits no pod before.
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}}
		must(t, client.IgnoreAlreadyExists(e.Create(t.Context(), account)))
		must(t, e.Create(t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "edit"}, RoleRef: clusterRole("edit"), Subjects: named(name),
		}))
	}
	for _, role := range []string{managerRole, measurerRole, replayerRole} {
		must(t, e.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "as-" + role}, RoleRef: clusterRole(role), Subjects: named("manager"),
		}))
	}
	s := &tenants{environment: e, mallory: e.as(t, "mallory"), manager: e.as(t, "manager")}
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		inForce := apierrors.IsForbidden(s.mallory.Create(ctx, markedPod("trial", probejob.MeasurementKey), client.DryRunAll)) &&
			apierrors.IsForbidden(s.mallory.Create(ctx, markedJob("trial", probejob.MeasurementKey), client.DryRunAll)) &&
			apierrors.IsInvalid(s.mallory.Create(ctx, following("trial", important("11")), client.DryRunAll)) &&
			s.mallory.Create(ctx, replaying("trial"), client.DryRunAll) == nil // Kubernetes has added Loadline's rights to its role
		return inForce, nil
	}))
	return s
}

func clusterRole(name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
}

func named(user string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
}

// as returns a client of a user.
func (e *environment) as(t *testing.T, user string) client.WithWatch {
	t.Helper()
	config := rest.CopyConfig(e.plane.RESTConfig())
	config.Impersonate.UserName = user
	c, err := local.NewClient(config)
	must(t, err)
	return c
}

// createAll creates the objects of a file of the repository.
func (e *environment) createAll(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	must(t, err)
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		must(t, e.Create(t.Context(), o))
	}
}

// attempt is something that a user tries, and what the API server says to it.
type attempt struct {
	// prepare makes what has to be there before, as the cluster's administrator; nil for nothing.
	prepare func() []client.Object
	by      client.Client
	do      func(ctx context.Context, c client.Client) error
	// refused is a part of the refusal, "" where the attempt succeeds.
	refused string
}

// attempts tries all of them, each by its own name.
func (s *tenants) attempts(t *testing.T, all map[string]attempt) {
	t.Helper()
	for name, a := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a.prepare != nil {
				for _, o := range a.prepare() {
					must(t, s.Create(t.Context(), o))
				}
			}
			err := a.do(t.Context(), a.by)
			switch {
			case a.refused == "":
				allowed(t, name, err)
			case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), a.refused):
				t.Errorf("got %v, want it refused: %s", err, a.refused)
			}
		})
	}
}

// creating is an attempt to create an object.
func creating(o client.Object) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Create(ctx, o) }
}

// patching is an attempt to change an object of mallory's.
func patching(o client.Object, patch string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch)))
	}
}

// plainPod is a pod of mallory's.
func plainPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/none"}}},
	}
}

func markedPod(name, key string) *corev1.Pod {
	p := plainPod(name)
	p.Labels = map[string]string{key: "x"}
	return p
}

// plainJob is a suspended Job of mallory's.
func plainJob(name string) *batchv1.Job {
	template := corev1.PodTemplateSpec{Spec: plainPod("").Spec}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: name},
		Spec:       batchv1.JobSpec{Suspend: new(true), Template: template},
	}
}

func markedJob(name, key string) *batchv1.Job {
	j := plainJob(name)
	j.Labels = map[string]string{key: "x"}
	return j
}

// replaying is a TraceReplay of mallory's, but for changes.
func replaying(name string, change ...func(*v1alpha1.TraceReplaySpec)) *v1alpha1.TraceReplay {
	r := &v1alpha1.TraceReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mallory", Name: name},
		Spec: v1alpha1.TraceReplaySpec{
			Trace: &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "week", Key: "week.csv"}},
			Nodes: []v1alpha1.ReplayNodes{{Name: "small"}},
		},
	}
	for _, c := range change {
		c(&r.Spec)
	}
	return r
}

func onVolume(claim string) func(*v1alpha1.TraceReplaySpec) {
	return func(s *v1alpha1.TraceReplaySpec) {
		s.Trace = &v1alpha1.ReplayTrace{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: claim, Path: "week.csv"}}
	}
}

func to(claim string) func(*v1alpha1.TraceReplaySpec) {
	return func(s *v1alpha1.TraceReplaySpec) {
		s.Output = &v1alpha1.ReplayOutput{PersistentVolumeClaim: v1alpha1.ClaimPath{ClaimName: claim, Path: "out"}}
	}
}

func TestOnlyLoadlineMarksJobsAndPodsAsItsOwn(t *testing.T) {
	t.Parallel()
	s := newTenants(t)
	const jobs, pods = "only Loadline marks Jobs as its own, and mallory may not patch workloadprofiles/status", "only Loadline marks pods as its own, by way of Jobs, and mallory may not update jobs/status"
	all := map[string]attempt{
		"an ordinary pod": {by: s.mallory, do: creating(plainPod("plain"))},
		"an ordinary Job": {by: s.mallory, do: creating(plainJob("plain"))},
		"a pod in shop": {by: s.mallory, do: func(ctx context.Context, c client.Client) error {
			p := plainPod("x")
			p.Namespace = "shop"
			return c.Create(ctx, p)
		}, refused: `cannot create resource "pods"`},
		"a marked Job by Loadline": {by: s.manager, do: creating(markedJob("made", probejob.MeasurementKey))},
		"a marked pod by Loadline": {by: s.manager, do: creating(markedPod("made", probejob.MeasurementKey)), refused: `cannot create resource "pods"`},
		"a label of one's own":     {prepare: func() []client.Object { return []client.Object{plainPod("team")} }, by: s.mallory, do: patching(plainPod("team"), `{"metadata":{"labels":{"team":"a"}}}`)},
		"a mark added to a pod":    {prepare: func() []client.Object { return []client.Object{plainPod("later")} }, by: s.mallory, do: patching(plainPod("later"), `{"metadata":{"labels":{"loadline.dev/measurement":"x"}}}`), refused: pods},
		"a mark changed on a pod":  {prepare: func() []client.Object { return []client.Object{markedPod("probe", probejob.MeasurementKey)} }, by: s.mallory, do: patching(plainPod("probe"), `{"metadata":{"labels":{"loadline.dev/measurement":"y"}}}`), refused: pods},
		"a mark kept on a pod":     {prepare: func() []client.Object { return []client.Object{markedPod("kept", probejob.MeasurementKey)} }, by: s.mallory, do: patching(plainPod("kept"), `{"metadata":{"labels":{"team":"a"}}}`)},
		"a mark taken off a pod":   {prepare: func() []client.Object { return []client.Object{markedPod("off", probejob.MeasurementKey)} }, by: s.mallory, do: patching(plainPod("off"), `{"metadata":{"labels":{"loadline.dev/measurement":null}}}`)},
		"a mark added to a Job":    {prepare: func() []client.Object { return []client.Object{plainJob("later")} }, by: s.mallory, do: patching(plainJob("later"), `{"metadata":{"annotations":{"loadline.dev/measurement-of":"NodeProfile/fast"}}}`), refused: jobs},
		"a deadline changed of one": {prepare: func() []client.Object {
			j := plainJob("late")
			j.Annotations = map[string]string{probejob.DeadlineKey: "60"}
			return []client.Object{j}
		}, by: s.mallory, do: patching(plainJob("late"), `{"metadata":{"annotations":{"loadline.dev/deadline-seconds":"600000"}}}`), refused: jobs},
		"a Job that is unsuspended": {prepare: func() []client.Object { return []client.Object{markedJob("suspended", probejob.MeasurementKey)} }, by: s.mallory, do: patching(plainJob("suspended"), `{"spec":{"suspend":false}}`)},
	}
	for _, key := range []string{probejob.MeasurementKey, probejob.OwnerKey, probejob.StepKey, probejob.DeadlineKey, "loadline.dev/trace-replay", "loadline.dev/runs"} {
		short := key[len("loadline.dev/"):]
		all["a pod with the label "+short] = attempt{by: s.mallory, do: creating(markedPod("label-"+short, key)), refused: pods}
		all["a Job with the label "+short] = attempt{by: s.mallory, do: creating(markedJob("label-"+short, key)), refused: jobs}
		annotated := plainPod("annotation-" + short)
		annotated.Annotations = map[string]string{key: "x"}
		all["a pod with the annotation "+short] = attempt{by: s.mallory, do: creating(annotated), refused: pods}
		ofLabelled := plainJob("pods-label-" + short)
		ofLabelled.Spec.Template.Labels = map[string]string{key: "x"}
		all["a Job of pods with the label "+short] = attempt{by: s.mallory, do: creating(ofLabelled), refused: jobs}
		ofAnnotated := plainJob("pods-annotation-" + short)
		ofAnnotated.Spec.Template.Annotations = map[string]string{key: "x"}
		all["a Job of pods with the annotation "+short] = attempt{by: s.mallory, do: creating(ofAnnotated), refused: jobs}
	}
	forged := markedJob("forged", probejob.MeasurementKey)
	forged.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	all["a marked Job in the manager's name"] = attempt{by: s.mallory, do: func(ctx context.Context, c client.Client) error {
		//nolint:staticcheck // an apply configuration would be longer
		return c.Patch(ctx, forged, client.Apply, client.FieldOwner("loadline-measurement"), client.ForceOwnership)
	}, refused: jobs}
	s.attempts(t, all)
}

// The controller of Jobs, not the manager, makes the pods.
func TestThePodsOfLoadlinesJobsAreMade(t *testing.T) {
	t.Parallel()
	s := newTenants(t)
	job := markedJob("probe", probejob.MeasurementKey)
	job.Spec.Suspend, job.Spec.Template.Labels = nil, job.Labels
	must(t, s.manager.Create(t.Context(), job))
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		err := s.List(ctx, &pods, client.InNamespace("mallory"), client.HasLabels{probejob.MeasurementKey})
		return len(pods.Items) == 1, err
	}))
}

func TestOnlyWhoMayReplayATraceThemselvesMayHaveItReplayed(t *testing.T) {
	t.Parallel()
	s := newTenants(t)
	replays := rbacv1.PolicyRule{APIGroups: []string{"loadline.dev"}, Resources: []string{"tracereplays"}, Verbs: []string{"*"}}
	reads := func(resource, name string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, ResourceNames: []string{name}, Verbs: []string{"get"}}
	}
	in := func(rules ...rbacv1.PolicyRule) map[string][]rbacv1.PolicyRule {
		return map[string][]rbacv1.PolicyRule{"mallory": append(rules, replays)}
	}
	alone := s.user(t, "eve", in())
	withoutFiles := s.user(t, "carol", in(createsJobs))
	ofTheWeek := s.user(t, "dave", in(createsJobs, reads("configmaps", "week"), reads("persistentvolumeclaims", "traces")))
	generated := func(spec *v1alpha1.TraceReplaySpec) {
		spec.Trace, spec.Arrivals = nil, &v1alpha1.ReplayArrivals{
			Jobs: new(int64(1)), Interarrival: v1alpha1.Interarrival{MeanMillis: new(int64(1))}, Types: []v1alpha1.ReplayJobType{{Profile: "web"}},
		}
	}
	other := func(spec *v1alpha1.TraceReplaySpec) { spec.Trace.ConfigMap.Name = "secrets" }
	s.attempts(t, map[string]attempt{
		"an editor replays a trace":    {by: s.mallory, do: creating(replaying("a"))},
		"an editor writes to a volume": {by: s.mallory, do: creating(replaying("b", to("out")))},
		"an editor of one namespace in another": {by: s.mallory, do: func(ctx context.Context, c client.Client) error {
			r := replaying("x")
			r.Namespace = "shop"
			return c.Create(ctx, r)
		}, refused: `cannot create resource "tracereplays"`},
		"without the right to create Jobs":    {by: alone, do: creating(replaying("c", generated)), refused: "a TraceReplay has Jobs run in the namespace mallory, and eve may not create jobs.batch there"},
		"generated jobs need no file":         {by: withoutFiles, do: creating(replaying("d", generated))},
		"without the right to the ConfigMap":  {by: withoutFiles, do: creating(replaying("e")), refused: "the status of a TraceReplay can quote the trace, and carol may not get the ConfigMap week in the namespace mallory"},
		"with the right to the ConfigMap":     {by: ofTheWeek, do: creating(replaying("f"))},
		"with the right to another ConfigMap": {by: ofTheWeek, do: creating(replaying("g", other)), refused: "dave may not get the ConfigMap secrets"},
		"without the right to the volume":     {by: withoutFiles, do: creating(replaying("h", onVolume("traces"))), refused: "carol may not get the PersistentVolumeClaims traces in the namespace mallory"},
		"with the right to the volume":        {by: ofTheWeek, do: creating(replaying("i", onVolume("traces")))},
		"onto another volume":                 {by: ofTheWeek, do: creating(replaying("j", onVolume("traces"), to("out"))), refused: "dave may not get the PersistentVolumeClaims traces, out in the namespace mallory"},
		"who may not may yet label one":       {prepare: func() []client.Object { return []client.Object{replaying("k")} }, by: alone, do: patching(replaying("k"), `{"metadata":{"labels":{"team":"a"}}}`)},
	})
}
