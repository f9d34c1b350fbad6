package main

import (
	"fmt"
	"slices"
	"strings"
)

// mix is jobs that run on one node together, by the names of their kinds.
type mix []string

// allMixes are the co-locations of the second part: two to six pods.
func allMixes() []mix {
	return []mix{
		{"cpu", "cpu"},
		{"cpu", "cpu-50"},
		{"cpu-50", "cpu-50"},
		{"cpu-75", "cpu-25"},
		{"cpu", "io"},
		{"cpu", "cpu-60-io-40"},
		{"cpu-60-io-40", "io"},
		{"filecomp", "cpu"},
		{"filecomp", "io"},
		{"cpu-50", "cpu-25", "cpu-30-io-60"},
		{"cpu-60-io-40", "cpu-60-io-40", "cpu-60-io-40"},
		{"cpu-75", "filecomp", "io"},
		{"cpu-25", "cpu-25", "cpu-25", "cpu-25"},
		{"cpu", "cpu-50", "io", "cpu-30-io-60"},
		{"filecomp", "filecomp", "cpu-50", "io"},
		{"cpu-25", "cpu-25", "cpu-50", "cpu-60-io-40", "io"},
		{"cpu", "cpu-75", "cpu-50", "cpu-25", "cpu-30-io-60", "filecomp"},
	}
}

// quickMixes are of the kinds that a quick run measures.
func quickMixes() []mix {
	return []mix{
		{"cpu", "cpu-50"},
		{"cpu-50", "cpu-60-io-40"},
		{"cpu", "cpu-50", "cpu-50", "cpu-60-io-40"},
	}
}

// kindsOf returns the kinds in some mixes, each once, in the order of their names.
func kindsOf(mixes ...mix) []string {
	names := slices.Sorted(slices.Values(slices.Concat(mixes...)))
	return slices.Compact(names)
}

// String writes the mix as people say it: "cpu, 2× cpu-50".
func (m mix) String() string {
	var parts []string
	for i, name := range m {
		if slices.Index(m, name) < i {
			continue
		}
		copies := 0
		for _, other := range m {
			if other == name {
				copies++
			}
		}
		if copies > 1 {
			name = fmt.Sprintf("%d× %s", copies, name)
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// jobs returns the jobs of the mix. Each has bursts of its own, also those of one kind:
// the same ones would march in step.
func (m mix) jobs(seconds float64, repetition int) []job {
	const apart = 100
	jobs := make([]job, len(m))
	for i, name := range m {
		jobs[i] = job{kindOf(name), seconds, apart*(repetition+1) + i}
	}
	return jobs
}
