package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

func TestDrawnMixesAreThoseThatTheLabCanRun(t *testing.T) {
	t.Parallel()
	for _, processors := range []int{1, 4, maxProcessors} {
		var b bytes.Buffer
		if err := mixes.Write(&b, draw(500, processors, 7)); err != nil {
			t.Fatal(err)
		}
		if _, err := mixes.Read(&b); err != nil {
			t.Errorf("%d processors: %v", processors, err)
		}
	}
}

// Those of odd numbers are for choosing a model, those of even numbers for judging it.
func TestMixesOfOddAndOfEvenNumbersAreOfTheSameKinds(t *testing.T) {
	t.Parallel()
	of := map[string]map[int]int{} // by kind and parity
	for _, mix := range mixes.ByMix(draw(64, 1, 7)) {
		kind := kindOf(&mix[0])
		if of[kind] == nil {
			of[kind] = map[int]int{}
		}
		of[kind][number(&mix[0])%2]++
	}
	want := map[string]map[int]int{}
	for _, k := range kinds() {
		want[k.name] = map[int]int{0: 4, 1: 4}
	}
	if diff := cmp.Diff(want, of); diff != "" {
		t.Errorf("mixes by kind and parity (-want +got):\n%s", diff)
	}
}
