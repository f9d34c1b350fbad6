package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/validate"
)

// check returns the findings about one file, one line each.
func check(t *testing.T, documents ...string) []string {
	t.Helper()
	rules, err := validate.Load()
	if err != nil {
		t.Fatal(err)
	}
	var in validate.Input
	line := 1
	for i, text := range documents {
		in.Documents = append(in.Documents, validate.Document{Place: validate.Place{File: "a.yaml", Document: i + 1, Line: line}, Text: []byte(text)})
		line += strings.Count(text, "\n") + 1
	}
	answer, err := rules.Check(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for i := range answer.Findings {
		lines = append(lines, answer.Findings[i].String())
	}
	return lines
}

// workload is a WorkloadProfile with a spec, whose first line is line 4.
func workload(name, spec string) string {
	return "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: " + name + "}\n" + spec
}

const about = "a.yaml:6: WorkloadProfile job: spec.resources[0]."

func TestFindingsSayWhatToWrite(t *testing.T) {
	t.Parallel()
	const notLoading = `: a loading is a fraction of the neutral time: write a number from 0 to 1, such as "0.58"`
	for resource, want := range map[string]string{
		`{name: cpu, loading: "0.58"}`: "",
		"{name: cpu, loading: 580m}":   "",
		"{name: cpu, loading: 1}":      "",

		"{name: cpu, loading: 0.58}":           about + `loading: 0.58 is a number where the API wants a string: write loading: "0.58"`,
		"{name: cpu, loading: 0.580}":          about + `loading: 0.580 is a number where the API wants a string: write loading: "0.580"`,
		"{name: cpu, loading: .5}":             about + `loading: .5 is a number where the API wants a string: write loading: ".5"`,
		"{name: cpu, loading: 5e-1}":           about + `loading: 5e-1 is a number where the API wants a string: write loading: "0.5"`,
		"{name: cpu, loading: 1.58}":           about + `loading: 1.58 is a number where the API wants a string; "1.58"` + notLoading + " (more rules apply once this is mended)",
		"{name: cpu, loading: 58}":             about + "loading: 58" + notLoading,
		"{name: cpu, loading: 58%}":            about + `loading: "58%"` + notLoading + `: write loading: "0.58"`,
		"{name: cpu, loading: '0,58'}":         about + `loading: "0,58"` + notLoading + `: write loading: "0.58"`,
		"{name: cpu, loading: NaN}":            about + `loading: "NaN"` + notLoading,
		"{name: cpu, loading: Inf}":            about + `loading: "Inf"` + notLoading,
		"{name: cpu, loading: '-0.5'}":         about + `loading: "-0.5"` + notLoading,
		"{name: cpu, loading: 1e999999999999}": about + `loading: "1e999999999999"` + notLoading,
		"{name: cpu, loading: ''}":             about + `loading: ""` + notLoading,
		"{name: cpu, loading: yes}":            about + "loading: yes is true or false where the API wants a string; \"yes\"" + notLoading + " (more rules apply once this is mended)",
		"{name: cpu, loading: [1]}":            about + "loading: [1] is a list where the API wants a string (more rules apply once this is mended)",
		"{name: cpu, loading: '½'}":            about + `loading: "½"` + notLoading,
		"{name: cpu, loadign: '0.5'}":          about + `loadign: there is no such field; there are burstMillis, demandMillis, loading, name, pressure, threads: write loading: "0.5"`,
		"{name: cpu, loadign: 58%, threads: '4'}": about + `loadign: there is no such field; there are burstMillis, demandMillis, loading, name, pressure, threads; "58%"` + notLoading + `: write loading: "0.58"` +
			"\n" + about + `threads: "4" is a string where the API wants a whole number: write threads: 4`,
		"{name: cpu, Loading: 0.5}":               about + `Loading: there is no such field; there are burstMillis, demandMillis, loading, name, pressure, threads: write loading: "0.5"`,
		"{name: cpu, loading: '1', colour: red}":  about + "colour: there is no such field; there are burstMillis, demandMillis, loading, name, pressure, threads: remove it",
		"{name: CPU, loading: '1'}":               about + `name: "CPU": a resource name consists of lower-case letters, digits and '-', and starts with a letter, such as cpu, disk or memory-bandwidth: write name: "cpu"`,
		"{name: cpu, loading: '1', threads: '4'}": about + `threads: "4" is a string where the API wants a whole number: write threads: 4`,
		"{name: cpu, loading: '1', threads: 2.5}": about + "threads: 2.5 is a number where the API wants a whole number: write threads: 3",
		"{name: cpu, loading: '1', threads: 0}":   about + "threads: 0: must be a whole number from 1 to 1024",
		"{loading: '1'}":                          about + "name: is missing: name is the resource: cpu, disk, network, or any other name that the nodes' profiles use (more rules apply once this is mended)",
		"{name: cpu, loading: '1', loading: '0'}": about + "loading: the field is here twice, first on line 6: remove one of them",
	} {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(check(t, workload("job", "spec:\n  resources:\n  - "+resource+"\n  selector: {matchLabels: {app: job}}\n")), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("unexpected findings (-want +got):\n%s", diff)
			}
		})
	}
}

