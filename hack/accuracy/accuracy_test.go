package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/fit"
)

// page returns the generated part of docs/evidence/accuracy.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "evidence", "accuracy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), begin)
	generated, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the markers are missing")
	}
	return generated
}

// sets reads a file of the test data.
func sets(t *testing.T, name string) []set {
	t.Helper()
	all, err := read(filepath.Join("..", "..", folder, name), 8)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// All rows but those of the models that fit chooses for stressors: a minute and more, so that only crossed effects are
// computed there.
func TestThePageHoldsWhatIsComputed(t *testing.T) {
	t.Parallel()
	var rows []row
	var notes []string
	for _, name := range []string{
		"gpu-pairs-h100-mps.csv", "gpu-pairs-h100.csv", "gpu-pairs-k80.csv", "gpu-triples-h100.csv", "parsec-ibench.csv", "parsec-threads.csv",
	} {
		for _, s := range sets(t, name) {
			notes = append(notes, s.notes()...)
			if stressors, are := s.(stressorSet); are {
				ours, err := stressors.leaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, ours)
				continue
			}
			more, err := s.measure()
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, more...)
		}
	}
	text := page(t)
	for line := range strings.Lines(table(rows) + notesOf(notes)) {
		if !strings.Contains(text, line) {
			t.Errorf("docs/evidence/accuracy.md lacks %q: run make accuracy", line)
		}
	}
}

// The bars of the issue: 10 % of the inflation of service, 8 % of the speed against threads.
func TestStressorsAndThreadsArePredicted(t *testing.T) {
	t.Parallel()
	service, are := sets(t, "parsec-ibench.csv")[0].(stressorSet)
	if !are {
		t.Fatal("parsec-ibench.csv is not read as stressors")
	}
	ours, err := service.leaveOneOut()
	if err != nil {
		t.Fatal(err)
	}
	if ours.count != 42 || ours.ratio.mean > 0.1 {
		t.Errorf("inflation by stressors: off by %.4f in %d cells, want at most 0.1 in 42", ours.ratio.mean, ours.count)
	}
	rows, err := sets(t, "parsec-threads.csv")[0].measure()
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[0]; got.count != 21 || got.ratio.mean > 0.08 {
		t.Errorf("speed against threads: off by %.4f in %d runs, want at most 0.08 in 21", got.ratio.mean, got.count)
	}
}

