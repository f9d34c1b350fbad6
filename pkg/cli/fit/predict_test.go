package fit_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"

	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/evaluate/prediction"
)

// observationSets returns files of observations: all data sets that there are, and made-up ones of kinds that these lack.
func observationSets(t *testing.T) map[string]string {
	t.Helper()
	sets := map[string]string{
		"a wrong alone time":             wrongAloneTime(),
		"one job that takes five times":  stretched(5, 1),
		"dilations of a hundred":         stretched(1, 60),
		"pairs and threes":               pairsAndThrees,
		"three at once only":             "run,job,dilation\n1,tts,1\n2,tts,1\n2,tts,1\n3,tts,1.39\n3,tts,1.39\n3,tts,1.39\n",
		"parsec-ibench.csv by wall time": besideStressors(t, "real_s"),
		"parsec-ibench.csv by CPU time":  besideStressors(t, "user_s"),
	}
	for _, path := range []string{k80, "../../../docs/examples/observations.csv"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sets[filepath.Base(path)] = string(content)
	}
	return sets
}

// stretched returns measurements of all pairs of eight jobs, with 1 % noise. All dilations of the first are over an alone time
// that is too short by a factor, and it is that many times as sensitive as others.
func stretched(factor, sensitivity float64) string {
	random := rand.New(rand.NewPCG(3, 31))
	const jobs = 8
	var own, theirs [jobs]float64
	for j := range jobs {
		own[j], theirs[j] = 0.2+0.8*random.Float64(), 0.2+0.8*random.Float64()
	}
	own[0] *= sensitivity
	var file strings.Builder
	file.WriteString("run,job,dilation\n")
	for j := range jobs {
		for k := j; k < jobs; k++ {
			for _, pair := range [][2]int{{j, k}, {k, j}} {
				dilation := (1 + own[pair[0]]*theirs[pair[1]]) * (1 + 0.01*random.NormFloat64())
				if pair[0] == 0 {
					dilation *= factor
				}
				fmt.Fprintf(&file, "%d-%d,job-%d,%.4f\n", j, k, pair[0], dilation)
			}
		}
	}
	return file.String()
}

// besideStressors returns the dilations of jobs beside one stressor each, by a column of times.
func besideStressors(t *testing.T, column string) string {
	t.Helper()
	open, err := os.Open("../../../test/testdata/colocation/parsec-ibench.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	rows, err := csv.NewReader(open).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	alone := map[string]float64{}
	seconds := func(row []string) float64 {
		s, err := strconv.ParseFloat(row[at[column]], 64)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, row := range rows[1:] {
		if row[at["stressor"]] == "none" {
			alone[row[at["job"]]] = seconds(row)
		}
	}
	var file strings.Builder
	file.WriteString("run,job,dilation\n")
	for i, row := range rows[1:] {
		if stressor := row[at["stressor"]]; stressor != "none" {
			fmt.Fprintf(&file, "%d,%s,%.4f\n%d,%s,\n", i, row[at["job"]], seconds(row)/alone[row[at["job"]]], i, stressor)
		}
	}
	return file.String()
}

// What fit predicts of pairs over the stated alone times is what predict says, from the profiles that fit has written.
func TestPredictAgreesWithFitWithinOnePercent(t *testing.T) {
	t.Parallel()
	for name, observed := range observationSets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "profiles.yaml")
			code, stdout, stderr := clitest.Run(t, observed, "fit", "-f", "-", "--profiles", file, "-o", "json")
			var answer fits.Answer
			if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, stderr)
			}
			if code, stdout, _ := clitest.Run(t, "", "check", "-f", file); code != 0 {
				t.Fatalf("what fit writes is not valid: %s", stdout)
			}
			files := input.Files{Paths: []string{file}}
			m, err := files.Read(verb.Streams{}, input.WorkloadProfile, input.NodeProfile)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for j, slowed := range answer.Jobs {
				for k, other := range answer.Jobs {
					got := overStated(t, m, j, k)
					want := answer.Pairs[j][k]
					if slowed.Baseline != nil {
						want *= slowed.Baseline.Value
					}
					worst = max(worst, math.Abs(got/want-1))
					if math.Abs(got/want-1) > 0.01 {
						t.Errorf("%s beside %s: predict says %.4f, fit %.4f", slowed.Name, other.Name, got, want)
					}
				}
			}
			t.Logf("off by %.2f %% at most, %.2f %% by its own account", 100*worst, 100*answer.Profiles.Pairs.Worst)
			if math.Abs(worst-answer.Profiles.Pairs.Worst) > 0.001 {
				t.Errorf("fit says that profiles are off by %.4f at most, and they are by %.4f", answer.Profiles.Pairs.Worst, worst)
			}
		})
	}
}

// overStated predicts a pair from the profiles of two jobs, and returns the dilation of the first over its stated alone time.
func overStated(t *testing.T, m *input.Objects, job, other int) float64 {
	t.Helper()
	profiles := m.WorkloadProfiles
	p, err := prediction.Predict(prediction.Input{
		Profiles: profiles, Nodes: m.NodeProfiles, Cores: 1,
		Pods: []prediction.Pods{{Name: profiles[job].Name, Copies: 1}, {Name: profiles[other].Name, Copies: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if factor := p.Pods[0].NeutralCorrection; factor != nil {
		return p.Pods[0].Dilation * *factor
	}
	return p.Pods[0].Dilation
}

func TestPredictSaysThatAnAloneTimeWasCorrected(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "profiles.yaml")
	code, stdout, stderr := clitest.Run(t, stretched(5, 1), "fit", "-f", "-", "--profiles", file)
	if want := "Alone times that differ from the stated ones are in them as neutralCorrection"; code != 0 || !strings.Contains(stdout, want) {
		t.Fatalf("exit code %d, %s, output without %q:\n%s", code, stderr, want, stdout)
	}
	code, stdout, stderr = clitest.Run(t, "", "predict", "-f", file, "--pod", "job-0", "--pod", "job-1")
	if code != 0 || !strings.Contains(stdout, "The alone time of job-0 that was stated is too short by 4.") || !strings.Contains(stdout, "over that time its dilation is 5.") {
		t.Errorf("exit code %d, %s, output:\n%s", code, stderr, stdout)
	}
}
