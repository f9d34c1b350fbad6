package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Unidentified is something that the runs do not determine, so that the answer
// there is a belief or an average.
type Unidentified struct {
	// Job is whose it is; empty where it is not of one job.
	Job string
	// Quantity is "sensitivity", "pressure", "loading" where the two are equal, or, for a missing
	// connection between jobs, "link".
	Quantity string
	// Reason names the missing observations.
	Reason string
}

// String returns it as a sentence.
func (u Unidentified) String() string {
	if u.Job == "" {
		return u.Reason
	}
	return fmt.Sprintf("the %s of %q: %s", u.Quantity, u.Job, u.Reason)
}

// unidentifiedOf goes through every job's sensitivity and pressure and compares the information of
// the runs about it with that of the assumptions: a direction with less is not identified.
func unidentifiedOf(a *alternation, resources []string, hidden bool) []Unidentified {
	var found []Unidentified
	add := func(job int, quantity, reason string) {
		if reason != "" {
			found = append(found, Unidentified{a.jobs[job], quantity, reason})
		}
	}
	for j := range a.jobs {
		if a.strength(j) >= pinned {
			continue
		}
		assumed := a.strength(j) * a.unit
		if a.symmetric() {
			information := a.ownInformation(j)
			information.AddSym(information, a.theirInformation(j))
			add(j, "loading", a.gap(len(a.suffers[j])+len(a.inflicts[j]), "neither its dilation in company nor that of anybody beside it was measured",
				information, assumed, resources, hidden))
			continue
		}
		add(j, "sensitivity", a.gap(len(a.suffers[j]), "its dilation in company was never measured",
			a.ownInformation(j), assumed, resources, hidden))
		add(j, "pressure", a.gap(len(a.inflicts[j]), "nobody beside it was measured",
			a.theirInformation(j), assumed, resources, hidden))
	}
	found = append(found, a.inseparable()...)
	if hidden {
		found = append(found, a.unlinked()...)
	}
	return found
}

// inseparable returns the jobs that were only ever beside measured jobs together:
// their pressures are known as a sum.
func (a *alternation) inseparable() []Unidentified {
	same := map[string][]int{}
	var order []string
	for j, in := range a.inflicts {
		if len(in) == 0 || a.symmetric() || a.strength(j) >= pinned {
			continue
		}
		key := fmt.Sprint(in)
		if same[key] == nil {
			order = append(order, key)
		}
		same[key] = append(same[key], j)
	}
	var found []Unidentified
	for _, key := range order {
		if len(same[key]) < 2 {
			continue
		}
		names := make([]string, len(same[key]))
		for i, j := range same[key] {
			names[i] = a.jobs[j]
		}
		found = append(found, Unidentified{"", "pressure", fmt.Sprintf(
			"the pressures of %s: whoever was measured beside one had all of them beside it, so only their sum is determined", strings.Join(names, ", "))})
	}
	return found
}

