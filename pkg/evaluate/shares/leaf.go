package shares

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/profile"
)

// leaf is a workload, in the spec or a profile, as it is added to a tree.
type leaf struct {
	member fairshare.Member
	workload
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

// problems collects what is wrong with a spec.
type problems struct{ invalid field.ErrorList }

func (p *problems) refuse(path *field.Path, value any, rule string) {
	p.invalid = append(p.invalid, field.Invalid(path, value, rule))
}

func (p *problems) require(path *field.Path, what string) {
	p.invalid = append(p.invalid, field.Required(path, what))
}

// readWorkload returns a workload of a spec, nil if it says too little.
func (p *problems) readWorkload(w *v1alpha1.ShareWorkload, path *field.Path) *leaf {
	if w.Utilization == nil {
		p.require(path.Child("utilization"), `give how many processors the workload keeps busy, such as "0.2"`)
		return nil
	}
	member := fairshare.Member{
		Name: w.Name, Parent: w.Group, Workload: true, Share: p.share(w.Share, path.Child("share"), "workload"),
		Utilization: p.utilization(w.Utilization, path.Child("utilization")),
	}
	return p.leaf(member, workload{path: path.Child("serviceMillis"), service: w.ServiceMillis}, w.SLA, path.Child("sla"))
}

// readProfile returns a profile as a workload, nil if it says too little.
func (p *problems) readProfile(w *v1alpha1.WorkloadProfile, name string) *leaf {
	path := field.NewPath("spec")
	at := path.Child("fairShare")
	f, neutral := w.Spec.FairShare, profile.NeutralMillis(w, profile.AnyClass)
	member := fairshare.Member{Name: name, Parent: f.Group, Workload: true, Share: p.share(f.Share, at.Child("share"), "fairShare")}
	switch {
	case f.Utilization != nil:
		member.Utilization = p.utilization(f.Utilization, at.Child("utilization"))
	case w.Spec.Arrival != nil && w.Spec.Arrival.RatePerSecond != nil && neutral != nil:
		if member.Utilization = w.Spec.Arrival.RatePerSecond.AsApproximateFloat64() * float64(*neutral) / 1000; !(member.Utilization >= 0) {
			p.refuse(path.Child("arrival", "ratePerSecond"), w.Spec.Arrival.RatePerSecond.String(), "a rate is not negative")
			return nil
		}
	default:
		p.require(at.Child("utilization"), "the tree must know how busy the workload keeps it: give it, or arrival.ratePerSecond and neutralMillis")
		return nil
	}
	return p.leaf(member, workload{path: path.Child("neutralMillis"), service: neutral}, w.Spec.SLA, path.Child("sla"))
}

// leaf completes a workload, nil if its service time makes no sense.
func (p *problems) leaf(m fairshare.Member, w workload, sla *v1alpha1.SLA, path *field.Path) *leaf {
	if w.service != nil {
		if *w.service < 1 {
			p.refuse(w.path, *w.service, "a service time is at least 1 millisecond")
			return nil
		}
		m.Service = float64(*w.service) / 1000
	}
	w.sla = p.sla(sla, w.service != nil, path)
	return &leaf{m, w}
}

func (p *problems) share(share *int32, path *field.Path, what string) float64 {
	switch {
	case share == nil:
		p.require(path, "give a share of at least 1: the weight among siblings")
		return 1
	case *share < 1:
		p.refuse(path, *share, fmt.Sprintf("a share must be at least 1 (remove the %s if it should get nothing)", what))
		return 1
	}
	return float64(*share)
}

func (p *problems) utilization(q *resource.Quantity, path *field.Path) float64 {
	u := q.AsApproximateFloat64()
	if !(u >= 0 && u <= fairshare.MaxServers) {
		p.refuse(path, q.String(), fmt.Sprintf("a utilization is how many processors are kept busy on average, from 0 to %d", fairshare.MaxServers))
		return 0
	}
	return u
}

// sla reads an SLA, nil if there is none.
func (p *problems) sla(sla *v1alpha1.SLA, timed bool, path *field.Path) *slaLimits {
	if sla == nil {
		return nil
	}
	var read slaLimits
	if q := sla.MaxDilation; q != nil {
		if read.maxFactor = new(q.AsApproximateFloat64()); !(*read.maxFactor >= 1) {
			p.refuse(path.Child("maxDilation"), q.String(), "a dilation is at least 1")
		}
	}
	if t := sla.ResponseTimeMillis; t != nil {
		switch read.seconds = new(float64(*t) / 1000); {
		case *t < 1:
			p.refuse(path.Child("responseTimeMillis"), *t, "a response time is at least 1 millisecond")
		case !timed:
			p.refuse(path.Child("responseTimeMillis"), *t, "needs the service time of the workload, serviceMillis here or neutralMillis of a WorkloadProfile; or ask for a multiple of it, maxDilation")
		}
	}
	if read.maxFactor == nil && read.seconds == nil {
		p.require(path, "give responseTimeMillis or maxDilation, or both")
	}
	if q := sla.Probability; q != nil {
		if read.probability = new(q.AsApproximateFloat64()); !(*read.probability > 0 && *read.probability < 1) {
			p.refuse(path.Child("probability"), q.String(), "a probability is above 0 and below 1")
		}
	}
	return &read
}
