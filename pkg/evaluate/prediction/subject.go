package prediction

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// subject is what a prediction may be about: the pods of a workload, or of a profile.
type subject struct {
	workload *manifest.Workload        // nil if only the profile is known
	profile  *v1alpha1.WorkloadProfile // that the pods follow, nil if none
	pod      *corev1.Pod               // one of them, with what is in effect; nil if only the profile is known

	source VectorSource // once the vector is known, as the next two
	inUse  *profile.InUse
	vector loading.Vector
	// correction is what the neutral time is over the one that was stated where the vector is from, 1 if they are equal.
	correction float64
}

// VectorSource says where a loading vector is from.
type VectorSource struct {
	Source profile.Source `json:"source"`
	// Profile is the WorkloadProfile that the pods follow, if any: one without a vector in use leaves them to their
	// requests.
	Profile string `json:"profile,omitempty"`
}

// catalog is everything that a prediction may be about, and turns it into vectors.
type catalog struct {
	resources *profile.Resources
	class     string // of the node
	rules     []config.RequestRule
	subjects  []*subject // workloads, then profiles
	compiled  map[*v1alpha1.WorkloadProfile]*profile.Workload
}

// newCatalog returns what the input is about. The error names a manifest or a profile that is invalid.
func newCatalog(in *Input, resources *profile.Resources, class string, rules []config.RequestRule) (*catalog, error) {
	c := &catalog{resources: resources, class: class, rules: rules, compiled: map[*v1alpha1.WorkloadProfile]*profile.Workload{}}
	seen := sets.New[string]()
	for i := range in.Workloads {
		w := &in.Workloads[i]
		if err := w.Validate(); err != nil {
			return nil, err
		}
		if seen.Has(w.Name()) {
			return nil, fmt.Errorf("%s: there are two of that name", w.Name())
		}
		seen.Insert(w.Name())
		pod := w.Pod.DeepCopy()
		if cgroup.Ended(&w.Pod) {
			pod.Status = corev1.PodStatus{}
		}
		c.subjects = append(c.subjects, &subject{workload: w, pod: cgroup.InEffect(pod)})
	}
	if len(in.Workloads) > 0 {
		if err := c.follow(in.Profiles); err != nil {
			return nil, err
		}
	}
	for i := range in.Profiles {
		c.subjects = append(c.subjects, &subject{profile: &in.Profiles[i], pod: c.onlyPod(&in.Profiles[i])})
	}
	return c, nil
}

// onlyPod returns the pod of the workload that follows a profile, nil if there are none or several.
func (c *catalog) onlyPod(p *v1alpha1.WorkloadProfile) *corev1.Pod {
	var only *corev1.Pod
	for _, s := range c.subjects {
		if s.workload == nil || s.profile != p {
			continue
		}
		if only != nil {
			return nil
		}
		only = s.pod
	}
	return only
}

// compile returns what a profile says, which it reads once.
func (c *catalog) compile(p *v1alpha1.WorkloadProfile) (*profile.Workload, error) {
	if w := c.compiled[p]; w != nil {
		return w, nil
	}
	w, errs := profile.NewWorkload(p, c.resources)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	c.compiled[p] = w
	return w, nil
}

// follow finds the profile that the pods of each workload follow.
func (c *catalog) follow(profiles []v1alpha1.WorkloadProfile) error {
	all, objects := make([]*profile.Workload, len(profiles)), map[*profile.Workload]*v1alpha1.WorkloadProfile{}
	for i := range profiles {
		p := &profiles[i]
		w, err := c.compile(p)
		if err != nil {
			return fmt.Errorf("workload profile %s: %w", text.QualifiedName(p), err)
		}
		all[i], objects[w] = w, p
	}
	rankings := profile.NewRankings(all)
	for _, s := range c.subjects {
		if w := rankings.Workload(s.pod); w != nil {
			s.profile = objects[w]
		}
	}
	return nil
}

