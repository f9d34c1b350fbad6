package program

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sleeper is a program whose work is to wait.
func sleeper(work time.Duration) *program {
	return &program{func(context.Context) error { <-time.After(work); return nil }, nothingToClose}
}

func TestRoundsCountThatBeginAndEndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		when := Schedule{Start: begin, From: begin.Add(15 * time.Millisecond), To: begin.Add(65 * time.Millisecond)}
		laps, _, err := sleeper(10*time.Millisecond).goRound(t.Context(), &Spec{Clients: 2}, when)
		if err != nil {
			t.Fatal(err)
		}
		// Of each client those that begin at 20, 30, 40 and 50 ms.
		a, err := sum(laps, 0, when.From, when.To)
		if err != nil {
			t.Fatal(err)
		}
		want := &Account{Rounds: 8, Round: 0.01, Work: 0.01, WorkP95: 0.01, Seconds: 0.05}
		if diff := cmp.Diff(want, a, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Error(diff)
		}
	})
}

// Pauses are drawn, and a round without chance has the mean one.
func TestPausesAreReplacedByTheirMean(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s := &Spec{Clients: 1, Think: 30 * time.Millisecond, Seed: 3}
		when := Schedule{Start: begin, From: begin, To: begin.Add(time.Second)}
		laps, _, err := sleeper(10*time.Millisecond).goRound(t.Context(), s, when)
		if err != nil {
			t.Fatal(err)
		}
		a, err := sum(laps, s.Think, when.From, when.To)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]float64{0.04, 0.01}, []float64{a.Round, a.Work}, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Error(diff)
		}
		for _, l := range laps {
			if l.pause < 0 || l.pause > maxPause*s.Think {
				t.Errorf("a pause of %v", l.pause)
			}
		}
	})
}

func TestARunWithoutRoundsIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		when := Schedule{Start: begin, From: begin, To: begin.Add(5 * time.Millisecond)}
		laps, _, err := sleeper(10*time.Millisecond).goRound(t.Context(), &Spec{Clients: 1}, when)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sum(laps, 0, when.From, when.To); !errors.Is(err, errNoRound) {
			t.Errorf("%v", err)
		}
	})
}

func TestAProgramThatIsReadyTooLateIsAnError(t *testing.T) {
	t.Parallel()
	s := least(Numerical)
	now := time.Now()
	_, err := Run(t.Context(), &s, t.TempDir(), Schedule{Start: now.Add(-time.Minute), From: now.Add(-time.Second), To: now.Add(time.Hour)})
	if err == nil || !strings.Contains(err.Error(), "too late") {
		t.Errorf("%v", err)
	}
}

func TestAFailedRoundEndsAllClients(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		failing := &program{func(context.Context) error { return errNothing }, nothingToClose}
		_, _, err := failing.goRound(t.Context(), &Spec{Clients: 3}, Schedule{Start: begin, From: begin.Add(time.Hour), To: begin.Add(2 * time.Hour)})
		if !errors.Is(err, errNothing) || time.Since(begin) > time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestAccountsAreParsed(t *testing.T) {
	t.Parallel()
	a, err := Parse(`{"rounds":3,"round":0.5,"work":0.25,"workP95":0.3,"computed":1,"seconds":2}` + "\n")
	if err != nil {
		t.Fatal(err)
	}
	want := &Account{Rounds: 3, Round: 0.5, Work: 0.25, WorkP95: 0.3, Computed: 1, Seconds: 2}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"":                                `account ""`,
		"{}":                              "rounds: 0 is not at least 1",
		`{"rounds":1}`:                    "round: 0 is not above 0",
		`{"rounds":1,"round":1}`:          "work: 0 is not above 0",
		`{"rounds":1,"round":1,"work":1}`: "workP95: 0 is not above 0",
		`{"rounds":1,"round":1,"work":1,"workP95":1}`: "seconds: 0 is not above 0",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
