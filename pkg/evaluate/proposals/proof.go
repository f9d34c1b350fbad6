package proposals

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/text"
)

// largestRatio bounds what one change adds to a record: what was predicted may have been next to nothing.
const largestRatio = 4

// Record returns what the changes of each kind won of what was predicted.
func Record(all []v1alpha1.Remediation) plan.Record {
	record := plan.Record{}
	for i := range all {
		c := &all[i]
		if won := c.Status.Realized; remediations.Complete(c) && won != nil && won.Ratio != nil {
			record.Add(actionOf(c), min(largestRatio, max(-largestRatio, won.Ratio.AsApproximateFloat64())))
		}
	}
	return record
}

const (
	// clearly is how many times the half width of its interval a pod pays more than was predicted to pay clearly more: there may be a
	// hundred pods, of which some are beyond their intervals by chance.
	clearly = 2
	// noticed is the smallest part of a dilation that a pod pays, besides that.
	noticed = 0.05
	// named is how many pods are named.
	named = 3
)

// Costs says which pods pay clearly more for a change than was predicted, and are above a dilation; "" where none does.
func Costs(r *v1alpha1.Remediation, p *plan.Proof, above float64) string {
	predicted := map[string]float64{} // what a pod pays
	for _, pod := range r.Spec.Prediction.Pods {
		name := pod.Namespace + "/" + pod.Name
		if name == r.Namespace+"/"+r.Spec.Pod.Name {
			name = Now(r)
		}
		predicted[name] = pod.Then.AsApproximateFloat64() - pod.Now.AsApproximateFloat64()
	}
	var pay []string
	for i := len(p.Pods) - 1; i >= 0; i-- { // those that pay most first
		e := &p.Pods[i]
		more := e.Then - e.Now - max(0, predicted[e.Pod])
		if e.Then > above && more > noticed+clearly*p.Margins[e.Pod] {
			pay = append(pay, fmt.Sprintf("%s is at %.2f in place of %.2f", e.Pod, e.Then, e.Now+max(0, predicted[e.Pod])))
		}
	}
	if len(pay) == 0 {
		return ""
	}
	more := ""
	if n := len(pay) - named; n > 0 {
		more = " and of " + text.Counted(n, "more pod")
	}
	return "costs more than was predicted: the dilation of " + strings.Join(pay[:min(len(pay), named)], ", of ") + more
}
