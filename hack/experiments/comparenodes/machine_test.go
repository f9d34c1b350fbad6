package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdleTimeIsNotBusy(t *testing.T) {
	t.Parallel()
	got, err := parseStat("cpu  100 20 300 4000 500 6 70 80 9 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(busyTimes{running: 4.96, stolen: 0.8}, got, cmp.AllowUnexported(busyTimes{}), near); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8 9", "cpu a 2 3 4 5 6 7 8 9"} {
		if _, err := parseStat(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
