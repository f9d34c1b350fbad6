package chart

import (
	"fmt"
	"slices"
)

// checkNames says which name of a list is empty or taken; of is what follows
// the index in the name of the field: ".name" of samples[2].name, say.
func checkNames(list, of string, names []string) error {
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("%s[%d]%s: is empty", list, i, of)
		}
		if first := slices.Index(names, name); first < i {
			return fmt.Errorf("%s[%d]%s: %q is also the name of %s[%d]", list, i, of, name, list, first)
		}
	}
	return nil
}
