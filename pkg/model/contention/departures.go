package contention

import (
	"loadline.dev/loadline/pkg/model/interference"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// BoundDepartures returns bounds from above on the dilations of jobs that share one resource by weights and limits, which hold
// whichever of the others are there: they are as much as the jobs are dilated by all of them, or more, and by any of them
// once others are gone.
//
// [PredictSharing] returns no such bound: a job that waits for another at one resource delays a third at another resource less, and
// delays it more once the first is gone. So each resource is solved by itself here, with the jobs idle while they are at another
// one. There jobs are not delayed elsewhere and come back sooner, so that a job waits no less; and a job that is gone leaves no
// other waiting longer. The waits of a job at all resources add up. With two jobs the sum is the dilation less 1, to the error of
// the solution. Where the sum exceeds the bound of [BoundSharing], and among jobs that interfere, that bound is returned.
//
// It takes no more steps than [PredictSharing]. The error is the same.
func BoundDepartures(jobs []loading.Vector, servers []int, sharing Sharing) ([]float64, error) {
	bounds, err := BoundSharing(jobs, servers, sharing)
	if err != nil || interference.AnyInterferes(jobs) {
		return bounds, err
	}
	jobs, servers, err = sharing.Prepare(jobs, servers)
	if err != nil {
		return nil, err
	}
	dilations := make([]float64, len(jobs))
	for j := range dilations {
		dilations[j] = 1
	}
	w := worst{sharing: &sharing, servers: servers}
	for i := range servers {
		only := onlyAt(jobs, i)
		p, err := Predict(only, servers, queueing.Options{})
		if i == sharing.Resource && err == nil {
			p, err = PredictSharing(only, servers, sharing, queueing.Options{})
		}
		if err != nil {
			return nil, err
		}
		for j, v := range jobs {
			wait := p.Dilations[j] - 1
			if i != sharing.Resource { // the time alone there, in own times
				wait *= p.alone[p.class[j]] / w.neutral(j, v)
			}
			dilations[j] += wait
		}
	}
	for j := range bounds {
		bounds[j] = min(bounds[j], dilations[j])
	}
	return bounds, nil
}

// onlyAt returns jobs that are idle while they would be at another resource.
func onlyAt(jobs []loading.Vector, resource int) []loading.Vector {
	only := make([]loading.Vector, len(jobs))
	for j, v := range jobs {
		if resource < len(v) {
			only[j] = make(loading.Vector, len(v))
			only[j][resource] = v[resource]
		}
	}
	return only
}
