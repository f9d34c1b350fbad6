package profile_test

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/profile"
)

// large is a selector with the given numbers of matchLabels, matchExpressions and values of each
// expression.
func large(matchLabels, matchExpressions, values int) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := range matchLabels {
		s.MatchLabels[fmt.Sprintf("label-%d", i)] = "a"
	}
	for i := range matchExpressions {
		e := metav1.LabelSelectorRequirement{Key: fmt.Sprintf("expression-%d", i), Operator: metav1.LabelSelectorOpNotIn}
		for v := range values {
			e.Values = append(e.Values, fmt.Sprintf("value-%d", v))
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

// A profile that was stored before the API server knew the limits.
func TestSelectorsThatTakeLongToCompareAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		selector *metav1.LabelSelector
		want     []string
	}{
		"the largest selector":      {large(8, 8, 8), []string{}},
		"all values in one":         {large(0, 1, 64), []string{}},
		"one label too many":        {large(9, 0, 0), []string{"spec.selector.matchLabels: Invalid value: 9: a selector has at most 8 matchLabels"}},
		"one expression too many":   {large(0, 9, 1), []string{"spec.selector.matchExpressions: Invalid value: 9: a selector has at most 8 matchExpressions"}},
		"one value too many":        {large(0, 5, 13), []string{"spec.selector.matchExpressions: Invalid value: 65: the matchExpressions of a selector have at most 64 values in all"}},
		"a thousand by a thousand":  {large(0, 1000, 1000), []string{"spec.selector.matchExpressions: Invalid value: 1000: a selector has at most 8 matchExpressions", "spec.selector.matchExpressions: Invalid value: 1000000: the matchExpressions of a selector have at most 64 values in all"}},
		"no selector, where any is": {nil, []string{"spec.selector: Required value: say which labels to match; {} matches all"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := declared("web", demand("cpu", "1"))
			p.Spec.Selector = test.selector
			_, errs := profile.NewWorkload(p, profile.NewResources(nil))
			if diff := gocmp.Diff(test.want, messages(errs)); diff != "" {
				t.Errorf("of a WorkloadProfile (-want +got):\n%s", diff)
			}
			n := machines("big", servers("disk", 1))
			n.Spec.Selector = test.selector
			_, errs = profile.NewNodeClass(n)
			if diff := gocmp.Diff(test.want, messages(errs)); diff != "" {
				t.Errorf("of a NodeProfile (-want +got):\n%s", diff)
			}
		})
	}
}
