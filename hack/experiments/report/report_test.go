package report

import "testing"

func TestHowMuchEarlierIsNeverNegative(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{"25.0% earlier": Earlier(3, 4), "25.0% later": Earlier(5, 4), "0.0% earlier": Earlier(4, 4)} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
