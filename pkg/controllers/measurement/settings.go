package measurement

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/profile"
)

// Defaults of a measurement, as its fields document them.
const (
	defaultPrecision     = 0.03
	defaultRounds        = 10
	defaultTimeout       = 600 * time.Second // of a target
	defaultProbeDuration = 30 * time.Second  // without one
	defaultBudget        = time.Hour
	defaultValid         = 30 * 24 * time.Hour
)

// settings are a spec.measurement with its defaults filled in.
type settings struct {
	target    *v1alpha1.MeasurementTarget // nil: the pods as they run
	copies    bool                        // the method
	correct   bool                        // for neighbours; else wait until there are none
	resources []probed
	// interference are the interference resources.
	interference []probed
	nodes        labels.Selector
	precision    float64
	rounds       int32
	timeout      time.Duration
	budget       time.Duration
	limited      bool // the budget is the operator's limit
	valid        time.Duration
}

// probed is a resource and the standard job that keeps it busy.
type probed struct {
	Name, Job, Peer string
	Threads         int
	MebiBytes       int32 // that a job of an interference resource touches, 0 for its own choice
}

// standard returns the standard job's description.
func (r *probed) standard() result.StandardJob {
	job, _ := result.FindJob(r.Job)
	return job
}

// needsBaseline reports whether a probe must also run without the pods of a service, for
// its speed then. That of the CPU need not: the speed follows from its processor time.
func (r *probed) needsBaseline() bool { return !r.standard().Computes }

// waits reports whether the probe waits for the resource.
func (r *probed) waits() bool { return r.standard().Waits }

// newSettings reads the spec of a measurement, which may take at most so long; 0 is no limit.
func newSettings(m *v1alpha1.Measurement, limit time.Duration) (*settings, error) {
	s := &settings{
		target: m.Target, copies: m.Method == v1alpha1.MethodCopies, correct: m.Neighbours == v1alpha1.NeighboursCorrect,
		nodes: labels.Everything(), precision: defaultPrecision, rounds: ptr.Deref(m.MaxRounds, defaultRounds),
		timeout: defaultTimeout, budget: defaultBudget, valid: defaultValid,
	}
	if m.Target == nil {
		s.timeout = defaultProbeDuration
	}
	if m.Nodes != nil {
		var errs field.ErrorList
		if s.nodes, errs = profile.Selector(m.Nodes, field.NewPath("spec", "measurement", "nodes")); len(errs) > 0 {
			return nil, errs.ToAggregate()
		}
	}
	if m.Precision != nil {
		s.precision = min(profile.MaxError, m.Precision.AsApproximateFloat64())
	}
	override(&s.timeout, m.TimeoutSeconds)
	override(&s.budget, m.BudgetSeconds)
	override(&s.valid, m.ValidSeconds)
	if limit > 0 && s.budget > limit {
		s.budget, s.limited = limit, true
	}
	s.resources = newProbed(m.Resources)
	for _, i := range m.Interference {
		s.interference = append(s.interference, probed{Name: i.Name, Job: cmp.Or(i.Job, i.Name), Threads: 1, MebiBytes: ptr.Deref(i.SizeMebi, 0)})
	}
	return s, nil
}

// interferenceNames are the names of the interference resources.
func (s *settings) interferenceNames() []string {
	names := make([]string, len(s.interference))
	for i := range s.interference {
		names[i] = s.interference[i].Name
	}
	return names
}

func override(d *time.Duration, seconds *int64) {
	if seconds != nil {
		*d = time.Duration(*seconds) * time.Second
	}
}

// newProbed fills in the standard jobs of the resources to measure, and these
// where there are none.
func newProbed(resources []v1alpha1.ProbedResource) []probed {
	if len(resources) == 0 {
		resources = []v1alpha1.ProbedResource{{Name: "cpu"}, {Name: "disk"}}
	}
	all := make([]probed, len(resources))
	for i := range resources {
		r := &resources[i]
		all[i] = probed{Name: r.Name, Job: probejob.StandardJob(r), Peer: r.Peer, Threads: int(ptr.Deref(r.Threads, 1))}
	}
	return all
}

// method is the name of the method.
func (s *settings) method() string {
	if s.copies {
		return v1alpha1.MethodCopies
	}
	return v1alpha1.MethodProbes
}

// minRounds is how many rounds there are at least before a result counts as precise.
func (s *settings) minRounds() int32 { return min(3, s.rounds) }
