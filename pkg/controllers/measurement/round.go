package measurement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/model/experiment"
	"loadline.dev/loadline/pkg/probe/result"
)

// round is the current round of a measurement in progress, with the Jobs of its current step.
type round struct {
	*task
	*sites
	*ownJobs
	probes *probejob.Settings
	// steps are those of the round, and at the index of the current one, -1 if
	// the round has no such step. Its runs are set if there is one.
	steps []step
	at    int
	runs  []run
}

// current returns the current step.
func (c *round) current() *step { return &c.steps[c.at] }

// hasBegun reports whether there are Jobs of the current step.
func (c *round) hasBegun() bool {
	return slices.ContainsFunc(c.runs, func(r run) bool { return c.job(r.job.Name) != nil })
}

// needed returns the names of the Jobs of the current step.
func (c *round) needed() map[string]bool {
	names := map[string]bool{}
	for _, r := range c.runs {
		names[r.job.Name] = true
	}
	return names
}

// firstJobs returns the Jobs of the current step that begin at once.
func (c *round) firstJobs() []*batchv1.Job {
	var first []*batchv1.Job
	for _, r := range c.runs {
		if !r.later {
			first = append(first, r.job)
		}
	}
	return first
}

// stepNode returns the name of the node where the current step takes place, and whether
// pods that follow the profile belong to it.
func (c *round) stepNode() (name string, withFollowers bool) {
	m := c.profile.Status.Measuring
	if c.current().kind == baseline {
		return m.BaselineNode, false
	}
	return m.Node, c.settings.target == nil
}

// stepRuns returns the Jobs of the current step. Their names follow from the status, and
// no other step, attempt or measurement has the same ones.
func (c *round) stepRuns() ([]run, error) {
	m, s := c.profile.Status.Measuring, c.current()
	placement := func(role, node string, deadline time.Duration) probejob.Placement {
		deadline = min(deadline, c.settings.budget+longest+slack)
		whole := fmt.Sprint(m.Question, m.StartTime.Unix(), m.NodeProfile, node)
		hash := sha256.Sum256([]byte(whole))
		key := fmt.Sprintf("%d-%s-%s-%d-%s", *m.Round, s.name(), role, attempts(m), hex.EncodeToString(hash[:3]))
		return probejob.Placement{
			Owner: c.profile, OwnerKind: v1alpha1.GroupVersion.WithKind("WorkloadProfile"),
			Namespace: c.profile.Namespace, Name: probejob.Name(c.profile, key), Node: node, Step: s.name(), Deadline: deadline,
		}
	}
	weight := c.weight()
	var runs []run
	if s.probes() {
		node := m.Node
		if s.kind == baseline {
			node = m.BaselineNode
		}
		r := c.probe(s, node)
		r.CPURequest = *resource.NewMilliQuantity(weight, resource.DecimalSI)
		runs = append(runs, run{role: roleProbe, job: probejob.New(placement(roleProbe, node, r.Check+r.Duration+slack), c.probes.Probe(r))})
	}
	if c.settings.target == nil || s.kind == baseline {
		return runs, nil
	}
	template := c.template.DeepCopy()
	limitRequests(&template.Spec, weight)
	if err := c.probes.Observe(template); err != nil {
		return nil, err
	}
	deadline := time.Duration(float64(c.settings.timeout)*c.dilation(s)) + slack
	target := func(role string) *batchv1.Job { return probejob.New(placement(role, m.Node, deadline), *template) }
	if s.kind == copies {
		for i := range s.copies {
			role := fmt.Sprintf("%s-%d", roleTarget, i+1)
			runs = append(runs, run{role: role, job: target(role)})
		}
		return runs, nil
	}
	runs = append(runs, run{role: roleTarget, job: target(roleTarget), later: s.probes()})
	return c.repeat(runs, target), nil
}

