package result

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func aRun() Run {
	return Run{
		Version: Version, Job: DiskRead, Intensity: 2, BootID: "b", Begin: 7,
		Series: Series{Begin: 7, Interval: 50, Thousandths: []int64{0, 1500, 4000}}, Units: 4, CPUNanos: 3, SelfDilation: 1.98, Ended: EndedDuration,
	}
}

func aCalibration() Calibration {
	return Calibration{
		Version: Version, Job: CPU, BootID: "b", Servers: 2, UnitsPerSecond: 4900, Dilation: 1.99, DilationError: 0.01,
		Curve: []Point{{1, 1.3}, {2, 1.99}},
	}
}

func aPressureCalibration() PressureCalibration {
	return PressureCalibration{
		Version: Version, Job: LLC, BootID: "b", Domains: 1, Processors: []int{0, 1}, Rounds: 3, NanosPerUnit: 35000,
		Curve: []PressurePoint{{0.5, 1.2, 0.05}, {1, 1.5, 0.1}}, Shows: true,
	}
}

func aWatch() Watch {
	return Watch{Version: Version, BootID: "b", Begin: 5, End: 9, CPUNanos: 3, WaitNanos: 1, StolenNanos: 2, ObserverNanos: 1, Processes: 1, Complete: true}
}

func aLoad() Load {
	return Load{
		Version: Version, BootID: "b", Begin: 5, End: 9, Rounds: 1, IdleNanos: 1, IdledNanos: 2, CPUNanos: 3, Ended: EndedUnits,
		Demands: []Served{{Job: CPU, Units: 3, UnitsPerSecond: 5000, Nanos: 1}},
	}
}

// roundTrip writes a report and reads it again.
func roundTrip[T Report](t *testing.T, r T, read func(string) (T, error)) {
	t.Helper()
	message, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(string(message) + "\n")
	if err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("what was written and what was read differ (-written +read):\n%s", diff)
	}
}

func TestWhatIsWrittenIsWhatIsRead(t *testing.T) {
	t.Parallel()
	roundTrip(t, aRun(), ParseRun)
	computing := aRun()
	computing.Job, computing.Processor = CPU, Series{Begin: 7, Interval: 50, Thousandths: []int64{0, 40, 90}}
	roundTrip(t, computing, ParseRun)
	roundTrip(t, aWatch(), ParseWatch)
	roundTrip(t, aCalibration(), ParseCalibration)
	roundTrip(t, aLoad(), ParseLoad)
	roundTrip(t, aPressureCalibration(), parse[PressureCalibration])
}

func TestThePaceOfAJobOfTheCPUIsInProcessorTimeThatTheNodeHad(t *testing.T) {
	t.Parallel()
	computing := Run{
		Job: CPU, Intensity: 4, Series: Series{Interval: 1e9, Thousandths: []int64{0, 900_000, 1_000_000}},
		Processor: Series{Interval: 1e9, Thousandths: []int64{0, 2_000_000, 4_000_000}},
	}
	// The processor became nine times slower. The job got half of it all along.
	if pace, ok := computing.Pace(0, 2e9); !ok || pace != 2000 {
		t.Errorf("%v ms a second, %v; want 2000", pace, ok)
	}
	// A fifth of it was not the node's: of the rest that was more than half.
	computing.Stolen = Series{Interval: 1e9, Thousandths: []int64{0, 200_000, 400_000}}
	if pace, ok := computing.Pace(0, 2e9); !ok || pace != 2500 {
		t.Errorf("with a hypervisor %v ms a second, %v; want 2500", pace, ok)
	}
	if pace, ok := computing.UndisturbedPace(); !ok || pace != 4000 {
		t.Errorf("with nobody else %v ms a second, %v; want 4000", pace, ok)
	}
	reading := aRun()
	if pace, ok := reading.UndisturbedPace(); ok {
		t.Errorf("a job of the disk cannot know, and says %v", pace)
	}
	if pace, ok := reading.Pace(7, 107); !ok || pace != 4e7 {
		t.Errorf("a job of the disk does %v units a second, %v; want 4e7", pace, ok)
	}
}

func TestTheVersionIsWrittenWhateverTheReportSays(t *testing.T) {
	t.Parallel()
	w := aWatch()
	w.Version = 0
	message, err := Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseWatch(string(message)); err != nil || got.Version != Version {
		t.Errorf("version %d, %v", got.Version, err)
	}
}

