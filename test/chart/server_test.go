package chart

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/test/feature"
)

// server is a control plane to install the chart on.
type server struct {
	client.WithWatch
	plane *controlplane.ControlPlane
}

// startServer starts one, whose API server has more flags.
func startServer(t *testing.T, flags ...string) *server {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), controlplane.Options{WithoutKWOK: true, APIServerFlags: flags})
	must(t, err)
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := local.NewClient(plane.RESTConfig())
	must(t, err)
	return &server{c, plane}
}

// version returns the version of the API server, as Helm takes it.
func (s *server) version(t *testing.T) string {
	t.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(s.plane.RESTConfig())
	must(t, err)
	server, err := found.ServerVersion()
	must(t, err)
	return server.GitVersion
}

// addNamespace makes a namespace, and waits for what Kubernetes puts in every one.
func (s *server) addNamespace(t *testing.T, name string) {
	t.Helper()
	must(t, s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}))
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "kube-root-ca.crt"}},
	} {
		must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			err := s.Get(ctx, client.ObjectKeyFromObject(o), o)
			return err == nil, client.IgnoreNotFound(err)
		}))
	}
}

// A server-side apply refuses fields that the kind's schema does not have. The kinds
// of the Prometheus operator and of OpenShift have such schemas in testdata, with the
// fields that the chart may use.
func TestTheServerTakesEveryObjectOfEveryValues(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	must(t, local.InstallCRDs(s.plane.RESTConfig(), root))
	_, err := envtest.InstallCRDs(s.plane.RESTConfig(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("testdata", "prometheus-operator.yaml"), filepath.Join("testdata", "openshift.yaml")}, ErrorIfPathMissing: true,
	})
	must(t, err)
	for _, name := range []string{"loadline-system", "shop", "search"} {
		s.addNamespace(t, name)
	}
	kubernetes := s.version(t)
	pools := feature.MutatingPolicies(t, s.plane.RESTConfig())
	for name, file := range matrix(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered := renderFile(t, file, "--kube-version", kubernetes)
			if left := len(names(rendered, "MutatingAdmissionPolicy")); left > 0 && !pools {
				t.Fatalf("the chart has %d objects of a kind that the API server lacks", left)
			}
			for _, o := range rendered {
				options := []client.ApplyOption{client.FieldOwner("test"), client.ForceOwnership}
				if kind := o.GetKind(); kind != "ServiceAccount" && kind != "Namespace" { // those that pods name, and are in, must be there
					options = append(options, client.DryRunAll)
				}
				if err := s.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), options...); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
		})
	}
}

// everything returns all objects of the cluster but events, by kind, namespace and
// name.
func (s *server) everything(ctx context.Context) ([]string, error) {
	found, err := discovery.NewDiscoveryClientForConfig(s.plane.RESTConfig())
	if err != nil {
		return nil, err
	}
	lists, err := discovery.ServerPreferredResources(found)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if resource.Kind == "Event" || !slices.Contains(resource.Verbs, "list") || !slices.Contains(resource.Verbs, "delete") {
				continue
			}
			items := &metav1.PartialObjectMetadataList{}
			items.SetGroupVersionKind(group.WithKind(resource.Kind + "List"))
			if err := s.List(ctx, items); client.IgnoreNotFound(err) != nil { // a kind may be going
				return nil, fmt.Errorf("listing %s: %w", resource.Name, err)
			}
			for j := range items.Items {
				all = append(all, strings.Join([]string{resource.Kind, items.Items[j].Namespace, items.Items[j].Name}, " "))
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// awaitEverything waits until the objects of the cluster are as wanted.
func (s *server) awaitEverything(t *testing.T, want []string) {
	t.Helper()
	slices.Sort(want)
	var got []string
	var last error // discovery fails while kinds come and go
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		got, last = s.everything(ctx)
		return last == nil && slices.Equal(got, want), nil
	})
	if err != nil {
		t.Errorf("%v, %v; the cluster has (-want +got):\n%s", err, last, cmp.Diff(want, got))
	}
}

