package profile

import (
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
)

// Unsure returns the components of the pods' vectors that have margins: used[k] is the vector in
// use of the k-th pod, nil where it is from no profile. Pods with one and the same vector share its
// error.
func (r *Resources) Unsure(used []*InUse) []contention.Unsure {
	var all []contention.Unsure
	for k, v := range used {
		if v == nil || slices.Index(used, v) < k {
			continue
		}
		var pods []int
		for j, other := range used {
			if other == v {
				pods = append(pods, j)
			}
		}
		for _, d := range v.Demands {
			if i, ok := r.index[d.Resource]; ok && d.Margins != (contention.Margins{}) {
				all = append(all, contention.Unsure{Jobs: pods, Resource: i, Margins: d.Margins})
			}
		}
	}
	return all
}