func TestBadMessagesAreErrorsThatSayWhy(t *testing.T) {
	t.Parallel()
	good, err := Encode(aRun())
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string {
		changed := strings.Replace(string(good), old, with, 1)
		if changed == string(good) {
			t.Fatalf("%s has no %s", good, old)
		}
		return changed
	}
	tests := map[string]struct{ message, want string }{
		"nothing":                  {" \n", "the report is empty"},
		"text":                     {"panic: out of luck", "this is no report"},
		"no version":               {`{"job":"cpu"}`, "version: there is none"},
		"another version":          {replace(`"version":1`, `"version":2`), "version: 2 is not 1"},
		"a report of another kind": {`{"version":1,"waitNanos":3}`, `unknown field "waitNanos"`},
		"NaN":                      {replace("1.98", "NaN"), "this is no report"},
		"text for a number":        {replace("1.98", `"NaN"`), "selfDilation"},
		"a negative dilation":      {replace("1.98", "-1.98"), "selfDilation: -1.98 is not a finite number of at least 0"},
		"a negative CPU time":      {replace(`"cpuNanos":3`, `"cpuNanos":-3`), "cpuNanos: -3 is negative"},
		"a negative count":         {replace(`"units":4`, `"units":-4`), "units"},
		"no workers":               {replace(`"intensity":2`, `"intensity":0`), "intensity: 0 is not at least 1"},
		"no such job":              {replace("disk-read", "tape"), `job: "tape" is none of cpu, disk-read`},
		"no boot id":               {replace(`"bootID":"b"`, `"bootID":""`), "bootID: is empty"},
		"too much pressure":        {replace(`"intensity":2`, `"intensity":2,"pressure":1.5`), "pressure: 1.5 is not a fraction from 0 to 1"},
		"no reason":                {replace(`"duration"`, `"crash"`), `ended: "crash" is none of duration, units, terminated`},
		"no interval":              {replace(`"interval":50`, `"interval":0`), "series.interval: 0 is not above 0"},
		"samples that are broken":  {replace(`"samples":"`, `"samples":"*`), "series.samples"},
		"a sample that is cut":     {replace(`"samples":"ANwLxBM"`, `"samples":"ANwLxA"`), "series.samples[2]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseRun(test.message)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestACutMessageIsAnErrorOfItsOwnWhereverItIsCut(t *testing.T) {
	t.Parallel()
	good, err := Encode(aRun())
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(good); n++ {
		if _, err := ParseRun(string(good[:n])); !errors.Is(err, ErrTruncated) {
			t.Errorf("cut after %d bytes: %v, want ErrTruncated", n, err)
		}
	}
}

func TestWhatCannotBeAReportIsNotWritten(t *testing.T) {
	t.Parallel()
	c := aCalibration()
	c.Curve = []Point{{2, 1}, {1, math.NaN()}}
	_, err := Encode(c)
	for _, want := range []string{"curve[1].intensity: 1 is not above the one before", "curve[1].dilation: NaN is not a finite number"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one with %q", err, want)
		}
	}
	w := aWatch()
	w.End = 4
	if _, err := Encode(w); err == nil || !strings.Contains(err.Error(), "end: 4 is before begin, 5") {
		t.Errorf("error = %v", err)
	}
	w = aWatch()
	w.ObserverNanos = 4
	if _, err := Encode(w); err == nil || !strings.Contains(err.Error(), "observerNanos: 4 is not less than the time from begin to end") {
		t.Errorf("error = %v", err)
	}
	w.StolenNanos = 4
	if _, err := Encode(w); err == nil || !strings.Contains(err.Error(), "stolenNanos: 4 is not less than the time from begin to end") {
		t.Errorf("error = %v", err)
	}
	w = aWatch()
	l := aLoad()
	l.Demands[0].Nanos = -1
	if _, err := Encode(l); err == nil || !strings.Contains(err.Error(), "demands[0].nanos: -1 is negative") {
		t.Errorf("error = %v", err)
	}
	r := aRun()
	r.Series.Thousandths = []int64{3, 2}
	if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), "series.samples[1]: 2 thousandths of a unit are fewer than the 3 before") {
		t.Errorf("error = %v", err)
	}
	w.End, w.BootID = 0, strings.Repeat("b", Limit)
	if _, err := Encode(w); err == nil || !strings.Contains(err.Error(), "4096 at most") {
		t.Errorf("error = %v", err)
	}
}

