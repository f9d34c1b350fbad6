package replay

import (
	"fmt"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/verb"
)

// fields returns which fields of a spec the flags said that were given.
func (f *specFlags) fields(spec *v1alpha1.TraceReplaySpec, changed func(flag string) bool) verb.FlagFields {
	said := verb.FlagFields{}
	for flag, paths := range map[string][]string{
		"format": {"spec.trace.format"}, "limit": {"spec.trace.limit"},
		"generate": {"spec.arrivals", "spec.arrivals.jobs"}, "every": {"spec.arrivals.interarrival.meanMillis"}, "distribution": {"spec.arrivals.interarrival.distribution"},
		"scv": {"spec.arrivals.interarrival.scv"}, "gaps-from": {"spec.arrivals.interarrival.gapsMillis"}, "types": {"spec.arrivals.types"},
		"seeds": {"spec.seeds"}, "solver": {"spec.solver"}, "queue": {"spec.queue"}, "cpu-shares": {"spec.cpuShares"},
	} {
		for _, path := range paths {
			if changed(flag) {
				said[path] = "--" + flag
			}
		}
	}
	if len(f.policies) > 0 {
		for i, p := range spec.Policies {
			at, flag := fmt.Sprintf("spec.policies[%d]", i), "--policies "+p.Name
			said[at+".name"], said[at+".threshold"], said[at+".target"] = flag, flag, flag
		}
	}
	if spec.Arrivals != nil {
		for i, t := range spec.Arrivals.Types {
			at := fmt.Sprintf("spec.arrivals.types[%d]", i)
			said[at+".cpuRequest"], said[at+".cpuLimit"] = "--requests "+t.Profile, "--limits "+t.Profile
		}
	}
	if f.nodesFrom != "" {
		said["spec.nodes"] = "--nodes-from"
	} else if f.madeNodes {
		f.addNodes(said, &spec.Nodes[0])
	}
	return said
}

// addNodes adds the fields of the class of nodes that was made of flags.
func (*specFlags) addNodes(said verb.FlagFields, class *v1alpha1.ReplayNodes) {
	const of = "spec.nodes[0]"
	said[of], said[of+".count"], said[of+".maxJobs"] = "--nodes", "--nodes", "--max-jobs"
	for i, r := range class.Resources {
		flag := "--servers " + r.Name
		if i == 0 {
			flag = "--cores"
		}
		path := fmt.Sprintf("%s.resources[%d]", of, i)
		said[path], said[path+".name"], said[path+".servers"] = flag, flag, flag
		said[of+".resources["+r.Name+"].sharing"] = "--sharing " + r.Name
	}
	for i, c := range class.Capacity {
		path := fmt.Sprintf("%s.capacity[%d]", of, i)
		said[path], said[path+".name"], said[path+".quantity"] = "--capacity "+c.Name, "--capacity "+c.Name, "--capacity "+c.Name
	}
	said[of+".capacity"] = "--capacity"
}
