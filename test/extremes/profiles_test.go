package extremes_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/profiles"
)

const (
	extremeProfiles = 200 // of one namespace, or of the nodes
	extremeObjects  = 500 // pods or nodes
	maxStatusBytes  = 16 << 10
)

// evaluated is when the statuses are of.
var evaluated = metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))

// differing are objects of which no two have the same labels.
func differing() []labels.Set {
	all := make([]labels.Set, extremeObjects)
	for i := range all {
		all[i] = labels.Set{
			"app": "filecomp", "example.com/tier": "batch", "example.com/disk": "nvme", "zone": string(rune('a' + i%3)), "pod-index": fmt.Sprint(i),
		}
	}
	return all
}

// checkStatus checks a status: what it says is bounded, and a number.
func checkStatus(t *testing.T, what string, status any, conditions []metav1.Condition) {
	t.Helper()
	text, err := json.Marshal(status)
	switch {
	case err != nil:
		t.Errorf("%s: %v", what, err)
	case len(text) > maxStatusBytes:
		t.Errorf("%s: the status has %d bytes", what, len(text))
	case strings.Contains(string(text), "NaN"), strings.Contains(string(text), "Inf\""):
		t.Errorf("%s: the status is %s", what, text)
	case len(conditions) != 2:
		t.Errorf("%s: it has the conditions %v", what, conditions)
	}
}

func TestStatusesOfWorkloadProfilesAreBoundedAtTheExtremesOfTheirFields(t *testing.T) {
	t.Parallel()
	const pairs = 60
	var slowest worst
	class := typed[v1alpha1.NodeProfile](t, object(t, "NodeProfile"))
	pods := differing()
	try := func(what string, o *unstructured.Unstructured) {
		some := make([]v1alpha1.WorkloadProfile, extremeProfiles)
		for i := range some {
			typed[v1alpha1.WorkloadProfile](t, o).DeepCopyInto(&some[i])
			some[i].Name, some[i].Status = fmt.Sprintf("w-%04d", i), v1alpha1.WorkloadProfileStatus{}
		}
		slowest.time(what, func() {
			for i, status := range profiles.WorkloadProfiles(some, pods, []v1alpha1.NodeProfile{*class}, evaluated) {
				if i == 0 || i == len(some)-1 {
					checkStatus(t, what, status, status.Conditions)
				}
			}
		})
	}
	kind, base := kindOf(t, "WorkloadProfile"), object(t, "WorkloadProfile")
	kind.Each(t, base, try)
	kind.Pairs(t, base, pairs, try)
	t.Logf("of WorkloadProfiles, %s took longest: %v", slowest.what, slowest.took)
}

func TestStatusesOfNodeProfilesAreBoundedAtTheExtremesOfTheirFields(t *testing.T) {
	t.Parallel()
	const pairs = 60
	var slowest worst
	nodes := differing()
	try := func(what string, o *unstructured.Unstructured) {
		some := make([]v1alpha1.NodeProfile, extremeProfiles)
		for i := range some {
			typed[v1alpha1.NodeProfile](t, o).DeepCopyInto(&some[i])
			some[i].Name, some[i].Status = fmt.Sprintf("n-%04d", i), v1alpha1.NodeProfileStatus{}
		}
		slowest.time(what, func() {
			for i, status := range profiles.NodeProfiles(some, nodes, evaluated) {
				if i == 0 || i == len(some)-1 {
					checkStatus(t, what, status, status.Conditions)
				}
			}
		})
	}
	kind, base := kindOf(t, "NodeProfile"), object(t, "NodeProfile")
	kind.Each(t, base, try)
	kind.Pairs(t, base, pairs, try)
	t.Logf("of NodeProfiles, %s took longest: %v", slowest.what, slowest.took)
}
