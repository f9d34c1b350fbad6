package program

import (
	"strings"
	"testing"
	"time"
)

// least is the smallest program of a kind.
func least(k Kind) Spec { return Spec{Kind: k, Size: 1, Clients: 1, Seed: 7} }

func TestEveryKindOfProgramGoesThroughRounds(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := least(kind)
			p, err := openings()[kind](t.Context(), &s, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := p.round(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := p.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A log of a shipper has an end, a folder of a backup too: both begin anew.
func TestProgramsGoOnWhenTheirFilesAreAtAnEnd(t *testing.T) {
	t.Parallel()
	for kind, size := range map[Kind]int{Shipper: 30_000, Backup: backedUp + 1, Compressor: 2} {
		s := least(kind)
		s.Size = size
		p, err := openings()[kind](t.Context(), &s, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := p.round(t.Context()); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if err := p.close(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestSpecsThatBreakARuleAreRefused(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*Spec){
		`kind: "oracle" is none of`:                         func(s *Spec) { s.Kind = "oracle" },
		"size: 0 is not at least 1":                         func(s *Spec) { s.Size = 0 },
		"think: -1s is negative":                            func(s *Spec) { s.Think = -time.Second },
		"clients: 0 is not at least 1":                      func(s *Spec) { s.Clients = 0 },
		"clients: 2 is not 1, and only the web has several": func(s *Spec) { s.Clients = 2 },
	} {
		s := least(Backup)
		spoil(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s := least(Compiler)
	s.Size = 100
	if _, err := openCompiler(t.Context(), &s, ""); err == nil || !strings.Contains(err.Error(), "size: 100 is more than there are packages") {
		t.Errorf("%v", err)
	}
}