// awaitCreated makes an object as soon as the API server knows its kind: Helm does not wait for that.
func (s *server) awaitCreated(t *testing.T, o client.Object) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = s.Create(ctx, o)
		if meta.IsNoMatchError(last) || apierrors.IsNotFound(last) {
			return false, nil
		}
		return true, last
	})
	if err != nil {
		t.Fatalf("%v, %v", err, last)
	}
}

// helm runs helm on the cluster.
func (s *server) helm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := runHelm(t, append(args, "--kubeconfig", s.plane.Kubeconfig(), "--namespace", "loadline-system")...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// definitions are the resource definitions, and what the API server makes of them,
// as everything lists them.
func definitions() []string {
	all := []string{"APIService  v1alpha1.loadline.dev"}
	for _, plural := range []string{"nodeprofiles", "poolplans", "remediationpolicies", "remediations", "sharetrees", "tracereplays", "workloadprofiles"} {
		all = append(all, "CustomResourceDefinition  "+plural+".loadline.dev")
	}
	return all
}

func TestUninstallingLeavesNothingButWhatIsToBeKept(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.addNamespace(t, "loadline-system")
	before, err := s.everything(t.Context())
	must(t, err)

	first := filepath.Join(root, "test", "testdata", "charts", "loadline-0.1.0.tgz")
	_, err = runHelm(t, "template", "loadline", first, "--kube-version", s.version(t))
	if !feature.Found(t, s.plane.RESTConfig(), err == nil, fmt.Sprintf("what the chart of Loadline 0.1 asks for: %v", err)) {
		first = chartDir() // upgraded from itself
	}
	s.helm(t, "install", "loadline", first)
	profile := &unstructured.Unstructured{}
	profile.SetAPIVersion(v1alpha1.GroupVersion.String())
	profile.SetKind("WorkloadProfile")
	profile.SetNamespace("default")
	profile.SetName("job")
	profile.Object["spec"] = map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "job"}}, "resources": []any{map[string]any{"name": "cpu", "loading": "0.5"}},
	}
	s.awaitCreated(t, profile)
	kept := append(definitions(), "WorkloadProfile default job")
	for _, name := range []string{manager, scheduler} { // as the programs would
		must(t, s.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "loadline-system", Name: name}}))
	}

	notes := s.helm(t, "upgrade", "loadline", chartDir())
	if !strings.Contains(notes, "helm test loadline --namespace loadline-system") {
		t.Errorf("the notes do not say how to go on:\n%s", notes)
	}
	uid := profile.GetUID()
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(profile), profile))
	same(t, "the object after the upgrade", profile.GetUID(), uid)
	s.helm(t, "uninstall", "loadline")
	s.awaitEverything(t, slices.Concat(before, kept))

	// What was kept is taken up by the next installation, which may decide otherwise.
	s.helm(t, "install", "loadline", chartDir(), "--set", "crds.keep=false")
	must(t, s.Get(t.Context(), client.ObjectKeyFromObject(profile), profile))
	same(t, "the object after another installation", profile.GetUID(), uid)
	s.helm(t, "uninstall", "loadline")
	s.awaitEverything(t, before)
}

// Without nodes no pod of a test ever runs.
func TestATestThatFailsLeavesItsPodAlone(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.addNamespace(t, "loadline-system")
	s.helm(t, "install", "loadline", chartDir())
	must(t, wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { // until the API server knows the kinds
		_, err := runHelm(t, "test", "loadline", "--timeout", "3s", "--kubeconfig", s.plane.Kubeconfig(), "--namespace", "loadline-system")
		return err != nil && strings.Contains(err.Error(), "timed out"), nil
	}))
	all, err := s.everything(t.Context())
	must(t, err)
	left := slices.DeleteFunc(all, func(o string) bool { return !strings.Contains(o, "loadline-test") })
	same(t, "what is left", left, []string{"Pod loadline-system loadline-test-manager"})
}

