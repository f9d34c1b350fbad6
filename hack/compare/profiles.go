package main

import (
	"fmt"
	"strconv"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
)

// profileSet is a set of wrong profiles.
type profileSet struct {
	name string
	of   func(s *scenario.Scenario, observed func() (map[string]loading.Vector, error)) (*scenario.Scenario, error)
}

// profileSets returns those of --wrong-profiles.
func (o *options) profileSets() (sets []profileSet, err error) {
	for _, text := range list(o.wrong) {
		switch text {
		case "missing":
			sets = append(sets, profileSet{"half of the profiles missing", func(s *scenario.Scenario, _ func() (map[string]loading.Vector, error)) (*scenario.Scenario, error) {
				return s.WithoutHalfOfProfiles("missing"), nil
			}})
		case "observed":
			sets = append(sets, profileSet{"only what gauges observed in an hour", func(s *scenario.Scenario, observed func() (map[string]loading.Vector, error)) (*scenario.Scenario, error) {
				declared, err := observed()
				return s.WithProfiles("observed", declared), err
			}})
		default:
			σ, err := strconv.ParseFloat(text, 64)
			if err != nil || !(σ >= 0 && σ <= 1) {
				return nil, fmt.Errorf("--wrong-profiles: %q is neither missing, nor observed, nor a number from 0 to 1", text)
			}
			sets = append(sets, profileSet{fmt.Sprintf("profiles off by %.0f %%", 100*σ), func(s *scenario.Scenario, _ func() (map[string]loading.Vector, error)) (*scenario.Scenario, error) {
				return s.WithProfileError(fmt.Sprintf("off-%.0f", 100*σ), σ), nil
			}})
		}
	}
	return sets, nil
}
