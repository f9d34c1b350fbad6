package fits_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/model/fit"
)

// smallest are files of a few lines, each of which lacks something that larger ones have.
var smallest = map[string][]string{
	"two jobs alone and together": {"1,a,1", "2,b,1", "3,a,2", "3,b,2"},
	"one job alone":               {"1,a,1"},
	"one job alone and in pairs":  {"1,a,1", "2,a,2", "2,a,2"},
	"alone, and three together":   {"1,a,1", "2,a,1", "3,a,2", "3,a,2", "3,a,2"},
	"a value is missing":          {"1,a,1", "2,a,2", "2,b,"},
	"nothing slows anything down": {"1,a,1", "1,b,1", "2,a,1", "2,a,1", "3,b,1", "3,b,1"},
	"one pair":                    {"1,a,1.5", "1,b,1.5"},
	"three of one job":            {"1,a,2", "1,a,2", "1,a,2"},
	"three, but not two, at once": {"1,a,1.00", "1,a,1.00", "2,a,1.39", "2,a,1.39", "2,a,1.39"},
	"one, two and three":          {"1,a,1.00", "2,a,1.00", "2,a,1.00", "3,a,1.39", "3,a,1.39", "3,a,1.39"},
	"one and three":               {"1,a,1.00", "3,a,2.91", "3,a,2.91", "3,a,2.91"},
	"pairs and a triple":          {"1,a,1.2", "1,b,1.3", "2,a,1.5", "2,c,1.4", "3,b,1.6", "3,c,1.7", "4,a,1.9", "4,b,1.9", "4,c,1.9"},
	"the extremes":                {"1,a,0.01", "1,b,1000000", "2,a,1000000", "2,a,0.01", "3,b,1", "3,c,0.5"},
}

// dataSets returns the rows of observations of every data set that there is.
func dataSets(t *testing.T) map[string][]string {
	t.Helper()
	sets := maps.Clone(smallest)
	for _, path := range []string{"../../../test/testdata/colocation/gpu-pairs-k80.csv", "../../../docs/examples/observations.csv"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(string(content)), "\n")
		if rows[0] != "run,job,dilation" {
			t.Fatalf("%s: the header is %s", path, rows[0])
		}
		sets[filepath.Base(path)] = rows[1:]
	}
	return sets
}

// Whatever rows of good files are left is answered with numbers, or refused in words. Most subsets are small: that is where rows
// are that nothing can be learnt from, and fits are quick.
func TestEverySubsetOfAGoodFileIsAnsweredOrRefused(t *testing.T) {
	t.Parallel()
	const draws, most = 150, 12 // of each file, and of rows
	for name, rows := range dataSets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(12, uint64(len(rows))))
			for draw := range draws {
				window := min(len(rows), 2*most) // rows of a run stand together
				first := random.IntN(len(rows) - window + 1)
				kept := slices.Clone(rows[first : first+window])
				for left := 1 + random.IntN(1+random.IntN(most)); len(kept) > left; {
					at := random.IntN(len(kept))
					kept = slices.Delete(kept, at, at+1)
				}
				answered(t, kept, draw%30 == 0)
			}
		})
	}
}

// answered fits rows, and checks that what comes out can be printed.
func answered(t *testing.T, rows []string, curve bool) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v, by\n%s", r, strings.Join(rows, "\n"))
		}
	}()
	runs, _, err := fit.Read(strings.NewReader("run,job,dilation\n" + strings.Join(rows, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := fits.Fit(fits.Input{Runs: runs, Options: fit.Options{MaxResources: 2, Folds: 2}, LearningCurve: curve})
	if err != nil {
		if strings.TrimSpace(err.Error()) == "" {
			t.Errorf("refused without a word:\n%s", strings.Join(rows, "\n"))
		}
		return
	}
	if _, err := json.Marshal(answer); err != nil { // of what is no number
		t.Errorf("%v, by\n%s", err, strings.Join(rows, "\n"))
	}
	for _, j := range answer.Jobs {
		for _, i := range slices.Concat(j.Sensitivity, j.Pressure) {
			determined(t, fmt.Sprintf("%s in\n%s", j.Name, strings.Join(rows, "\n")), &i)
		}
		determined(t, fmt.Sprintf("%s is dilated in\n%s", j.Name, strings.Join(rows, "\n")), j.Dilated)
		determined(t, fmt.Sprintf("%s dilates in\n%s", j.Name, strings.Join(rows, "\n")), j.Dilates)
	}
}

// determined checks that an interval, where there is one, says something.
func determined(t *testing.T, what string, i *fits.Interval) {
	t.Helper()
	switch {
	case i == nil:
	case (i.High == nil) != (i.Unknown != "") || (i.Low == nil) != (i.High == nil):
		t.Errorf("%s: %+v", what, i)
	case i.High != nil && *i.High-*i.Low > 100*(1+i.Value):
		t.Errorf("%s: %v, from %v to %v", what, i.Value, *i.Low, *i.High)
	}
}
