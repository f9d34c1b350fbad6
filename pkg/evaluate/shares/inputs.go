package shares

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/text"
)

// maxWorkloads bounds the workloads in the spec of one tree. The API server admits fewer;
// a file may have more.
const maxWorkloads = 10_000

// model is a tree as package fairshare takes it.
type model struct {
	name       string
	processors int
	tree       *fairshare.Tree
	leaves     map[string]workload // by name
	timed      bool                // whether service times are known
	profiles   []string            // the names of the leaves that are profiles
	leftOut    []LeftOut           // the profiles that are not
	absent     map[string]int      // where they are in that list, by name
	empty      []string            // the groups that have no workload, and are not in the tree
}

// assembly collects the members of a tree and what is wrong with its spec.
type assembly struct {
	model
	problems

	members []fairshare.Member
	groups  map[string]*v1alpha1.ShareGroup
	at      map[string]*field.Path // where each name is given
}

// assemble returns the tree of a spec, with the profiles that can join it. The error is an
// [Error], and due to the spec alone.
func assemble(in *TreeInput) (*model, error) {
	s := &assembly{
		model:  model{name: in.Tree.Name, processors: 1, leaves: map[string]workload{}},
		groups: map[string]*v1alpha1.ShareGroup{}, at: map[string]*field.Path{},
	}
	s.readSpec(&in.Tree.Spec)
	if len(s.invalid) == 0 { // there is a tree to join
		s.join(in)
	}
	s.checkGroups(&in.Tree.Spec)
	if len(s.leaves) == 0 && len(s.invalid) == 0 {
		missing := field.Required(field.NewPath("spec", "workloads"), "the tree has no workload: list some, or in spec.namespaces the namespaces of WorkloadProfiles whose fairShare names the tree")
		s.invalid = append(s.invalid, missing.WithOrigin(manifest.OriginMissing))
	}
	if len(s.invalid) > 0 {
		return nil, s.fail(v1alpha1.ReasonInvalid, s.invalid.ToAggregate())
	}
	var err error
	if s.tree, err = fairshare.Assemble(s.members); err != nil {
		return nil, s.fail(v1alpha1.ReasonInvalid, err)
	}
	return &s.model, nil
}

// readSpec adds the groups and the workloads of a spec.
func (s *assembly) readSpec(spec *v1alpha1.ShareTreeSpec) {
	path := field.NewPath("spec")
	if p := spec.Processors; p != nil {
		if s.processors = int(*p); s.processors < 1 || s.processors > fairshare.MaxServers {
			s.refuse(path.Child("processors"), *p, fmt.Sprintf("must be from 1 to %d", fairshare.MaxServers))
		}
	}
	for i := range spec.Groups {
		s.addGroup(&spec.Groups[i], path.Child("groups").Index(i))
	}
	for i := range spec.Workloads {
		s.addWorkload(&spec.Workloads[i], path.Child("workloads").Index(i))
	}
	if len(s.leaves) > maxWorkloads {
		s.invalid = append(s.invalid, field.TooMany(path.Child("workloads"), len(s.leaves), maxWorkloads))
	}
	s.checkServices()
}

// named reports whether a name is new, and refuses it otherwise.
func (s *assembly) named(name string, path *field.Path) bool {
	switch other, taken := s.at[name]; {
	case name == "":
		s.require(path, "a group or workload needs a name")
		return false
	case taken:
		s.refuse(path, name, fmt.Sprintf("is the name of %s, too; each needs its own", other))
		return false
	}
	s.at[name] = path
	return true
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
	if leaf := s.readWorkload(w, path); leaf != nil {
		s.checkGroup(&s.problems, leaf.member.Parent, path.Child("group"))
		s.add(leaf)
	}
}

// add adds a workload.
func (s *assembly) add(leaf *leaf) {
	s.timed = s.timed || leaf.service != nil
	s.leaves[leaf.member.Name] = leaf.workload
	s.members = append(s.members, leaf.member)
}

// checkGroup refuses a group that the tree does not have.
func (s *assembly) checkGroup(p *problems, group string, path *field.Path) {
	if _, known := s.groups[group]; !known && group != "" {
		p.refuse(path, group, s.noSuchGroup())
	}
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
	return text.Abridge("there is no such group in spec.groups (there are "+strings.Join(names, ", "), 200) + ")"
}

// checkGroups refuses groups within no group or within each other. Groups without members
// are refused in a tree that no profile can join; in others they are not part of the
// tree as long as they have none.
func (s *assembly) checkGroups(spec *v1alpha1.ShareTreeSpec) {
	path := field.NewPath("spec", "groups")
	for i := range spec.Groups {
		g, path := &spec.Groups[i], path.Index(i)
		if s.groups[g.Name] != g {
			continue // its name is taken
		}
		s.checkGroup(&s.problems, g.Parent, path.Child("parent"))
		if way := s.cycle(g); way != nil && slices.Min(way) == g.Name { // said once
			s.refuse(path.Child("parent"), g.Parent, "makes a cycle: "+strings.Join(append(way, g.Name), " is in "))
		}
	}
	if len(spec.Namespaces) > 0 && len(s.invalid) == 0 {
		s.prune()
		return
	}
	parents := map[string]bool{}
	for _, m := range s.members {
		parents[m.Parent] = true
	}
	for i := range spec.Groups {
		if g := &spec.Groups[i]; s.groups[g.Name] == g && !parents[g.Name] {
			missing := field.Invalid(path.Index(i).Child("name"), g.Name, "the group has no members: give it some, list in spec.namespaces where they are, or remove it")
			s.invalid = append(s.invalid, missing.WithOrigin(manifest.OriginMissing))
		}
	}
}

// prune takes out the groups that have no workload.
func (s *assembly) prune() {
	kept := map[string]bool{}
	for _, m := range s.members {
		for at := m.Parent; m.Workload && at != "" && !kept[at]; at = s.groups[at].Parent {
			kept[at] = true
		}
	}
	s.members = slices.DeleteFunc(s.members, func(m fairshare.Member) bool {
		if m.Workload || kept[m.Name] {
			return false
		}
		s.empty = append(s.empty, m.Name)
		return true
	})
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
			s.require(leaf.path, "other workloads of the tree have a service time: give all or none")
		}
	}
}
