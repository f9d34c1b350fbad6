package madeup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Four pods that want all of two processors are slowed down, and one that has just been created is not observed in earlier intervals.
func TestAPlayedGaugeReportsUpToTheLastFullInterval(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000003, 0)
	pod := func(name string, created time.Time) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(created)}}
	}
	g := Gauge{CPUs: 2, Interval: 10 * time.Second, Loading: func(*corev1.Pod) float64 { return 0.5 }}
	r := g.Report("one", []*corev1.Pod{pod("d", now.Add(-9*time.Second)), pod("c", time.Time{}), pod("b", time.Time{}), pod("a", time.Time{})}, 3, now)
	if r.AgeSeconds != 3 || len(r.Intervals) != 3 {
		t.Fatalf("%+v, want three intervals, the last one 3 s old", r)
	}
	v := r.Intervals[2]
	if v.End != time.Unix(1000000, 0) || v.Start != time.Unix(999990, 0) || v.Node != "one" || len(v.Pods) != 3 || v.Pods[0].Name != "a" || v.Pods[0].Dilation != 1.5 {
		t.Errorf("the last interval is %+v", v)
	}
	if !r.Intervals[1].End.Equal(v.Start) {
		t.Errorf("the interval before ends at %v", r.Intervals[1].End)
	}
}
