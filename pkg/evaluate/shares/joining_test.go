package shares

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// operators is a tree with a workload of its own, busy half of one processor, that takes
// the profiles of the namespaces etl and shop.
func operators() *v1alpha1.ShareTree {
	tree := &v1alpha1.ShareTree{}
	tree.Name = "company"
	tree.Spec.Namespaces = []string{"etl", "shop"}
	tree.Spec.Groups = []v1alpha1.ShareGroup{shareGroup("batch", "", 1)}
	tree.Spec.Workloads = []v1alpha1.ShareWorkload{shareWorkload("own", "", 1, "0.5")}
	return tree
}

// joining is a profile that wants to join the tree, made so many minutes after the first.
func joining(namespace, name, utilization string, minutes int) v1alpha1.WorkloadProfile {
	p := v1alpha1.WorkloadProfile{}
	p.Namespace, p.Name = namespace, name
	p.CreationTimestamp = metav1.NewTime(time.Unix(int64(60*minutes), 0))
	p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Share: new(int32(1)), Utilization: new(resource.MustParse(utilization))}
	return p
}

// outcomes returns for each profile of an input why it is left out, "" if it is not.
func outcomes(t *testing.T, in TreeInput) map[string]string {
	t.Helper()
	a, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range a.Nodes {
		if n := &a.Nodes[i]; n.Workload && strings.Contains(n.Name, "/") {
			got[n.Name] = ""
		}
	}
	for _, l := range a.LeftOut {
		if _, joined := got[l.Name]; joined {
			t.Errorf("%s is part of the tree and left out", l.Name)
		}
		got[l.Name] = l.Reason
	}
	return got
}

