package pools

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// checkPools finds the classes of each pool, and repeats the checks of the API server: a plan may
// come from a file.
func (p *planner) checkPools(path *field.Path) {
	r, spec := p.inputs, &p.in.Plan.Spec
	if len(spec.Pools) == 0 {
		if spec.Mode == v1alpha1.ModeApply {
			r.require(path, "the mode apply scales pools: list them, each with its scaleTarget")
		}
		return
	}
	if spec.Strategy != "" && spec.Strategy != v1alpha1.StrategyAuto {
		r.refuse(field.NewPath("spec", "strategy"), spec.Strategy, "the pools that are listed say how classes share them: leave out either pools or strategy")
	}
	in := map[string]string{}      // the pool of each class
	names := map[string]bool{}     // of pools
	targets := map[string]string{} // the pool of each target
	indices := map[string]int{}    // of classes
	for i, c := range p.classes {
		indices[c.Name] = i
	}
	for i := range spec.Pools {
		pool, path := &spec.Pools[i], path.Index(i)
		if names[pool.Name] {
			r.invalid = append(r.invalid, field.Duplicate(path.Child("name"), pool.Name))
		}
		names[pool.Name] = true
		if len(pool.Classes) == 0 {
			r.require(path.Child("classes"), "a pool serves at least one class")
		}
		var members []int
		for k, class := range pool.Classes {
			index, known := indices[class]
			switch other, taken := in[class]; {
			case !known:
				r.refuse(path.Child("classes").Index(k), class, "there is no such class in spec.classes")
			case taken:
				r.refuse(path.Child("classes").Index(k), class, fmt.Sprintf("the class is in pool %q already; it can be in one only", other))
			default:
				in[class] = pool.Name
				members = append(members, index)
			}
		}
		slices.Sort(members)
		p.members = append(p.members, members)
		p.checkTarget(pool, targets, path.Child("scaleTarget"))
		p.checkBounds(pool, path)
	}
	for i, c := range p.classes {
		if _, pooled := in[c.Name]; !pooled {
			r.refuse(field.NewPath("spec", "classes").Index(i).Child("name"), c.Name, "the class is in none of spec.pools; when pools are listed, each class is in one")
		}
	}
}

// checkTarget checks that no two pools scale the same thing.
func (p *planner) checkTarget(pool *v1alpha1.PlannedPool, targets map[string]string, path *field.Path) {
	t := pool.ScaleTarget
	if t == nil {
		if p.in.Plan.Spec.Mode == v1alpha1.ModeApply {
			p.inputs.require(path, "the mode apply scales every pool")
		}
		return
	}
	group, _, _ := strings.Cut(t.APIVersion, "/") // another version is the same target
	if !strings.Contains(t.APIVersion, "/") {
		group = ""
	}
	key := strings.Join([]string{group, t.Kind, t.Namespace, t.Name}, " ")
	if other, taken := targets[key]; taken {
		p.inputs.refuse(path, fmt.Sprintf("%s %s/%s", t.Kind, t.Namespace, t.Name), fmt.Sprintf("it is the target of pool %q already: the two would scale it in turns", other))
	}
	targets[key] = pool.Name
}

func (p *planner) checkBounds(pool *v1alpha1.PlannedPool, path *field.Path) {
	if pool.MaxServers == nil && p.in.Plan.Spec.Mode == v1alpha1.ModeApply {
		p.inputs.require(path.Child("maxServers"), "the mode apply scales the pool: write how many servers it may have at most, such as maxServers: 20")
	}
	for _, bound := range []struct {
		name  string
		value *int32
	}{{"minServers", pool.MinServers}, {"maxServers", pool.MaxServers}, {"serversPerReplica", pool.ServersPerReplica}} {
		if bound.value != nil && *bound.value < 1 {
			p.inputs.refuse(path.Child(bound.name), *bound.value, "must be at least 1")
			return
		}
	}
	if pool.MaxServers == nil {
		return
	}
	if least := atLeastOne(pool.MinServers); *pool.MaxServers < least {
		p.inputs.refuse(path.Child("minServers"), least, fmt.Sprintf("is more than maxServers, %d", *pool.MaxServers))
	}
	if each := atLeastOne(pool.ServersPerReplica); *pool.MaxServers < each {
		p.inputs.refuse(path.Child("serversPerReplica"), each, fmt.Sprintf("is more than maxServers, %d: not even one replica fits", *pool.MaxServers))
	}
}

func atLeastOne(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
