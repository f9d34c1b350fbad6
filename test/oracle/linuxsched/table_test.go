package linuxsched_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
)

// row is one of a table, by column.
type row map[string]string

// number returns the number in a column, 0 for an empty one.
func (r row) number(t *testing.T, column string) float64 {
	t.Helper()
	text, ok := r[column]
	if ok && text == "" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	return v
}

// mixes reads a table, and returns the rows of each mix.
func mixes(t *testing.T, name string) (all [][]row) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]int{}
	for _, line := range lines[1:] {
		r := row{}
		for i, column := range lines[0] {
			r[column] = line[i]
		}
		place, known := places[r["mix"]]
		if !known {
			place = len(all)
			places[r["mix"]] = place
			all = append(all, nil)
		}
		all[place] = append(all[place], r)
	}
	return all
}

// tally collects relative errors.
type tally struct {
	count, far       int // far: above 10 %
	sum, bias, worst float64
	where            string
}

func (y *tally) add(off float64, where string) {
	const far = 0.1
	y.count++
	y.sum += math.Abs(off)
	y.bias += off
	if math.Abs(off) > far {
		y.far++
	}
	if math.Abs(off) > y.worst {
		y.worst, y.where = math.Abs(off), where
	}
}

func (y *tally) mean() float64 { return y.sum / float64(max(1, y.count)) }

// String implements [fmt.Stringer].
func (y *tally) String() string {
	return fmt.Sprintf("%d pods, off by %.2f %% on average (bias %+.2f %%), above 10 %% for %d, %.1f %% at worst (%s)",
		y.count, 100*y.mean(), 100*y.bias/float64(max(1, y.count)), y.far, 100*y.worst, y.where)
}

// within fails if errors are larger than they may be.
func (y *tally) within(t *testing.T, name string, mean, worst float64, far int) {
	t.Helper()
	t.Logf("%s: %v", name, y)
	if !(y.mean() <= mean) || !(y.worst <= worst) || y.far > far || y.count == 0 {
		t.Errorf("%s: %v; want at most %.2f %%, %.0f %% at worst, above 10 %% for %d", name, y, 100*mean, 100*worst, far)
	}
}
