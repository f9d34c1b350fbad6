package main

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSameFlagsGiveTheSameTable(t *testing.T) {
	t.Parallel()
	var tables [2]bytes.Buffer
	for i, workers := range []string{"1", "3"} {
		if err := run(&tables[i], []string{"--processors", "2", "--mixes", "4", "--window", "200ms", "--kernel", "6.1", "--workers", workers}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(tables[0].String(), tables[1].String()); diff != "" {
		t.Error(diff)
	}
	rows, err := csv.NewReader(&tables[0]).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if last := rows[len(rows)-1][0]; last != "2-4" {
		t.Errorf("the last mix is %s", last)
	}
}

func TestFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--kernel 5.4":              `--kernel: "5.4" is none of 6.1, 6.12 and 6.18`,
		"--processors 0":            "--processors, --mixes and --workers must be at least 1",
		"--runs 1":                  "--runs: 1 is not at least 2",
		"--processors 4 --caches 3": "machine.Caches: 3 do not divide 4 processors",
		"--window -1s":              "--window: -1s is not above 0",
	} {
		err := run(&bytes.Buffer{}, append(strings.Fields(flags), "--mixes", "1"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flags, err, want)
		}
	}
}
