package report_test

import (
	"bytes"
	stdcmp "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// lines writes a table with single spaces.
func lines(t *testing.T, table *text.Table) []string {
	t.Helper()
	var b bytes.Buffer
	table.NoHeader = true
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(b.String()) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return all
}

func TestEveryCauseAndRemedyHasWords(t *testing.T) {
	t.Parallel()
	quantity := func(text string) *resource.Quantity { q := resource.MustParse(text); return &q }
	finding := func(name string, remedy findings.Remedy, causes ...observed.Cause) findings.Finding {
		f := findings.Finding{SinceSeconds: 90, Resource: "cpu", Remedy: remedy}
		f.Pod.Pod, f.Dilation, f.Request, f.Limit, f.Causes = name, 2, quantity("50m"), quantity("300m"), causes
		return f
	}
	a := &findings.Answer{Findings: []findings.Finding{
		finding("a/1", findings.Remedy{Action: findings.RaiseRequest, Request: quantity("300m"), Dilation: 1.4, Others: []findings.Change{{Pod: "b/1", Now: 1, Then: 1.1}}},
			observed.Cause{Kind: observed.ByNeighbour, Pod: "b/1", Dilation: 0.8}, observed.Cause{Kind: observed.ByItself, Dilation: 0.15}, observed.Cause{Kind: observed.ByUnclear, Dilation: 0.05}),
		finding("a/2", findings.Remedy{Action: findings.RaiseLimit, Limit: quantity("600m"), Dilation: 1}, observed.Cause{Kind: observed.ByLimit, Limit: quantity("300m"), Dilation: 1}),
		finding("a/3", findings.Remedy{Action: findings.MovePod, Pod: "a/3", Node: "n-7", Dilation: 1, Others: []findings.Change{{Pod: "c/1", Now: 2, Then: 1.5}}}, observed.Cause{Kind: observed.BySystem, Dilation: 0.99}, observed.Cause{Kind: observed.ByUnclear, Dilation: 0.01}),
		finding("a/4", findings.Remedy{Action: findings.MoveNeighbour, Pod: "b/1", Node: "n-7", Dilation: 1, Others: []findings.Change{{Pod: "c/1", Now: 1, Then: 1.5}, {Pod: "c/2", Now: 1, Then: 1.2}}}, observed.Cause{Kind: observed.ByUnclear, Dilation: 1}),
		finding("a/5", findings.Remedy{Action: findings.Leave, Dilation: 2}, observed.Cause{Kind: observed.ByHypervisor, Dilation: 1}),
		finding("a/6", findings.Remedy{Action: findings.Leave, Dilation: 2, Problem: "no solution"}),
		finding("a/7", findings.Remedy{Action: findings.RaiseLimit, Container: "proxy", Limit: quantity("400m"), Dilation: 1.02},
			observed.Cause{Kind: observed.ByLimit, Container: "proxy", Limit: quantity("100m"), Dilation: 0.8}, observed.Cause{Kind: observed.ByLimit, Container: "app", Limit: quantity("1"), Assumed: true, Dilation: 0.2}),
	}}
	a.Findings[4].AtLeast = true
	want := []string{
		"2.00 ± 0.00× a/1 90s b/1 +0.80, its own threads +0.15 cpu request 300m (now 50m) 1.40×, slows b/1 by 0.10",
		"2.00 ± 0.00× a/2 90s its own limit of 300m +1.00 cpu limit 600m (now 300m) 1.00×, slows no other pod",
		"2.00 ± 0.00× a/3 90s the node outside of pods +0.99 cpu move it to n-7 1.00×, slows no other pod, relieves others by 0.50",
		"2.00 ± 0.00× a/4 90s not clear +1.00 cpu move b/1 to n-7 1.00×, slows c/1 by 0.50, others by 0.20",
		"2.00 ± 0.00× a/5 > 90s the hypervisor (steal) +1.00 cpu leave it -",
		"2.00 ± 0.00× a/6 90s - cpu not known: no solution -",
		"2.00 ± 0.00× a/7 90s proxy's limit of 100m +0.80, perhaps app's limit of 1 +0.20 cpu limit 400m of proxy (now 100m) 1.02×, slows no other pod",
	}
	if diff := cmp.Diff(want, lines(t, report.FindingsTable(a, false))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if wide := lines(t, report.FindingsTable(a, true))[0]; !strings.Contains(wide, "its own threads +0.15, not clear +0.05") {
		t.Errorf("wide: %s", wide)
	}
}

func TestManySmallCausesHaveASum(t *testing.T) {
	t.Parallel()
	by := func(name string, dilation float64) observed.Cause {
		return observed.Cause{Kind: observed.ByNeighbour, Pod: name, Dilation: dilation}
	}
	outside, unclear := observed.Cause{Kind: observed.BySystem, Dilation: 0.6}, observed.Cause{Kind: observed.ByUnclear, Dilation: 0.04}
	crowd := func(n int, dilation float64) (all []observed.Cause) {
		for i := range n {
			all = append(all, by(fmt.Sprintf("c/%d", i), dilation))
		}
		return all
	}
	for name, test := range map[string]struct {
		causes []observed.Cause
		want   string
		wide   string
	}{
		"one": {crowd(1, 0.5), "c/0 +0.50", "c/0 +0.50"},
		"two": {crowd(2, 0.5), "c/0 +0.50, c/1 +0.50", "c/0 +0.50, c/1 +0.50"},
		"three": {
			crowd(3, 0.5), "c/0 +0.50, c/1 +0.50, c/2 +0.50", "c/0 +0.50, c/1 +0.50, c/2 +0.50",
		},
		"four": {
			crowd(4, 0.5), "2 pods together +1.00 (c/2, c/3), c/0 +0.50, c/1 +0.50", "c/0 +0.50, c/1 +0.50, c/2 +0.50, c/3 +0.50",
		},
		"a crowd": {crowd(44, 0.018), "44 pods together +0.79 (c/0, c/1, c/2 and 41 more)", "44 pods together +0.79 (c/0, c/1, c/2 and 41 more)"},
		"a crowd beside the node": {
			append([]observed.Cause{outside}, crowd(40, 0.026)...), "40 pods together +1.04 (c/0, c/1, c/2 and 37 more), the node outside of pods +0.60",
			"40 pods together +1.04 (c/0, c/1, c/2 and 37 more), the node outside of pods +0.60",
		},
		"a crowd that matters little": {append([]observed.Cause{by("b/1", 3)}, crowd(40, 0.002)...), "b/1 +3.00, 40 pods together +0.08 (c/0, c/1, c/2 and 37 more)", "b/1 +3.00, 40 pods together +0.08 (c/0, c/1, c/2 and 37 more)"},
		"a crowd that matters not":    {append([]observed.Cause{by("b/1", 3), unclear}, crowd(4, 0.002)...), "b/1 +3.00", "b/1 +3.00"},
		"nothing that matters":        {crowd(4, 0.001), "4 pods together +0.00 (c/0, c/1, c/2, c/3)", "4 pods together +0.00 (c/0, c/1, c/2, c/3)"},
		"of workloads":                {[]observed.Cause{{Kind: observed.ByNeighbour, Workload: "Job a/1", Dilation: 0.02}, {Kind: observed.ByNeighbour, Workload: "Job a/2", Dilation: 0.02}}, "2 workloads together +0.04 (Job a/1, Job a/2)", "2 workloads together +0.04 (Job a/1, Job a/2)"},
	} {
		f := findings.Finding{}
		f.Pod.Pod, f.Dilation, f.Causes, f.Remedy.Action = "a/1", 2, test.causes, findings.Leave
		a := &findings.Answer{Findings: []findings.Finding{f}}
		for wide, want := range map[bool]string{false: test.want, true: test.wide} {
			if line := lines(t, report.FindingsTable(a, wide))[0]; !strings.Contains(line, " 0s "+want+" leave it") {
				t.Errorf("%s, wide %t: %s, want %s", name, wide, line, want)
			}
		}
	}
}

func TestManySmallNeighboursAreOnePartOfABar(t *testing.T) {
	t.Parallel()
	f := findings.Finding{}
	f.Pod.Pod, f.Dilation, f.Remedy.Action = "a/1", 4.1, findings.Leave
	f.Causes = []observed.Cause{{Kind: observed.ByNeighbour, Pod: "b/1", Dilation: 3}}
	for i := range 5 {
		f.Causes = append(f.Causes, observed.Cause{Kind: observed.ByNeighbour, Pod: fmt.Sprintf("c/%d", i), Dilation: 0.02})
	}
	made := report.FindingsPage(situation(&findings.Answer{Above: 1.2, Findings: []findings.Finding{f}}), false, "made")
	at := slices.IndexFunc(made.Sections, func(s page.Section) bool { return s.Bars != nil })
	if at < 0 {
		t.Fatal("there are no bars")
	}
	var parts []string
	for _, p := range made.Sections[at].Bars.Rows[0].Parts {
		parts = append(parts, p.Name+" "+p.Figure)
	}
	if diff := cmp.Diff([]string{"b/1 +3.00", "5 pods together +0.10"}, parts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Three nodes: on the first twelve pods are slowed down, on the second eleven, and on the third one, most.
func TestOfEachNodeTheWorstHaveRowsAndTheOthersOne(t *testing.T) {
	t.Parallel()
	a := &findings.Answer{Above: 1.2}
	for node, pods := range map[string]int{"n-1": 12, "n-2": 11, "n-3": 1} {
		for i := range pods {
			f := findings.Finding{Resource: "cpu", SinceSeconds: 90}
			f.Pod.Pod, f.Node, f.Workload, f.Dilation = fmt.Sprintf("%s/%02d", node, i), node, "Job a/"+node, 3-float64(i)/10
			if node == "n-3" {
				f.Dilation = 9
			}
			f.Remedy = findings.Remedy{Action: findings.MovePod, Pod: f.Pod.Pod, Node: "n-4", Dilation: 1}
			f.Causes = []observed.Cause{{Kind: observed.ByNeighbour, Pod: "b/1", Workload: "Job b/1", Dilation: f.Dilation - 1}}
			a.Findings = append(a.Findings, f)
		}
	}
	slices.SortFunc(a.Findings, func(a, b findings.Finding) int {
		return stdcmp.Or(stdcmp.Compare(b.Dilation, a.Dilation), strings.Compare(a.Pod.Pod, b.Pod.Pod))
	})
	rows := lines(t, report.WorstTable(a))
	if len(rows) != 1+10+1+11 || !strings.HasPrefix(rows[0], "9.00 ± 0.00× n-3/00 ") {
		t.Fatalf("%d rows:\n%s", len(rows), strings.Join(rows, "\n"))
	}
	const want = "1.95× each 2 more pods of n-1 (+1.90 together) 90s Job b/1 +0.95 cpu move n-1/10 to n-4 1.00×, slows no other pod"
	if i := slices.Index(rows, want); i < 0 || !strings.HasPrefix(rows[i-1], "2.00 ± 0.00× n-2/10 ") {
		t.Errorf("at %d is\n%s\nin\n%s", i, want, strings.Join(rows, "\n"))
	}
	if notes := report.WorstNotes(a); !slices.Contains(notes, "Of each node the 10 pods that are slowed down most have a row; with -o wide all have.") {
		t.Errorf("notes: %q", notes)
	}
}

func TestTheRemedyOfAWorkloadNamesThePodThatMoves(t *testing.T) {
	t.Parallel()
	limit := resource.MustParse("600m")
	group := func(workload string, remedy findings.Remedy) findings.Group {
		return findings.Group{
			Workload: workload, Slowed: 2, Pods: 3, Dilation: 2, Worst: 3, SinceSeconds: 90, Resource: "cpu", Remedy: remedy, Of: "shop/cart-1",
			Causes: []observed.Cause{{Kind: observed.BySystem, Dilation: 1}},
		}
	}
	groups := []findings.Group{
		group("Deployment shop/cart", findings.Remedy{Action: findings.MovePod, Pod: "shop/cart-1", Node: "n-7", Dilation: 1}),
		group("Deployment shop/cart", findings.Remedy{Action: findings.MoveNeighbour, Pod: "etl/sort-2", Node: "n-7", Dilation: 1}),
		group("Deployment shop/cart", findings.Remedy{Action: findings.RaiseLimit, Limit: &limit, Dilation: 1}),
	}
	const begin = "2.00× 3.00× Deployment shop/cart 2 of 3 90s the node outside of pods +1.00 cpu "
	want := []string{
		begin + "move shop/cart-1 to n-7 1.00×, slows no other pod",
		begin + "move etl/sort-2 to n-7 1.00×, slows no other pod",
		begin + "limit 600m 1.00×, slows no other pod",
	}
	if diff := cmp.Diff(want, lines(t, report.GroupsTable(groups, 1.2, false))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBlockedTimeThatIsNotAccountedIsNotShown(t *testing.T) {
	t.Parallel()
	a := &findings.Answer{
		Above: 1.2, Pods: []findings.Pod{{Pod: "a/1", Node: "n-1", Dilation: 1, Blocked: new(0.25)}, {Pod: "a/2", Node: "n-2", Dilation: 1}},
		Nodes: []findings.NodeSummary{{Name: "n-1"}, {Name: "n-2", CPUs: 4, OtherCPUs: []int{2}, BlockedUnknown: true}, {Name: "n-3", BlockedUnknown: true}},
	}
	if diff := cmp.Diff([]string{
		"a/1 0.000 0.000 0.000 0.250 1.00 ± 0.00× - cpu 0.00 n-1", "a/2 0.000 0.000 0.000 - 1.00 ± 0.00× - cpu 0.00 n-2",
	}, lines(t, report.ObservedPodsTable(a.Pods, a.Above))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if notes := report.ObservedPodsNotes(a); notes[len(notes)-1] != "BLOCKED is not observed on 1 node (n-2): kernel.task_delayacct is 0 there, and the gauge reads no io.pressure." {
		t.Errorf("notes: %q", notes)
	}
	rows := lines(t, report.ObservedNodesTable(a.Nodes))
	for i, want := range []string{" 0s", " 0s at times 2 CPUs, which do not count; blocked time is not observed", " 0s blocked time is not observed"} {
		if !strings.HasSuffix(rows[i], want) {
			t.Errorf("%s, want …%s", rows[i], want)
		}
	}
}

func TestNodesSayOfWhichDisksLittleIsSeen(t *testing.T) {
	t.Parallel()
	rows := lines(t, report.ObservedNodesTable([]findings.NodeSummary{{Name: "n-1", UnlearnedDisks: []string{"vda"}, BusyDisks: []string{"vdb", "vdc"}}, {Name: "n-2", UncountedDisks: []string{"vda"}}}))
	for i, want := range []string{
		" 0s waiting at vda counts as time alone: no quiet moment was seen yet; waiting at vdb, vdc is longer than said: no quiet moment was seen yet",
		" 0s waiting at vda counts as time alone: the kernel counts no pod's operations there",
	} {
		if !strings.HasSuffix(rows[i], want) {
			t.Errorf("%s, want …%s", rows[i], want)
		}
	}
}

func TestNotesSayWhatWasNotObserved(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]*findings.Answer{
		"None of 0 observed pods is slowed down 1.20× or more.": {Above: 1.2},
		"None of 2 observed pods is slowed down 1.20× or more.\nToo unsteady to judge: 1 pod, whose dilation is about as far from 1 as it differs between intervals (kubectl loadline top pods).": {
			Above: 1.2, Pods: make([]findings.Pod, 2), Unsure: 1,
		},
		"Slowed down 1.20× or more: 1 of 2 observed pods. Observed too shortly to judge: 1 pod.\nNot observed: 1 of 2 nodes, with 3 pods (n-2: there is no gauge).": {
			Above: 1.2, Findings: make([]findings.Finding, 1), Pods: make([]findings.Pod, 2), Short: 1, Unseen: 3,
			Nodes: []findings.NodeSummary{{Name: "n-1"}, {Name: "n-2", Problem: "there is no gauge"}},
		},
		"None of 0 observed pods is slowed down 1.20× or more.\nProcessors change on 2 of 3 nodes (n-1: 1, and at times 2, n-3: 4, and at times 2 or 8): only the time with the first number counts.": {
			Above: 1.2, Nodes: []findings.NodeSummary{{Name: "n-1", CPUs: 1, OtherCPUs: []int{2}}, {Name: "n-2", CPUs: 2}, {Name: "n-3", CPUs: 4, OtherCPUs: []int{2, 8}}},
		},
		"Slowed down 1.20× or more: 2 of 2 observed pods.\nThe remedies are the steps of one plan: kubectl loadline plan shows it. Together they take the excess above 1.20× from 3.00 to 0.50.": {
			Above: 1.2, Pods: make([]findings.Pod, 2), Findings: make([]findings.Finding, 2), Plan: &plan.Plan{Excess: 3, Left: 0.5, Steps: make([]plan.Step, 2)},
		},
	} {
		if got := strings.Join(report.FindingsNotes(a), "\n"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// situation returns an answer about a cluster of which nothing else is known.
func situation(a *findings.Answer) *report.Situation { return &report.Situation{Answer: a} }

func TestAPageOfFindingsHasAChartForEachNodeWithSome(t *testing.T) {
	t.Parallel()
	pods := []findings.Pod{
		{Pod: "a/1", Node: "n-1", Dilation: 2, Predicted: new(1.9), Causes: []observed.Cause{{Kind: observed.ByNeighbour, Pod: "b/1", Dilation: 0.9}, {Kind: observed.BySystem, Dilation: 0.1}}},
		{Pod: "b/1", Node: "n-1", Dilation: 1.01, Predicted: new(1.0), Causes: []observed.Cause{{Kind: observed.ByNeighbour, Pod: "a/1", Dilation: 0.01}}},
		{Pod: "c/1", Node: "n-2", Dilation: 1, Predicted: new(1.0)},
	}
	made := report.FindingsPage(situation(&findings.Answer{Above: 1.2, Pods: pods, Nodes: []findings.NodeSummary{{Name: "n-1"}, {Name: "n-2"}}}), false, "made")
	var titles []string
	for _, s := range made.Sections {
		titles = append(titles, s.Title)
	}
	if diff := cmp.Diff([]string{"Nodes", "Who slows whom on n-1", "Does the model agree with what was observed?", "Nodes in numbers"}, titles); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var b bytes.Buffer
	if err := page.Encode(&b, made); err != nil {
		t.Fatal(err)
	}
	empty := report.FindingsPage(situation(&findings.Answer{Above: 1.2}), false, "")
	if err := page.Encode(&b, empty); err != nil || len(empty.Sections) != 2 {
		t.Errorf("of nothing: %v, %d sections", err, len(empty.Sections))
	}
}

func TestOfALongPlanTheFirstStepsHaveCards(t *testing.T) {
	t.Parallel()
	cards := func(steps int) []page.Card {
		p := &plan.Plan{Above: 1.2, Excess: float64(steps), Steps: make([]plan.Step, steps)}
		for i := range p.Steps {
			p.Steps[i].Action, p.Steps[i].Pod, p.Steps[i].Left = plan.MovePod, "shop/cart", float64(steps-1-i)
		}
		return report.Overview(situation(&findings.Answer{Above: 1.2, Plan: p})).Sections[0].Cards
	}
	if got := cards(24); len(got) != 24 || !strings.HasPrefix(got[23].Title, "24. Move shop/cart") {
		t.Errorf("%d cards, the last is %+v", len(got), got[len(got)-1])
	}
	got := cards(100)
	want := page.Card{
		Title: "And 76 further changes", Command: "kubectl loadline plan",
		Lines: []string{"They win 76.00 of the excess above 1.20×, and 0.00 is left then.", "This shows all of them:"},
	}
	if diff := cmp.Diff(want, got[len(got)-1]); len(got) != 25 || diff != "" {
		t.Errorf("%d cards (-want +got):\n%s", len(got), diff)
	}
}

func TestFindingsCanBeFilteredByNamespace(t *testing.T) {
	t.Parallel()
	a := &findings.Answer{Above: 1.2, Nodes: []findings.NodeSummary{{Name: "n-1"}}}
	for _, name := range []string{"shop/cart", "etl/sort", "shop/api"} {
		f := findings.Finding{Remedy: findings.Remedy{Action: findings.Leave}}
		f.Pod.Pod, f.Dilation = name, 2
		a.Findings = append(a.Findings, f)
	}
	encode := func() string {
		var b bytes.Buffer
		if err := page.Encode(&b, report.FindingsPage(situation(a), false, "")); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	encoded := encode()
	for _, want := range []string{
		"<legend>Namespace</legend>", `id="show-section-3-group-2"> etl</label>`, `id="show-section-3-group-1"> shop</label>`,
		"section:has(#show-section-3-group-1:checked) tbody tr:not(.section-3-group-1) { display: none; }", `<tr class="section-3-group-2"><td class="right">2.00 ± 0.00×</td><th scope="row">etl/sort</th>`,
	} {
		if !strings.Contains(encoded, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	a.Findings = a.Findings[:1]
	if strings.Contains(encode(), "<fieldset>") {
		t.Error("one namespace has a choice")
	}
}

func TestWhatPodsAndNodesDoIsSummedUp(t *testing.T) {
	t.Parallel()
	pods := []findings.Pod{{CPUs: 0.95, Waiting: 0.5}, {CPUs: 0.2, Waiting: 0.25, Throttled: 1.5}}
	if got, want := report.ObservedPodsTotals(pods), "2 pods: 1.1 processors busy, 0.8 threads waiting for one, 1.5 throttled."; got != want {
		t.Errorf("pods: %s, want %s", got, want)
	}
	nodes := []findings.NodeSummary{
		{CPUs: 2, Busy: 1, Stolen: 0.05, Pods: 4, Slowed: 2}, {CPUs: 4, Busy: 0.5, Pods: 1}, {Problem: "there is no gauge", CPUs: 8, Busy: 1, Pods: 9},
	}
	if got, want := report.ObservedNodesTotals(nodes), "2 nodes: 4.0 of 6 processors busy (66.7%), 0.1 stolen; 5 pods, 2 slowed down."; got != want {
		t.Errorf("nodes: %s, want %s", got, want)
	}
	if got, want := report.ObservedNodesTotals(nodes[2:]), "No node is observed."; got != want {
		t.Errorf("nodes: %s, want %s", got, want)
	}
}

func TestDilationsAreRated(t *testing.T) {
	t.Parallel()
	pods := []findings.Pod{{Pod: "a/1", Dilation: 1.19}, {Pod: "a/2", Dilation: 1.2}, {Pod: "a/3", Dilation: 2}}
	var got []text.Severity
	for _, line := range report.ObservedPodsTable(pods, 1.2).Lines()[1:] {
		worst := text.Unrated
		for _, piece := range line {
			worst = max(worst, piece.Severity)
		}
		got = append(got, worst)
	}
	if diff := cmp.Diff([]text.Severity{text.Unrated, text.Warning, text.Bad}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDisksAreNamedBesideWhatAPodWaitsForThere(t *testing.T) {
	t.Parallel()
	at := func(kind observed.Kind, device, pod string) findings.Finding {
		f := findings.Finding{Resource: observed.Disk, Remedy: findings.Remedy{Action: findings.Leave}}
		f.Pod = findings.Pod{Pod: "shop/cart", Dilation: 2, Causes: []observed.Cause{{Kind: kind, Resource: observed.Disk, Device: device, Pod: pod, Dilation: 1}}}
		return f
	}
	limited, mended := at(observed.ByLimit, "vda", ""), at(observed.ByNeighbour, "nvme0n1", "ops/backup")
	limited.Remedy.ByHand = &findings.ByHand{Device: "vda"}
	mended.Remedy = findings.Remedy{Action: findings.MovePod, Step: 2, Node: "n-2", Dilation: 1.5, ByHand: &findings.ByHand{Device: "nvme0n1", Pod: "ops/backup"}}
	a := &findings.Answer{Above: 1.2, Findings: []findings.Finding{limited, mended, at(observed.BySystem, "dm-0", ""), at(observed.ByUnclear, "", "")}}
	const begin = "2.00 ± 0.00× shop/cart 0s "
	want := []string{
		begin + "its own limit at disk vda +1.00 disk by hand: raise its io.max at vda -",
		begin + "ops/backup at disk nvme0n1 +1.00 disk step 2: move it to n-2; by hand: io.max for ops/backup, or another disk or node 1.50×, slows no other pod",
		begin + "the node outside of pods at disk dm-0 +1.00 disk leave it -",
		begin + "not clear at disks +1.00 disk leave it -",
	}
	if diff := cmp.Diff(want, lines(t, report.FindingsTable(a, false))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
