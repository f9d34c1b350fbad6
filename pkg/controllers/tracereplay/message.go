package tracereplay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/text"
)

// progress says how far the runs are.
func progress(t *tally, total int) string {
	message := fmt.Sprintf("%d of %s ended", len(t.results)+len(t.failures), text.Counted(total, "run"))
	if len(t.failures) > 0 {
		message += fmt.Sprintf(", %d of them badly", len(t.failures))
	}
	if t.stuck != "" {
		message += "; " + t.stuck
	}
	return message
}

// verdict says how a replay ended.
func verdict(runs []replays.Run, t *tally, best string) (status metav1.ConditionStatus, reason, message string) {
	switch {
	case len(t.failures) == 0 && best == "":
		return metav1.ConditionTrue, v1alpha1.ReasonSucceeded,
			text.Counted(len(runs), "run") + " ended well, but no job was done: there was none, or no node can take any; the report says why"
	case len(t.failures) == 0:
		return metav1.ConditionTrue, v1alpha1.ReasonSucceeded,
			fmt.Sprintf("%s ended well; the mean response time is least with %s", text.Counted(len(runs), "run"), best)
	case len(t.results) > 0:
		return metav1.ConditionTrue, v1alpha1.ReasonPartlyFailed,
			fmt.Sprintf("%d of %s ended well, of which the results are: %s", len(t.results), text.Counted(len(runs), "run"), reasons(runs, t.failures))
	default:
		return metav1.ConditionFalse, v1alpha1.ReasonFailed, "no run ended well: " + reasons(runs, t.failures)
	}
}

// reasons says why runs failed. Runs that failed for the same reason are
// counted, and the first of them is named.
func reasons(runs []replays.Run, failures map[int]failure) string {
	var order []string
	same := map[string][]int{}
	for _, run := range slices.Sorted(maps.Keys(failures)) {
		message := failures[run].message
		if same[message] == nil {
			order = append(order, message)
		}
		same[message] = append(same[message], run)
	}
	var parts []string
	for _, message := range order {
		failed := same[message]
		first := runs[failed[0]]
		who := fmt.Sprintf("%s with seed %d", first.Policy, first.Seed)
		if more := len(failed) - 1; more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, who+": "+message)
	}
	return strings.Join(parts, "; ")
}
