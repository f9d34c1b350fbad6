package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/report/chart"
)

// measured are three runs of the first setting, the last of them disturbed.
func measured() []aRun {
	name := settings()[0].name
	return []aRun{
		{name, 1, []factors{{6, 5, 4, 3}, {2, 2, 2, 2}}, 1.001, 1.002, 1.003, true},
		{name, 2, []factors{{7, 5, 4, 3}, {2, 2, 2, 2}}, 1.001, 1.002, 1.003, true},
		{name, 3, []factors{{99, 5, 4, 3}, {99, 2, 2, 2}}, 1.001, 1.2, 1.003, false},
	}
}

func summarized(t *testing.T) []row {
	t.Helper()
	rows, err := summarize(t.Context(), settings(), measured())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestASummaryLeavesOutDisturbedRuns(t *testing.T) {
	t.Parallel()
	rows := summarized(t)
	if len(rows) != 2 {
		t.Fatalf("%d rows, want one per workload of the setting that was measured", len(rows))
	}
	r := rows[0]
	if r.Undisturbed != 2 || r.Runs != 3 || r.Measured != 6.5 || r.Sharing != 5 || r.Discriminatory != 4 || r.Orders != 3 {
		t.Errorf("%+v", r)
	}
	// Two equal workloads share an M/M/1 queue that is 80 % busy.
	if math.Abs(r.Model-5) > 1e-9 {
		t.Errorf("the model predicts %v", r.Model)
	}
	// The mean of 1.2 and 1.4, and Student's t for one degree of freedom, 12.706, times
	// 0.1414/√2.
	if math.Abs(r.ToSharing.Mean-1.3) > 1e-12 || math.Abs(*r.ToSharing.Half-1.2706) > 1e-4 {
		t.Errorf("measured to sharing: %s", r.ToSharing)
	}
}

func TestASingleRunHasNoInterval(t *testing.T) {
	t.Parallel()
	rows, err := summarize(t.Context(), settings(), measured()[:1])
	if err != nil {
		t.Fatal(err)
	}
	if e := rows[0].ToSharing; e.Half != nil || e.String() != "1.200" {
		t.Errorf("%s", e)
	}
}

func TestMedianIsInTheMiddle(t *testing.T) {
	t.Parallel()
	if m := median([]float64{3, 1, 100}); m != 3 {
		t.Errorf("median of three is %v", m)
	}
	if m := median([]float64{3, 1, 100, 5}); m != 4 {
		t.Errorf("median of four is %v", m)
	}
}

func TestEveryFormatHasEveryWorkload(t *testing.T) {
	t.Parallel()
	rows := summarized(t)
	var table, lines, document bytes.Buffer
	for format, to := range map[string]*bytes.Buffer{"table": &table, "csv": &lines, "json": &document} {
		if err := write(to, format, rows); err != nil {
			t.Fatal(err)
		}
	}
	if want := 3; strings.Count(table.String(), "\n") != want || !strings.Contains(table.String(), "1.300 ± 1.271") {
		t.Errorf("table:\n%s", table.String())
	}
	records, err := csv.NewReader(&lines).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 3 || records[1][0] != "1:1" || records[1][6] != "1.003" || records[1][7] != "6.5" {
		t.Errorf("csv: %v", records)
	}
	var back []row
	if err := json.Unmarshal(document.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, back); diff != "" {
		t.Errorf("json: %s", diff)
	}
	if err := chart.Encode(&bytes.Buffer{}, scatter(rows), chart.SVG); err != nil {
		t.Errorf("chart: %v", err)
	}
}

func TestRunsAreWrittenWithTheDisturbedOnes(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := writeRuns(&b, measured()); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1:1", "3", "1", "1.001", "1.2", "1.003", "false", "99", "5", "4", "3"}
	if diff := cmp.Diff(want, records[5]); diff != "" {
		t.Error(diff)
	}
}

func TestASettingIsFoundByName(t *testing.T) {
	t.Parallel()
	if s, err := settingsNamed("1:4"); err != nil || len(s) != 1 || s[0].name != "1:4" {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := settingsNamed("1:5"); err == nil || !strings.HasPrefix(err.Error(), `--setting: "1:5" is none of: 1:1; 1:4`) {
		t.Errorf("error is %v", err)
	}
}
