package replay

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
	"loadline.dev/loadline/pkg/trace"
)

// ofArrivals are the flags that describe generated jobs.
var ofArrivals = []string{"generate", "every", "distribution", "scv", "gaps-from", "types", "requests", "limits"}

// applyArrivals sets the fields of generated jobs from the flags; fields without a flag are unchanged.
func (f *specFlags) applyArrivals(spec *v1alpha1.TraceReplaySpec, workloads []v1alpha1.WorkloadProfile, changed func(flag string) bool) error {
	i := slices.IndexFunc(ofArrivals, changed)
	if i < 0 {
		return nil
	}
	if spec.Trace != nil {
		return fmt.Errorf("--%s is about generated jobs, and there is a trace: leave one out", ofArrivals[i])
	}
	fresh := spec.Arrivals == nil
	if fresh {
		spec.Arrivals = &v1alpha1.ReplayArrivals{}
	}
	if changed("generate") {
		spec.Arrivals.Jobs = &f.generate
	}
	if err := f.applyGaps(&spec.Arrivals.Interarrival, fresh, changed); err != nil {
		return err
	}
	if len(f.types) > 0 || fresh {
		var err error
		if spec.Arrivals.Types, err = f.jobTypes(workloads); err != nil {
			return err
		}
	}
	if err := setCPU("requests", f.requests, spec.Arrivals.Types, func(t *v1alpha1.ReplayJobType) **resource.Quantity { return &t.CPURequest }); err != nil {
		return err
	}
	return setCPU("limits", f.limits, spec.Arrivals.Types, func(t *v1alpha1.ReplayJobType) **resource.Quantity { return &t.CPULimit })
}

// setCPU sets an amount of cpu of the types that a flag names, by the name of their profile, with its namespace or without.
func setCPU(flag string, amounts map[string]string, types []v1alpha1.ReplayJobType, of func(*v1alpha1.ReplayJobType) **resource.Quantity) error {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		q, err := resource.ParseQuantity(amounts[name])
		if err != nil {
			return fmt.Errorf("--%s %s=%s: %q is not a quantity of CPU such as 500m or 2", flag, name, amounts[name], amounts[name])
		}
		found := false
		for i := range types {
			if t := &types[i]; t.Profile == name || strings.HasSuffix(t.Profile, "/"+name) {
				*of(t), found = &q, true
			}
		}
		if !found {
			return fmt.Errorf("--%s %s=%s: no job of the WorkloadProfile %s is generated", flag, name, amounts[name], name)
		}
	}
	return nil
}

// applyGaps describes the times between arrivals.
func (f *specFlags) applyGaps(i *v1alpha1.Interarrival, fresh bool, changed func(flag string) bool) error {
	if f.gapsFrom != "" {
		for _, flag := range []string{"every", "distribution", "scv"} {
			if changed(flag) {
				return fmt.Errorf("--%s and --gaps-from both say when jobs arrive: leave one out", flag)
			}
		}
		gaps, err := f.gaps()
		*i = v1alpha1.Interarrival{Distribution: v1alpha1.DistributionEmpirical, GapsMillis: gaps}
		return err
	}
	switch {
	case f.distribution == v1alpha1.DistributionEmpirical && changed("distribution"):
		return errors.New("--distribution empirical: name a trace that has the times, --gaps-from trace.csv")
	case changed("every") && f.every < time.Millisecond:
		return fmt.Errorf("--every: %v is not at least 1ms", f.every)
	case fresh && !changed("every"):
		return errors.New("--generate: say how often a job arrives, --every 6s or --gaps-from trace.csv")
	}
	if changed("distribution") || i.Distribution == v1alpha1.DistributionEmpirical && changed("every") {
		i.Distribution, i.GapsMillis = f.distribution, nil
		if !replays.VariesBySCV(f.distribution) {
			i.SCV = nil
		}
	}
	if changed("every") {
		i.MeanMillis = new(f.every.Milliseconds())
	}
	if changed("scv") {
		q, err := resource.ParseQuantity(f.scv)
		if err != nil {
			return fmt.Errorf("--scv: %q is not a number such as 4", f.scv)
		}
		i.SCV = &q
	}
	return nil
}

// jobTypes returns the types that the flag names, or else all that can be generated.
func (f *specFlags) jobTypes(workloads []v1alpha1.WorkloadProfile) (types []v1alpha1.ReplayJobType, err error) {
	for _, text := range f.types {
		name, weight, weighted := strings.Cut(text, "=")
		t := v1alpha1.ReplayJobType{Profile: name}
		if weighted {
			n, err := strconv.ParseInt(weight, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("--types %s: %q is not a whole number", text, weight)
			}
			t.Weight = new(int32(n))
		}
		types = append(types, t)
	}
	if len(types) > 0 {
		return types, nil
	}
	for i := range workloads {
		if p := &workloads[i]; profile.NeutralMillis(p, profile.AnyClass) != nil {
			types = append(types, v1alpha1.ReplayJobType{Profile: text.QualifiedName(p)})
		}
	}
	if len(types) == 0 {
		return nil, errors.New("--generate: give the WorkloadProfiles of the jobs, with neutralMillis: -f profiles.yaml")
	}
	return types, nil
}

// gaps reads the times between the jobs of a trace, in milliseconds.
func (f *specFlags) gaps() ([]int64, error) {
	file, name, err := input.Open(f.gapsFrom, nil)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	jobs := trace.Jobs(name, file, trace.Options{Format: trace.Format(f.format), AllowUnsorted: f.sort})
	if f.sort {
		if jobs, err = trace.Sorted(jobs); err != nil {
			return nil, err
		}
	}
	gaps, err := replays.GapsOf(jobs)
	if err != nil {
		return nil, err
	}
	if len(gaps) == 0 {
		return nil, fmt.Errorf("--gaps-from %s: there is one job only, and no time between jobs", f.gapsFrom)
	}
	return gaps, nil
}
