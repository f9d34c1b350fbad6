package profiles

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FollowsAll says of a selector without requirements what follows its profile; it is
// "" for others. Such a selector is right for the default of a namespace or of a
// cluster, and easily meant otherwise. What follows the profile is named by the first
// word, where it is by the second.
func FollowsAll(selector *metav1.LabelSelector, object, place string) string {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 {
		return ""
	}
	return fmt.Sprintf("the selector is empty: every %s of the %s follows it that no other profile matches", object, place)
}