// usual returns the pods that a prediction is about where none are given, and what is left out, with the reasons.
func (c *catalog) usual() (pods []Pods, leftOut []LeftOut) {
	uids := sets.New[types.UID]()
	for _, s := range c.subjects {
		if s.workload != nil && s.workload.UID != "" {
			uids.Insert(s.workload.UID)
		}
	}
	workloads := slices.ContainsFunc(c.subjects, func(s *subject) bool { return s.workload != nil })
	for _, s := range c.subjects {
		why := ""
		switch w := s.workload; {
		case w == nil:
			if workloads {
				continue
			}
		case uids.Has(w.Owner):
			continue // it is one of the pods of another workload
		case cgroup.Ended(&w.Pod):
			why = "it has ended"
		case w.Replicas != nil && *w.Replicas < 1:
			why = "it has no replicas"
		}
		if why != "" {
			leftOut = append(leftOut, LeftOut{s.workload.Name(), why})
			continue
		}
		pods = append(pods, Pods{Name: c.shortest(s), Copies: 1})
	}
	return pods, leftOut
}

// shortest returns the shortest name, with its namespace, that only one workload has.
func (c *catalog) shortest(s *subject) string {
	if s.workload == nil {
		return text.QualifiedName(s.profile)
	}
	name := text.QualifiedName(&s.workload.Pod)
	if found, err := c.find(name); err == nil && found == s {
		return name
	}
	return s.workload.Name()
}

// find returns what a name is that of. The error says which names there are.
func (c *catalog) find(name string) (*subject, error) {
	for _, kind := range []struct {
		of     string
		is     func(*subject) bool
		called func(*subject) string
	}{
		{"workloads", func(s *subject) bool { return s.workload != nil && s.workload.HasName(name) }, func(s *subject) string { return s.workload.Name() }},
		{"WorkloadProfiles", func(s *subject) bool {
			return s.workload == nil && (name == s.profile.Name || name == text.QualifiedName(s.profile))
		}, func(s *subject) string { return text.QualifiedName(s.profile) }},
	} {
		var found []*subject
		var names []string
		for _, s := range c.subjects {
			if kind.is(s) {
				found, names = append(found, s), append(names, kind.called(s))
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, fmt.Errorf("there are several such %s: %s", kind.of, strings.Join(names[:len(names)-1], ", ")+" and "+names[len(names)-1])
		}
	}
	var names []string
	kinds := "WorkloadProfile"
	for _, s := range c.subjects {
		if s.workload != nil {
			kinds = "workload or WorkloadProfile"
		}
		names = append(names, c.shortest(s))
	}
	return nil, fmt.Errorf("there is no such %s (there are %s)", kinds, strings.Join(names, ", "))
}

// solve fills in the vector of a subject.
func (c *catalog) solve(s *subject) error {
	if s.vector != nil {
		return nil
	}
	s.correction = 1
	declared := s.correction
	if s.profile != nil {
		w, err := c.compile(s.profile)
		if err != nil {
			return err
		}
		s.source.Profile = text.QualifiedName(s.profile)
		s.inUse, declared = w.On(c.class), w.NeutralCorrection
		if s.inUse == nil && s.pod == nil {
			return w.NoVector()
		}
	}
	s.source.Source = s.inUse.Source()
	switch s.source.Source {
	case profile.SourceRequests:
		s.vector = profile.FromRequests(s.pod, c.rules, c.resources)
		return nil
	case profile.SourceDeclared:
		s.correction = declared
	case profile.SourceMeasured, profile.SourceObserved: // of the work as it is
	}
	s.vector = s.inUse.Vector
	return nil
}

// defaultRules returns the rules by which the scheduler makes vectors of requests by default, and the resources that they
// are about.
func defaultRules() (rules []config.RequestRule, resources []string, err error) {
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range args.Requests {
		resources = append(resources, r.Resource)
	}
	return args.Requests, resources, nil
}

var errNothing = errors.New("there is no WorkloadProfile, nor a workload such as a Deployment")
