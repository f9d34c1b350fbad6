package kubectl_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/kubectl"
)

// pod returns a pod that an object controls, with a container and a sidecar.
func pod(kind, controller string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-1", UID: "abc", Labels: map[string]string{"pod-template-hash": "5d4f"},
			OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: controller, Controller: new(true)}},
		},
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "mesh"}}, Containers: []corev1.Container{{Name: "main"}}},
	}
}

func quantity(q string) *resource.Quantity { return new(resource.MustParse(q)) }

func TestTheCommandsOfChanges(t *testing.T) {
	t.Parallel()
	web := pod("ReplicaSet", "web-5d4f")
	cpus := []disruption.ContainerCPU{
		{Container: "main", Request: quantity("500m"), Limit: quantity("1")}, {Container: "mesh", Limit: quantity("200m")}, {Container: "log", Request: quantity("10m")},
	}
	const resize = `kubectl patch pod/web-1 -n shop --subresource resize --patch '{"spec":{` +
		`"containers":[{"name":"main","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"500m"}}},{"name":"log","resources":{"requests":{"cpu":"10m"}}}],` +
		`"initContainers":[{"name":"mesh","resources":{"limits":{"cpu":"200m"}}}]}}'`
	if diff := cmp.Diff(resize, kubectl.Resize(web, cpus)); diff != "" {
		t.Errorf("resize (-want +got):\n%s", diff)
	}
	const evict = `printf %s '{"apiVersion":"policy/v1","deleteOptions":{"preconditions":{"uid":"abc"}},"kind":"Eviction","metadata":{"name":"web-1","namespace":"shop"}}'` +
		` | kubectl create --raw /api/v1/namespaces/shop/pods/web-1/eviction -f -`
	if diff := cmp.Diff(evict, kubectl.Evict(web)); diff != "" {
		t.Errorf("evict (-want +got):\n%s", diff)
	}
	if got := kubectl.Cordon("worker-1") + "; " + kubectl.Uncordon("worker-1"); got != "kubectl cordon node/worker-1; kubectl uncordon node/worker-1" {
		t.Errorf("cordon: %s", got)
	}
}

func TestThePatchOfATemplate(t *testing.T) {
	t.Parallel()
	containers := func(indent string) string {
		return strings.ReplaceAll("containers:\n- name: main\n  resources:\n    requests:\n      cpu: 500m\n", "\n", "\n"+indent)
	}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"of a Deployment": {pod("ReplicaSet", "web-5d4f"), "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  template:\n    spec:\n      " + containers("      ")},
		"of a StatefulSet": {pod("StatefulSet", "db"), "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: db\n  namespace: shop\nspec:\n  template:\n    spec:\n      " +
			containers("      ")},
		"of a CronJob": {pod("Job", "etl-29388000"), "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: etl\n  namespace: shop\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          " +
			containers("          ")},
		"of a Job":              {pod("Job", "etl"), ""},
		"of another controller": {pod("Rollout", "web"), ""},
		"of a pod alone":        {&corev1.Pod{}, ""},
	} {
		got, err := kubectl.Template(test.pod, []disruption.ContainerCPU{{Container: "main", Request: quantity("500m")}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimRight(test.want, " "), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// run returns the arguments and the input that a shell gives kubectl, each with a mark at its end.
func run(t *rapid.T, command string) string {
	const fake = "kubectl() { for a; do printf '%s\\001' \"$a\"; done; case \"$*\" in *-) cat;; esac; }\n"
	out, err := exec.CommandContext(t.Context(), "sh", "-c", fake+command).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	return string(out)
}

// Whatever the names of things are, the shell hands kubectl these names and runs nothing else.
func TestNothingThatComesFromObjectsIsRun(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"web", "", "-o", "$(id)", "`id`", "a b", "'", "''", `\`, `\'`, "a'; id; '", "\n", "*", "~", "#", "é", `"`, "&", "../x", "a/b?c", "%41"}),
		rapid.StringMatching(`[ -~\n\t]{0,12}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		p := pod("ReplicaSet", "web-5d4f")
		p.Namespace, p.Name = name.Draw(t, "namespace"), name.Draw(t, "name")
		container := name.Draw(t, "container")
		got := strings.Split(run(t, kubectl.Resize(p, []disruption.ContainerCPU{{Container: container, Request: quantity("1")}})), "\x01")
		want := []string{"patch", "pod/" + p.Name}
		if p.Namespace != "" {
			want = append(want, "-n", p.Namespace)
		}
		want = append(want, "--subresource", "resize", "--patch")
		if diff := cmp.Diff(want, got[:len(want)]); diff != "" || len(got) != len(want)+2 {
			t.Fatalf("%d arguments (-want +got):\n%s", len(got), diff)
		}
		var patch struct{ Spec corev1.PodSpec }
		if err := json.Unmarshal([]byte(got[len(want)]), &patch); err != nil || patch.Spec.Containers[0].Name != container {
			t.Fatalf("the patch %s: %v", got[len(want)], err)
		}
		got = strings.Split(run(t, kubectl.Evict(p)), "\x01")
		if len(got) != 6 || strings.Count(got[2], "/") != 7 || strings.ContainsAny(got[2], "?# \n") {
			t.Fatalf("the eviction: %q", got)
		}
		if got := run(t, kubectl.Cordon(p.Name)); got != "cordon\x01node/"+p.Name+"\x01" {
			t.Fatalf("cordon: %q", got)
		}
		var eviction corev1.Pod
		if err := json.Unmarshal([]byte(got[5]), &eviction); err != nil || eviction.Name != p.Name || eviction.Namespace != p.Namespace {
			t.Fatalf("the eviction %s: %v", got[5], err)
		}
	})
}
