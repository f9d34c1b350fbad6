package printed_test

import (
	"testing"

	"loadline.dev/loadline/test/install/printed"
)

func TestNumbersTimesAndSpacesDoNotMatter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		a, b string
		same bool
	}{
		"other ages and widths": {"NAME      AGE\nworker-1  20s\n", "NAME                AGE\nworker-2            2m30s\n", true},
		"other figures":         {"report  15.0s  1.36×  cpu 0.36 (report 0.36)", "report  9.8s  1.41×  cpu 0.4 (report 0.4)", true},
		"a quantity":            {"cpu 600m", "cpu 1", true},
		"a small one":           {"cpu 600m", "cpu 604700u", true},
		"an empty line more":    {"a\n", "\na\n\n", true},
		"another word":          {"pod/busy created", "pod/busy configured", false},
		"a line more":           {"pod/a created\n", "pod/a created\npod/b created\n", false},
		"nothing":               {"a", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if printed.Same(test.a, test.b) != test.same {
				t.Errorf("%q and %q are the same: %v, want %v", test.a, test.b, !test.same, test.same)
			}
		})
	}
}
