package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMixesDependOnTheSeedAlone(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(draw(40, 1), draw(40, 1)); diff != "" {
		t.Errorf("the same seed draws other mixes (-first +second):\n%s", diff)
	}
	if cmp.Equal(draw(40, 1), draw(40, 2)) {
		t.Error("another seed draws the same mixes")
	}
	if diff := cmp.Diff(draw(40, 1)[:10], draw(10, 1)); diff != "" {
		t.Errorf("a mix depends on how many are drawn (-of 40 +of 10):\n%s", diff)
	}
}

func TestDrawnJobsAreValidAndOfAllKinds(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, m := range draw(200, 3) {
		if n := len(m.Jobs); n < 2 || n > maxPods {
			t.Errorf("%s: has %d pods, want 2 to %d", m.Name, n, maxPods)
		}
		if !m.Jobs[0].usesDisk() {
			t.Errorf("%s: its first pod does not use the disk", m.Name)
		}
		for i, s := range m.Jobs {
			if err := s.validate(); err != nil {
				t.Errorf("%s, pod %d: %v", m.Name, i, err)
			}
			kinds[s.Access+" "+s.Cache+" "+s.Operation+" "+s.Sync] = true
		}
	}
	want := map[string]bool{}
	for _, s := range weighted() {
		want[s.Access+" "+s.Cache+" "+s.Operation+" "+s.Sync] = true
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds (-want +drawn):\n%s", diff)
	}
}

func TestASpecThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	valid := spec{Operation: read, Access: random, Cache: direct, Bytes: 4096, FileBytes: 1 << 20, Depth: 1}
	if err := valid.validate(); err != nil {
		t.Fatalf("a valid one: %v", err)
	}
	for name, change := range map[string]func(*spec){
		"an operation that is neither":     func(s *spec) { s.Operation = "erase" },
		"an access that is neither":        func(s *spec) { s.Access = "" },
		"a use of the cache that is none":  func(s *spec) { s.Cache = "" },
		"a reader that syncs":              func(s *spec) { s.Sync = fdatasync },
		"a writer of what is cached":       func(s *spec) { s.Operation, s.Cache = write, cached },
		"a size that O_DIRECT refuses":     func(s *spec) { s.Bytes = 5000 },
		"a size beyond the buffer":         func(s *spec) { s.Bytes = 2 << 20 },
		"a file smaller than an operation": func(s *spec) { s.FileBytes = 1024 },
		"no thread":                        func(s *spec) { s.Depth = 0 },
		"too many threads":                 func(s *spec) { s.Depth = 33 },
		"negative thinking":                func(s *spec) { s.Think = -1 },
		"work of hours":                    func(s *spec) { s.Work = 3600 },
	} {
		s := valid
		change(&s)
		if s.validate() == nil {
			t.Errorf("%s: is accepted", name)
		}
	}
}
