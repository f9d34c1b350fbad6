package evaluate

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// followsAll says, after another message, that a selector has no requirement. That is
// right for the default of a namespace or of a cluster, and easily meant otherwise.
// What follows the profile is named by the first word, where it is by the second.
func followsAll(selector *metav1.LabelSelector, object, place string) string {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 {
		return ""
	}
	return fmt.Sprintf("; its selector is empty: every %s of the %s follows it that no other profile matches", object, place)
}
