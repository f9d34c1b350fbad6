package size

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// planFlags are the flags for the fields of a PoolPlan's spec.
type planFlags struct {
	classes    []string
	rates      []string
	services   []string
	arrivals   []string
	discipline string
	strategy   string
}

const classExample = "--class name=checkout,rate=0.6,service=1s,within=3s,probability=0.95"

func (f *planFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.classes, "class", nil, "a class of jobs, as name=NAME,rate=PER-SECOND,service=TIME,within=TIME[,probability=FRACTION][,scv=NUMBER][,cost=NUMBER]; may be repeated")
	flags.StringSliceVar(&f.rates, "rate", nil, "another arrival rate of a class, as NAME=PER-SECOND; may be repeated")
	flags.StringSliceVar(&f.services, "service", nil, "another mean service time of a class, as NAME=TIME; may be repeated")
	flags.StringSliceVar(&f.arrivals, "arrivals", nil, "take the arrival rate of a class from recorded jobs, as NAME=TRACE, a trace of CSV or, by the name .swf, SWF, plain or gzip, and warn where they come in bursts; may be repeated")
	flags.StringVar(&f.discipline, "discipline", "", "the order in which servers take jobs: "+strings.Join(pools.Disciplines(), ", ")+" (default that of the plan, else fcfs)")
	flags.StringVar(&f.strategy, "strategy", "", "how classes share pools, whatever pools the plan has: "+
		strings.Join(pools.Strategies(), ", ")+" (default that of the plan, else auto)")
}

// apply writes the flags that were given into a spec, which may be empty.
func (f *planFlags) apply(spec *v1alpha1.PoolPlanSpec) error {
	for _, text := range f.classes {
		class, err := parseClass(text)
		if err != nil {
			return fmt.Errorf("--class %s: %w", text, err)
		}
		spec.Classes = append(spec.Classes, class)
	}
	for _, text := range f.rates {
		class, value, err := classValue(spec, text, "checkout=0.9")
		if err == nil {
			class.Arrival, err = parseRate(value)
		}
		if err != nil {
			return fmt.Errorf("--rate %s: %w", text, err)
		}
	}
	for _, text := range f.services {
		class, value, err := classValue(spec, text, "checkout=900ms")
		if err == nil {
			err = setService(class, value)
		}
		if err != nil {
			return fmt.Errorf("--service %s: %w", text, err)
		}
	}
	if f.discipline != "" {
		spec.Discipline = f.discipline
	}
	if f.strategy != "" {
		spec.Strategy, spec.Pools, spec.Mode = f.strategy, nil, ""
	}
	return nil
}

// fields returns which fields of a spec the flags said.
func (f *planFlags) fields(spec *v1alpha1.PoolPlanSpec) verb.FlagFields {
	said := verb.FlagFields{}
	if f.discipline != "" {
		said["spec.discipline"] = "--discipline"
	}
	if f.strategy != "" {
		said["spec.strategy"] = "--strategy"
	}
	for i := range spec.Classes {
		path, name := fmt.Sprintf("spec.classes[%d]", i), spec.Classes[i].Name
		if len(f.classes) > 0 { // then it is the flags that have all classes
			flag := "--class " + name
			said[path], said[path+".name"], said[path+".arrival"], said[path+".arrival.ratePerSecond"] = flag, flag+": name", flag+": rate", flag+": rate"
			said[path+".service"], said[path+".service.meanMillis"], said[path+".service.scv"] = flag+": service", flag+": service", flag+": scv"
			said[path+".sla.responseTimeMillis"], said[path+".sla.probability"], said[path+".costPerServer"] = flag+": within", flag+": probability", flag+": cost"
		}
		for flag, of := range map[string]struct {
			texts []string
			path  string
		}{"--rate " + name: {f.rates, path + ".arrival.ratePerSecond"}, "--service " + name: {f.services, path + ".service.meanMillis"}} {
			if slices.ContainsFunc(of.texts, func(text string) bool { return strings.HasPrefix(text, name+"=") }) {
				said[of.path] = flag
			}
		}
	}
	return said
}