func TestTheLongestRunFitsATerminationMessage(t *testing.T) {
	t.Parallel()
	r := aRun()
	r.BootID, r.Begin, r.SelfDilation = "c0ffee00-c0ff-c0ff-c0ff-c0ffee00c0ff", math.MaxInt64/4, 1.9876543210987654
	r.Series = Series{Begin: r.Begin, Interval: int64(time.Hour)}
	for k := range MaxSamples {
		r.Series.Thousandths = append(r.Series.Thousandths, int64(k)*1e12) // a million units in a millisecond each
	}
	if message, err := Encode(r); err != nil {
		t.Errorf("%d bytes: %v", len(message), err)
	}
}

func TestElapsedIsKnownOnceAllHasEnded(t *testing.T) {
	t.Parallel()
	w := aWatch()
	if got, ok := w.Elapsed(); got != 4 || !ok {
		t.Errorf("%v, %v, want 4ns", got, ok)
	}
	w.End = 0
	if got, ok := w.Elapsed(); ok {
		t.Errorf("still running, yet it took %v", got)
	}
}

func TestReadyIsHowMuchOfTheirTimeContainersCouldRun(t *testing.T) {
	t.Parallel()
	w := aWatch()
	for _, test := range []struct {
		end, ran int64
		want     float64
	}{{13, 3, 0.5}, {9, 3, 1}, {9, 30, 1}, {9, 0, 0.25}, {5, 3, 0}, {0, 3, 0}} {
		w.End, w.CPUNanos = test.end, test.ran
		if got := w.Ready(); got != test.want {
			t.Errorf("until %d, %d ns on processors: %v, want %v", test.end, test.ran, got, test.want)
		}
	}
}

// someSeries draws a series of at least two samples.
func someSeries(t *rapid.T) Series {
	s := Series{
		Begin:    rapid.Int64Range(0, 1e18).Draw(t, "begin"),
		Interval: rapid.Int64Range(1, 1e12).Draw(t, "interval"),
	}
	now := int64(0)
	for _, more := range rapid.SliceOfN(rapid.Int64Range(0, 1e12), 2, MaxSamples).Draw(t, "deltas") {
		now += more
		s.Thousandths = append(s.Thousandths, now)
	}
	return s
}

func TestASeriesPacksAndUnpacks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := someSeries(t)
		packed, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got Series
		if err := got.UnmarshalJSON(packed); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAdjoiningWindowsDoTheWorkOfBoth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := someSeries(t)
		first, last := s.Span()
		if len(s.Thousandths) < 5 {
			t.Skip("no room for two windows")
		}
		middle := rapid.Int64Range(first+2*s.Interval, last-2*s.Interval).Draw(t, "middle")
		from := rapid.Int64Range(first, middle-2*s.Interval).Draw(t, "from")
		to := rapid.Int64Range(middle+2*s.Interval, last).Draw(t, "to")
		a, okA := s.Rate(from, middle)
		b, okB := s.Rate(middle, to)
		both, ok := s.Rate(from, to)
		if !okA || !okB || !ok {
			t.Fatalf("no rate from %d to %d to %d", from, middle, to)
		}
		sum := (a*float64(middle-from) + b*float64(to-middle)) / float64(to-from)
		// The counts are up to 256e12 thousandths, and a float has 53 bits.
		tolerance := 1e-9*both + 1e-6*float64(s.Thousandths[len(s.Thousandths)-1])/float64(to-from)
		if math.Abs(sum-both) > tolerance {
			t.Errorf("%g and %g units per second are %g together, not %g", a, b, sum, both)
		}
	})
}

