package controlplane

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFakeNodeFillsInOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	given := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "arm", Labels: map[string]string{corev1.LabelArchStable: "arm64"}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}},
	}
	before := given.DeepCopy().String()
	node := fakeNode(given)

	if given.String() != before {
		t.Error("the node given was changed")
	}
	for label, want := range map[string]string{corev1.LabelArchStable: "arm64", corev1.LabelOSStable: "linux", corev1.LabelHostname: "arm"} {
		if node.Labels[label] != want {
			t.Errorf("label %s is %q, want %q", label, node.Labels[label], want)
		}
	}
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourceMemory: "256Gi", corev1.ResourcePods: "110"} {
		allocatable, capacity := node.Status.Allocatable[name], node.Status.Capacity[name]
		if allocatable.String() != want || capacity.String() != want {
			t.Errorf("%s: allocatable %v, capacity %v, want %s", name, &allocatable, &capacity, want)
		}
	}
	if node.Annotations[fakeNodeAnnotation] != fakeNodeValue || !readyForPods(node) {
		t.Errorf("the node is not one for kwok, or not ready: %v", node)
	}
}

func TestANodeWithTheNotReadyTaintIsNotReadyForPods(t *testing.T) {
	t.Parallel()
	node := fakeNode(&corev1.Node{})
	node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	if readyForPods(node) {
		t.Error("it passes for ready")
	}
}

func TestLinkerFlagsSetTheVersionOfKubernetes(t *testing.T) {
	t.Parallel()
	flags, err := linkerFlags("v1.37.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version.gitVersion=v1.37.2", "version.gitMajor=1", "version.gitMinor=37"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is missing from %q", want, flags)
		}
	}
	if _, err := linkerFlags("latest"); err == nil || !strings.Contains(err.Error(), `"latest"`) {
		t.Errorf("a version that is none: got %v, want an error that names it", err)
	}
}

func TestAnotherVersionOfKubernetesHasAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	versions, err := Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(versions) < 2 || slices.Contains(versions[1:], versions[0]) {
		t.Fatalf("there are %q, want others than the default beside it", versions)
	}
	for version, want := range map[string]string{
		"":          "own",
		versions[0]: "own",
		versions[1]: filepath.Join("binaries", "v"+versions[1]),
	} {
		if got, err := moduleOf(t.Context(), version, "own"); err != nil || got != want {
			t.Errorf("%q: got %q and %v, want %q", version, got, err, want)
		}
	}
	if _, err := moduleOf(t.Context(), "1.9", "own"); err == nil || !strings.Contains(err.Error(), `"1.9"`) || !strings.Contains(err.Error(), versions[1]) {
		t.Errorf("a version that there is none of: got %v, want an error that names it and those that there are", err)
	}
}

func TestVersionsOfKubernetesAreBuiltApart(t *testing.T) {
	t.Parallel()
	versions, err := Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, version := range versions {
		module, err := moduleOf(t.Context(), version, defaultModule)
		if err != nil {
			t.Fatal(err)
		}
		key, err := controlPlaneSet(module).key(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := keys[key]; ok {
			t.Errorf("the programs of %s would be taken for those of %s", version, other)
		}
		keys[key] = version
	}
}

func TestGatesAreReadFromTheHelpOfAProgram(t *testing.T) {
	t.Parallel()
	const help = `      --feature-gates colonSeparatedMultimapStringString     Options are:
                                                           kube:APIResponseCompression=true|false (BETA - default=true)
                                                           GenericWorkload=true|false (ALPHA - default=false)
                                                           kube:CPUManager=true|false (BETA - default=true)
      --profiling=true   Enable profiling (default true)
`
	if got, want := gatesOf([]byte(help)), []string{"APIResponseCompression", "GenericWorkload", "CPUManager"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLeasesThatNoControllerWatchesAreRenewedSeldom(t *testing.T) {
	t.Parallel()
	for watched, want := range map[bool]string{true: "--node-lease-duration-seconds=40", false: "--node-lease-duration-seconds=4000"} {
		if args := kwok("", "", watched)(1).args; !slices.Contains(args, want) {
			t.Errorf("watched: %t: %v, want %s", watched, args, want)
		}
	}
}