// checkMeasured refuses classes whose rates are measured in a cluster.
func checkMeasured(spec *v1alpha1.PoolPlanSpec) error {
	for i := range spec.Classes {
		c := &spec.Classes[i]
		if c.Arrival != nil && c.Arrival.Query != "" {
			return fmt.Errorf("class %q: its arrival rate is measured by a query, for which there is no cluster here: give it, --rate %s=0.6", c.Name, c.Name)
		}
		if c.Service != nil && c.Service.Query != "" {
			return fmt.Errorf("class %q: its service time is measured by a query, for which there is no cluster here: give it, --service %s=1s", c.Name, c.Name)
		}
	}
	return nil
}

// classValue reads NAME=VALUE, NAME being that of a class.
func classValue(spec *v1alpha1.PoolPlanSpec, text, example string) (*v1alpha1.PoolClass, string, error) {
	name, value, err := verb.Pair(text, example)
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(spec.Classes, func(c v1alpha1.PoolClass) bool { return c.Name == name })
	if i < 0 {
		names := make([]string, len(spec.Classes))
		for i := range spec.Classes {
			names[i] = spec.Classes[i].Name
		}
		return nil, "", fmt.Errorf("there is no such class (there are %s)", strings.Join(names, ", "))
	}
	return &spec.Classes[i], value, nil
}

// parseClass reads KEY=VALUE,KEY=VALUE and so on.
func parseClass(text string) (v1alpha1.PoolClass, error) {
	class := v1alpha1.PoolClass{SLA: &v1alpha1.ClassSLA{}}
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, err := verb.Pair(part, "rate=0.6")
		if err != nil {
			return class, err
		}
		if given[key] {
			return class, fmt.Errorf("%s: is given twice", key)
		}
		given[key] = true
		if err := setClass(&class, key, value); err != nil {
			return class, fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, key := range []string{"name", "rate", "service", "within"} {
		if !given[key] {
			return class, fmt.Errorf("%s: is missing; write %s", key, strings.TrimPrefix(classExample, "--class "))
		}
	}
	return class, nil
}

// setClass sets the field of a key.
func setClass(class *v1alpha1.PoolClass, key, value string) (err error) {
	switch key {
	case "name":
		class.Name = value
	case "rate":
		class.Arrival, err = parseRate(value)
	case "service":
		err = setService(class, value)
	case "within":
		class.SLA.ResponseTimeMillis, err = parseMillis(value)
	case "probability":
		class.SLA.Probability, err = verb.Number(value, "0.95")
	case "scv":
		if class.Service == nil {
			class.Service = &v1alpha1.ClassService{}
		}
		class.Service.SCV, err = verb.Number(value, "2.5")
	case "cost":
		class.CostPerServer, err = verb.Number(value, "1.5")
	default:
		err = errors.New("is not one of name, rate, service, within, probability, scv, cost")
	}
	return err
}

func parseRate(text string) (*v1alpha1.ClassArrival, error) {
	rate, err := verb.Number(text, "0.6, of jobs per second")
	return &v1alpha1.ClassArrival{RatePerSecond: rate}, err
}

// setService sets the mean service time of a class, without changing its variation.
func setService(class *v1alpha1.PoolClass, text string) error {
	mean, err := parseMillis(text)
	if class.Service == nil {
		class.Service = &v1alpha1.ClassService{}
	}
	class.Service.MeanMillis, class.Service.Query = mean, ""
	return err
}

// parseMillis reads a duration, which manifests have in milliseconds.
func parseMillis(text string) (*int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration such as 1s or 250ms", text)
	}
	if d%time.Millisecond != 0 {
		return nil, fmt.Errorf("%q is not a whole number of milliseconds", text)
	}
	return new(d.Milliseconds()), nil
}
