package made_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/pkg/controllers/made"
)

func TestARightThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	refused := func(why string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "probe", errors.New(why))
	}
	noRight := refused(`User "system:serviceaccount:loadline-system:loadline-manager" cannot patch resource "jobs" in API group "batch" in the namespace "shop"`)
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no right":           {noRight, true},
		"wrapped":            {errors.Join(errors.New("other"), fmt.Errorf("applying Job shop/probe: %w", noRight)), true},
		"a quota":            {refused("exceeded quota: jobs"), false},
		"another error":      {errors.New("a pod cannot run"), false},
		"nothing to be told": {nil, false},
	} {
		why := made.Denied(test.err, "shop", "rbac.measurement", "loadline-manager-measurer")
		if is := strings.Contains(why, "in namespace shop: add it to rbac.measurement.namespaces of the chart, or bind the ClusterRole loadline-manager-measurer"); is != test.want {
			t.Errorf("%s: %q", name, why)
		}
	}
}
