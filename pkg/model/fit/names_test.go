package fit

import (
	"strings"
	"testing"
)

func TestNamesThatDifferInTheirLastNumberAreOfOneFamily(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"LM (batch size 10)", "LM (batch size 10)", true},
		{"LM (batch size 10)", "LM (batch size 20)", true},
		{"ResNet-18 (batch size 16)", "ResNet-50 (batch size 16)", false},
		{"etl-7", "etl-8", true},
		{"étude №7", "étude №12", true},
		{"训练 (批量 16)", "训练 (批量 32)", true},
		{"训练 (批量 16)", "推理 (批量 16)", false},
		{"a", "b", false},
		{"a", "a", true},
		{"a", "a1", false},
		{"", "", true},
		{"", "7", false},
		{"x" + strings.Repeat("9", 400), "x1", true},
		{"5 a", "a 5", false},
		{"$1", "$2", true},
	} {
		families := familiesOf([]string{test.a, test.b})
		if got := families[0] == families[1]; got != test.same {
			t.Errorf("%q and %q: of one family is %t, want %t", test.a, test.b, got, test.same)
		}
	}
}
