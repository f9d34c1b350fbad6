package throttling_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/model/throttling"
)

// What docs/evidence/accuracy.md says of processes that ran alone behind a quota of a Linux with cgroup v1. Constant bursts
// are not what the model takes, and other processes used the machine.
func TestAQuotaHoldsBackAsMuchAsWasMeasured(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/quota.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 25 {
		t.Fatalf("there are %d lines", len(lines))
	}
	for _, line := range lines[1:] {
		var values [5]float64
		for k := range values {
			if k == 3 { // the distribution
				continue
			}
			if values[k], err = strconv.ParseFloat(line[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		loading, limit, millis, stretch := values[0], values[1], values[2], values[4]
		load := throttling.Load{Loading: loading, Burst: millis / 1e3}
		const within = 0.13
		near(t, "bursts of "+line[2]+" ms, "+line[3], load.Stretch(limit), stretch, within)
		switch { // short bursts have the average, long ones the limit as a cap
		case millis <= 1 && loading < limit:
			near(t, "short bursts", load.Average(limit), stretch, 0.07)
		case millis >= 300:
			near(t, "long bursts", load.Longest(limit), stretch, 0.07)
		}
	}
}