// Clients of Kubernetes write a quantity of 1000 as "1k".
func TestNumbersAreTakenAsClientsWriteThem(t *testing.T) {
	t.Parallel()
	const spec = `spec:
  selector: {matchLabels: {app: job}}
  neutralCorrection: "1M"
  resources: [{name: cpu, loading: 500m}]
  interference: [{name: llc, pressure: "1k", curve: [{pressure: "1k", inflation: "1k"}]}]
`
	if findings := check(t, workload("job", spec)); len(findings) > 0 {
		t.Error(strings.Join(findings, "\n"))
	}
}

func TestTextsThatAreNoManifests(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hello":             `a.yaml:1: is a string, not an object: begin with apiVersion: and kind:`,
		"[1, 2]":            `a.yaml:1: is a list, not an object: begin with apiVersion: and kind:`,
		"null":              "",
		"kind: Pod":         "a.yaml:1: apiVersion: is missing: every object says which kind of which API it is",
		"a: 1\n\tb: 2\n":    "a.yaml:2: is not YAML: a tab indents a line, and only spaces may",
		"a: [1, {":          "a.yaml:1: is not YAML: did not find expected node content",
		"a: .nan\nb: -.inf": "a.yaml:1: a: .nan is no number that the API takes: write a finite one\na.yaml:2: b: -.inf is no number that the API takes: write a finite one",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n":           "",
		"apiVersion: loadline.dev/v1alpha1\nkind: workloadprofile\n": "a.yaml:2: workloadprofile: kind: loadline.dev/v1alpha1 has no kind workloadprofile, only NodeProfile, PoolPlan, Remediation, RemediationPolicy, ShareTree, TraceReplay, WorkloadProfile: write kind: WorkloadProfile",
		"apiVersion: loadline.dev/v1\nkind: PoolPlan\n":              "a.yaml:1: PoolPlan: apiVersion: PoolPlan is a kind of loadline.dev/v1alpha1, and not of loadline.dev/v1: write apiVersion: loadline.dev/v1alpha1",
	} {
		got := strings.Join(check(t, text), "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// kubectl resolves what YAML has of its own before it sends an object.
func TestAnchorsAndMergesAreWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	good := workload("job", "spec:\n  selector: {matchLabels: {app: job}}\n  resources: [&a {name: cpu, loading: '0.5'}, {<<: *a, name: disk}]\n")
	if got := check(t, good); len(got) > 0 {
		t.Errorf("unexpected findings: %v", got)
	}
	got := check(t, workload("job", "spec:\n  selector: {matchLabels: {app: job}}\n  resources: [{name: cpu, loading: &l 0.5}, {name: disk, loading: *l}]\n"))
	want := []string{
		`a.yaml:6: WorkloadProfile job: spec.resources[0].loading: 0.5 is a number where the API wants a string: write loading: "0.5"`,
		`a.yaml:6: WorkloadProfile job: spec.resources[1].loading: 0.5 is a number where the API wants a string: write loading: "0.5"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected findings (-want +got):\n%s", diff)
	}
}

func TestItemsOfListsAreChecked(t *testing.T) {
	t.Parallel()
	got := check(t, `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfileList
items:
- metadata: {name: a}
  spec: {selector: {matchLabels: {app: job}}, resources: [{name: cpu, loading: "0.5"}]}
- metadata: {name: b}
  spec:
    selector: {matchLabels: {app: b}}
    resources: [{name: cpu, loading: 0.5}]
`)
	want := []string{`a.yaml:9: WorkloadProfile b: spec.resources[0].loading: 0.5 is a number where the API wants a string: write loading: "0.5"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected findings (-want +got):\n%s", diff)
	}
}

func TestAListOfNoneIsNoObject(t *testing.T) {
	t.Parallel()
	for _, items := range []string{"null", "[]"} {
		if got := check(t, "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfileList\nitems: "+items+"\n"); len(got) > 0 {
			t.Errorf("items: %s: %q", items, got)
		}
	}
}

const loads = "spec: {selector: {matchLabels: {app: x}}, resources: [{name: cpu, loading: '0.5'}]%s}\n"

func with(more string) string { return strings.Replace(loads, "%s", more, 1) }

// Of profiles whose selectors others cannot rule out, the scheduler uses so many, with a cluster or without.
func TestProfilesThatAreIgnoredBecauseThereAreTooManyAreWarnedOf(t *testing.T) {
	t.Parallel()
	var documents []string
	for i := range profile.MaxCompared + 1 {
		documents = append(documents, workload(fmt.Sprintf("w-%03d", i), strings.Replace(with(""), "matchLabels: {app: x}", "matchExpressions: [{key: app, operator: Exists}]", 1)))
	}
	want := "warning: WorkloadProfile w-100: spec.selector: the scheduler ignores this profile: a pod of the namespace would be compared with more than 100 selectors"
	if got := strings.Join(check(t, documents...), "\n"); strings.Count(got, "the scheduler ignores this profile") != 1 || !strings.Contains(got, want) {
		t.Errorf("it does not warn of one profile alone, that %s", want)
	}
}

const configuration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

func TestControllersAreAsked(t *testing.T) {
	t.Parallel()
	const inFiles = " (in the files; no cluster was asked)"
	tree := "apiVersion: loadline.dev/v1alpha1\nkind: ShareTree\nmetadata: {name: company}\nspec: "
	plan := "apiVersion: loadline.dev/v1alpha1\nkind: PoolPlan\nmetadata: {name: shop}\nspec: "
	for name, test := range map[string]struct {
		documents []string
		want      string
	}{
		"all is well": {[]string{workload("a", with(""))}, ""},
		"a bad label": {
			[]string{workload("a", strings.Replace(with(""), "app: x", "app: x y", 1))},
			"a.yaml:4: WorkloadProfile a: spec.selector.matchLabels: x y: a valid label must be an empty string",
		},
		"an unknown resource": {
			[]string{workload("a", strings.Replace(with(""), "name: cpu", "name: gpu", 1))},
			"a.yaml:4: warning: WorkloadProfile a: spec.resources: the scheduler ignores the demand at gpu: no NodeProfile names such a resource",
		},
		"twice": {
			[]string{workload("a", with("")), workload("a", with(""))},
			"a.yaml:8: WorkloadProfile a: metadata.name: the same object is in a.yaml:1, too: the one that is applied last stays; remove or rename one",
		},
		"two of one selector": {
			[]string{workload("a", with("")), workload("b", with(""))},
			"a.yaml:9: warning: WorkloadProfile b: spec.selector: WorkloadProfile a matches the same pods and is as specific: of such the oldest wins, then the first by name",
		},
		"an empty selector": {
			[]string{workload("a", strings.Replace(with(""), "matchLabels: {app: x}", "", 1))},
			"a.yaml:4: warning: WorkloadProfile a: spec.selector: the selector is empty: every pod of the namespace follows it that no other profile matches",
		},
		"a tree that is not there": {
			[]string{workload("a", with(", fairShare: {tree: company, share: 1, utilization: '0.1'}"))},
			`a.yaml:4: warning: WorkloadProfile a: spec.fairShare.tree: company: there is no ShareTree "company"` + inFiles,
		},
		"a group that is not in the tree": {
			[]string{workload("a", with(", fairShare: {tree: company, group: web, share: 1, utilization: '0.1'}")), tree + "{namespaces: [default], workloads: [{name: w, share: 1, utilization: '0.1'}]}\n"},
			"a.yaml:4: WorkloadProfile a: spec.fairShare.group: web: the tree has no groups: leave it out",
		},
		"a tree that takes no profiles": {
			[]string{workload("a", with(", fairShare: {tree: company, share: 1, utilization: '0.1'}")), tree + "{workloads: [{name: w, share: 1, utilization: '0.1'}]}\n"},
			"a.yaml:4: WorkloadProfile a: spec.fairShare.tree: company: the tree takes no WorkloadProfiles: list their namespaces in its spec.namespaces",
		},
		"a profile that there is no room for": {
			[]string{workload("a", with(", fairShare: {tree: company, share: 1, utilization: '4096'}")), tree + "{namespaces: [default], workloads: [{name: w, share: 1, utilization: '0.1'}]}\n"},
			"a.yaml:4: WorkloadProfile a: spec.fairShare.tree: company: it keeps 4096 processors busy, and there is room for 0.89: WorkloadProfiles join while 99% of the 1 processors are busy, and when they do not all fit the oldest of each namespace; take away work, or add processors",
		},
		"a group without members": {
			[]string{tree + "{groups: [{name: web, share: 1}], workloads: [{name: w, share: 1, utilization: '0.1'}]}\n"},
			"a.yaml:4: warning: ShareTree company: spec.groups[0].name: web: the group has no members: give it some, list in spec.namespaces where they are, or remove it" + inFiles,
		},
		"groups within each other": {
			[]string{tree + "{groups: [{name: a, share: 1, parent: b}, {name: b, share: 1, parent: a}], workloads: [{name: w, group: a, share: 1, utilization: '0.1'}]}\n"},
			"a.yaml:4: ShareTree company: spec.groups[0].parent: b: makes a cycle: a is in b is in a",
		},
		"an overloaded tree": {
			[]string{tree + "{workloads: [{name: w, share: 1, utilization: '1.5'}]}\n"},
			"a.yaml:4: ShareTree company: spec: the workloads keep 1.5 processors busy, and there are 1",
		},
		"a profile that is not there": {
			[]string{plan + "{classes: [{name: a, profile: {namespace: shop, name: p}}]}\n"},
			"a.yaml:4: warning: PoolPlan shop: spec.classes[0].profile: shop/p: there is no such WorkloadProfile" + inFiles,
		},
		"a profile that lacks what is asked": {
			[]string{workload("p", with("")), plan + "{classes: [{name: a, profile: {namespace: shop, name: p}}]}\n"},
			"a.yaml:9: PoolPlan shop: spec.classes[0].arrival: the WorkloadProfile p has no arrival.ratePerSecond",
		},
		"an SLA that no number of servers keeps": {
			[]string{plan + "{classes: [{name: a, arrival: {ratePerSecond: '1'}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 10}}]}\n"},
			"a.yaml:4: PoolPlan shop: spec: ",
		},
		"a queue that grows without end": {
			[]string{plan + "{classes: [{name: a, arrival: {ratePerSecond: '9'}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 9000}}], pools: [{name: p, classes: [a], maxServers: 4}]}\n"},
			"a.yaml:4: PoolPlan shop: spec.pools: pool \"p\" needs",
		},
		"numbers that Prometheus knows": {
			[]string{plan + "{prometheus: {address: 'http://p'}, classes: [{name: a, arrival: {query: up}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 9000}}]}\n"}, "",
		},
		"jobs of a profile that is not there": {
			[]string{"apiVersion: loadline.dev/v1alpha1\nkind: TraceReplay\nmetadata: {name: r}\nspec: {nodes: [{name: w}], arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a}]}}\n"},
			"a.yaml:4: warning: TraceReplay r: spec.arrivals.types[0].profile: a: there is no such WorkloadProfile, nor any other" + inFiles,
		},
		"nodes of a profile that is not there": {
			[]string{"apiVersion: loadline.dev/v1alpha1\nkind: TraceReplay\nmetadata: {name: r}\nspec: {nodes: [{name: w, nodeProfile: nvme}], trace: {configMap: {name: a, key: b}}}\n"},
			`a.yaml:4: warning: TraceReplay r: spec.nodes[0].nodeProfile: not found: "nvme"` + inFiles,
		},
		"arguments of SLAOrder": {
			[]string{"apiVersion: config.loadline.dev/v1alpha1\nkind: SLAOrderArgs\ndiscipline: FCFS\n"},
			`a.yaml:3: SLAOrderArgs: discipline: supported values: "HOL", "PDP"`,
		},
		"a plugin of others": {
			[]string{"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {multiPoint: {enabled: [{name: Dilation}]}, queueSort: {enabled: [{name: SLAOrder}]}}\n  pluginConfig:\n  - name: Coscheduling\n    args:\n      discipline: 1\n  - name: SLAOrder\n    args: {maxWaitSeconds: 0}\n"},
			"a.yaml:10: KubeSchedulerConfiguration: profiles[0].pluginConfig[1].args.maxWaitSeconds: 0: must be at least 1",
		},
		"a scheduler's arguments": {
			[]string{"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- plugins: {multiPoint: {enabled: [{name: Dilation}]}}\n  pluginConfig:\n  - name: Dilation\n    args:\n      syncTimeoutSeconds: -1\n"},
			"a.yaml:8: KubeSchedulerConfiguration: profiles[0].pluginConfig[0].args.syncTimeoutSeconds: -1: must be at least 0",
		},
		"a scheduler without our plugin": {
			[]string{configuration + "profiles:\n- schedulerName: trimaran\n  plugins: {score: {enabled: [{name: TargetLoadPacking}]}}\n"},
			"a.yaml:3: warning: KubeSchedulerConfiguration: profiles: no profile enables the plugin Dilation: the scheduler would not go by how much pods slow each other down",
		},
		"a scheduler of no profile": {
			[]string{configuration},
			"a.yaml:1: warning: KubeSchedulerConfiguration: profiles: no profile enables the plugin Dilation",
		},
		"a plugin that does not score": {
			[]string{configuration + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Dilation}]}, score: {disabled: [{name: \"*\"}]}}\n"},
			"a.yaml:3: warning: KubeSchedulerConfiguration: profiles: no profile enables the plugin Dilation",
		},
		"a misspelt plugin": {
			[]string{configuration + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: Dilations\n- plugins: {multiPoint: {enabled: [{name: Dilation}]}}\n"},
			"a.yaml:7: KubeSchedulerConfiguration: profiles[0].plugins.score.enabled[0].name: there is no plugin Dilations, for which the scheduler ends when it starts: write name: Dilation",
		},
		"arguments of a misspelt plugin": {
			[]string{configuration + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Dilation}]}}\n  pluginConfig:\n  - name: Dilaton\n    args: {guard: {mode: Enforce}}\n"},
			"a.yaml:6: warning: KubeSchedulerConfiguration: profiles[0].pluginConfig[0].name: there is no plugin Dilaton, and nothing reads its arguments: write name: Dilation",
		},
		"arguments of a plugin that is off": {
			[]string{configuration + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Dilation}]}}\n  pluginConfig:\n  - name: SLAOrder\n    args: {discipline: HOL}\n"},
			"a.yaml:6: warning: KubeSchedulerConfiguration: profiles[0].pluginConfig[0]: the profile does not enable the plugin SLAOrder, so nothing reads its arguments",
		},
		"a scheduler that scores by it": {[]string{configuration + "profiles:\n- plugins: {score: {enabled: [{name: Dilation, weight: 2}]}}\n"}, ""},
		"an unknown field of a scheduler": {
			[]string{configuration + "profilez: []\n"},
			"a.yaml:3: KubeSchedulerConfiguration: profilez: there is no such field",
		},
		"a scheduler of another version": {
			[]string{"apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"},
			"a.yaml:1: KubeSchedulerConfiguration: apiVersion: the scheduler reads kubescheduler.config.k8s.io/v1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(check(t, test.documents...), "\n")
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Objects of the cluster count unless the files have them, and pods are those there.
func TestTheClusterCounts(t *testing.T) {
	t.Parallel()
	rules, err := validate.Load()
	if err != nil {
		t.Fatal(err)
	}
	old := v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "old", CreationTimestamp: metav1.Unix(1000, 0)}}
	old.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	old.Spec.Measurement = &v1alpha1.Measurement{}
	same := *old.DeepCopy()
	same.Name = "same"
	same.CreationTimestamp = metav1.Unix(500, 0)
	answer, err := rules.Check(t.Context(), validate.Input{
		Namespace: "shop", Now: metav1.Unix(2000, 0),
		Documents: []validate.Document{
			{Place: validate.Place{File: "a.yaml", Document: 1, Line: 1}, Text: []byte(workload("new", with("")))},
			{Place: validate.Place{File: "a.yaml", Document: 2, Line: 6}, Text: []byte(workload("same", with(", fairShare: {tree: company, share: 1, utilization: '0.1'}")))},
		},
		Cluster: &validate.Cluster{
			Workloads: []v1alpha1.WorkloadProfile{old, same},
			PodLabels: map[string][]labels.Set{"shop": {{"app": "x"}, {"app": "x"}}, "other": {{"app": "x"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []validate.Followers{
		{ObjectName: validate.ObjectName{Kind: "WorkloadProfile", Namespace: "shop", Name: "new"}},
		{ObjectName: validate.ObjectName{Kind: "WorkloadProfile", Namespace: "shop", Name: "same"}, Count: 2},
	}
	for i := range answer.Followers {
		if answer.Followers[i].Conflict == "" {
			t.Errorf("%s has no conflict", answer.Followers[i].ObjectName)
		}
		answer.Followers[i].Conflict = ""
	}
	if diff := cmp.Diff(want, answer.Followers); diff != "" {
		t.Errorf("unexpected followers (-want +got):\n%s", diff)
	}
	if n := answer.Errors(); n != 1 { // the tree is nowhere
		t.Errorf("%d errors, want 1: %+v", n, answer.Findings)
	}
}
