package replays

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/trace"
)

// lots is the source of the policies' random draws, separate from the gaps and types of generated jobs.
func lots(seed uint64) *rand.Rand {
	const policyStream arrivals.Stream = 100
	return rand.New(arrivals.Source(seed, policyStream))
}

// checkArrivals finds out whether the jobs that are to be generated can be.
func (r *Replay) checkArrivals(Input) error {
	a := r.spec.Arrivals
	if a == nil {
		return nil
	}
	if a.Jobs == nil || *a.Jobs < 1 || *a.Jobs > maxJobs {
		jobs := int64(0)
		if a.Jobs != nil {
			jobs = *a.Jobs
		}
		return field.Invalid(field.NewPath("spec", "arrivals", "jobs"), jobs, fmt.Sprintf("must be between 1 and %d", maxJobs))
	}
	_, err := r.generated(1, nil)
	return err
}

// generated returns the generated jobs of a seed, and adds their weights to ranged, unless that is nil.
func (r *Replay) generated(seed uint64, ranged *weightRange) (iter.Seq2[epochs.Job, error], error) {
	path := field.NewPath("spec", "arrivals")
	process, err := interarrivals(&r.spec.Arrivals.Interarrival, seed, path.Child("interarrival"))
	if err != nil {
		return nil, err
	}
	types, weights, err := r.generatedTypes(ranged, path.Child("types"))
	if err != nil {
		return nil, err
	}
	mix, err := arrivals.NewMix(weights, arrivals.Source(seed, arrivals.Types))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Child("types"), err)
	}
	jobs := int(*r.spec.Arrivals.Jobs)
	return func(yield func(epochs.Job, error) bool) {
		number := 0
		for at := range arrivals.Times(process, jobs) {
			number++
			job := types[mix.Choose()]
			job.Arrival, job.Name = at, strconv.Itoa(number)
			if !yield(job, nil) {
				return
			}
		}
	}, nil
}

// generatedTypes returns a job of each type that is generated, and how often it is drawn.
func (r *Replay) generatedTypes(ranged *weightRange, path *field.Path) (types []epochs.Job, weights []float64, err error) {
	if len(r.spec.Arrivals.Types) == 0 {
		return nil, nil, field.Required(path, "list at least one kind of jobs")
	}
	seen := map[*workType]bool{}
	for i, t := range r.spec.Arrivals.Types {
		path := path.Index(i)
		work := r.jobTypes.named(t.Profile)
		switch {
		case work == nil:
			return nil, nil, field.Invalid(path.Child("profile"), t.Profile, r.jobTypes.unknown(t.Profile)).WithOrigin(manifest.OriginMissing)
		case seen[work]:
			return nil, nil, field.Duplicate(path.Child("profile"), t.Profile)
		case work.neutral == 0:
			return nil, nil, field.Invalid(path.Child("profile"), t.Profile, "has no neutralMillis: set in the WorkloadProfile how long such a job takes alone")
		}
		seen[work] = true
		weight := int32(1)
		if t.Weight != nil {
			weight = *t.Weight
		}
		if weight < 1 {
			return nil, nil, field.Invalid(path.Child("weight"), weight, "must be at least 1")
		}
		said, limit, err := requestedBy(&t, path)
		if err != nil {
			return nil, nil, err
		}
		if ranged != nil {
			ranged.add(work.JobType, said, limit)
		}
		types = append(types, epochs.Job{Data: work.sla, Job: placement.Job{
			Type: r.shareOf(said, limit).sharing(work.JobType), Neutral: work.neutral, Requests: r.requestsOf(said, limit, work.JobType),
		}})
		weights = append(weights, float64(weight))
	}
	return types, weights, nil
}

