package integration

import (
	"fmt"
	"strings"
)

// replaceOnce replaces a part of a text that must be there.
func replaceOnce(text, old, with string) string {
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("%q is not once in %q", old, text))
	}
	return strings.Replace(text, old, with, 1)
}
