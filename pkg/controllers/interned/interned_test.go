package interned_test

import (
	"math"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/controllers/interned"
)

func TestEqualValuesOfATypeAreShared(t *testing.T) {
	t.Parallel()
	var values interned.Values
	labels := func(app string) map[string]string { return map[string]string{"app": app} }
	one, two, other := interned.Share(&values, labels("a")), interned.Share(&values, labels("a")), interned.Share(&values, labels("b"))
	one["app"] = "changed" // no user may, but it shows what is shared
	if two["app"] != "changed" || other["app"] != "b" {
		t.Errorf("of two equal ones the second is %v, and another %v", two, other)
	}
	// A value of another type with the same text is another.
	type name string
	if a, b := interned.Share(&values, []string{"x"}), interned.Share(&values, []name{"x"}); a[0] != "x" || b[0] != "x" {
		t.Errorf("%v and %v", a, b)
	}
}

func TestValuesWithoutATextAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	var values interned.Values
	if got := interned.Share(&values, []float64{math.NaN()}); len(got) != 1 || !math.IsNaN(got[0]) {
		t.Errorf("got %v", got)
	}
	if got := interned.Share(&values, map[string]string(nil)); got != nil {
		t.Errorf("got %v", got)
	}
}

// However many different values there are, each is itself.
func TestManyValuesStayThemselves(t *testing.T) {
	t.Parallel()
	var values interned.Values
	for i := range 100_010 {
		if got := interned.Share(&values, []int{i}); got[0] != i {
			t.Fatalf("%d became %v", i, got)
		}
	}
}

func BenchmarkShare(b *testing.B) {
	var values interned.Values
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		interned.Share(&values, map[string]string{"app.kubernetes.io/name": strconv.Itoa(i % 1000), "pod-template-hash": "7d9f8b6c5d"})
	}
}
