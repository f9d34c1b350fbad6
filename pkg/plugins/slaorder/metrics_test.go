package slaorder

import (
	"fmt"
	"strings"
	"testing"

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
loadline_slaorder_class_attained_ratio{namespace="default",profile="a"} 0.75
# HELP loadline_slaorder_class_target_ratio [ALPHA] Fraction of the pods of a WorkloadProfile that should end within the response time of its SLA. The first 1000 by namespace and name are shown.
# TYPE loadline_slaorder_class_target_ratio gauge
loadline_slaorder_class_target_ratio{namespace="default",profile="a"} 0.9
loadline_slaorder_class_target_ratio{namespace="default",profile="b"} 0.95
`
	compare := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(want),
			"loadline_slaorder_class_attained_ratio", "loadline_slaorder_class_target_ratio"); err != nil {
			t.Error(err)
		}
	}
	compare(want)
	o.clock.SetTime(at(3700))
	o.update()
	if n, err := testutil.GetCounterMetricValue(overdue); err != nil || n != 0 {
		t.Errorf("%v pods were overdue, %v", n, err)
	}
	o.index.OnDelete(a)
	o.update()
	_, want, _ = strings.Cut(want, "profile=\"a\"} 0.75\n")
	compare(strings.ReplaceAll(want, "loadline_slaorder_class_target_ratio{namespace=\"default\",profile=\"a\"} 0.9\n", ""))

	for i, wait := range []float64{59, 60, 3600} {
		p := pod(fmt.Sprint(i), "b", 0)
		o.clock.SetTime(at(4000))
		o.waiting.OnAdd(p, false)
		o.clock.SetTime(at(4000 + wait))
		others := p.DeepCopy()
		others.UID, others.Spec.SchedulerName = "others", "default-scheduler"
		for _, bound := range []*corev1.Pod{p.DeepCopy(), others} {
			bound.Spec.NodeName = "node"
			o.waiting.OnUpdate(p, bound)
			o.waiting.OnUpdate(bound, bound)
		}
	}
	if n, err := testutil.GetCounterMetricValue(overdue); err != nil || n != 2 {
		t.Errorf("%v pods were overdue, %v, want 2", n, err)
	}
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
}
