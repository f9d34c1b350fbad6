package pools

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

// Unmet says which SLAs the pools of a plan cannot keep within their bounds; empty if
// there are none.
func (a *Answer) Unmet() []string {
	var unmet []string
	for i := range a.Pools {
		pool := &a.Pools[i]
		if pool.Bounds == nil || !pool.Bounds.Limited {
			continue
		}
		reason := fmt.Sprintf("pool %q may have at most %s and needs %s: ", pool.Name, text.Counted(pool.Bounds.Servers, "server"), text.Count(int64(pool.Servers)))
		if pool.Bounds.Unstable {
			unmet = append(unmet, reason+"too few to keep up with the arrivals")
			continue
		}
		var missed []string
		for k := range pool.Classes {
			class := &pool.Classes[k]
			if k < len(pool.Bounds.Attained) && pool.Bounds.Attained[k] < class.Probability {
				missed = append(missed, fmt.Sprintf("%s is answered within %s only %s of the time, not %s",
					class.Name, text.Duration(class.WithinSeconds), text.PercentBeside(pool.Bounds.Attained[k], class.Probability), text.ExactPercent(class.Probability)))
			}
		}
		unmet = append(unmet, reason+strings.Join(missed, ", "))
	}
	return unmet
}