// requestedBy returns the declared cpu request of a type of jobs, and its limit in cores, 0 for none.
func requestedBy(t *v1alpha1.ReplayJobType, path *field.Path) (said []trace.Request, limit float64, err error) {
	most := resource.NewQuantity(loading.MaxServers, resource.DecimalSI)
	if q := t.CPURequest; q != nil {
		if q.Sign() < 0 || q.Cmp(*most) > 0 {
			return nil, 0, field.Invalid(path.Child("cpuRequest"), q.String(), fmt.Sprintf("must be a number of cores from 0 to %d", loading.MaxServers))
		}
		said = []trace.Request{{Resource: cpu, Amount: q.AsApproximateFloat64()}}
	}
	if q := t.CPULimit; q != nil {
		if q.Sign() <= 0 || q.Cmp(*most) > 0 {
			return nil, 0, field.Invalid(path.Child("cpuLimit"), q.String(), fmt.Sprintf(
				"must be a number of cores above 0 and up to %d; leave it out for no limit", loading.MaxServers))
		}
		if t.CPURequest != nil && t.CPURequest.Cmp(*q) > 0 {
			return nil, 0, field.Invalid(path.Child("cpuLimit"), q.String(), "is less than cpuRequest, "+t.CPURequest.String())
		}
		limit = q.AsApproximateFloat64()
	}
	return said, limit, nil
}

// interarrivals returns the process that a spec describes.
func interarrivals(i *v1alpha1.Interarrival, seed uint64, path *field.Path) (process arrivals.Process, err error) {
	if err := checkInterarrival(i, path); err != nil {
		return nil, err
	}
	mean, scv := 0.0, 0.0
	if i.MeanMillis != nil {
		mean = float64(*i.MeanMillis) / 1000
	}
	if i.SCV != nil {
		scv = i.SCV.AsApproximateFloat64()
	}
	source := arrivals.Source(seed, arrivals.Gaps)
	switch i.Distribution {
	case v1alpha1.DistributionConstant:
		process, err = arrivals.Constant(mean)
	case v1alpha1.DistributionGamma:
		process, err = arrivals.Gamma(mean, scv, source)
	case v1alpha1.DistributionLognormal:
		process, err = arrivals.LogNormal(mean, scv, source)
	case v1alpha1.DistributionHyperexponential:
		process, err = arrivals.Hyperexponential(mean, scv, source)
	case v1alpha1.DistributionEmpirical:
		gaps := make([]float64, len(i.GapsMillis))
		for k, gap := range i.GapsMillis {
			gaps[k] = float64(gap) / 1000
		}
		process, err = arrivals.Empirical(gaps, source)
	default:
		process, err = arrivals.Exponential(mean, source)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return process, nil
}

// distributions lists those of [v1alpha1.Interarrival], the default first.
var distributions = []string{
	v1alpha1.DistributionExponential, v1alpha1.DistributionConstant, v1alpha1.DistributionGamma,
	v1alpha1.DistributionLognormal, v1alpha1.DistributionHyperexponential, v1alpha1.DistributionEmpirical,
}

// Distributions returns the names of the distributions of the times between
// arrivals, the default first.
func Distributions() []string { return slices.Clone(distributions) }

// VariesBySCV reports whether a distribution needs a squared coefficient of
// variation; the others take none.
func VariesBySCV(distribution string) bool {
	return slices.Contains([]string{v1alpha1.DistributionGamma, v1alpha1.DistributionLognormal, v1alpha1.DistributionHyperexponential}, distribution)
}

// checkInterarrival refuses parameters that a distribution does not take, and missing ones that it needs.
func checkInterarrival(i *v1alpha1.Interarrival, path *field.Path) error {
	empirical := i.Distribution == v1alpha1.DistributionEmpirical
	switch {
	case i.Distribution != "" && !slices.Contains(distributions, i.Distribution):
		return field.NotSupported(path.Child("distribution"), i.Distribution, distributions)
	case empirical != (i.MeanMillis == nil):
		return field.Invalid(path.Child("meanMillis"), valueOf(i.MeanMillis), "every distribution needs the mean, but for empirical, which draws from gapsMillis")
	case i.MeanMillis != nil && *i.MeanMillis < 1:
		return field.Invalid(path.Child("meanMillis"), *i.MeanMillis, "must be at least 1")
	case empirical != (len(i.GapsMillis) > 0):
		return field.Invalid(path.Child("gapsMillis"), len(i.GapsMillis), "the distribution empirical needs gaps, the others take none")
	case VariesBySCV(i.Distribution) != (i.SCV != nil):
		return field.Invalid(path.Child("scv"), written(i.SCV), "gamma, lognormal and hyperexponential need it, the squared coefficient of variation; the others take none")
	}
	return nil
}

func valueOf(n *int64) any {
	if n == nil {
		return "" // the Kubernetes form of an absent value
	}
	return *n
}
