package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
)

// An API server with Loadline's definitions takes what three cycles of the load do to it, and the audit log says what is needed of it.
func TestAnAPIServerTakesTheLoad(t *testing.T) {
	t.Parallel()
	l, log := loaded(t)
	if err := l.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "loadline-gauge"}}); err != nil { // the chart's
		t.Fatal(err)
	}
	if err := l.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for number := range 3 * turns {
		cycle, part := number/turns, number%turns
		l.do(t.Context(), "scaled", func(ctx context.Context) error { return l.scale(ctx, part) })
		for _, turn := range due(cycle, part) {
			if !strings.HasPrefix(turn.what, "kubectl") {
				l.do(t.Context(), turn.what, func(ctx context.Context) error { return turn.do(l, ctx, cycle) })
			}
		}
	}
	for what, n := range l.tally.failed {
		if what != "pod deleted: there is none" { // no controller makes any
			t.Errorf("%d times %s", n, what)
		}
	}
	sampled := &sample{Values: map[string]float64{}}
	if err := (&sampler{cluster: l.cluster}).sampleObjects(t.Context(), sampled); err != nil {
		t.Error(err)
	}
	for what, want := range map[string]float64{"PoolPlans": 1, "TraceReplays": 0, "Nodes": float64(l.nodes)} {
		if got := sampled.Values[name("cluster", "", "objects: "+what)]; got != want {
			t.Errorf("%g %s, want %g", got, what, want)
		}
	}
	text, err := l.api.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil || storageSize(text) <= 0 {
		t.Errorf("the size of the database is %g, %v", storageSize(text), err)
	}
	writesNothing(t, l, log)
}

// loaded returns a load on a control plane without controllers, and the path of its audit log.
func loaded(t *testing.T) (l *load, log string) {
	t.Helper()
	root, err := local.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log = filepath.Join(t.TempDir(), "audit.log")
	plane, err := controlplane.Start(t.Context(), controlplane.Options{
		WithoutControllerManager: true, AuditLog: log, AuditPolicy: filepath.Join(root, "hack", "soak", "audit-policy.yaml"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := local.InstallCRDs(plane.RESTConfig(), root); err != nil {
		t.Fatal(err)
	}
	c, err := connect(&options{kubeconfig: plane.Kubeconfig()}, comparison.NewProgress(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	return &load{cluster: c, nodes: 2, cycle: time.Minute, tally: newTally()}, log
}

// writesNothing has the manager write what changes something and what does not.
func writesNothing(t *testing.T, l *load, log string) {
	t.Helper()
	account := metav1.ObjectMeta{Namespace: "loadline-system", Name: "loadline-manager"}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: account.Namespace}}, &corev1.ServiceAccount{ObjectMeta: account},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "all"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
		},
	} {
		if err := l.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	token, err := l.token(t.Context(), account.Namespace, account.Name, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(l.config)
	config.BearerToken = token
	manager, err := local.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	// The API server may not have seen the binding yet.
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, brief, true, func(ctx context.Context) (bool, error) {
		err := manager.List(ctx, &appsv1.DeploymentList{})
		return err == nil, ignoreForbidden(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: "soak"}}
	for range 2 {
		if err := manager.Patch(t.Context(), plan, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))); err != nil {
			t.Fatal(err)
		}
	}
	r := newRequests(log)
	if err := r.follow(); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]float64{"requests: patch poolplans": 2, "changes nothing: patch poolplans": 1} {
		if got := r.counts[name("manager", "", what)]; got != want {
			t.Errorf("%s: %g, want %g: %v", what, got, want, r.counts)
		}
	}
}

func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}
