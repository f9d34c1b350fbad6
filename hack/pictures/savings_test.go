package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/evaluate/savings"
)

// eachRow calls a function for each point of a map.
func eachRow(m *savings.Map, do func(savings.Row)) {
	for _, pods := range m.PodsPerCore() {
		for _, unlikeness := range m.Unlikenesses() {
			for _, load := range m.Loads() {
				do(m.Row(savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness}))
			}
		}
	}
}

func theMap(t *testing.T) *savings.Map {
	t.Helper()
	m, err := savings.Made()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The pages say what the map says, each number written as there.
func TestWhatThePagesSayOfTheSavingsIsOnTheMap(t *testing.T) {
	t.Parallel()
	m := theMap(t)
	at := m.Row(savings.Point{Load: 0.6, PodsPerCore: 2, Unlikeness: 0.4})
	grid := m.PodsPerCore()
	for page, claims := range map[string][]string{
		"comparison.md": {
			fmt.Sprintf("it leaves %.2f of the %.2f of excess dilation", at.Loadline, at.KubeScheduler),
			fmt.Sprintf("less than %g, which is not worth a scheduler", savings.Little),
		},
		"evidence/savings.md": append(tableOf(m, 2), fmt.Sprintf("has %g to %g pods a core", grid[0], grid[len(grid)-1])),
	} {
		text := readPage(t, page)
		for _, want := range claims {
			if !strings.Contains(text, unwrapped(want)) {
				t.Errorf("docs/%s does not say %q", page, want)
			}
		}
	}
}

// tableOf returns the lines of a table of what is found with a number of pods per core.
func tableOf(m *savings.Map, pods float64) (lines []string) {
	for _, load := range m.Loads() {
		line := fmt.Sprintf("| %.0f %% |", 100*load)
		for _, unlikeness := range m.Unlikenesses() {
			r := m.Row(savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness})
			line += fmt.Sprintf(" %.2f → %.2f (± %.2f) |", r.KubeScheduler, r.Loadline, r.SavedError)
		}
		lines = append(lines, line)
	}
	return lines
}

// The words of the pages: where there is little to save, and how much of it is saved.
func TestThePagesSayWhereLittleIsSaved(t *testing.T) {
	t.Parallel()
	m := theMap(t)
	moderate, high := math.Inf(1), math.Inf(1)
	eachRow(m, func(r savings.Row) {
		little := r.Load <= 0.2 || r.Load <= 0.6 && r.Unlikeness == 0
		if saved := r.KubeScheduler - r.Loadline; little && saved >= savings.Little {
			t.Errorf("%+v: %.3f are saved", r.Point, saved)
		}
		const some = 0.01 // of less, there is nothing to tell
		switch {
		case r.KubeScheduler < some:
		case r.Load <= 0.6:
			moderate = min(moderate, r.SavedPart())
		case r.Load == 0.9:
			high = min(high, r.SavedPart())
		}
	})
	if moderate < 0.7 || high < 0.4 {
		t.Errorf("at least %.2f are saved at loads up to 60 %%, and %.2f at 90 %%", moderate, high)
	}
}
