package shares

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/profile"
)

// maxWorkloads bounds the leaves of one tree.
const maxWorkloads = 10_000

// model is a tree as package fairshare takes it.
type model struct {
	name       string
	processors int
	tree       *fairshare.Tree
	leaves     map[string]workload // by name
	timed      bool                // whether service times are known
}

// workload is what the model does not know about a workload.
type workload struct {
	path    *field.Path // of its service time
	service *int64      // milliseconds
	sla     *slaLimits
}

type slaLimits struct {
	maxFactor, seconds, probability *float64
}

// assembly collects the members of a tree and what is wrong with them.
type assembly struct {
	model
	members []fairshare.Member
	groups  map[string]*v1alpha1.ShareGroup
	at      map[string]*field.Path // where each name is given
	invalid field.ErrorList
}

// assemble returns the tree of an input. The error is an [Error].
func assemble(in *TreeInput) (*model, error) {
	s := &assembly{
		model:  model{name: in.Tree.Name, processors: 1, leaves: map[string]workload{}},
		groups: map[string]*v1alpha1.ShareGroup{}, at: map[string]*field.Path{},
	}
	spec := field.NewPath("spec")
	if p := in.Tree.Spec.Processors; p != nil {
		if s.processors = int(*p); s.processors < 1 || s.processors > fairshare.MaxServers {
			s.refuse(spec.Child("processors"), *p, fmt.Sprintf("must be from 1 to %d", fairshare.MaxServers))
		}
	}
	for i := range in.Tree.Spec.Groups {
		s.addGroup(&in.Tree.Spec.Groups[i], spec.Child("groups").Index(i))
	}
	for i := range in.Tree.Spec.Workloads {
		s.addWorkload(&in.Tree.Spec.Workloads[i], spec.Child("workloads").Index(i))
	}
	for i := range in.Profiles {
		if p := &in.Profiles[i]; p.Spec.FairShare != nil && p.Spec.FairShare.Tree == in.Tree.Name {
			s.addProfile(p)
		}
	}
	s.checkGroups(in.Tree.Spec.Groups, spec.Child("groups"))
	if len(s.leaves) == 0 && len(s.invalid) == 0 {
		missing := field.Required(spec.Child("workloads"), "the tree has no workload: list some, or name the tree in the fairShare of WorkloadProfiles")
		s.invalid = append(s.invalid, missing.WithOrigin(evaluate.OriginMissing))
	}
	if len(s.leaves) > maxWorkloads {
		s.invalid = append(s.invalid, field.TooMany(spec.Child("workloads"), len(s.leaves), maxWorkloads))
	}
	s.checkServices()
	if len(s.invalid) > 0 {
		return nil, &Error{v1alpha1.ReasonInvalid, s.invalid.ToAggregate()}
	}
	tree, err := fairshare.Assemble(s.members)
	if err != nil {
		return nil, &Error{v1alpha1.ReasonInvalid, err}
	}
	s.tree = tree
	return &s.model, nil
}

func (s *assembly) refuse(path *field.Path, value any, rule string) {
	s.invalid = append(s.invalid, field.Invalid(path, value, rule))
}

// named reports whether a name is new, and refuses it otherwise.
func (s *assembly) named(name string, path *field.Path) bool {
	switch other, taken := s.at[name]; {
	case name == "":
		s.invalid = append(s.invalid, field.Required(path, "a group or workload needs a name"))
		return false
	case taken:
		s.refuse(path, name, fmt.Sprintf("is the name of %s, too; each needs its own", other))
		return false
	}
	s.at[name] = path
	return true
}

func (s *assembly) share(share *int32, path *field.Path, what string) float64 {
	switch {
	case share == nil:
		s.invalid = append(s.invalid, field.Required(path, "give a share of at least 1: the weight among siblings"))
		return 1
	case *share < 1:
		s.refuse(path, *share, fmt.Sprintf("a share must be at least 1 (remove the %s if it should get nothing)", what))
		return 1
	}
	return float64(*share)
}

func (s *assembly) addGroup(g *v1alpha1.ShareGroup, path *field.Path) {
	if !s.named(g.Name, path.Child("name")) {
		return
	}
	s.groups[g.Name] = g
	s.members = append(s.members, fairshare.Member{Name: g.Name, Parent: g.Parent, Share: s.share(g.Share, path.Child("share"), "group")})
}

func (s *assembly) addWorkload(w *v1alpha1.ShareWorkload, path *field.Path) {
	if !s.named(w.Name, path.Child("name")) {
		return
	}
	if w.Utilization == nil {
		s.invalid = append(s.invalid, field.Required(path.Child("utilization"), `give how many processors the workload keeps busy, such as "0.2"`))
		return
	}
	s.addLeaf(fairshare.Member{
		Name: w.Name, Parent: w.Group, Workload: true, Share: s.share(w.Share, path.Child("share"), "workload"),
		Utilization: s.utilization(w.Utilization, path.Child("utilization")),
	}, path.Child("group"), workload{path: path.Child("serviceMillis"), service: w.ServiceMillis}, w.SLA, path.Child("sla"))
}

