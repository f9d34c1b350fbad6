package replays

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/trace"
)

// cpuShares lists how jobs may share the cores of a node, the default first.
var cpuShares = []string{v1alpha1.CPUSharesEqual, v1alpha1.CPUSharesRequests}

// CPUShares returns how jobs may share the cores of a node, the default first.
func CPUShares() []string { return slices.Clone(cpuShares) }

func (r *Replay) checkShares(Input) error {
	if r.spec.CPUShares != "" && !slices.Contains(cpuShares, r.spec.CPUShares) {
		return field.NotSupported(field.NewPath("spec", "cpuShares"), r.spec.CPUShares, cpuShares)
	}
	return nil
}

// share is a job's weight and limit at the cores of its node, as [contention.JobType] has them.
type share struct{ weight, limit float64 }

// shareOf returns the share of a job from its declared requests and its limit in cores, 0 for none.
func (r *Replay) shareOf(said []trace.Request, limit float64) share {
	s := share{}
	if r.spec.CPUShares == v1alpha1.CPUSharesRequests {
		s.weight = weightOf(said, limit)
	}
	if limit > 0 {
		s.limit = float64(cgroup.Quota(milliOf(limit))) / 1000
	}
	return s
}

// weightOf returns the weight of a pod that requests as much on cgroup v2. One that says nothing of the cpu requests its
// limit, and without that it is BestEffort.
func weightOf(said []trace.Request, limit float64) float64 {
	requested := limit
	for _, request := range said {
		if request.Resource == cpu {
			requested = request.Amount
		}
	}
	return float64(cgroup.Linear.Weight(cgroup.Shares(milliOf(requested))))
}

// milliOf returns an amount in thousandths, rounded up, as far as they can be counted.
func milliOf(amount float64) int64 {
	const most = 1 << 50
	return int64(math.Round(min(roundedUp(amount)*1000, most)))
}

// sharing returns a type of jobs with a share of the cores.
func (s share) sharing(t *mix.JobType) *mix.JobType {
	if s == (share{}) {
		return t
	}
	shared := *t
	shared.Weight, shared.Limit = s.weight, s.limit
	return &shared
}

// weightRange is the smallest and the largest of the weights that jobs which compute would have by their requests, 0 without jobs.
type weightRange struct{ least, most float64 }

// add adds a job of a type, with its declared requests, and its limit.
func (r *weightRange) add(t *mix.JobType, said []trace.Request, limit float64) {
	if len(t.Vector) == 0 || t.Vector[0].Loading == 0 { // the cpu is the first resource
		return
	}
	weight := weightOf(said, limit)
	if r.most == 0 {
		r.least = weight
	}
	r.least, r.most = min(r.least, weight), max(r.most, weight)
}

// unequal reports whether some weights are more than twice as large as others.
func (r *weightRange) unequal() bool { return r.most > 2*r.least }
