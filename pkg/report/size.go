package report

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/text"
)

// SizeConfidence is that of the intervals that are printed beside simulated
// probabilities: simulate with it.
const SizeConfidence = 0.99

// SizeSummary states in a line the servers of a plan, and the comparison with the alternatives,
// such as "Dedicated pools, 5 servers: one fewer than shared.".
func SizeSummary(a *pools.Answer) string {
	sentence := sizeSubject(a) + ", " + text.Counted(a.Servers, "server")
	byCost := !sameAsServers(a)
	if byCost {
		sentence += " that cost " + text.Amount(a.Cost)
	}
	var than []string
	for _, other := range a.Alternatives {
		difference := compareServers(other.Servers - a.Servers)
		if byCost {
			difference = compareCost(other.Cost - a.Cost)
		}
		than = append(than, difference+" "+alternativeName(other.Strategy))
	}
	if len(than) > 0 {
		sentence += ": " + strings.Join(than, ", ")
	}
	return sentence + "."
}

// sizeSubject names the subject of the sizing.
func sizeSubject(a *pools.Answer) string {
	switch {
	case a.Given && len(a.Pools) == 1:
		return "The plan's pool"
	case a.Given:
		return "The plan's pools"
	case len(a.Pools) == 1 && len(a.Pools[0].Classes) == 1:
		return "One pool"
	case a.Strategy == v1alpha1.StrategyDedicated:
		return "Dedicated pools"
	case a.Strategy == v1alpha1.StrategyShared:
		return "A shared pool"
	default:
		return fmt.Sprintf("%d pools", len(a.Pools))
	}
}

// sameAsServers reports whether all costs are numbers of servers.
func sameAsServers(a *pools.Answer) bool {
	same := a.Cost == float64(a.Servers)
	for _, other := range a.Alternatives {
		same = same && other.Cost == float64(other.Servers)
	}
	return same
}

// compareServers says how this compares with an alternative that has more servers.
func compareServers(more int) string {
	switch {
	case more == 1:
		return "one fewer than"
	case more == -1:
		return "one more than"
	case more > 0:
		return text.Count(int64(more)) + " fewer than"
	case more < 0:
		return text.Count(int64(-more)) + " more than"
	default:
		return "as many as"
	}
}

// compareCost says how this compares with an alternative that costs so much more.
func compareCost(more float64) string {
	const nothing = 1e-9
	switch {
	case more > nothing:
		return text.Amount(more) + " less than"
	case more < -nothing:
		return text.Amount(-more) + " more than"
	default:
		return "as much as"
	}
}

// alternativeName names a strategy to compare with.
func alternativeName(strategy string) string {
	if strategy == v1alpha1.StrategyPartitioned {
		return "the best partition"
	}
	return strategy
}

// SizeTable has a row for each class, with the results of its pool, and one for each alternative. A
// wide table has more columns.
func SizeTable(a *pools.Answer, wide bool) *text.Table {
	columns := []text.Column{text.Left("POOL"), text.Left("CLASSES"), text.Right("SERVERS"), text.Left("SLA"), text.Right("ATTAINED"), text.Right("WITH ONE FEWER")}
	if wide {
		columns = append(columns, text.Right("WITH ONE MORE"), text.Right("BUSY"), text.Right("RATE"), text.Right("ENOUGH UP TO"), text.Right("SERVICE"))
	}
	if a.Given {
		columns = append(columns, text.Right("REPLICAS"))
	}
	t := text.NewTable(columns...)
	for i := range a.Pools {
		pool := &a.Pools[i]
		for k := range pool.Classes {
			t.Add(sizeRow(a, pool, k, wide)...)
		}
	}
	for i := range a.Alternatives {
		other := &a.Alternatives[i]
		t.Add(other.Strategy, alternativeClasses(a, other), text.Count(int64(other.Servers)), alternativeRemark(other))
	}
	return t
}

// sizeRow returns the row of a pool's first class, with the columns of the pool.
func sizeRow(a *pools.Answer, pool *pools.PoolAnswer, k int, wide bool) []string {
	class := &pool.Classes[k]
	name, size, busy, replicas := "", "", "", ""
	if k == 0 {
		name, size, busy = pool.Name, text.Count(int64(pool.Servers)), text.Percent(pool.Utilization)
		if pool.Bounds != nil {
			replicas = text.Count(int64(pool.Bounds.Replicas))
		}
	}
	attained := text.PercentBeside(class.Attained, class.Probability)
	if class.HalfWidth != nil {
		attained += " ± " + text.Percent(*class.HalfWidth)
	}
	row := []string{name, class.Name, size, slaText(class), attained, withOneFewer(pool, class)}
	if wide {
		more := text.Absent
		if class.WithOneMore != nil {
			more = text.PercentBeside(*class.WithOneMore, class.Probability)
		}
		row = append(row, more, busy)
		row = append(row, rates(a, class)...)
	}
	if a.Given {
		row = append(row, replicas)
	}
	return row
}

// slaText writes the SLA of a class, to the last digit: "95.0% within 3.0s".
func slaText(class *pools.Class) string {
	return text.ExactPercent(class.Probability) + " within " + text.Duration(class.WithinSeconds)
}

// withOneFewer states the results of a class if its pool had one server fewer.
func withOneFewer(pool *pools.PoolAnswer, class *pools.Class) string {
	switch {
	case class.WithOneFewer != nil:
		return text.PercentBeside(*class.WithOneFewer, class.Probability)
	case pool.Servers > 1:
		return "overloaded"
	default:
		return text.Absent
	}
}

// rates returns the arrival rate of a class, up to which its servers are enough,
// and its mean service time.
func rates(a *pools.Answer, class *pools.Class) []string {
	cells := []string{text.Absent, text.Absent, text.Absent}
	input := inputOf(a, class.Name)
	if input == nil || input.Arrival == nil || input.Service == nil {
		return cells
	}
	cells[0], cells[2] = text.Value(input.Arrival.Value)+"/s", text.Duration(input.Service.Value)
	if class.MaxArrival != nil {
		now, shown := text.Apart(input.Arrival.Value, *class.MaxArrival)
		cells[0], cells[1] = now+"/s", shown+"/s"
	}
	return cells
}

func inputOf(a *pools.Answer, class string) *pools.ClassInput {
	for i := range a.Inputs {
		if a.Inputs[i].Class == class {
			return &a.Inputs[i]
		}
	}
	return nil
}

// alternativeClasses says how an alternative shares its pools.
func alternativeClasses(a *pools.Answer, other *pools.Alternative) string {
	switch other.Strategy {
	case v1alpha1.StrategyDedicated:
		return "each"
	case v1alpha1.StrategyShared:
		if len(a.Inputs) == 2 {
			return "both"
		}
		return "all"
	default:
		return fmt.Sprintf("%d pools", len(other.Pools))
	}
}

// alternativeRemark says why an alternative takes its servers.
func alternativeRemark(other *pools.Alternative) string {
	const shown = 6 // pools that are listed
	if len(other.Pools) == 1 {
		if binding := other.Pools[0].Binding; binding != "" {
			return binding + " is the one that needs " + them(other.Servers)
		}
		return "the arrivals of all need " + them(other.Servers)
	}
	var list []string
	for _, pool := range other.Pools[:min(shown, len(other.Pools))] {
		list = append(list, strings.Join(pool.Classes, "+")+" "+text.Count(int64(pool.Servers)))
	}
	if rest := len(other.Pools) - shown; rest > 0 {
		list = append(list, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(list, ", ")
}

func them(servers int) string {
	if servers == 1 {
		return "it"
	}
	return "them"
}
