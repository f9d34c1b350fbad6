package replays

import (
	"fmt"
	"slices"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// jobTypes are the types of jobs that follow a profile.
type jobTypes struct {
	class      string               // of nodes, that vectors are of: see profile.Workload
	names      []string             // of the profiles: namespace/name
	byName     map[string]*workType // by name too; nil where several have it, or there is no vector
	unmeasured map[string]bool      // the names for which the latter is so
}

// workType is the type of the jobs that follow a profile.
type workType struct {
	*mix.JobType
	neutral float64 // own time in seconds; 0 if the profile does not say
	sla     *jobSLA
}

// jobSLA is the SLA of a job; 0 is no bound.
type jobSLA struct{ response, dilation float64 }

// kept reports whether a job kept its SLA, except for rounding.
func (s *jobSLA) kept(o *epochs.Outcome) bool {
	const rounding = 1 + 1e-9
	return (s.response == 0 || o.Response() <= s.response*rounding) && (s.dilation == 0 || o.Dilation() <= s.dilation*rounding)
}

// slaOf returns the SLA of a job; nil is none.
func slaOf(j *epochs.Job) *jobSLA {
	sla, _ := j.Data.(*jobSLA)
	return sla
}

func (r *Replay) setJobTypes(in Input) error {
	r.jobTypes = &jobTypes{class: r.vectorClass(), byName: map[string]*workType{}, unmeasured: map[string]bool{}}
	for i := range in.Workloads {
		if err := r.addJobType(&in.Workloads[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Replay) addJobType(p *v1alpha1.WorkloadProfile) error {
	t := r.jobTypes
	name := text.QualifiedName(p)
	if slices.Contains(t.names, name) {
		return fmt.Errorf("workload profile %s: there are two of this name", name)
	}
	t.names = append(t.names, name)
	w, errs := profile.NewWorkload(p, r.resources)
	if len(errs) > 0 {
		return fmt.Errorf("workload profile %s: %w", name, errs.ToAggregate())
	}
	work, err := r.workOf(p, w)
	if err != nil {
		return fmt.Errorf("workload profile %s: %w", name, err)
	}
	t.byName[name] = work
	t.unmeasured[name] = work == nil
	if name == p.Name {
		return nil
	}
	_, taken := t.byName[p.Name]
	if taken {
		work = nil
	}
	t.byName[p.Name] = work
	t.unmeasured[p.Name] = work == nil && !taken
	return nil
}

// workOf returns the type of the jobs that follow a profile, nil if it has no
// vector yet.
func (r *Replay) workOf(p *v1alpha1.WorkloadProfile, w *profile.Workload) (*workType, error) {
	v := w.On(r.jobTypes.class)
	if v == nil {
		return nil, nil
	}
	work := &workType{JobType: &mix.JobType{Name: text.QualifiedName(p), Vector: v.Vector}, sla: slaIn(p)}
	millis := profile.NeutralMillis(p, r.jobTypes.class)
	if millis == nil {
		return work, nil
	}
	alone := 1.0
	if servers := r.serversOfNeutralTimes(v); servers != nil {
		var err error
		if alone, err = contention.Alone(v.Vector, servers, queueing.Options{Solver: r.solver}); err != nil {
			return nil, err
		}
	}
	work.neutral = float64(*millis) / 1000 / alone
	return work, nil
}

// serversOfNeutralTimes returns the servers of the nodes that the neutral time of a
// profile with a vector in use is of: those where it was measured, else all nodes if
// they have the same. Nil stands for a server for each thread of a job.
func (r *Replay) serversOfNeutralTimes(v *profile.InUse) []int {
	at := -1
	if v.Measured != nil {
		at = slices.IndexFunc(r.spec.Nodes, func(n v1alpha1.ReplayNodes) bool { return n.NodeProfile == v.Class })
	}
	if at < 0 {
		for i := range r.nodes {
			if !slices.Equal(r.nodes[i].Servers, r.nodes[0].Servers) {
				return nil
			}
		}
		at = 0
	}
	servers := slices.Clone(r.nodes[at].Servers)
	for i := range servers {
		servers[i] = max(1, servers[i]) // a resource that no node has is one that no job needs
	}
	return servers
}

// slaIn returns the SLA that a profile declares for its jobs, nil for none.
func slaIn(p *v1alpha1.WorkloadProfile) *jobSLA {
	s := p.Spec.SLA
	if s == nil {
		return nil
	}
	sla := &jobSLA{}
	if s.ResponseTimeMillis != nil {
		sla.response = float64(*s.ResponseTimeMillis) / 1000
	}
	if s.MaxDilation != nil {
		sla.dilation = s.MaxDilation.AsApproximateFloat64()
	}
	return sla
}

// named returns the type of the jobs that follow a profile, nil if there is none,
// or more than one of that name.
func (t *jobTypes) named(name string) *workType { return t.byName[name] }

// unknown says why there is no type of jobs of a name.
func (t *jobTypes) unknown(name string) string {
	if t.unmeasured[name] {
		return "the WorkloadProfile " + profile.ErrNoVector.Error()
	}
	if _, several := t.byName[name]; several {
		return "there are several such WorkloadProfiles: write namespace/name"
	}
	const shown = 10
	switch n := len(t.names); {
	case n == 0:
		return "there is no such WorkloadProfile, nor any other"
	case n > shown:
		return fmt.Sprintf("there is no such WorkloadProfile; there are %s and %d more", strings.Join(t.names[:shown], ", "), n-shown)
	default:
		return "there is no such WorkloadProfile; there are " + strings.Join(t.names, ", ")
	}
}