func TestRatesInterpolateBetweenSamples(t *testing.T) {
	t.Parallel()
	// 10 units in the first second, 20 in the second, none in the third.
	s := Series{Begin: 100e9, Interval: 1e9, Thousandths: []int64{0, 10_000, 30_000, 30_000}}
	tests := map[string]struct {
		from, to float64 // seconds
		want     float64
		ok       bool
	}{
		"the whole":                     {100, 103, 10, true},
		"from sample to sample":         {100, 102, 15, true},
		"from the middle to the middle": {100.5, 102.5, 12.5, true},
		"up to the last sample":         {101, 103, 10, true},
		"before the first sample":       {99.9, 103, 0, false},
		"after the last sample":         {100, 103.1, 0, false},
		"less than two intervals":       {100, 101.9, 0, false},
		"backwards":                     {103, 100, 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := s.Rate(int64(test.from*1e9), int64(test.to*1e9))
			// The times are exact to a nanosecond.
			if ok != test.ok || math.Abs(got-test.want) > 1e-6 {
				t.Errorf("%v units per second, %v; want %v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestASeriesOfNothingHasNoRate(t *testing.T) {
	t.Parallel()
	var s Series
	if rate, ok := s.Rate(0, 0); ok {
		t.Errorf("it has: %v", rate)
	}
	if from, to := s.Span(); from != 0 || to != 0 {
		t.Errorf("it spans %d to %d", from, to)
	}
}

func FuzzParseRun(f *testing.F) {
	good, err := Encode(aRun())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(good))
	f.Add(`{"version":1,"series":{"begin":9223372036854775807,"interval":1,"samples":"AAAA"}}`)
	f.Fuzz(func(t *testing.T, message string) {
		run, err := ParseRun(message)
		if err != nil {
			return
		}
		from, to := run.Series.Span()
		if rate, ok := run.Series.Rate(from, to); ok && (math.IsNaN(rate) || math.IsInf(rate, 0) || rate < 0) {
			t.Errorf("a rate of %v", rate)
		}
	})
}

// A job that does 10 units a second, and 5 in the window: samples at the ends of the
// window have some of both.
func TestThePaceInsideAWindowIsThatOfTheWindowAlone(t *testing.T) {
	t.Parallel()
	r := Run{Series: Series{Begin: 0, Interval: 1e9, Thousandths: []int64{0}}}
	const from, to = 3.4, 9.7
	for second := range 14 {
		at := float64(second + 1)
		slow := max(0, min(at, to)-from)
		r.Series.Thousandths = append(r.Series.Thousandths, int64(1000*(10*(at-slow)+5*slow)))
	}
	if got, ok := r.PaceInside(from*1e9, to*1e9); !ok || got != 5 {
		t.Errorf("the pace is %v (%v), want 5", got, ok)
	}
	if got, ok := r.PaceInside(3.4e9, 5.9e9); !ok || !(got > 5 && got < 10) {
		t.Errorf("the pace of a window that is too short for that is %v (%v), want one between both", got, ok)
	}
	if _, ok := r.PaceInside(3.4e9, 4e9); ok {
		t.Error("there is a pace of a window that is too short")
	}
}

func TestAPressureCalibrationThatCannotBeIsNotWritten(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*PressureCalibration)
		want   string
	}{
		"a job that presses nowhere": {func(c *PressureCalibration) { c.Job = CPU }, `job: "cpu" presses at no interference resource`},
		"no domain":                  {func(c *PressureCalibration) { c.Domains = 0 }, "domains: 0 is not at least 1"},
		"one processor":              {func(c *PressureCalibration) { c.Processors = []int{0} }, "processors: there are 1, not 2"},
		"no level":                   {func(c *PressureCalibration) { c.Curve = nil }, "curve: there is no level"},
		"a curve that falls":         {func(c *PressureCalibration) { c.Curve[1].Inflation = 1.1 }, "curve[1].inflation: 1.1 is not at least 1.2"},
		"too much pressure":          {func(c *PressureCalibration) { c.Curve[1].Pressure = 2 }, "curve[1].pressure: 2 is not above the one before and at most 1"},
		"no number":                  {func(c *PressureCalibration) { c.Curve[0].Inflation = math.NaN() }, "curve[0].inflation: NaN is not"},
		"an infinite error":          {func(c *PressureCalibration) { c.Curve[0].Error = math.Inf(1) }, "curve[0].error: +Inf is not a finite number"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := aPressureCalibration()
			test.change(&c)
			if _, err := Encode(c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestAFindingSaysWhatTheNodeCanShow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		last  PressurePoint
		shows bool
		want  string
	}{
		"something": {PressurePoint{1, 1.5, 0.1}, true, "llc at full pressure slows another down by 1.50 ± 0.10"},
		"nothing": {
			PressurePoint{1, 1.02, 0.03},
			false,
			"a single core cannot saturate llc here: llc at full pressure slows another down by 1.02 ± 0.03",
		},
		"noise": {
			PressurePoint{1, 1.5, 0.6},
			false,
			"noise hides what happens at llc here, measure for longer: llc at full pressure slows another down by 1.50 ± 0.60",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := aPressureCalibration()
			c.Curve, c.Shows = []PressurePoint{test.last}, test.shows
			if got := c.Finding(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
