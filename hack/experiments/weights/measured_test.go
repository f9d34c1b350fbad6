package main

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
)

// What docs/evidence/accuracy.md says of the mixes that were measured, so that a change of the model which makes it untrue is
// noticed. What is required is 4 % on average and none above 12 %; two cores do not meet it.
func TestThePredictionsAreAsNearToWhatWasMeasuredAsIsSaid(t *testing.T) {
	t.Parallel()
	const worst = 0.12
	for name, test := range map[string]struct {
		path   string
		cores  int
		equal  bool
		mixes  int
		mean   float64
		beyond int // how many pods are off by more than worst
	}{
		"one core, unequal":  {"testdata/mixes.csv", 1, false, 24, 0.04, 2},
		"one core, equal":    {"testdata/mixes.csv", 1, true, 4, 0.019, 0},
		"two cores, unequal": {"testdata/mixes.csv", 2, false, 19, 0.07, 5},
		"two cores, equal":   {"testdata/mixes.csv", 2, true, 4, 0.05, 0},
		"real programs":      {"testdata/programs.csv", 1, false, 7, 0.04, 0},
	} {
		var e errorsOf
		beyond := 0
		for _, c := range measuredMixes(t, test.path) {
			if c.cores != test.cores || c.equal() != test.equal {
				continue
			}
			e.add(&c)
			for i := range c.mix {
				if math.Abs(c.predicted[0][i]/c.measured[i]-1) > worst {
					beyond++
				}
			}
		}
		if e.mixes < test.mixes || e.mean(0) > test.mean || beyond > test.beyond {
			t.Errorf("%s: %v; %d pods are off by more than %v", name, &e, beyond, worst)
		}
		if !test.equal && e.mean(1) < 4*e.mean(0) {
			t.Errorf("%s: equal shares are nearly as good: %v", name, &e)
		}
	}
}

func measuredMixes(t *testing.T, path string) []compared {
	t.Helper()
	records, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := compare(records)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A quota is an average where bursts are short beside it, and a cap where they are long.
func TestQuotasAreAveragesForShortBurstsAndCapsForLongOnes(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/quota.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	near := 0
	for _, line := range lines[1:] {
		loading, limit, burst, stretch := value(t, line[0]), value(t, line[1]), value(t, line[2]), value(t, line[4])
		average, ceiling := math.Max(1, loading/limit), 1-loading+loading/limit
		const tolerance = 0.07
		switch {
		case burst > 1 && burst < 300: // milliseconds
			continue
		case burst <= 1 && loading < limit && math.Abs(stretch/average-1) > tolerance:
			t.Errorf("%v: want the average, %v", line, average)
		case burst >= 300 && math.Abs(stretch/ceiling-1) > tolerance:
			t.Errorf("%v: want the cap, %v", line, ceiling)
		}
		near++
	}
	if near == 0 {
		t.Error("there is no burst that is short or long")
	}
}

func value(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
