package report

import (
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/report/chart"
)

// ServersChart draws how many servers each class needs in a pool of its own, at other
// rates of arrival than now.
func ServersChart(curve *pools.Curve) chart.Chart {
	servers := chart.Staircase{
		Title:    "Servers that each class needs alone",
		Quantity: "arrival rate", Unit: "/s", Takes: "servers",
		From: curve.From, To: curve.To, Log: curve.Log,
	}
	for _, class := range curve.Classes {
		stair := chart.Stair{Name: class.Name + ", " + class.SLA.String(), Now: class.Now}
		for _, step := range class.Steps {
			stair.Steps = append(stair.Steps, chart.Step{From: step.Arrival, Needs: float64(step.Servers)})
		}
		servers.Stairs = append(servers.Stairs, stair)
	}
	return servers
}

// StrategyMap draws where dedicated pools beat a shared one, and by how many servers.
func StrategyMap(found *pools.Map) chart.Chart {
	regions := chart.Regions{
		Title: "Dedicated pools or a shared one?", X: rateAxis(found.X), Y: rateAxis(found.Y),
		NowX: found.X.Now, NowY: found.Y.Now,
	}
	scale := newMarginScale(found.Margins, found.SameCost)
	regions.Findings = scale.findings()
	for _, row := range found.Margins {
		cells := make([]int, len(row))
		for i, margin := range row {
			cells[i] = scale.finding(margin)
		}
		regions.Cells = append(regions.Cells, cells)
	}
	return regions
}

func rateAxis(a pools.Axis) chart.Axis {
	return chart.Axis{Quantity: "arrival rate of " + a.Class, Unit: "/s", To: a.To}
}
