package pools_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/model/sizing"
)

// The best partition of many classes of different service times takes minutes: the manager says so
// instead, and names a remedy.
func TestAPlanThatTakesTooLongIsRefusedInWords(t *testing.T) {
	t.Parallel()
	var spec strings.Builder
	spec.WriteString("classes:\n")
	for i := range 64 {
		fmt.Fprintf(&spec, "- {name: c%d, arrival: {ratePerSecond: 100}, service: {meanMillis: %d, scv: 2}, sla: {responseTimeMillis: 90000}}\n", i, 1000+i)
	}
	_, err := pools.Plan(t.Context(), pools.Input{Plan: poolPlan(t, spec.String()), Quick: true})
	because, is := errors.AsType[*pools.Error](err)
	if !is || because.Reason != v1alpha1.ReasonTooCostly || !errors.Is(err, sizing.ErrTooCostly) || !strings.Contains(err.Error(), "list pools of fewer classes each") {
		t.Errorf("the error is %v", err)
	}
}

// A pool of more servers than the API lets one have is no answer.
func TestAPoolOfMoreServersThanAreLookedAtIsRefusedInWords(t *testing.T) {
	t.Parallel()
	const spec = "classes: [{name: a, arrival: {ratePerSecond: 1000000000}, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}}]"
	_, err := pools.Plan(t.Context(), pools.Input{Plan: poolPlan(t, spec)})
	if !errors.Is(err, sizing.ErrTooLarge) || !strings.Contains(err.Error(), "jobs keep 1e+08 servers busy, and up to 1000000 are looked at") {
		t.Errorf("the error is %v", err)
	}
}
