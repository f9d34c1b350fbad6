package fair_test

import (
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/fair"
)

func TestWhatIsLeftIsSharedEqually(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		budget int
		wants  []int
		want   int
	}{
		{100, nil, 100},
		{100, []int{30, 20}, 100},
		{100, []int{10, 1000, 20}, 70},
		{100, []int{1000, 10, 2000}, 45},
		{10, []int{7, 7, 7}, 3},
		{0, []int{0, 5}, 0},
	} {
		if got := fair.Level(test.budget, test.wants); got != test.want {
			t.Errorf("of %d, of which %v are wanted, each may have %d, not %d", test.budget, test.wants, got, test.want)
		}
	}
}

func TestNobodyLosesByTheGreedOfAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(0, 1000).Draw(t, "budget")
		wants := rapid.SliceOfN(rapid.IntRange(0, 1<<40), 1, 20).Draw(t, "wants")
		level := fair.Level(budget, wants)
		total, more, all := 0, 0, 0
		for _, want := range wants {
			total += min(want, level)
			more += min(want, level+1)
			all += want
			if got := min(want, level); got < min(want, budget/len(wants)) {
				t.Fatalf("who wants %d gets %d", want, got)
			}
		}
		if total > budget || all > budget && more <= budget {
			t.Fatalf("at a level of %d they have %d, and %d at one more", level, total, more)
		}
	})
}
