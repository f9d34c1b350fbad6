package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/text"
)

// SizeNotes states the range of validity of an answer and the method behind it, one note per line.
func SizeNotes(a *pools.Answer) []string {
	var notes []string
	if beyond := a.BeyondCluster(); beyond != "" {
		notes = append(notes, text.Capitalized(beyond)+".")
	}
	for i := range a.Pools {
		if p := &a.Pools[i]; p.Refused != "" {
			notes = append(notes, fmt.Sprintf("Pool %s is not scaled: %s.", p.Name, p.Refused))
		}
	}
	if a.Assumed != "" {
		notes = append(notes, text.Capitalized(a.Assumed)+": give the Namespaces, too, to know.")
	}
	for _, note := range []string{roomOfEach(a), roomOfAll(a), simulated(a), approximated(a), searched(a), atRandom(a)} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// roomOfEach says how far the arrival rates of classes may rise, that of the one with
// the least room first.
func roomOfEach(a *pools.Answer) string {
	const shown = 3 // that are listed
	type room struct {
		factor, now, limit float64
		class              string
	}
	var rooms []room
	alone := ""
	for i := range a.Pools {
		if len(a.Pools[i].Classes) > 1 {
			alone = ", if only one of them changes"
		}
		for k := range a.Pools[i].Classes {
			class := &a.Pools[i].Classes[k]
			if input := inputOf(a, class.Name); class.MaxArrival != nil && input != nil && input.Arrival != nil {
				now, limit := input.Arrival.Value, *class.MaxArrival
				rooms = append(rooms, room{limit / now, now, limit, class.Name})
			}
		}
	}
	if len(rooms) == 0 {
		return ""
	}
	slices.SortStableFunc(rooms, func(a, b room) int { return cmp.Compare(a.factor, b.factor) })
	var texts []string
	for i, r := range rooms[:min(shown, len(rooms))] {
		now, limit := text.Apart(r.now, r.limit)
		text := fmt.Sprintf("%s under %s (now %s)", r.class, limit, now)
		if i == 0 {
			text = fmt.Sprintf("%s stays under %s requests/s (now %s)", r.class, limit, now)
		}
		texts = append(texts, text)
	}
	if more := len(rooms) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more with more room", more))
	}
	if len(rooms) == 1 {
		alone = ""
	}
	return "The answer holds while " + enumerate(texts) + alone + "."
}

// enumerate joins texts as a sentence does.
func enumerate(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// roomOfAll says how far all rates may move at once.
func roomOfAll(a *pools.Answer) string {
	arrivals, services := math.Inf(1), 0.0
	for i := range a.Pools {
		if factor := a.Pools[i].MaxArrivalFactor; factor != nil {
			arrivals = min(arrivals, *factor)
		}
		if factor := a.Pools[i].MinServiceFactor; factor != nil {
			services = max(services, *factor)
		}
	}
	least := 1e-6
	if isSimulated(a) { // which finds them to a hundredth
		least = 0.01
	}
	var parts []string
	if !math.IsInf(arrivals, 1) {
		parts = append(parts, "all rates may rise by "+roundedDown(arrivals-1, least))
	}
	if services > 0 {
		parts = append(parts, "all services may take "+roundedDown(1/services-1, least)+" longer")
	}
	if len(parts) == 0 {
		return ""
	}
	return text.Capitalized(strings.Join(parts, ", or ")) + ", before a server is missing."
}

// atRandom states the assumed arrivals of jobs, where the answer depends on them.
func atRandom(a *pools.Answer) string {
	if len(a.Pools) == 0 {
		return ""
	}
	return "Jobs are taken to arrive at random (Poisson); where they come in bursts, it takes more servers."
}

// roundedDown writes how much room there is at least, in percent, with more decimals
// where there is little; least is the smallest room that is known to be there.
func roundedDown(fraction, least float64) string {
	if fraction < least {
		return "less than " + strconv.FormatFloat(100*least, 'g', 3, 64) + "%"
	}
	unit := 10.0
	for decimals := 1; ; decimals++ {
		if down := math.Floor(100*fraction*unit*(1+1e-12)) / unit; down > 0 {
			return text.Decimal(down, decimals) + "%"
		}
		unit *= 10
	}
}

// isSimulated reports whether figures are from simulations.
func isSimulated(a *pools.Answer) bool {
	return a.Discipline == v1alpha1.DisciplinePDP || a.Discipline == v1alpha1.DisciplineLateLast
}

// simulated states the accuracy of the figures of a simulation.
func simulated(a *pools.Answer) string {
	var undecided []string
	some := false
	for i := range a.Pools {
		for k := range a.Pools[i].Classes {
			some = some || a.Pools[i].Classes[k].HalfWidth != nil
		}
		if a.Pools[i].Undecided {
			undecided = append(undecided, a.Pools[i].Name)
		}
	}
	switch {
	case !some:
		return ""
	case len(undecided) == 0:
		return fmt.Sprintf("Simulated; ± is the %s confidence interval.", text.Percent(SizeConfidence))
	default:
		return fmt.Sprintf("Simulated; ± is the %s confidence interval. One server fewer may do for %s: it takes a longer simulation to tell.",
			text.Percent(SizeConfidence), strings.Join(undecided, ", "))
	}
}

// approximated says which servers the error of an approximation may change.
func approximated(a *pools.Answer) string {
	uncertain := a.Uncertain()
	if uncertain == "" {
		return ""
	}
	return "Approximated, with the error in brackets: " + uncertain + "."
}

// searched says how good a partition is that was searched for.
func searched(a *pools.Answer) string {
	if a.Gap <= 0 {
		return ""
	}
	return fmt.Sprintf("There are too many partitions to try all: the best may cost up to %s less.", text.Percent(a.Gap))
}