// A release knows the digests of its images, which the repository does not.
func TestAReleasedChartNamesItsImagesByTheirDigests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	digests := map[string]string{}
	var lines strings.Builder
	for i, image := range []string{"loadline-manager", "loadline-scheduler", "loadline-gauge", "loadline-probe", "kubectl-loadline"} {
		digests[image] = fmt.Sprintf("sha256:%064x", i+1)
		fmt.Fprintf(&lines, "%s %s\n", digests[image], image)
	}
	must(t, os.WriteFile(filepath.Join(dir, "digests.txt"), []byte(lines.String()), 0o600))
	pin := exec.CommandContext(t.Context(), "go", "run", "./hack/chart/pin", "registry.example.com/a", filepath.Join(dir, "digests.txt"), filepath.Join(dir, "loadline"))
	pin.Dir = root
	if out, err := pin.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, err := runHelm(t, "package", filepath.Join(dir, "loadline"), "--destination", dir)
	must(t, err)
	out, err := runHelm(t, "template", "loadline", filepath.Join(dir, "loadline-0.2.0.tgz"), "--kube-version", "1.37.2", "--set", "ui.enabled=true")
	must(t, err)
	var used, want []string
	checked := pods(t, objects(t, out))
	for i := range checked {
		c := &checked[i].spec.Containers[0]
		used = append(used, c.Image, variable(c, "LOADLINE_PROBE_IMAGE"), variable(c, "LOADLINE_REPLAY_IMAGE"))
	}
	used = slices.DeleteFunc(used, func(image string) bool { return image == "" })
	slices.Sort(used)
	for image, digest := range digests {
		want = append(want, "registry.example.com/a/loadline/"+image+"@"+digest)
	}
	slices.Sort(want)
	same(t, "the images", slices.Compact(used), want)
}

func TestThePackedChartIsWhatItShouldBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := runHelm(t, "package", chartDir(), "--destination", dir)
	must(t, err)
	packed := filepath.Join(dir, "loadline-0.2.0.tgz")
	info, err := os.Stat(packed)
	must(t, err)
	// Helm keeps the chart in a Secret, with what it renders: together less than 1 MiB.
	if info.Size() > 400<<10 {
		t.Errorf("the chart has %d bytes, too many for a release's Secret", info.Size())
	}
	out, err := runHelm(t, "template", "loadline", packed, "--kube-version", "1.37.2")
	must(t, err)
	same(t, "the definitions of the packed chart", len(names(objects(t, out), "CustomResourceDefinition")), 7)
}

func TestAnInstallationWhoseGaugesCouldNotRunSaysWhy(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.addNamespace(t, "loadline-system")
	install := func(args ...string) error {
		_, err := runHelm(t, slices.Concat([]string{"install", "loadline", chartDir(), "--dry-run=server", "--kubeconfig", s.plane.Kubeconfig(), "--namespace", "loadline-system"}, args)...)
		return err
	}
	here := "gauge.namespace.create=false,gauge.namespace.name=loadline-system"
	err := install("--set", here)
	if want := "the namespace loadline-system enforces the Pod Security Standard restricted, which lets no gauge run"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error %v lacks %q", err, want)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "loadline-system"}}
	must(t, s.Patch(t.Context(), namespace, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}`))))
	must(t, install("--set", here))
	must(t, install("--set", "gauge.enabled=false"))
}

// What the API server lacks is left out, and the notes say so.
func TestTheNotesSayWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.addNamespace(t, "loadline-system")
	notes := s.helm(t, "install", "loadline", chartDir(), "--dry-run=server", "--set-json", `scheduler.extraArgs=["--feature-gates=GenericWorkload=true"]`)
	versions, err := controlplane.Versions(t.Context())
	must(t, err)
	older := version.MustParseGeneric(s.version(t)).LessThan(version.MustParseGeneric(versions[0]))
	pools := feature.MutatingPolicies(t, s.plane.RESTConfig())
	for note, want := range map[string]bool{
		"admission.poolPlacement is left out": !pools,
		"kind: MutatingAdmissionPolicy":       pools,
		"and this cluster is older":           older,
		"not serve scheduling.k8s.io/v1beta1": true, // no version does by default
	} {
		if strings.Contains(notes, note) != want {
			t.Errorf("%q should be there: %v\n%s", note, want, notes)
		}
	}
}
