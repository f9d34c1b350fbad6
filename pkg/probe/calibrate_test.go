package probe

import (
	"math"
	"testing"
	"time"
)

func TestWhatCopiesComputeIsNoPartOfTheResource(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what                string
		dilation, computing float64
		n, cores            int
		want                float64
	}{
		{"all at the resource", 1.7, 0, 1, 1, 1.7},
		{"a tenth computed on one core", 1 + 0.01 + 0.81, 0.1, 1, 1, 2},
		{"a tenth computed on many cores", 1 + 0.01/16 + 0.81, 0.1, 1, 16, 2},
		{"more workers than cores", 1 + 0.04 + 0.64*0.5, 0.2, 8, 4, 1.5},
		{"a job of the processor rather", 2, 0.9, 1, 1, 1},
	} {
		if got := atResource(test.dilation, test.computing, test.n, test.cores); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.what, got, test.want)
		}
	}
}

func TestTheConfidenceIntervalIsThatOfStudent(t *testing.T) {
	t.Parallel()
	// The standard deviation is √(5/3)·0.1, and t(0.975; 3) is 3.1824.
	got, half := mean([]float64{1.8, 1.9, 2.0, 2.1})
	if want := 3.1824 * math.Sqrt(5.0/3) * 0.1 / 2; math.Abs(got-1.95) > 1e-12 || math.Abs(half-want) > 1e-4 {
		t.Errorf("%v ± %v, want 1.95 ± %v", got, half, want)
	}
}

func TestWhatCannotBeCalibratedIsSaidBeforehand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options CalibrateOptions
		want    string
	}{
		"no servers":       {CalibrateOptions{Budget: time.Minute}, "max-servers: 0 is not from 1 to 256"},
		"too many servers": {CalibrateOptions{MaxServers: 257, Budget: time.Minute}, "max-servers: 257 is not from 1 to 256"},
		"too little time":  {CalibrateOptions{MaxServers: 16, Budget: time.Second}, "budget: 1s is not from 5s, which 16 servers may take to find, to 1h0m0s"},
		"too much time":    {CalibrateOptions{MaxServers: 16, Budget: 2 * time.Hour}, "budget: 2h0m0s is not from 5s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Calibrate(t.Context(), test.options)
			wantError(t, err, test.want)
		})
	}
}
