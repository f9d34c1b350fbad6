package shares

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/text"
)

const (
	// maxProfiles is how many profiles one tree takes.
	maxProfiles = 1000
	// fullAt is the utilization up to which profiles join a tree. Beyond it response
	// times grow without bound, and so does the work to compute them; a workload of the
	// spec may come closer to 1.
	fullAt = 0.99
)

// LeftOut is a profile that names a tree and is not part of it.
type LeftOut struct {
	// Name is namespace/name, Reason a constant of the API, and Message says what to do.
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	Message string `json:"message"`

	invalid field.ErrorList // the fields that are wrong, for the reason Invalid
}

// candidate is a profile that names the tree.
type candidate struct {
	*leaf

	profile *v1alpha1.WorkloadProfile
	name    string
	left    *LeftOut // nil unless it is left out
}

func (c *candidate) leaveOut(reason, format string, arguments ...any) {
	c.left = &LeftOut{Name: c.name, Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// join adds the profiles that name the tree and can join it, and notes the others. What
// they say can leave out no workload of the spec, and, while each namespace has no more
// than its part, no profile of another namespace.
func (s *assembly) join(in *TreeInput) {
	listed := sets.New(in.Tree.Spec.Namespaces...)
	all := candidates(s.name, in.Profiles)
	var valid []*candidate
	for _, c := range all {
		switch namespace := c.profile.Namespace; {
		case listed.Len() == 0:
			c.leaveOut(v1alpha1.ReasonNamespaceNotListed, "the tree takes no WorkloadProfiles: list their namespaces in its spec.namespaces")
		case namespace != "" && !listed.Has(namespace): // one from a file may have none yet
			c.leaveOut(v1alpha1.ReasonNamespaceNotListed, "the tree takes no WorkloadProfiles of namespace %q: list it in the tree's spec.namespaces", namespace)
		case s.read(c):
			valid = append(valid, c)
		}
	}
	for _, c := range s.fitting(s.alike(valid)) {
		if in.alone != nil {
			c.leaveOut(v1alpha1.ReasonTooCostly, "with its WorkloadProfiles the tree has no answer, so that it does without them: %v", in.alone)
			continue
		}
		s.add(c.leaf)
		s.profiles = append(s.profiles, c.name)
	}
	s.leftOut, s.absent = leftOut(all), map[string]int{}
	for i := range s.leftOut {
		s.absent[s.leftOut[i].Name] = i
	}
}

// candidates returns the profiles that name a tree, the oldest first.
func candidates(tree string, profiles []v1alpha1.WorkloadProfile) []*candidate {
	var all []*candidate
	for i := range profiles {
		if p := &profiles[i]; p.Spec.FairShare != nil && p.Spec.FairShare.Tree == tree {
			all = append(all, &candidate{profile: p, name: text.QualifiedName(p)})
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		return cmp.Or(a.profile.CreationTimestamp.Compare(b.profile.CreationTimestamp.Time), cmp.Compare(a.name, b.name))
	})
	return all
}

// read reports whether a profile makes sense by itself.
func (s *assembly) read(c *candidate) bool {
	var p problems
	if leaf := p.readProfile(c.profile, c.name); leaf != nil {
		c.leaf = leaf
		s.checkGroup(&p, leaf.member.Parent, leaf.path.Root().Child("fairShare", "group"))
	}
	if err := p.invalid.ToAggregate(); err != nil {
		c.leaveOut(v1alpha1.ReasonInvalid, "%v", err)
		c.left.invalid = p.invalid
		return false
	}
	if other, taken := s.at[c.name]; taken {
		c.leaveOut(v1alpha1.ReasonInvalid, "it has the name of %s", other)
		return false
	}
	s.at[c.name] = field.NewPath("WorkloadProfile").Key(c.name)
	return true
}

// alike returns the candidates whose service times go with those of the tree: all are
// known or none, and on several processors they are equal. The workloads of the spec say
// which, or else the oldest profile.
func (s *assembly) alike(all []*candidate) []*candidate {
	var first *int64
	known := len(s.leaves) > 0
	for _, m := range s.members {
		if m.Workload {
			first = s.leaves[m.Name].service
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool {
		if !known {
			first, known = c.service, true
		}
		switch {
		case first == nil && c.service != nil:
			c.leaveOut(v1alpha1.ReasonInvalid, "it has a service time (neutralMillis), and other workloads of the tree have none: give all or none")
		case first != nil && c.service == nil:
			c.leaveOut(v1alpha1.ReasonInvalid, "it has no service time (neutralMillis), and other workloads of the tree have one: give all or none")
		case first != nil && s.processors > 1 && *c.service != *first:
			c.leaveOut(v1alpha1.ReasonInvalid, "its service time is %d ms, and that of other workloads of the tree %d ms: only equal ones have an exact solution with several processors", *c.service, *first)
		default:
			return false
		}
		return true
	})
}

// fitting returns the candidates that there is room for: first those within the part of
// their namespace, then others while there is room left, each time the oldest first.
func (s *assembly) fitting(all []*candidate) []*candidate {
	own := 0.0
	for _, m := range s.members {
		own += m.Utilization
	}
	namespaces := map[string]*room{}
	for _, c := range all {
		namespaces[c.profile.Namespace] = nil
	}
	total := room{maxProfiles, max(0, fullAt*float64(s.processors)-own)}
	for name := range namespaces {
		namespaces[name] = &room{total.profiles / len(namespaces), total.processors / float64(len(namespaces))}
	}
	var joined []*candidate
	joins := map[*candidate]bool{}
	for _, rooms := range []func(*candidate) []*room{
		func(c *candidate) []*room { return []*room{namespaces[c.profile.Namespace], &total} },
		func(*candidate) []*room { return []*room{&total} },
	} {
		for _, c := range all {
			if !joins[c] && taken(c.member.Utilization, rooms(c)...) {
				joins[c] = true
				joined = append(joined, c)
			}
		}
	}
	for _, c := range all {
		switch {
		case joins[c]:
		case total.profiles == 0:
			c.leaveOut(v1alpha1.ReasonTooMany, "the tree takes %d WorkloadProfiles, and when there are more the oldest of each namespace", maxProfiles)
		default:
			c.leaveOut(v1alpha1.ReasonOverloaded, "it keeps %.4g processors busy, and there is room for %.4g: WorkloadProfiles join while %g%% of the %d processors are busy, and when they do not all fit the oldest of each namespace; take away work, or add processors",
				c.member.Utilization, total.processors, 100*fullAt, s.processors)
		}
	}
	return joined
}

// room is what profiles may still take.
type room struct {
	profiles   int
	processors float64
}

// taken takes what one profile needs out of all of some rooms, and reports whether it
// fits in each.
func taken(processors float64, rooms ...*room) bool {
	for _, r := range rooms {
		if r.profiles < 1 || processors > r.processors {
			return false
		}
	}
	for _, r := range rooms {
		r.profiles--
		r.processors = math.Max(0, r.processors-processors)
	}
	return true
}

// leftOut lists the candidates that were left out, of each namespace in turn.
func leftOut(all []*candidate) []LeftOut {
	byNamespace := map[string][]LeftOut{}
	for _, c := range all {
		if c.left != nil {
			byNamespace[c.profile.Namespace] = append(byNamespace[c.profile.Namespace], *c.left)
		}
	}
	namespaces := slices.Sorted(maps.Keys(byNamespace))
	var list []LeftOut
	for i := 0; len(namespaces) > 0; i++ {
		namespaces = slices.DeleteFunc(namespaces, func(n string) bool { return i >= len(byNamespace[n]) })
		for _, n := range namespaces {
			list = append(list, byNamespace[n][i])
		}
	}
	return list
}
