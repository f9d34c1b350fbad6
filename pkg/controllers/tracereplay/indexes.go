package tracereplay

import (
	"fmt"
	"strconv"
	"strings"
)

// parseIndexes reads the indexes in the status of a Job with n of them, such as "0,3-5,7".
func parseIndexes(text string, n int) ([]int, error) {
	var indexes []int
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of indexes such as 0,3-5: %w", text, err)
		}
		to, err := strconv.Atoi(last)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of indexes such as 0,3-5: %w", text, err)
		}
		if from < 0 || to < from || to >= n {
			return nil, fmt.Errorf("%s are not among the Job's %d indexes", part, n)
		}
		for i := from; i <= to; i++ {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

// formatRuns writes runs one in a line.
func formatRuns(runs []int) string {
	var text strings.Builder
	for _, run := range runs {
		fmt.Fprintln(&text, run)
	}
	return text.String()
}

// parseRuns reads the output of formatRuns for a replay with the given number of runs.
func parseRuns(text string, total int) ([]int, error) {
	var runs []int
	for line := range strings.Lines(text) {
		run, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("line %d is not the number of a run: %w", len(runs)+1, err)
		}
		if run < 0 || run >= total || len(runs) >= total {
			return nil, fmt.Errorf("line %d: %d is not another one of the %d runs", len(runs)+1, run, total)
		}
		runs = append(runs, run)
	}
	return runs, nil
}
