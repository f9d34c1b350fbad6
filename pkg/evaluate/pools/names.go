package pools

import (
	"cmp"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/sizing"
)

// disciplines are the orders in which pools take jobs, by the names that users
// write.
var disciplines = []struct {
	name       string
	discipline sizing.Discipline
}{
	{v1alpha1.DisciplineFCFS, sizing.FCFS},
	{v1alpha1.DisciplineHOL, sizing.HOL},
	{v1alpha1.DisciplinePDP, sizing.PDP},
	{v1alpha1.DisciplineLateLast, sizing.LateLast},
}

// Disciplines returns the names of the disciplines, the default first.
func Disciplines() []string {
	names := make([]string, len(disciplines))
	for i, d := range disciplines {
		names[i] = d.name
	}
	return names
}

func disciplineNamed(name string) (d sizing.Discipline, known bool) {
	for _, d := range disciplines {
		if d.name == cmp.Or(name, disciplines[0].name) {
			return d.discipline, true
		}
	}
	return 0, false
}

func disciplineName(d sizing.Discipline) string {
	for _, known := range disciplines {
		if known.discipline == d {
			return known.name
		}
	}
	return d.String()
}

// Strategies returns the names of the strategies, the default first.
func Strategies() []string {
	return []string{v1alpha1.StrategyAuto, v1alpha1.StrategyShared, v1alpha1.StrategyDedicated}
}

func strategyName(s sizing.Strategy) string {
	switch s {
	case sizing.SharedPool:
		return v1alpha1.StrategyShared
	case sizing.DedicatedPools:
		return v1alpha1.StrategyDedicated
	default:
		return v1alpha1.StrategyPartitioned
	}
}
