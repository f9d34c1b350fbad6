package scenario

import (
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/loading"
)

// WithProfiles returns the scenario with other profiles, which have a name as a set: those by the names of applications, and none of an
// application without one. All else is the same; the pods have other namespaces, so that both can be on one cluster.
func (s *Scenario) WithProfiles(set string, declared map[string]loading.Vector) *Scenario {
	other := *s
	other.ProfileSet, other.Applications, other.Pods = set, nil, make([]Pod, len(s.Pods))
	copies := map[*Application]*Application{}
	for _, a := range s.Applications {
		b := *a
		b.Declared = declared[a.Name]
		copies[a], other.Applications = &b, append(other.Applications, &b)
	}
	for i, p := range s.Pods {
		p.Application = copies[p.Application]
		other.Pods[i] = p
	}
	return &other
}

// WithProfileError returns the scenario with profiles that are off by another error; see [Options].
func (s *Scenario) WithProfileError(set string, σ float64) *Scenario {
	return s.WithProfiles(set, s.declared(σ))
}

// WithoutHalfOfProfiles returns the scenario without the profiles of half of the applications, which are drawn.
func (s *Scenario) WithoutHalfOfProfiles(set string) *Scenario {
	declared := map[string]loading.Vector{}
	for i, at := range rand.New(arrivals.Source(s.Seed, missingStream)).Perm(len(s.Applications)) {
		if a := s.Applications[at]; i >= len(s.Applications)/2 {
			declared[a.Name] = a.Declared
		}
	}
	return s.WithProfiles(set, declared)
}

// declared draws what profiles say that are off by some error, by the names of applications.
func (s *Scenario) declared(σ float64) map[string]loading.Vector {
	draw, declared := rand.New(arrivals.Source(s.Seed, profilesStream)), map[string]loading.Vector{}
	for _, a := range s.Applications {
		var v loading.Vector
		sum := 0.0
		for _, d := range a.Vector {
			d.Loading *= math.Exp(σ * draw.NormFloat64())
			v = append(v, d)
			sum += d.Loading
		}
		for i := range v {
			d := &v[i]
			d.Loading = math.Floor(1000*d.Loading/max(1, sum)) / 1000 // so that they add up to 1 at most
			d.Pressure = d.Loading
		}
		declared[a.Name] = v
	}
	return declared
}
