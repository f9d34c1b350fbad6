package shares

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/fairshare"
)

func shareGroup(name, parent string, share int32) v1alpha1.ShareGroup {
	return v1alpha1.ShareGroup{Name: name, Parent: parent, Share: &share}
}

func shareWorkload(name, group string, share int32, utilization string) v1alpha1.ShareWorkload {
	return v1alpha1.ShareWorkload{Name: name, Group: group, Share: &share, Utilization: new(resource.MustParse(utilization))}
}

// company has two groups; a profile is a leaf of the second.
func company() TreeInput {
	tree := &v1alpha1.ShareTree{}
	tree.Name, tree.Spec.Namespaces = "company", []string{"shop"}
	tree.Spec.Groups = []v1alpha1.ShareGroup{shareGroup("web", "", 3), shareGroup("db", "", 1)}
	tree.Spec.Workloads = []v1alpha1.ShareWorkload{shareWorkload("hi", "web", 2, "200m"), shareWorkload("lo", "web", 1, "0.1")}
	return TreeInput{Tree: tree, Profiles: []v1alpha1.WorkloadProfile{leafProfile("db"), {}}}
}

// leafProfile is busy 2 × 150 ms per second.
func leafProfile(group string) v1alpha1.WorkloadProfile {
	p := v1alpha1.WorkloadProfile{}
	p.Namespace, p.Name, p.Generation = "shop", "orders", 7
	p.Spec.NeutralMillis = new(int64(150))
	p.Spec.Arrival = &v1alpha1.Arrival{RatePerSecond: new(resource.MustParse("2"))}
	p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Group: group, Share: new(int32(1))}
	return p
}

// timed gives all workloads of a tree the service time of the profile.
func timed(in TreeInput) TreeInput {
	for i := range in.Tree.Spec.Workloads {
		in.Tree.Spec.Workloads[i].ServiceMillis = new(int64(150))
	}
	return in
}

// Section 3 of the paper: what is in a group matters to no workload outside it, so that the
// answers for these stay as they are when all members are taken together.
func TestAnAggregateOfAWholeGroupChangesNothingForOthers(t *testing.T) {
	t.Parallel()
	in := timed(company())
	apart, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Aggregates = []Aggregate{{"pages", []string{"hi", "web/lo"}}}
	in.Changes = []Change{{"pages", 7}} // among no siblings
	together, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	find := func(a *TreeAnswer, name string) *TreeNode {
		i := slices.IndexFunc(a.Nodes, func(n TreeNode) bool { return n.Name == name })
		if i < 0 {
			t.Fatalf("%s is not in the answer", name)
		}
		return &a.Nodes[i]
	}
	if before, after := *find(apart, "shop/orders").Factor, *find(together, "shop/orders").Factor; math.Abs(after/before-1) > 1e-9 {
		t.Errorf("a workload of another group responds in %v service times, and in %v after", before, after)
	}
	pages := find(together, "pages")
	if pages.Utilization < 0.2999 || pages.Utilization > 0.3001 || pages.Share != 7 || *pages.ShareBefore != 3 || pages.Path != "web/pages" {
		t.Errorf("the aggregate is %+v", *pages)
	}
}

func TestAShareTreeJoinsGroupsWorkloadsAndProfiles(t *testing.T) {
	t.Parallel()
	a, err := OfTree(t.Context(), timed(company()))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	conserved := 0.0
	for _, n := range a.Nodes {
		paths = append(paths, n.Path)
		if n.Workload {
			conserved += n.Utilization * *n.Factor
			if response := *n.Factor * 0.15; math.Abs(*n.ResponseSeconds-response) > 1e-12 {
				t.Errorf("%s: the response time is %v, not %v", n.Name, *n.ResponseSeconds, response)
			}
		}
	}
	if diff := cmp.Diff([]string{"web", "web/hi", "web/lo", "db", "db/shop/orders"}, paths); diff != "" {
		t.Errorf("unexpected nodes (-want +got):\n%s", diff)
	}
	// The conservation law, and the utilizations: 0.2 + 0.1 + 2/s × 150 ms.
	if math.Abs(a.Utilization-0.6) > 1e-12 || math.Abs(conserved-0.6/0.4) > 1e-8 {
		t.Errorf("the utilization is %v, what is conserved %v; want 0.6 and 1.5", a.Utilization, conserved)
	}
	if hi := a.Nodes[1]; math.Abs(hi.Portion-3.0/4*2/3) > 1e-12 || hi.Share != 2 || hi.Depth != 2 {
		t.Errorf("unexpected node: %+v", hi)
	}
}