// repeat adds the runs of a target after the first, as far as they have begun or are to
// begin: one more when the last has ended well and all were too short, as long as the
// probe is there, if there is one.
func (c *round) repeat(runs []run, target func(role string) *batchv1.Job) []run {
	ran := time.Duration(0)
	for n := 2; n <= maxRuns; n++ {
		last := c.outcomes[runs[len(runs)-1].job.Name]
		watch, err := result.ParseWatch(last.Messages[probejob.WatchContainer])
		if last.State != probejob.Succeeded || err != nil {
			return runs // the end of the step reports errors of the report
		}
		ran += time.Duration(watch.End - watch.Begin)
		role := fmt.Sprintf("%s-%d", roleTarget, n)
		again := run{role: role, job: target(role)}
		if c.job(again.job.Name) == nil && (ran >= enough || !c.accompanied(runs)) {
			return runs
		}
		runs = append(runs, again)
	}
	return runs
}

// accompanied reports whether the probe of a step goes on, or none belongs to it.
func (c *round) accompanied(runs []run) bool {
	return runs[0].role != roleProbe || c.outcomes[runs[0].job.Name].State == probejob.Running
}

// dilation returns how many times longer than alone a target may take in a step.
func (c *round) dilation(s *step) float64 {
	switch s.kind {
	case copies:
		return float64(s.copies) * margin
	case pressing:
		return mostInflation * margin
	case beside:
		return (1 + float64(s.resource.Threads)/float64(c.servers(s.resource))) * margin
	default:
		return 1
	}
}

// probe returns the run of a step's probe.
func (c *round) probe(s *step, node string) probejob.Run {
	m := c.profile.Status.Measuring
	r := probejob.Run{Job: s.resource.Job, Intensity: c.servers(s.resource), Peer: s.resource.Peer, Pressure: float64(s.percent) / 100}
	if s.kind == pressing {
		r.Intensity = 1 // a thread on another core
		r.Size = *resource.NewQuantity(int64(s.resource.MebiBytes)<<20, resource.BinarySI)
	}
	if n := c.node(node); n != nil && s.kind == baseline {
		r.Intensity = max(1, n.servers[s.resource.Name])
	}
	if c.checks(s) {
		r.Check = check
		if s.resource.waits() {
			r.Check = checkRequests
		}
	}
	if c.settings.target == nil {
		r.Duration = c.settings.timeout
		return r
	}
	expected, short := expectedTime(m.Samples), 0
	for i := range m.Samples {
		if m.Samples[i].Step == s.name() && m.Samples[i].TargetNanos == nil {
			short++
		}
	}
	runs := runsOf(time.Duration(expected))
	expected *= c.dilation(s) * float64(runs)
	for range short {
		expected *= longer
	}
	r.Duration = min(longest, lead+startUp+time.Duration(expected).Round(time.Second)+time.Duration(runs-1)*turnover+tail)
	return r
}

// checks reports whether the probe of a step is to find out by how much two of it slow each other down: once for each
// resource, and of an interference resource at full intensity.
func (c *round) checks(s *step) bool {
	m := c.profile.Status.Measuring
	if s.kind != pressing {
		_, known := selfDilation(s.resource, m.Samples, *m.Round)
		return !known
	}
	self, _ := experiment.Imperceptible(fromStatus(m.Samples), s.resource.Name, int(*m.Round)-1)
	return self == 0 && s.percent == experiment.Levels()[0]
}

// weight returns the CPU that the probe and each copy of the target ask for, in
// thousandths: as much as the workload does, so that they weigh the same, or as much
// as fits on the node for each of them.
func (c *round) weight() int64 {
	m := c.profile.Status.Measuring
	n := c.node(m.Node)
	if c.settings.target == nil {
		if n == nil {
			return minWeight
		}
		return max(minWeight, n.weight)
	}
	weight := requested(&c.template.Spec)
	if n != nil && n.looked {
		at := int64(2)
		if c.settings.copies {
			at = 3
		}
		// Each observer asks for a little, too.
		weight = min(weight, n.room()/at-1)
	}
	return max(minWeight, weight)
}