func TestWhichProfilesJoinATree(t *testing.T) {
	t.Parallel()
	const (
		unlisted, invalid, overloaded = v1alpha1.ReasonNamespaceNotListed, v1alpha1.ReasonInvalid, v1alpha1.ReasonOverloaded
	)
	edited := func(p v1alpha1.WorkloadProfile, edit func(*v1alpha1.WorkloadProfile)) v1alpha1.WorkloadProfile {
		edit(&p)
		return p
	}
	many := func(n int32) *int32 { return &n }
	tests := map[string]struct {
		tree     func(*v1alpha1.ShareTree)
		profiles []v1alpha1.WorkloadProfile
		want     map[string]string
	}{
		"those of namespaces that are listed": {
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "a", "0.1", 0), joining("etl", "a", "0.1", 0), joining("mallory", "a", "0.1", 0)},
			want:     map[string]string{"shop/a": "", "etl/a": "", "mallory/a": unlisted},
		},
		"none while no namespace is listed": {
			tree:     func(tree *v1alpha1.ShareTree) { tree.Spec.Namespaces, tree.Spec.Groups = nil, nil },
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "a", "0.1", 0)},
			want:     map[string]string{"shop/a": unlisted},
		},
		"not one that is invalid by itself": {
			profiles: []v1alpha1.WorkloadProfile{
				joining("shop", "a", "0.1", 0), joining("shop", "negative", "-1", 0),
				edited(joining("shop", "group", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.FairShare.Group = "it" }),
				edited(joining("shop", "idle", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.FairShare.Utilization = nil }),
				edited(joining("shop", "share", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.FairShare.Share = many(-1) }),
				edited(joining("shop", "sla", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.SLA = &v1alpha1.SLA{} }),
				edited(joining("shop", "timed", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.NeutralMillis = new(int64(20)) }),
			},
			want: map[string]string{
				"shop/a": "", "shop/negative": invalid, "shop/group": invalid, "shop/idle": invalid, "shop/share": invalid, "shop/sla": invalid, "shop/timed": invalid,
			},
		},
		"not one that is as busy as thousands of processors": {
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "a", "0.1", 9), joining("shop", "w0", "4096", 0)},
			want:     map[string]string{"shop/a": "", "shop/w0": overloaded},
		},
		"the oldest of a namespace, while there is room": {
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "a", "0.2", 2), joining("shop", "b", "0.2", 1), joining("shop", "c", "0.2", 3)},
			want:     map[string]string{"shop/b": "", "shop/a": "", "shop/c": overloaded},
		},
		"those within the part of their namespace before the oldest of others": {
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "large", "0.45", 0), joining("etl", "a", "0.24", 9)},
			want:     map[string]string{"shop/large": overloaded, "etl/a": ""},
		},
		"what other namespaces leave": {
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "large", "0.45", 0), joining("etl", "a", "0.04", 9)},
			want:     map[string]string{"shop/large": "", "etl/a": ""},
		},
		"idle ones even in a tree that is full": {
			tree:     func(tree *v1alpha1.ShareTree) { tree.Spec.Workloads[0].Utilization = new(resource.MustParse("0.995")) },
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "idle", "0", 0), joining("shop", "a", "0.001", 0)},
			want:     map[string]string{"shop/idle": "", "shop/a": overloaded},
		},
		"those with the service time of the tree, on several processors": {
			tree: func(tree *v1alpha1.ShareTree) {
				tree.Spec.Processors, tree.Spec.Workloads[0].ServiceMillis = many(2), new(int64(20))
			},
			profiles: []v1alpha1.WorkloadProfile{
				edited(joining("shop", "same", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.NeutralMillis = new(int64(20)) }),
				edited(joining("shop", "other", "0.1", 0), func(p *v1alpha1.WorkloadProfile) { p.Spec.NeutralMillis = new(int64(21)) }),
				joining("shop", "unknown", "0.1", 0),
			},
			want: map[string]string{"shop/same": "", "shop/other": invalid, "shop/unknown": invalid},
		},
		"not one with a name that is taken": {
			profiles: []v1alpha1.WorkloadProfile{joining("shop", "a", "0.1", 0), joining("shop", "a", "0.2", 1)},
			want:     map[string]string{"shop/a": invalid},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := TreeInput{Tree: operators(), Profiles: test.profiles}
			if test.tree != nil {
				test.tree(in.Tree)
			}
			if strings.Contains(name, "taken") { // the same name is part of the tree and left out
				a, err := OfTree(t.Context(), in)
				if err != nil || len(a.LeftOut) != 1 || a.LeftOut[0].Reason != invalid || a.Workloads != 2 {
					t.Errorf("unexpected answer %+v, error %v", a, err)
				}
				return
			}
			if diff := cmp.Diff(test.want, outcomes(t, in)); diff != "" {
				t.Errorf("why profiles are left out (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever profiles of any namespace say, a tree that has an answer by itself has one.
func TestNoProfileLeavesATreeWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := TreeInput{Tree: operators()}
		in.Tree.Spec.Processors = new(rapid.SampledFrom([]int32{1, 2, 64}).Draw(t, "processors"))
		for i := range rapid.IntRange(1, 8).Draw(t, "profiles") {
			utilization := rapid.SampledFrom([]string{"0", "1n", "0.05", "0.5", "0.99", "64", "4096", "-1"}).Draw(t, "utilization")
			p := joining(rapid.SampledFrom([]string{"shop", "etl", "mallory"}).Draw(t, "namespace"), fmt.Sprintf("w%d", i), utilization, rapid.IntRange(0, 3).Draw(t, "age"))
			p.Spec.FairShare.Group = rapid.SampledFrom([]string{"", "batch", "it"}).Draw(t, "group")
			p.Spec.FairShare.Share = new(rapid.SampledFrom([]int32{1, 7, 1_000_000_000, 0}).Draw(t, "share"))
			if rapid.Bool().Draw(t, "timed") {
				p.Spec.NeutralMillis = new(rapid.SampledFrom([]int64{1, 20, 1_000_000_000_000, 0}).Draw(t, "service"))
			}
			in.Profiles = append(in.Profiles, p)
		}
		a, err := OfTree(t.Context(), in)
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		if a.Workloads-1+len(a.LeftOut) != len(in.Profiles) {
			t.Errorf("of %d profiles %d are part of the tree and %d left out", len(in.Profiles), a.Workloads-1, len(a.LeftOut))
		}
		for i := range a.Nodes {
			if f := a.Nodes[i].Factor; f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0) || *f < 1-1e-9) {
				t.Errorf("%s responds in %v service times", a.Nodes[i].Name, *f)
			}
		}
	})
}