func TestAShareTreeUsesTheMeasuredNeutralTime(t *testing.T) {
	t.Parallel()
	declared, err := OfTree(t.Context(), timed(company()))
	if err != nil {
		t.Fatal(err)
	}
	in := timed(company())
	p := &in.Profiles[0]
	p.Spec.Measurement = &v1alpha1.Measurement{}
	p.Status.Measurements = []v1alpha1.MeasuredVector{{NodeProfile: "big", Time: &metav1.Time{}, NeutralMillis: p.Spec.NeutralMillis}}
	p.Spec.NeutralMillis = nil
	measured, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(declared.Workloads, measured.Workloads); diff != "" {
		t.Errorf("unexpected responses (-declared +measured):\n%s", diff)
	}
}

func TestEveryMethodGivesTheSameResponses(t *testing.T) {
	t.Parallel()
	in := timed(company())
	exact, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range Methods()[1:] {
		if in.Options.Method = method; method == fairshare.Caps.String() {
			continue // another model
		}
		a, err := OfTree(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range a.Nodes {
			if n.Factor == nil {
				continue
			}
			// Three half widths of 95 % are six standard errors.
			if off := math.Abs(*n.Factor - *exact.Nodes[i].Factor); off > 3*(*n.Error+*exact.Nodes[i].Error) {
				t.Errorf("%s: %s is off by %v", method, n.Name, off)
			}
		}
		if random := strings.Contains(method, "mc") || strings.Contains(method, "monte"); a.Exact == random || a.Method != method {
			t.Errorf("%s: exact %v by %s", method, a.Exact, a.Method)
		}
	}
}

func TestAChangedShareShowsWhatWasBefore(t *testing.T) {
	t.Parallel()
	in := timed(company())
	before, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"orders", "shop/orders", "db/shop/orders", "db"} {
		in.Changes = []Change{{Name: name, Share: 9}}
		after, err := OfTree(t.Context(), in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		orders := after.Nodes[4]
		if name == "db" {
			if db := after.Nodes[3]; db.Share != 9 || *db.ShareBefore != 1 || *orders.Factor >= *orders.FactorBefore {
				t.Errorf("unexpected nodes: %+v, %+v", db, orders)
			}
		} else if orders.Share != 9 || *orders.ShareBefore != 1 { // alone in its group: no difference
			t.Errorf("unexpected node: %+v", orders)
		}
		if *orders.FactorBefore != *before.Nodes[4].Factor || after.Nodes[1].ShareBefore != nil {
			t.Errorf("%s: what was before is %+v", name, after.Nodes)
		}
	}
}

func TestShareTreesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	spec := func(in *TreeInput) *v1alpha1.ShareTreeSpec { return &in.Tree.Spec }
	for name, test := range map[string]struct {
		edit func(*TreeInput)
		want string
	}{
		"no processors": {func(in *TreeInput) { spec(in).Processors = new(int32(0)) }, "spec.processors: Invalid value: 0: must be from 1 to 4096"},
		"a share of 0": {
			func(in *TreeInput) { spec(in).Groups[1].Share = new(int32(0)) },
			"spec.groups[1].share: Invalid value: 0: a share must be at least 1 (remove the group if it should get nothing)",
		},
		"no share":       {func(in *TreeInput) { spec(in).Workloads[0].Share = nil }, "spec.workloads[0].share: Required value: give a share of at least 1"},
		"no name":        {func(in *TreeInput) { spec(in).Workloads[0].Name = "" }, "spec.workloads[0].name: Required value"},
		"a taken name":   {func(in *TreeInput) { spec(in).Workloads[1].Name = "db" }, `spec.workloads[1].name: Invalid value: "db": is the name of spec.groups[1].name, too`},
		"unknown group":  {func(in *TreeInput) { spec(in).Workloads[1].Group = "wbe" }, `spec.workloads[1].group: Invalid value: "wbe": there is no such group in spec.groups (there are web, db)`},
		"unknown parent": {func(in *TreeInput) { spec(in).Groups[1].Parent = "it" }, `spec.groups[1].parent: Invalid value: "it": there is no such group`},
		"a cycle": {
			func(in *TreeInput) {
				spec(in).Groups[0].Parent, spec(in).Groups[1].Parent = "db", "web"
			},
			`spec.groups[1].parent: Invalid value: "web": makes a cycle: db is in web is in db`,
		},
		"its own parent": {func(in *TreeInput) { spec(in).Groups[0].Parent = "web" }, `spec.groups[0].parent: Invalid value: "web": makes a cycle: web is in web`},
		"a group without members": {
			func(in *TreeInput) { spec(in).Namespaces = nil },
			`spec.groups[1].name: Invalid value: "db": the group has no members`,
		},
		"nothing": {
			func(in *TreeInput) { *spec(in), in.Profiles = v1alpha1.ShareTreeSpec{}, nil },
			"spec.workloads: Required value: the tree has no workload",
		},
		"a negative utilization": {
			func(in *TreeInput) { spec(in).Workloads[0].Utilization = new(resource.MustParse("-0.1")) },
			`spec.workloads[0].utilization: Invalid value: "-100m": a utilization is how many processors are kept busy`,
		},
		"no utilization": {func(in *TreeInput) { spec(in).Workloads[0].Utilization = nil }, "spec.workloads[0].utilization: Required value"},
		"service times of some": {
			func(in *TreeInput) { spec(in).Workloads[1].ServiceMillis = nil },
			"spec.workloads[1].serviceMillis: Required value: other workloads of the tree have a service time: give all or none",
		},
		"service times that differ, on several processors": {
			func(in *TreeInput) {
				spec(in).Workloads[1].ServiceMillis, spec(in).Processors = new(int64(99)), new(int32(2))
			},
			"web/lo: service: 0.099 is not 0.15, as that of web/hi",
		},
		"an SLA without terms": {func(in *TreeInput) { spec(in).Workloads[1].SLA = &v1alpha1.SLA{} }, "spec.workloads[1].sla: Required value: give responseTimeMillis or maxDilation"},
		"an SLA below 1": {
			func(in *TreeInput) {
				spec(in).Workloads[1].SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse("0.5"))}
			},
			`spec.workloads[1].sla.maxDilation: Invalid value: "500m": a dilation is at least 1`,
		},
		"too busy": {
			func(in *TreeInput) { spec(in).Workloads[0].Utilization = new(resource.MustParse("0.9")) },
			"the workloads keep 1 processors busy, and there are 1: jobs would wait without end",
		},
		"an unknown method":                 {func(in *TreeInput) { in.Options.Method = "magic" }, `method: "magic" is not one of race, subsets, hierarchical, permutations, monte-carlo, ahmc, caps`},
		"an unknown name to change":         {func(in *TreeInput) { in.Changes = []Change{{"it", 2}} }, "it: names no group and no workload of the tree"},
		"an aggregate of no siblings":       {func(in *TreeInput) { in.Aggregates = []Aggregate{{"all", []string{"hi", "orders"}}} }, "is no sibling of web/hi, so they cannot be aggregated"},
		"an aggregate of what is not there": {func(in *TreeInput) { in.Aggregates = []Aggregate{{"all", []string{"it"}}} }, "it: names no group and no workload of the tree"},
		"a change to nothing":               {func(in *TreeInput) { in.Changes = []Change{{"web", 0}} }, "web=0: a share must be at least 1"},
		"a tolerance of 1":                  {func(in *TreeInput) { in.Options.Tolerance = 1 }, "tolerance: 1 is not between 1e-13 and 0.0001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := timed(company())
			test.edit(&in)
			a, err := OfTree(t.Context(), in)
			if err == nil {
				t.Fatalf("the answer is %+v", a)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

func TestACancelledShareTreeSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := TreeInput{Tree: &v1alpha1.ShareTree{}}
	for i := range 400 {
		in.Tree.Spec.Workloads = append(in.Tree.Spec.Workloads, shareWorkload("w"+strconv.Itoa(i), "", int32(i+1), "0.002"))
	}
	if _, err := OfTree(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheStatusOfAShareTreeHasResponsesAndMissedSLAs(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Unix(1000, 0))
	in := timed(company())
	in.Tree.Generation = 3
	in.Tree.Spec.Workloads[0].SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse("10"))}
	in.Profiles[0].Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(160))}
	a, err := OfTree(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	status := Status(in.Tree, a, nil, now)
	if *status.ObservedGeneration != 3 || *status.WorkloadCount != 3 || *status.MissedSLAs != 1 || status.Utilization.String() != "600m" {
		t.Errorf("unexpected status: %+v", status)
	}
	if w := status.Workloads[0]; w.Name != "hi" || w.SLA != v1alpha1.SLAMet || w.Portion.String() != "500m" {
		t.Errorf("unexpected workload: %+v", w)
	}
	orders := status.Workloads[2]
	if factor := orders.ResponseFactor.AsApproximateFloat64(); orders.Name != "shop/orders" || orders.SLA != v1alpha1.SLAMissed || *orders.ResponseMillis != int64(math.Round(factor*150)) {
		t.Errorf("unexpected workload: %+v", orders)
	}
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if ready.Status != metav1.ConditionTrue || ready.Reason != v1alpha1.ReasonPredicted || ready.ObservedGeneration != 3 ||
		!strings.Contains(ready.Message, "1 miss their SLA, such as shop/orders: the mean response time is ") {
		t.Errorf("unexpected condition: %+v", ready)
	}

	in.Tree.Status = status
	in.Profiles = nil
	in.Tree.Spec.Workloads[0].Utilization = new(resource.MustParse("2"))
	_, why := OfTree(t.Context(), in)
	status = Status(in.Tree, nil, why, now)
	ready = meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonOverloaded || status.Workloads != nil || status.MissedSLAs != nil {
		t.Errorf("unexpected status: %+v", status)
	}
}

