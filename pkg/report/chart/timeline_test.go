package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestATimelineNamesMachinesJobsTimesAndMakespans(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoSchedules(),
		"Four jobs on two machines", "time (s)", "List scheduler", "makespan 290.56s", "D-factor", "makespan 221.12s",
		"Machine 1  ", "Machine 2  ", "W1", "W2", "W3", "W4", "60s – 221.12s", "0s – 180s")
}

func TestALongTimelineIsToldInHoursOrDays(t *testing.T) {
	t.Parallel()
	of := func(end float64) Timeline {
		return Timeline{Schedules: []Schedule{{Name: "s", Bars: []Bar{{"m", "j", 0, end}}}}}
	}
	wantTexts(t, of(15120), "time (hours)", "makespan 4h 12m")
	wantTexts(t, of(533520), "time (days)", "makespan 6d 04:12")
}

func TestNamesAreSafeInTheSVG(t *testing.T) {
	t.Parallel()
	chart := Timeline{Schedules: []Schedule{{Name: "<s> & \x00", Bars: []Bar{{"m", "a<b>\n\"c\"", 0, 1}}}}}
	wantTexts(t, chart, `<s> & \x00`, `a<b>\n"c"`)
}

func TestATimelineThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	of := func(bars ...Bar) Timeline { return Timeline{Schedules: []Schedule{{Name: "s", Bars: bars}}} }
	good := Bar{"m", "j", 0, 1}
	crowd := slices.Repeat([]Bar{good}, 201)
	for name, c := range map[string]struct {
		chart Timeline
		want  string
	}{
		"no schedules":     {Timeline{}, `schedules: is empty; there is nothing to show`},
		"no name":          {Timeline{Schedules: []Schedule{{Bars: []Bar{good}}}}, `schedules[0].name: is empty`},
		"no bars":          {of(), `schedules[0] ("s").bars: is empty`},
		"no machine":       {of(Bar{"", "j", 0, 1}), `schedules[0] ("s").bars[0].machine: is empty`},
		"no job":           {of(good, Bar{"m", "", 0, 1}), `schedules[0] ("s").bars[1].job: is empty`},
		"starts too early": {of(Bar{"m", "j", -1, 1}), `schedules[0] ("s").bars[0].startSeconds: -1 is not between 0 and 9e+09`},
		"no end":           {of(Bar{"m", "j", 0, math.Inf(1)}), `schedules[0] ("s").bars[0].endSeconds: +Inf is not between 0 and 9e+09`},
		"not a number":     {of(Bar{"m", "j", math.NaN(), 1}), `schedules[0] ("s").bars[0].startSeconds: NaN is not between 0 and 9e+09`},
		"ends first":       {of(Bar{"m", "j", 3, 2}), `schedules[0] ("s").bars[0]: job "j" on "m" ends at 2, before it starts at 3`},
		"too many bars": {
			of(slices.Repeat(crowd, 50)...),
			`schedules: have 10050 bars, which nobody can tell apart; show at most 10000, a shorter time say`,
		},
		"too many rows": {of(crowd...), `schedules: need 201 rows, which nobody can read; show at most 200, fewer machines say`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Encode(io.Discard, c.chart, SVG); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}

func drawBars(t *rapid.T) []Bar {
	var bars []Bar
	for i := range rapid.IntRange(1, 30).Draw(t, "bars") {
		start := rapid.IntRange(0, 50).Draw(t, "start")
		length := rapid.IntRange(1, 20).Draw(t, "length")
		machine := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "machine")
		bars = append(bars, Bar{machine, fmt.Sprint("job", i), float64(start), float64(start + length)})
	}
	return bars
}

func TestBarsThatOverlapInTimeNeverShareALane(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, machine := range stack(drawBars(t), map[string]int{}) {
			for i, a := range machine.bars {
				for _, b := range machine.bars[:i] {
					if a.lane == b.lane && a.StartSeconds < b.EndSeconds && b.StartSeconds < a.EndSeconds {
						t.Fatalf("%v and %v overlap in lane %d", a, b, a.lane)
					}
				}
			}
		}
	})
}

func TestAMachineHasAsManyLanesAsJobsAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, machine := range stack(drawBars(t), map[string]int{}) {
			most := 0
			for _, moment := range machine.bars { // the count rises only when a bar starts
				running := slices.DeleteFunc(slices.Clone(machine.bars), func(b laneBar) bool {
					return b.StartSeconds > moment.StartSeconds || b.EndSeconds <= moment.StartSeconds
				})
				most = max(most, len(running))
			}
			if machine.lanes != most {
				t.Fatalf("%d lanes for %d jobs at once", machine.lanes, most)
			}
		}
	})
}

func TestATimelineOfAnyBarsCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Float64Range(0, maxTimelineSeconds), 2, 2).Draw(t, "times")
		slices.Sort(times)
		chart := Timeline{Schedules: []Schedule{
			{Name: rapid.StringN(1, 50, -1).Draw(t, "name"), Bars: append(drawBars(t), Bar{"c", "long", times[0], times[1]})},
		}}
		if err := Encode(io.Discard, chart, SVG); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnInstantaneousScheduleCanBeDrawn(t *testing.T) {
	t.Parallel()
	wantTexts(t, Timeline{Schedules: []Schedule{{Name: "s", Bars: []Bar{{"m", "j", 0, 0}}}}}, "makespan 0s")
}
