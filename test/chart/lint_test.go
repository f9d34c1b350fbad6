package chart

import (
	"strings"
	"testing"
)

func TestHelmLintFindsNothing(t *testing.T) {
	t.Parallel()
	for name, file := range matrix(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runHelm(t, "lint", chartDir(), "--strict", "--values", file, "--kube-version", "1.37.2")
			if err != nil || !strings.Contains(out, "0 chart(s) failed") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
