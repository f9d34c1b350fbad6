package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestThereAreEnoughMixesOfTwoToSixPods(t *testing.T) {
	t.Parallel()
	if n := len(allMixes()); n < 14 {
		t.Errorf("there are %d mixes", n)
	}
	sizes := map[int]bool{}
	for _, m := range slices.Concat(allMixes(), quickMixes()) {
		sizes[len(m)] = true
		m.jobs(1, 0) // panics if a kind is unknown
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
	o := options{quick: true, repeat: 3, only: parts(), kinds: kindNames(), io: network, seconds: 12, scale: 6, rounds: 10}
	if err := o.complete(nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range kindsOf(quickMixes()...) {
		if !slices.Contains(o.kinds, name) {
			t.Errorf("%s is mixed, %v are measured", name, o.kinds)
		}
	}
}

func TestNoTwoJobsOfAMixHaveTheSameBursts(t *testing.T) {
	t.Parallel()
	seeds := map[int]bool{}
	for repetition := range 3 {
		for _, j := range (mix{"cpu", "cpu", "io"}).jobs(10, repetition) {
			seeds[j.seed] = true
		}
	}
	if len(seeds) != 9 {
		t.Errorf("there are %d seeds, want 9", len(seeds))
	}
}

func TestMixesAreWrittenWithTheirCopies(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff("2× cpu, io", mix{"cpu", "io", "cpu"}.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, kindsOf(mix{"c", "a"}, mix{"b", "a"})); diff != "" {
		t.Error(diff)
	}
}

// The vectors that the kinds are named after, and bursts that are neither so short that
// the kernel does not take turns nor so long that few fit in.
func TestSyntheticJobsAreWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		if k.compresses {
			continue
		}
		for _, burst := range []time.Duration{k.cpu, k.io} {
			if burst != 0 && (burst < 20*ms || burst > 50*ms) {
				t.Errorf("%s has bursts of %v", k.name, burst)
			}
		}
	}
	command := strings.Join(job{kindOf("cpu-60-io-40"), 6, 3}.command(speeds{CPU: 5000, IO: 2000.5}, device{job: diskWrite}), " ")
	for _, part := range []string{"--demand cpu=36ms,disk-write=24ms", "--units-per-second cpu=5000,disk-write=2000.5", "--rounds 100 ", "--seed 3 "} {
		if !strings.Contains(command, part) {
			t.Errorf("%q lacks %q", command, part)
		}
	}
	command = strings.Join(job{kindOf("filecomp"), 6, 3}.command(speeds{Files: 150}, device{job: diskWrite}), " ")
	if !strings.HasPrefix(command, "filecomp --files 900 --seed 3 ") {
		t.Errorf("%q", command)
	}
}