// With λ of 1.5, 1 and 2 the mean of |λ − 1| is 0.5.
func TestErrorsOfTheExcessAreOverItsMean(t *testing.T) {
	t.Parallel()
	r := newRow("", "", "", []float64{1.5, 1, 2}, []float64{1.5, 1.1, 1.8})
	for name, test := range map[string]struct{ got, want float64 }{
		"mean of the ratio":   {r.ratio.mean, (0.1 + 0.1) / 3},
		"worst of the ratio":  {r.ratio.worst, 0.1},
		"mean of the excess":  {r.excess.mean, 0.3 / 1.5},
		"worst of the excess": {r.excess.worst, 0.4},
	} {
		if math.Abs(test.got-test.want) > 1e-12 { // rounding
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
	}
	flat := newRow("set", "cpu", "constant", []float64{1, 1}, []float64{1, 1})
	if got := flat.excess.String(); got != "– | – | –" {
		t.Errorf("where nothing is dilated: %q", got)
	}
}

func TestDevicesPairsAndRepeatsAreRead(t *testing.T) {
	t.Parallel()
	all, err := readPairs("t.json", []byte(`{"v100": {
		"('A', 1)": {"null": 10, "('A', 1)": [5, 5], "('B', 1)": [4, 6], "('C', 1)": [0.0, 0.0]},
		"('B', 1)": {"null": 12, "('A', 1)": [6, 4], "('B', 1)": [3, 3]},
		"('C', 1)": {"null": 1},
		"('A', 2)": {"null": 20, "('A', 1)": [5, 5]}},
		"p100": {"('A', 1)": {"null": 10, "('A', 1)": [5, 5], "('Ä, 混合', 1)": [8, 2]}, "('Ä, 混合', 1)": {"null": 4}},
		"tpu": {}, "t4": {"('A', 8)": {"null": 1}, "('B', 1)": {"null": 1, "('B', 1)": [0.5, 0.5]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d data sets, want one of each device with pairs, and one of the rest", len(all))
	}
	other, are := all[1].(runSet)
	if !are || len(other.runs) != 2 || other.runs[1].Members[1] != (fit.Member{Job: "Ä, 混合", Dilation: 2}) {
		t.Errorf("runs %+v, want A A and A beside the job whose name has a comma", other.runs)
	}
	if rows, err := all[2].measure(); len(rows) != 0 || err != nil {
		t.Errorf("devices that are left out: %v, %v", rows, err)
	}
	if got := all[2].notes(); len(got) != 1 || got[0] != "t.json: devices with fewer than two pairs are left out: tpu, t4." {
		t.Errorf("got %q", got)
	}
	s, are := all[0].(runSet)
	if !are || len(s.runs) != 3 || s.runs[1].Members[0].Dilation != 2.5 || s.runs[1].Members[1].Dilation != 2 {
		t.Errorf("runs %+v, want A A, A B and B B", s.runs)
	}
	want := []string{
		"t.json: nothing was measured twice, so that the noise is not known.",
		"t.json, v100: 1 entries with a throughput of 0, which could not run together, are left out.",
		"t.json, v100: 1 jobs on several accelerators are left out.",
	}
	if got := strings.Join(s.notes(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	again := fit.Run{Name: "4", Members: slices.Clone(s.runs[1].Members)}
	again.Members[0].Dilation = 3.5
	// A beside B: 2.5 and 3.5, each a sixth from 3; B beside A: equal.
	if got := repeats(append(s.runs, again)); got != "4 repeats are 8.3 % from their mean, on average" {
		t.Errorf("got %q", got)
	}
}

// Names, the order of rows, carriage returns and a mark of the byte order change nothing in times; the errors are sums in another
// order.
func TestTimesDoNotDependOnNamesOrOrder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"parsec-ibench.csv", "parsec-threads.csv"} {
		data, err := os.ReadFile(filepath.Join("..", "..", folder, name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		jobs := map[string]string{}
		for i, line := range lines[1:] {
			job, rest, _ := strings.Cut(line, ",")
			if jobs[job] == "" {
				jobs[job] = "任务-é-" + string(rune('a'+len(jobs)*5%7))
			}
			lines[i+1] = jobs[job] + "," + rest
		}
		slices.Reverse(lines[1:])
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("\ufeff"+strings.Join(lines, "\r\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, err := read(path, 8)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, want := first(t, changed[0]), first(t, sets(t, name)[0])
		if got.count != want.count || math.Abs(got.ratio.mean-want.ratio.mean) > 1e-9 || math.Abs(got.ratio.worst-want.ratio.worst) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// first returns the errors of our own model.
func first(t *testing.T, s set) row {
	t.Helper()
	if stressors, are := s.(stressorSet); are {
		ours, err := stressors.leaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		return ours
	}
	rows, err := s.measure()
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

func TestBadFilesAreRefusedByLineAndField(t *testing.T) {
	t.Parallel()
	const stress, threads = "job,stressor,real_s,user_s,sys_s\n", "job,threads,real_s,user_s,sys_s\n"
	for name, test := range map[string]struct{ file, text, want string }{
		"empty":              {"a.csv", "", `line 1: "" is not a header of a known format`},
		"another header":     {"a.csv", "a,b\n", `line 1: "a,b" is not a header of a known format`},
		"no rows":            {"a.csv", stress, "line 2: there are no times"},
		"a dilation":         {"a.csv", "run,job,dilation\n1,a,NaN\n", `line 2: dilation: "NaN"`},
		"NaN":                {"a.csv", stress + "a,none,1,NaN,0\n", `line 2: user_s: "NaN" is not a finite number of seconds above 0`},
		"infinite":           {"a.csv", stress + "a,none,+Inf,1,0\n", `line 2: real_s: "+Inf" is not`},
		"negative":           {"a.csv", stress + "a,none,1,1,-1\n", `line 2: sys_s: "-1" is not`},
		"no name":            {"a.csv", stress + ",none,1,1,0\n", "line 2: job: is empty"},
		"twice, CRLF":        {"a.csv", stress + "a,none,1,1,0\r\na,none,1,1,0\r\n", `line 3: stressor: "none" of "a" is on line 2 already`},
		"a field too few":    {"a.csv", stress + "a,none,1,1\n", "record on line 2: wrong number of fields"},
		"no time alone":      {"a.csv", stress + "a,llc,1,1,0\n", `line 2: job: "a" has no row with the stressor "none", its time alone`},
		"too few":            {"a.csv", stress + "a,none,1,1,0\na,llc,2,2,0\n", "stressor: 1 rows beside stressors are too few"},
		"threads of zero":    {"a.csv", threads + "a,0,1,1,0\n", `line 2: threads: "0" is not a number of at least 1`},
		"one thread is gone": {"a.csv", threads + "a,2,1,1,0\na,4,1,1,0\na,8,1,1,0\n", `line 4: job: "a" needs a row with 1 thread and two with more`},
		"cut off":            {"a.json", "{\"k80\": {\n", "line 1: k80: EOF"},
		"no device":          {"a.json", "{}", "line 1: table: there is no device on which two pairs of jobs ran"},
		"a name":             {"a.json", "{\"k80\": {\n\"A\": {}}}", `line 2: k80: A: is not of the form ('name', accelerators)`},
		"a text":             {"a.json", "{\"k80\": {\n\"('A', 1)\": {\"null\": \"x\"}}}", "line 2: k80: ('A', 1): null: x is not a throughput of at least 0"},
		"below zero":         {"a.json", "{\"k80\": {\"('A', 1)\": {\"null\": 1,\n\"('A', 1)\": [-1, 2]}}}", "line 2: k80: ('A', 1): ('A', 1): -1 is not a throughput"},
		"twice":              {"a.json", "{\"k80\": {\"('A', 1)\": {\"null\": 1, \"null\": 1}}}", "line 1: k80: ('A', 1): null is no key, or appears twice"},
		"never alone":        {"a.json", "{\"k80\": {\"('A', 1)\": {\"('A', 1)\": [1, 1]}}}", `k80: "A" beside "A": the throughput alone (null) of both must be above 0, not 0 and 0`},
	} {
		path := filepath.Join(t.TempDir(), test.file)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path, 8); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if _, _, err := measure(files{t.TempDir()}, 8); err == nil || err.Error() != "-f: there are no .csv or .json files" {
		t.Errorf("an empty folder: %v", err)
	}
}