func TestAProfileHearsWhetherItsSLACanBeMet(t *testing.T) {
	t.Parallel()
	overloaded := &Error{Reason: v1alpha1.ReasonOverloaded, err: errors.New("too busy")}
	invalid := &Error{Reason: v1alpha1.ReasonInvalid, err: errors.New("no such group")}
	for name, test := range map[string]struct {
		sla             *v1alpha1.SLA
		why             error
		missing         bool
		status          metav1.ConditionStatus
		reason, message string
	}{
		"no SLA":                    {nil, nil, false, metav1.ConditionTrue, v1alpha1.ReasonNoSLA, `ShareTree "company": the mean response time is `},
		"an SLA that can":           {&v1alpha1.SLA{MaxDilation: new(resource.MustParse("9"))}, nil, false, metav1.ConditionTrue, v1alpha1.ReasonWithinSLA, "the SLA asks for at most 9"},
		"one that cannot":           {&v1alpha1.SLA{MaxDilation: new(resource.MustParse("1.1"))}, nil, false, metav1.ConditionFalse, v1alpha1.ReasonExceedsSLA, "at most 1.1; raise its share"},
		"a time":                    {&v1alpha1.SLA{ResponseTimeMillis: new(int64(5000))}, nil, false, metav1.ConditionTrue, v1alpha1.ReasonWithinSLA, "that 95% of the jobs keep within it is not predicted"},
		"both, one cannot":          {&v1alpha1.SLA{ResponseTimeMillis: new(int64(5000)), MaxDilation: new(resource.MustParse("1"))}, nil, false, metav1.ConditionFalse, v1alpha1.ReasonExceedsSLA, "at most 1 times and 5 s"},
		"no tree":                   {nil, nil, true, metav1.ConditionUnknown, v1alpha1.ReasonTreeNotFound, `there is no ShareTree "company"`},
		"a tree that is invalid":    {&v1alpha1.SLA{}, invalid, true, metav1.ConditionUnknown, v1alpha1.ReasonTreeNotReady, "has no response times: no such group"},
		"a tree that is overloaded": {&v1alpha1.SLA{}, overloaded, true, metav1.ConditionFalse, v1alpha1.ReasonOverloaded, "too busy"},
		"overloaded without an SLA": {nil, overloaded, true, metav1.ConditionUnknown, v1alpha1.ReasonTreeNotReady, "too busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := timed(company())
			p := &in.Profiles[0]
			p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
			p.Spec.SLA = test.sla
			var a *TreeAnswer
			if !test.missing {
				var err error
				if a, err = OfTree(t.Context(), in); err != nil {
					t.Fatal(err)
				}
			}
			conditions := SLAAttainable(p, a, test.why, metav1.NewTime(time.Unix(1000, 0)))
			c := meta.FindStatusCondition(conditions, v1alpha1.ConditionSLAAttainable)
			if c == nil || c.Status != test.status || c.Reason != test.reason || !strings.Contains(c.Message, test.message) || c.ObservedGeneration != 7 {
				t.Errorf("unexpected condition: %+v", c)
			}
			if len(conditions) != 2 || len(p.Status.Conditions) != 1 {
				t.Errorf("the other conditions are not as they were: %+v", conditions)
			}
			p.Status.Conditions, p.Spec.FairShare = conditions, nil
			if left := SLAAttainable(p, nil, nil, metav1.Time{}); len(left) != 1 {
				t.Errorf("a profile that left the tree has %+v", left)
			}
		})
	}
}