// The order in which profiles are given does not matter.
func TestTheSameProfilesJoinInWhateverOrderTheyAreListed(t *testing.T) {
	t.Parallel()
	profiles := []v1alpha1.WorkloadProfile{
		joining("shop", "a", "0.2", 0), joining("shop", "b", "0.2", 0), joining("etl", "a", "0.2", 0), joining("etl", "b", "0.3", 1), joining("shop", "c", "0.01", 5),
	}
	want := outcomes(t, TreeInput{Tree: operators(), Profiles: profiles})
	rapid.Check(t, func(t *rapid.T) {
		a, err := OfTree(t.Context(), TreeInput{Tree: operators(), Profiles: rapid.Permutation(profiles).Draw(t, "order")})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range a.LeftOut {
			if want[l.Name] != l.Reason {
				t.Errorf("%s is left out: %s, and in another order %q", l.Name, l.Reason, want[l.Name])
			}
		}
	})
}

// A namespace with thousands of profiles leaves their part to the others, in the tree and
// among those that the status names.
func TestANamespaceTakesNoMoreThanItsPartOfATree(t *testing.T) {
	t.Parallel()
	in := TreeInput{Tree: operators()}
	for i := range 3 * maxProfiles {
		in.Profiles = append(in.Profiles, joining("shop", fmt.Sprintf("w%04d", i), "0", 0))
	}
	for i := range maxProfiles/2 + 3 {
		in.Profiles = append(in.Profiles, joining("etl", fmt.Sprintf("w%04d", i), "0", 1))
	}
	a, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	joined := map[string]int{}
	for i := range a.Nodes {
		namespace, _, _ := strings.Cut(a.Nodes[i].Name, "/")
		joined[namespace]++
	}
	if diff := cmp.Diff(map[string]int{"own": 1, "shop": maxProfiles / 2, "etl": maxProfiles / 2}, joined); diff != "" {
		t.Errorf("unexpected numbers of profiles (-want +got):\n%s", diff)
	}
	status := Status(in.Tree, a, nil, metav1.Time{})
	named := map[string]int{}
	for _, l := range status.LeftOut {
		namespace, _, _ := strings.Cut(l.Name, "/")
		named[namespace]++
		if l.Reason != v1alpha1.ReasonTooMany || len(l.Message) > maxLeftOutMessage {
			t.Errorf("unexpected entry: %+v", l)
		}
	}
	if want := len(in.Profiles) - maxProfiles; int(*status.LeftOutCount) != want || len(status.LeftOut) != maxStatusLeftOut || named["etl"] != 3 {
		t.Errorf("%d are left out, want %d, of which the status names %v", *status.LeftOutCount, want, named)
	}
}

// Groups are there for profiles that may come: while they have none they are no part of
// the tree, and the condition says so.
func TestGroupsWithoutAWorkloadAreNamed(t *testing.T) {
	t.Parallel()
	in := TreeInput{Tree: operators()}
	in.Tree.Spec.Groups = append(in.Tree.Spec.Groups, shareGroup("nightly", "batch", 1))
	a, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"batch", "nightly"}, a.Empty); diff != "" || len(a.Nodes) != 1 {
		t.Errorf("%d nodes, without a workload (-want +got):\n%s", len(a.Nodes), diff)
	}
	ready := meta.FindStatusCondition(Status(in.Tree, a, nil, metav1.Time{}).Conditions, v1alpha1.ConditionReady)
	if want := "2 groups have no workload, such as batch"; !strings.Contains(ready.Message, want) {
		t.Errorf("the message is %q, want %q", ready.Message, want)
	}
	p := joining("shop", "a", "0.1", 0)
	p.Spec.FairShare.Group = "nightly"
	in.Profiles = []v1alpha1.WorkloadProfile{p}
	if a, err = OfTree(t.Context(), in); err != nil || len(a.Empty) > 0 || len(a.Nodes) != 4 {
		t.Errorf("with a profile: %+v, error %v", a, err)
	}
}

// A tree that has an answer by itself, and none with its profiles, is answered without.
func TestATreeThatIsTooCostlyWithItsProfilesIsAnsweredWithoutThem(t *testing.T) {
	t.Parallel()
	in := TreeInput{Tree: operators()}
	in.Tree.Spec.Processors = new(int32(4096))
	in.Options.Tolerance = 1e-13 // which 4096 processors do not allow when they are busy
	in.Profiles = []v1alpha1.WorkloadProfile{joining("shop", "a", "4000", 0)}
	a, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if a.Workloads != 1 || len(a.LeftOut) != 1 || a.LeftOut[0].Reason != v1alpha1.ReasonTooCostly || !strings.Contains(a.LeftOut[0].Message, "precision not reached") {
		t.Errorf("unexpected answer: %+v", a)
	}
}
