//go:build linux && (amd64 || arm64)

package probe

import (
	"math"
	"slices"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

func TestAUnitDoesEachOfItsBlocksWhateverThePressure(t *testing.T) {
	t.Parallel()
	for _, pressure := range []float64{0, 0.25, 1} {
		var done []int
		if err := pressing(&pressure, 3, func(block int) { done = append(done, block) })(); err != nil || !slices.Equal(done, []int{0, 1, 2}) {
			t.Errorf("at a pressure of %v blocks %v were done, %v", pressure, done, err)
		}
	}
}

func TestABubbleRestsInProportionToItsWork(t *testing.T) {
	t.Parallel()
	const blocks = 20
	pressure, work := 0.25, time.Duration(0)
	unit := pressing(&pressure, blocks, func(int) {
		began := time.Now()
		for time.Since(began) < longestBlock/4 {
			continue
		}
		work += min(time.Since(began), longestBlock) // what is longer was interrupted
	})
	began := time.Now()
	if err := unit(); err != nil {
		t.Fatal(err)
	}
	// It can only have taken longer: others use the processor too.
	if took, least := time.Since(began), time.Duration(float64(work)/pressure); took < least {
		t.Errorf("blocks of %v in all took %v, want at least %v", work, took, least)
	}
}

func TestAnInterruptionIsNoReasonToRestLong(t *testing.T) {
	t.Parallel()
	const rest = 1000
	interrupted := false
	pressure := 1.0 / (1 + rest)
	unit := pressing(&pressure, 1, func(int) {
		for began := time.Now(); time.Since(began) < 100*longestBlock; { // 20 ms, after which a rest would be of 20 s
			interrupted = true
		}
	})
	began := time.Now()
	if err := unit(); err != nil || !interrupted {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v, and was to rest for %v", took, rest*longestBlock)
	}
}

func TestAReaderReadsEveryLineOnce(t *testing.T) {
	t.Parallel()
	block := make([]byte, 8*cacheLine)
	for line := range 8 {
		block[line*cacheLine] = 1 << line
	}
	if got, want := readLines(block), uint64(0xff); got != want && got != want<<56 { // by the order of bytes
		t.Errorf("the sum of the lines is %#x, want %#x", got, want)
	}
}

func TestArithmeticStaysWhereItIsFast(t *testing.T) {
	t.Parallel()
	var s arithmetic
	s.advance(1_000_001)
	before := s
	s.advance(1)
	for i := range s.fractions {
		if f := s.fractions[i]; f != 0 && f != 1.5 || s.whole[i] == before.whole[i] {
			t.Errorf("sum %d became %v and %#x", i, f, s.whole[i])
		}
	}
}

func TestAPressureIsAFractionOfAJobThatPresses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		job      string
		pressure float64
		want     string
	}{
		"above 1":               {result.LLC, 1.01, "llc: pressure: 1.01 is not above 0 and at most 1"},
		"negative":              {result.Core, -0.5, "core: pressure: -0.5 is not above 0 and at most 1"},
		"no number":             {result.MemoryRead, math.NaN(), "pressure: NaN is not above 0 and at most 1"},
		"infinite":              {result.MemoryBandwidth, math.Inf(1), "pressure: +Inf is not above 0 and at most 1"},
		"of a job of the CPU":   {result.CPU, 0.5, "cpu: pressure: 0.5 of a job that presses on nothing"},
		"of a job of the disks": {result.DiskRead, math.NaN(), "pressure: NaN of a job that presses on nothing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Run(t.Context(), RunOptions{Job: Job{Name: test.job, Pressure: test.pressure}, Intensity: 1, Duration: time.Second})
			wantError(t, err, test.want)
		})
	}
}

func TestABubbleReportsItsPressure(t *testing.T) {
	got, err := Run(t.Context(), RunOptions{Job: Job{Name: result.Core, Pressure: 0.5}, Intensity: 1, Duration: time.Minute, Units: 3})
	if err != nil || got.Pressure != 0.5 || got.Units != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAWorkingSetMayBeSmallerThanAFile(t *testing.T) {
	t.Parallel()
	o := RunOptions{Job: Job{Name: result.LLC, Size: leastCache}, Intensity: 1, Duration: time.Minute, Units: 1}
	if _, err := Run(t.Context(), o); err != nil {
		t.Error(err)
	}
	o.Job.Size--
	_, err := Run(t.Context(), o)
	wantError(t, err, "llc: size: 2097151 bytes are not from 2 MiB to 1024 MiB")
}
