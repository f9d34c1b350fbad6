package fit

import (
	"math"
	"strings"
	"testing"
)

func TestNamesThatDifferInTheirLastNumberAreVariants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"LM (batch size 10)", "LM (batch size 10)", 1},
		{"LM (batch size 10)", "LM (batch size 20)", math.Exp(-0.5)},
		{"LM (batch size 80)", "LM (batch size 20)", math.Exp(-1)},
		{"ResNet-18 (batch size 16)", "ResNet-50 (batch size 16)", 0},
		{"etl-7", "etl-7", 1},
		{"a", "b", 0},
		{"a", "a", 1},
		{"", "", 1},
		{"x0", "x1", 1}, // a number below 1 has no ratio
		{"x" + strings.Repeat("9", 400), "x1", 0},
		{"5 a", "a 5", 0},
	} {
		if got := likenessByName(variantOf(test.a), variantOf(test.b)); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%q and %q: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
