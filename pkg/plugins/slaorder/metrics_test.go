package slaorder

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// The tests of metrics are not parallel: metrics are those of the process.

func TestMetricsShowWhatClassesAttainAndWhoWentFirstForWaiting(t *testing.T) {
	registerMetrics()
	a := promising("a", 3, 0.9)
	o := newTested(config.HOL, 60, 3600, a, promising("b", 3, 0.95))
	o.ends("a", 3, 1)
	want := `
# HELP loadline_slaorder_class_attained_ratio [ALPHA] Fraction of the pods of a WorkloadProfile that ended within the response time of its SLA, of those that succeeded within the window. There is none where no pod did.
# TYPE loadline_slaorder_class_attained_ratio gauge
loadline_slaorder_class_attained_ratio{profile="a",profile_namespace="default"} 0.75
# HELP loadline_slaorder_class_ended_pods [ALPHA] Pods of a WorkloadProfile that succeeded within the window, in time or not. There is none where no pod did.
# TYPE loadline_slaorder_class_ended_pods gauge
loadline_slaorder_class_ended_pods{profile="a",profile_namespace="default"} 4
# HELP loadline_slaorder_class_target_ratio [ALPHA] Fraction of the pods of a WorkloadProfile that should end within the response time of its SLA. The first 1000 by namespace and name are shown.
# TYPE loadline_slaorder_class_target_ratio gauge
loadline_slaorder_class_target_ratio{profile="a",profile_namespace="default"} 0.9
loadline_slaorder_class_target_ratio{profile="b",profile_namespace="default"} 0.95
`
	compare := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(want),
			"loadline_slaorder_class_attained_ratio", "loadline_slaorder_class_ended_pods", "loadline_slaorder_class_target_ratio"); err != nil {
			t.Error(err)
		}
	}
	compare(want)
	o.clock.SetTime(at(3700))
	o.update()
	if n, err := testutil.GetCounterMetricValue(overduePlaced); err != nil || n != 0 {
		t.Errorf("%v pods were overdue, %v", n, err)
	}
	o.index.OnDelete(a)
	o.update()
	_, want, _ = strings.Cut(want, "profile_namespace=\"default\"} 4\n")
	compare(strings.ReplaceAll(want, "loadline_slaorder_class_target_ratio{profile=\"a\",profile_namespace=\"default\"} 0.9\n", ""))

	for i, wait := range []float64{59, 60, 3600} {
		p := pod(fmt.Sprint(i), "b", 0)
		o.clock.SetTime(at(4000))
		o.waiting.OnAdd(p, false)
		o.clock.SetTime(at(4000 + wait))
		other := p.DeepCopy()
		other.UID, other.Spec.SchedulerName = "others", "default-scheduler"
		for _, bound := range []*corev1.Pod{p.DeepCopy(), other} {
			bound.Spec.NodeName = "node"
			o.waiting.OnUpdate(p, bound)
			o.waiting.OnUpdate(bound, bound)
		}
	}
	if n, err := testutil.GetCounterMetricValue(overduePlaced); err != nil || n != 2 {
		t.Errorf("%v pods were overdue, %v, want 2", n, err)
	}
}

func TestMetricsShowWhichPodsWaitAndAreOverdue(t *testing.T) {
	registerMetrics()
	waitingGauge.Reset()
	a, b := promising("a", 3, 0.9), promising("b", 3, 0.95)
	o := newTested(config.HOL, 60, 3600, a, b)
	shows := func(lines ...string) {
		t.Helper()
		o.waiting.report()
		var got []string
		families, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if family.GetName() == "loadline_slaorder_waiting_pods" {
					labels := map[string]string{}
					for _, l := range m.GetLabel() {
						labels[l.GetName()] = l.GetValue()
					}
					got = append(got, fmt.Sprintf("%s %s/%s overdue=%s: %v", labels["scheduler_name"],
						labels["profile_namespace"], labels["profile"], labels["overdue"], m.GetGauge().GetValue()))
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(lines, got); diff != "" {
			t.Errorf("unexpected series (-want +got):\n%s", diff)
		}
	}
	shows("loadline (others)/(others) overdue=false: 0", "loadline (others)/(others) overdue=true: 0")

	bound, gone, other := pod("a-0", "a", 0), pod("a-1", "a", 0), pod("other", "a", 0)
	other.Spec.SchedulerName = "default-scheduler"
	for _, p := range []*corev1.Pod{bound, gone, other, pod("b-0", "b", 0), pod("none", "none", 0)} {
		o.waiting.OnAdd(p, false)
	}
	o.clock.SetTime(at(59))
	o.waiting.OnAdd(pod("b-1", "b", 0), false)
	shows(
		"loadline (others)/(others) overdue=false: 1", "loadline (others)/(others) overdue=true: 0",
		"loadline default/a overdue=false: 2", "loadline default/a overdue=true: 0",
		"loadline default/b overdue=false: 2", "loadline default/b overdue=true: 0",
	)
	o.clock.SetTime(at(60))
	on := bound.DeepCopy()
	on.Spec.NodeName = "node"
	o.waiting.OnUpdate(bound, on)
	o.waiting.OnDelete(gone)
	shows(
		"loadline (others)/(others) overdue=false: 0", "loadline (others)/(others) overdue=true: 1",
		"loadline default/b overdue=false: 1", "loadline default/b overdue=true: 1",
	)
	o.index.OnDelete(b)
	o.update()
	shows("loadline (others)/(others) overdue=false: 1", "loadline (others)/(others) overdue=true: 2")
}

func TestAThousandClassesAreShown(t *testing.T) {
	registerMetrics()
	var profiles []*v1alpha1.WorkloadProfile
	for i := range maxShown + 5 {
		profiles = append(profiles, promising(fmt.Sprintf("app-%04d", i), 3, 0.9))
	}
	o := newTested(config.PDP, 60, 3600, profiles...)
	o.ends("app-0999", 1, 0)
	o.ends("app-1000", 1, 0)
	waitingGauge.Reset()
	o.waiting.OnAdd(pod("shown", "app-0999", 0), false)
	o.waiting.OnAdd(pod("not-shown", "app-1000", 0), false)
	o.waiting.report()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, family := range families {
		series[family.GetName()] = len(family.GetMetric())
	}
	if n := series["loadline_slaorder_class_target_ratio"]; n != maxShown {
		t.Errorf("%d classes show what they promise, want %d", n, maxShown)
	}
	if n := series["loadline_slaorder_class_attained_ratio"]; n != 1 {
		t.Errorf("%d classes show what they attain, want 1", n)
	}
	if n := series["loadline_slaorder_waiting_pods"]; n != 4 {
		t.Errorf("%d series show the pods that wait, want 4: of a class, and of the others, twice each", n)
	}
}