// gap returns the missing information about one job's sensitivity or pressure, or nothing.
func (a *alternation) gap(observations int, never string, information *mat.SymDense, assumed float64, resources []string, hidden bool) string {
	if observations == 0 {
		return never
	}
	missing := unseen(information, assumed)
	m := a.resources
	switch {
	case len(missing) == 0:
		return ""
	case len(missing) == m:
		return fmt.Sprintf("what was observed of it, %s, tells less than is assumed", plural(observations, "dilation"))
	case hidden:
		return fmt.Sprintf("what was observed of it, %s, determines it in %d of %d directions", plural(observations, "dilation"), m-len(missing), m)
	}
	names := make([]string, len(missing))
	for i, direction := range missing {
		names[i] = describe(direction, resources)
	}
	return fmt.Sprintf("what was observed of it, %s, tells nothing of %s", plural(observations, "dilation"), strings.Join(names, " and of "))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unseen returns the directions in which there is less information than is
// assumed.
func unseen(information *mat.SymDense, assumed float64) [][]float64 {
	var eigen mat.EigenSym
	if !eigen.Factorize(information, true) {
		return nil
	}
	var directions mat.Dense
	eigen.VectorsTo(&directions)
	var found [][]float64
	for i, value := range eigen.Values(nil) {
		if value < assumed {
			found = append(found, mat.Col(nil, i, &directions))
		}
	}
	return found
}

// describe names a direction by the resources in it.
func describe(direction []float64, resources []string) string {
	largest := 0.0
	for _, v := range direction {
		if math.Abs(v) > math.Abs(largest) {
			largest = v
		}
	}
	var parts []string
	for i, v := range direction {
		switch share := v / largest; {
		case math.Abs(share) < 0.1:
		case share > 0.95:
			parts = append(parts, "+ "+resources[i])
		case share < 0:
			parts = append(parts, fmt.Sprintf("- %.1f %s", -share, resources[i]))
		default:
			parts = append(parts, fmt.Sprintf("+ %.1f %s", share, resources[i]))
		}
	}
	return strings.TrimPrefix(strings.Join(parts, " "), "+ ")
}

// ownInformation returns the information of a job's samples about its sensitivities.
func (a *alternation) ownInformation(job int) *mat.SymDense {
	information := mat.NewSymDense(a.resources, nil)
	for _, o := range a.suffers[job] {
		load := mat.NewVecDense(a.resources, slices.Clone(a.loadOf(o)))
		information.SymRankOne(information, a.samples[o].weight*a.gain[o]*a.gain[o]*a.trust[o], load)
	}
	return information
}

// theirInformation returns the information of the samples beside a job about its pressures.
func (a *alternation) theirInformation(job int) *mat.SymDense {
	information := mat.NewSymDense(a.resources, nil)
	for _, in := range a.inflicts[job] {
		s := a.samples[in.sample]
		gain := a.gain[in.sample] * float64(in.copies)
		own := mat.NewVecDense(a.resources, slices.Clone(a.sensitivityOf(s.job)))
		information.SymRankOne(information, s.weight*gain*gain*a.trust[in.sample], own)
	}
	return information
}

// unlinked returns the groups of sensitivities and pressures that no chain of
// observations links with the largest group. Each group has a scale and a mix
// of hidden resources of its own, so products across groups are guesses.
func (a *alternation) unlinked() []Unidentified {
	n := len(a.jobs)
	parent := make([]int, 2*n) // sensitivities, then pressures
	for x := range parent {
		parent[x] = x
	}
	root := func(x int) int {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for j := range n {
		if a.symmetric() {
			parent[root(n+j)] = root(j)
		}
	}
	for _, s := range a.samples {
		for _, c := range s.others {
			parent[root(n+c.job)] = root(s.job)
		}
	}
	groups := map[int][]int{}
	var order []int
	for x := range parent {
		if x < n && len(a.suffers[x]) == 0 || x >= n && len(a.inflicts[x-n]) == 0 {
			continue // reported on its own
		}
		r := root(x)
		if groups[r] == nil {
			order = append(order, r)
		}
		groups[r] = append(groups[r], x)
	}
	if len(order) < 2 {
		return nil
	}
	slices.SortStableFunc(order, func(x, y int) int { return len(groups[y]) - len(groups[x]) })
	var found []Unidentified
	for _, r := range order[1:] {
		var sensitivities, pressures []string
		for _, x := range groups[r] {
			if x < n {
				sensitivities = append(sensitivities, a.jobs[x])
			} else {
				pressures = append(pressures, a.jobs[x-n])
			}
		}
		found = append(found, Unidentified{"", "link", fmt.Sprintf(
			"no chain of runs links the sensitivity of %s and the pressure of %s with the other jobs: only what they do to each other is measured",
			strings.Join(sensitivities, ", "), strings.Join(pressures, ", "))})
	}
	return found
}
