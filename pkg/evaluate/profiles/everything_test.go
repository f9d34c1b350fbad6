package profiles

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestAProfileWithAnEmptySelectorSaysThatItFollowsAll(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		selector *metav1.LabelSelector
		want     bool
	}{
		"empty":           {&metav1.LabelSelector{}, true},
		"with empty maps": {&metav1.LabelSelector{MatchLabels: map[string]string{}, MatchExpressions: []metav1.LabelSelectorRequirement{}}, true},
		"a label":         {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, false},
		"an expression":   {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}, false},
		"none":            {nil, false}, // which is refused
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w v1alpha1.WorkloadProfile
			w.Name, w.Spec.Selector = "all", test.selector
			w.Spec.Resources = []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.5"))}}
			var n v1alpha1.NodeProfile
			n.Name, n.Spec.Selector = "all", test.selector
			n.Spec.Resources = []v1alpha1.ResourceServers{{Name: "disk", Servers: new(int32(2))}}
			now := metav1.Now()
			for want, conditions := range map[string][]metav1.Condition{
				"; the selector is empty: every pod of the namespace follows it that no other profile matches": WorkloadProfiles([]v1alpha1.WorkloadProfile{w}, nil, nil, now)[0].Conditions,
				"; the selector is empty: every node of the cluster follows it that no other profile matches":  NodeProfiles([]v1alpha1.NodeProfile{n}, nil, now)[0].Conditions,
			} {
				ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
				if said := strings.HasSuffix(ready.Message, want); said != test.want {
					t.Errorf("the message is %q", ready.Message)
				}
				if usable := ready.Status == metav1.ConditionTrue; usable != (test.selector != nil) {
					t.Errorf("the condition is %+v", ready)
				}
			}
		})
	}
}