func (s *assembly) addProfile(p *v1alpha1.WorkloadProfile) {
	name := evaluate.QualifiedName(p)
	path := field.NewPath("WorkloadProfile").Key(name).Child("spec")
	at := path.Child("fairShare")
	if !s.named(name, path) {
		return
	}
	f, neutral := p.Spec.FairShare, profile.NeutralMillis(p, profile.AnyClass)
	member := fairshare.Member{Name: name, Parent: f.Group, Workload: true, Share: s.share(f.Share, at.Child("share"), "fairShare")}
	switch {
	case f.Utilization != nil:
		member.Utilization = s.utilization(f.Utilization, at.Child("utilization"))
	case p.Spec.Arrival != nil && p.Spec.Arrival.RatePerSecond != nil && neutral != nil:
		if member.Utilization = p.Spec.Arrival.RatePerSecond.AsApproximateFloat64() * float64(*neutral) / 1000; !(member.Utilization >= 0) {
			s.refuse(path.Child("arrival", "ratePerSecond"), p.Spec.Arrival.RatePerSecond.String(), "a rate is not negative")
			return
		}
	default:
		s.invalid = append(s.invalid, field.Required(at.Child("utilization"), "the tree must know how busy the workload keeps it: give it, or arrival.ratePerSecond and neutralMillis"))
		return
	}
	s.addLeaf(member, at.Child("group"), workload{path: path.Child("neutralMillis"), service: neutral}, p.Spec.SLA, path.Child("sla"))
}

func (s *assembly) utilization(q *resource.Quantity, path *field.Path) float64 {
	u := q.AsApproximateFloat64()
	if !(u >= 0 && u <= fairshare.MaxServers) {
		s.refuse(path, q.String(), fmt.Sprintf("a utilization is how many processors are kept busy on average, from 0 to %d", fairshare.MaxServers))
		return 0
	}
	return u
}

// addLeaf adds a workload.
func (s *assembly) addLeaf(m fairshare.Member, group *field.Path, leaf workload, sla *v1alpha1.SLA, path *field.Path) {
	if _, known := s.groups[m.Parent]; !known && m.Parent != "" {
		s.refuse(group, m.Parent, s.noSuchGroup())
	}
	if leaf.service != nil {
		if *leaf.service < 1 {
			s.refuse(leaf.path, *leaf.service, "a service time is at least 1 millisecond")
			return
		}
		m.Service = float64(*leaf.service) / 1000
		s.timed = true
	}
	leaf.sla = s.sla(sla, leaf.service != nil, path)
	s.leaves[m.Name] = leaf
	s.members = append(s.members, m)
}

func (s *assembly) noSuchGroup() string {
	if len(s.groups) == 0 {
		return "the tree has no groups: leave it out"
	}
	var names []string
	for _, m := range s.members {
		if !m.Workload {
			names = append(names, m.Name)
		}
	}
	return evaluate.Abridge("there is no such group in spec.groups (there are "+strings.Join(names, ", "), 200) + ")"
}

// sla reads an SLA, nil if there is none.
func (s *assembly) sla(sla *v1alpha1.SLA, timed bool, path *field.Path) *slaLimits {
	if sla == nil {
		return nil
	}
	var read slaLimits
	if q := sla.MaxDilation; q != nil {
		if read.maxFactor = new(q.AsApproximateFloat64()); !(*read.maxFactor >= 1) {
			s.refuse(path.Child("maxDilation"), q.String(), "a dilation is at least 1")
		}
	}
	if t := sla.ResponseTimeMillis; t != nil {
		switch read.seconds = new(float64(*t) / 1000); {
		case *t < 1:
			s.refuse(path.Child("responseTimeMillis"), *t, "a response time is at least 1 millisecond")
		case !timed:
			s.refuse(path.Child("responseTimeMillis"), *t, "needs the service time of the workload, serviceMillis here or neutralMillis of a WorkloadProfile; or ask for a multiple of it, maxDilation")
		}
	}
	if read.maxFactor == nil && read.seconds == nil {
		s.invalid = append(s.invalid, field.Required(path, "give responseTimeMillis or maxDilation, or both"))
	}
	if q := sla.Probability; q != nil {
		if read.probability = new(q.AsApproximateFloat64()); !(*read.probability > 0 && *read.probability < 1) {
			s.refuse(path.Child("probability"), q.String(), "a probability is above 0 and below 1")
		}
	}
	return &read
}

// checkGroups refuses groups within no group, within each other or without members.
func (s *assembly) checkGroups(groups []v1alpha1.ShareGroup, path *field.Path) {
	parents := map[string]bool{}
	for _, m := range s.members {
		parents[m.Parent] = true
	}
	for i := range groups {
		g, path := &groups[i], path.Index(i)
		if s.groups[g.Name] != g {
			continue // its name is taken
		}
		if _, known := s.groups[g.Parent]; !known && g.Parent != "" {
			s.refuse(path.Child("parent"), g.Parent, s.noSuchGroup())
		}
		if way := s.cycle(g); way != nil && slices.Min(way) == g.Name { // said once
			s.refuse(path.Child("parent"), g.Parent, "makes a cycle: "+strings.Join(append(way, g.Name), " is in "))
		}
		if !parents[g.Name] {
			missing := field.Invalid(path.Child("name"), g.Name, "the group has no members: give it some, or remove it")
			s.invalid = append(s.invalid, missing.WithOrigin(evaluate.OriginMissing))
		}
	}
}

// cycle returns the groups from one up to itself, nil if there is an end.
func (s *assembly) cycle(g *v1alpha1.ShareGroup) []string {
	way := []string{g.Name}
	for at := s.groups[g.Parent]; at != nil && len(way) <= len(s.groups); at = s.groups[at.Parent] {
		if at == g {
			return way
		}
		way = append(way, at.Name)
	}
	return nil
}

// checkServices refuses trees in which the service times of some only are known.
func (s *assembly) checkServices() {
	if !s.timed {
		return
	}
	for _, m := range s.members {
		if leaf, is := s.leaves[m.Name]; is && leaf.service == nil {
			s.invalid = append(s.invalid, field.Required(leaf.path, "other workloads of the tree have a service time: give all or none"))
		}
	}
}
