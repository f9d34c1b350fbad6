package fit

import "math"

// center moves the common part of all jobs between baselines and pressures so that the stated alone
// times are met best. Where every job was observed with the same number of others, pressures that
// are all larger by c change nothing if each baseline becomes a·(1 − s·c) and each sensitivity s/(1
// − s·c); the rounds, which move one side at a time, would hardly get there.
func (a *alternation) center() {
	others := a.sameCompany()
	if !a.baselines || a.symmetric() || len(a.beliefs) > 0 || others == 0 || !a.firstOrder() {
		return
	}
	least := make([]float64, a.resources)
	for i := range least {
		least[i] = math.Inf(1)
	}
	for k := range a.jobs {
		for i, q := range a.pressureOf(k) {
			if a.inflictsAtAll(k) {
				least[i] = min(least[i], q)
			}
		}
	}
	a.solver.reset()
	for j := range a.jobs {
		s := a.sensitivityOf(j)
		a.solver.observe(s, math.Log(a.baseline[j])/float64(others)+dot(s, least), a.stated[j])
	}
	a.solver.mirror()
	shift := make([]float64, a.resources) // of pressures, from their least values down
	a.solver.minimize(shift, math.Inf(1), math.Inf(1))
	for i := range shift {
		shift[i] -= least[i]
	}
	for j := range a.jobs {
		s := a.sensitivityOf(j)
		factor := max(slowest, 1-float64(others)*dot(s, shift))
		a.baseline[j] *= factor
		for i := range s {
			s[i] /= factor
		}
		copy(a.before, a.pressureOf(j))
		for i, c := range shift {
			a.pressureOf(j)[i] = max(0, a.pressureOf(j)[i]+c)
		}
		a.spread(j)
	}
}

// sameCompany returns with how many others every job was observed, or 0 where
// that varies.
func (p *problem) sameCompany() int {
	same := 0
	for _, s := range p.samples {
		others := len(p.members[s.run]) - 1
		if same != 0 && others != same {
			return 0
		}
		same = others
	}
	return same
}
