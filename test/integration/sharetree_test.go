package integration

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

func TestTheServerRefusesBadShareTrees(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: ShareTree\nmetadata: {name: tree}"
	for name, test := range map[string]struct{ spec, want string }{
		"groups and workloads":   {"  groups: [{name: web, share: 50}, {name: a, parent: web, share: 1}]\n  workloads: [{name: hi, group: a, share: 2, utilization: 200m}]", ""},
		"only groups":            {"  groups: [{name: web, share: 50}]\n  processors: 4", ""},
		"a share of 0":           {"  groups: [{name: web, share: 0}]", "spec.groups[0].share: Invalid value: 0: a share must be at least 1 (remove the group if it should get nothing)"},
		"no share":               {"  groups: [{name: web}]", "spec.groups[0].share: Required value"},
		"an unknown parent":      {"  groups: [{name: web, share: 1, parent: it}]", "spec.groups: Invalid value: a parent is not the name of a group in spec.groups"},
		"its own parent":         {"  groups: [{name: web, share: 1, parent: web}]", "spec.groups[0].parent: Invalid value: a group cannot be its own parent"},
		"a name twice":           {"  groups: [{name: web, share: 1}, {name: web, share: 2}]", `spec.groups[1]: Duplicate value: {"name":"web"}`},
		"a name of both":         {"  groups: [{name: web, share: 1}]\n  workloads: [{name: web, share: 1, utilization: '0.1'}]", "spec.workloads: Invalid value: a workload has the name of a group"},
		"an unknown group":       {"  workloads: [{name: hi, group: web, share: 1, utilization: '0.1'}]", "spec.workloads: Invalid value: a workload's group is not the name of a group in spec.groups"},
		"a negative utilization": {"  workloads: [{name: hi, share: 1, utilization: '-0.1'}]", "spec.workloads[0].utilization: Invalid value: \"-0.1\": a utilization is how many processors are kept busy"},
		"a percentage":           {"  workloads: [{name: hi, share: 1, utilization: 20%}]", "spec.workloads[0].utilization: Invalid value: "},
		"no processors":          {"  processors: 0", "spec.processors: Invalid value: 0: spec.processors in body should be greater than or equal to 1"},
		"namespaces":             {"  namespaces: [shop, etl-2]", ""},
		"a strange namespace":    {"  namespaces: [Shop/*]", "spec.namespaces[0]: Invalid value: \"Shop/*\": a namespace's name consists of lower-case letters, digits and '-'"},
		"a namespace twice":      {"  namespaces: [shop, shop]", "spec.namespaces[1]: Duplicate value: \"shop\""},
		"a strange name":         {"  workloads: [{name: Hi/Lo, share: 1, utilization: '0.1'}]", "spec.workloads[0].name: Invalid value: \"Hi/Lo\": a name consists of lower-case letters, digits, '-' and '.'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
	const profile = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	const spec = "  selector: {}\n  resources: [{name: cpu, loading: 1}]\n"
	for name, test := range map[string]struct{ spec, want string }{
		"a utilization":          {"  fairShare: {tree: tree, share: 1, utilization: '0.2'}", ""},
		"arrivals":               {"  fairShare: {tree: tree, group: web, share: 1}\n  arrival: {ratePerSecond: 2}\n  neutralMillis: 100", ""},
		"neither":                {"  fairShare: {tree: tree, share: 1}\n  arrival: {ratePerSecond: 2}", "spec.fairShare: Invalid value: the tree must know how busy the workload keeps it: set fairShare.utilization"},
		"a share of 0 of a tree": {"  fairShare: {tree: tree, share: 0, utilization: '0.2'}", "spec.fairShare.share: Invalid value: 0: a share must be at least 1 (remove fairShare if it should get nothing)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, profile, spec+test.spec), test.want)
		})
	}
}

// leaf is a profile that is in a group of the tree company, with a limit of its
// dilation.
func (p *place) leaf(name, group, utilization, limit string) *v1alpha1.WorkloadProfile {
	w := p.profile(name, map[string]string{"cpu": "1"})
	w.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Group: group, Share: new(int32(1)), Utilization: new(resource.MustParse(utilization))}
	w.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse(limit))}
	return w
}

// awaitSLA waits for the condition SLAAttainable of a profile, and checks that the
// other controller's condition is still there.
func (p *place) awaitSLA(t *testing.T, w *v1alpha1.WorkloadProfile, status metav1.ConditionStatus, reason, text string) {
	t.Helper()
	p.await(t, w, func() bool {
		return has(w.Status.Conditions, v1alpha1.ConditionSLAAttainable, status, reason, text) &&
			has(w.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDeclared, "")
	})
}

