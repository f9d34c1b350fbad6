package main

import (
	"slices"
	"testing"

	"loadline.dev/loadline/hack/experiments/compare"
	"loadline.dev/loadline/hack/experiments/job"
)

func TestThereAreEnoughMixesOfTwoToSixPods(t *testing.T) {
	t.Parallel()
	if n := len(allMixes()); n < 14 {
		t.Errorf("there are %d mixes", n)
	}
	sizes := map[int]bool{}
	for _, m := range slices.Concat(allMixes(), quickMixes()) {
		sizes[len(m)] = true
		jobsOf(m, 1, 0) // panics if a kind is unknown
	}
	for n := 2; n <= 6; n++ {
		if !sizes[n] {
			t.Errorf("no mix has %d pods", n)
		}
	}
	if len(sizes) != 5 {
		t.Errorf("there are mixes of other sizes: %v", sizes)
	}
}

func TestAQuickRunMeasuresWhatItMixes(t *testing.T) {
	t.Parallel()
	o := options{quick: true, repeat: 3, only: parts(), kinds: job.Kinds(job.Network), io: job.Network, seconds: 12, scale: 6, rounds: 10}
	if err := o.complete(nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range compare.Kinds(quickMixes()...) {
		if !slices.Contains(o.kinds, name) {
			t.Errorf("%s is mixed, %v are measured", name, o.kinds)
		}
	}
}

func TestNoTwoJobsOfAMixHaveTheSameBursts(t *testing.T) {
	t.Parallel()
	seeds := map[int]bool{}
	for repetition := range 3 {
		for _, j := range jobsOf(compare.Mix{"cpu", "cpu", "io"}, 10, repetition) {
			seeds[j.Seed] = true
		}
	}
	if len(seeds) != 9 {
		t.Errorf("there are %d seeds, want 9", len(seeds))
	}
}

func TestADiskHasTheMixesWithoutFileComp(t *testing.T) {
	t.Parallel()
	onDisk := mixesOf(allMixes(), job.DiskRead)
	if n := len(onDisk); n < 8 || n >= len(allMixes()) {
		t.Errorf("there are %d mixes", n)
	}
	if slices.Contains(compare.Kinds(onDisk...), "filecomp") || len(mixesOf(allMixes(), job.Network)) != len(allMixes()) {
		t.Errorf("on a disk run %v", onDisk)
	}
}
