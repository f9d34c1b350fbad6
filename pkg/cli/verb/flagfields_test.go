package verb

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestWhatAFlagSaidIsToldOfTheFlag(t *testing.T) {
	t.Parallel()
	said := FlagFields{"spec.seeds": "--seeds", "spec.nodes[0]": "--nodes", "spec.nodes[0].resources[0].servers": "--cores"}
	wrong := func(path string) *field.Error {
		return &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: 0, Detail: "must be at least 1"}
	}
	other := errors.New("the trace is empty")
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"the field of a flag":         {wrong("spec.seeds"), "--seeds: Invalid value: 0: must be at least 1"},
		"one below it":                {wrong("spec.nodes[0].capacity[1].quantity"), "--nodes: capacity[1].quantity: Invalid value: 0: must be at least 1"},
		"one of a flag of its own":    {wrong("spec.nodes[0].resources[0].servers"), "--cores: Invalid value: 0: must be at least 1"},
		"one that no flag said":       {wrong("spec.nodes[1].count"), "spec.nodes[1].count: Invalid value: 0: must be at least 1"},
		"one of nearly that name":     {wrong("spec.seedsman"), "spec.seedsman: Invalid value: 0: must be at least 1"},
		"several":                     {field.ErrorList{wrong("spec.seeds"), wrong("spec.queue")}.ToAggregate(), "--seeds: Invalid value: 0: must be at least 1\nspec.queue: Invalid value: 0: must be at least 1"},
		"what is wrong with no field": {other, "the trace is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said.Named(test.err); got.Error() != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
