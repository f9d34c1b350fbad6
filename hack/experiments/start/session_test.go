package start

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestTheNamespaceHasLabelsThatAnAPIServerTakes(t *testing.T) {
	t.Parallel()
	for _, level := range []PodSecurity{Restricted, Privileged} {
		if errs := validation.ValidateLabels((&Session{security: level}).namespace().Labels, field.NewPath("labels")); len(errs) > 0 {
			t.Error(errs)
		}
	}
}