func TestAShareTreePredictsResponsesAndTellsItsProfiles(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 0)
	p.startManagerWithItsRole(t)

	cart, orders := p.leaf("cart", "web", "0.4", "5"), p.leaf("orders", "db", "0.4", "5")
	must(t, p.Create(t.Context(), cart))
	p.awaitSLA(t, cart, metav1.ConditionUnknown, v1alpha1.ReasonTreeNotFound, `"company"`)

	tree := &v1alpha1.ShareTree{}
	tree.Name = "company"
	tree.Spec.Groups = []v1alpha1.ShareGroup{{Name: "web", Share: new(int32(9))}, {Name: "db", Share: new(int32(1))}}
	must(t, p.Create(t.Context(), tree))
	p.await(t, tree, func() bool {
		return has(tree.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonInvalid, "the group has no members")
	})
	p.awaitSLA(t, cart, metav1.ConditionUnknown, v1alpha1.ReasonNamespaceNotListed, "the tree takes no WorkloadProfiles")

	p.change(t, tree, func() { tree.Spec.Namespaces = []string{p.namespace} })
	p.await(t, tree, func() bool {
		return has(tree.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPredicted, "1 groups have no workload, such as db")
	})
	must(t, p.Create(t.Context(), orders))
	p.awaitSLA(t, cart, metav1.ConditionTrue, v1alpha1.ReasonWithinSLA, "at most 5")
	p.awaitSLA(t, orders, metav1.ConditionFalse, v1alpha1.ReasonExceedsSLA, "at most 5")
	p.awaitEvent(t, v1alpha1.ReasonExceedsSLA)
	p.await(t, tree, func() bool {
		return has(tree.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonPredicted, "1 miss their SLA")
	})
	want, err := shares.OfTree(t.Context(), shares.TreeInput{Tree: tree, Profiles: []v1alpha1.WorkloadProfile{*cart, *orders}})
	must(t, err)
	for i, node := range []shares.TreeNode{want.Nodes[1], want.Nodes[3]} {
		got := tree.Status.Workloads[i]
		if got.Name != p.namespace+"/"+[]string{"cart", "orders"}[i] || math.Abs(got.ResponseFactor.AsApproximateFloat64()-*node.Factor) > 1e-6 {
			t.Errorf("workload %d is %+v, want %+v", i, got, node)
		}
	}
	p.sameOnTheCommandLine(t, tree, cart, orders)

	p.change(t, tree, func() { tree.Spec.Groups[1].Share = new(int32(9)) })
	p.awaitSLA(t, orders, metav1.ConditionTrue, v1alpha1.ReasonWithinSLA, "at most 5")

	p.change(t, cart, func() { cart.Spec.FairShare.Utilization = new(resource.MustParse("0.7")) })
	p.awaitSLA(t, orders, metav1.ConditionFalse, v1alpha1.ReasonOverloaded, "it keeps 0.4 processors busy, and there is room for 0.29")
	p.await(t, tree, func() bool {
		return len(tree.Status.LeftOut) == 1 && tree.Status.LeftOut[0].Name == p.namespace+"/orders" && len(tree.Status.Workloads) == 1
	})

	p.change(t, cart, func() { cart.Spec.FairShare = nil })
	p.await(t, cart, func() bool {
		return meta.FindStatusCondition(cart.Status.Conditions, v1alpha1.ConditionSLAAttainable) == nil
	})

	must(t, p.Delete(t.Context(), tree))
	p.awaitSLA(t, orders, metav1.ConditionUnknown, v1alpha1.ReasonTreeNotFound, `"company"`)
}

// sameOnTheCommandLine checks that kubectl loadline share, given what is in the
// cluster, finds that an SLA is missed with the words of the condition.
func (p *place) sameOnTheCommandLine(t *testing.T, tree *v1alpha1.ShareTree, profiles ...*v1alpha1.WorkloadProfile) {
	t.Helper()
	tree.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ShareTree"}
	objects := []any{tree}
	for _, w := range profiles {
		w.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfile"}
		objects = append(objects, w)
	}
	var manifests strings.Builder
	for _, o := range objects {
		document, err := yaml.Marshal(o)
		must(t, err)
		manifests.WriteString("---\n" + string(document))
	}
	command := exec.CommandContext(t.Context(), plugin, "share", "-f", "-")
	command.Stdin = strings.NewReader(manifests.String())
	output, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 1 {
		t.Fatalf("exit code %d, %v: %s", command.ProcessState.ExitCode(), err, output)
	}
	message := meta.FindStatusCondition(profiles[1].Status.Conditions, v1alpha1.ConditionSLAAttainable).Message
	verdict := strings.TrimPrefix(strings.Split(message, ";")[0], `ShareTree "company": `)
	if !strings.Contains(string(output), p.namespace+"/orders misses its SLA: "+verdict) {
		t.Errorf("the command line says\n%s\nthe condition: %s", output, message)
	}
}

func TestShareShowsTheTreeOfANodeOfTheCluster(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	p.runOn(t, "cart", "shop")
	elsewhere := p.pod("elsewhere", "shop")
	elsewhere.Spec.NodeName = p.nodes[1]
	must(t, p.Create(t.Context(), elsewhere))
	share := func(flags ...string) (code int, output string) {
		args := append([]string{"share", "--kubeconfig", p.plane.Kubeconfig(), "--node", p.nodes[0]}, flags...)
		command := exec.CommandContext(t.Context(), plugin, args...)
		written, err := command.CombinedOutput()
		if command.ProcessState == nil {
			t.Fatal(err)
		}
		return command.ProcessState.ExitCode(), string(written)
	}
	if code, output := share(); code != 2 || !strings.Contains(output, "the cluster has no metrics API (metrics.k8s.io)") {
		t.Errorf("exit code %d: %s", code, output)
	}
	usage := filepath.Join(t.TempDir(), "usage.csv")
	must(t, os.WriteFile(usage, []byte("pod,container,cpu\ncart,main,1200m\n"), 0o600))
	code, output := share("--usage", usage, "--set", "cart=500m")
	for _, want := range []string{p.nodes[0] + " ", p.namespace + "/cart", "1500m → 500m", "7.5% of 16 cores busy"} {
		if code != 0 || !strings.Contains(output, want) {
			t.Errorf("exit code %d, want %q in\n%s", code, want, output)
		}
	}
	if strings.Contains(output, "elsewhere") {
		t.Errorf("a pod of another node is in\n%s", output)
	}
}
