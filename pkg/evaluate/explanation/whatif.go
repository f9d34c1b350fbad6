package explanation

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// Change is another request or limit of a pod: what if?
type Change struct {
	// Request and Limit are CPU in all; nil leaves one unchanged, and a limit of 0 is none. See [cgroup.WithCPU].
	Request, Limit *resource.Quantity
	// Dilation asks, in place of a request, for the smallest request with which the pod is dilated by no more than this,
	// above 1; 0 does not ask.
	Dilation float64
}

// WhatIf is how a pod would fare with another request or limit, all else being equal.
type WhatIf struct {
	// Target is the dilation that was asked for, absent if a request or a limit was, and Met whether any request reaches
	// it: one that fits the limit and what other pods leave of the node.
	Target *float64 `json:"target,omitempty"`
	Met    *bool    `json:"met,omitempty"`

	Request  *resource.Quantity `json:"request"`
	Limit    *resource.Quantity `json:"limit,omitempty"`
	QoSClass corev1.PodQOSClass `json:"qosClass"`
	// Dilation is relative to the time alone with that limit, which Throttling makes longer; that is absent if it does not.
	Dilation   float64  `json:"dilation"`
	Throttling *float64 `json:"throttling,omitempty"`
	// MaxThrottling is how much that may be at most: see [node.MaxThrottling].
	MaxThrottling *float64 `json:"maxThrottling,omitempty"`
	// Neighbours are the others that would be faster or slower by it, in the order of the answer, each with its dilation then
	// and now.
	Neighbours []Changed `json:"neighbours,omitempty"`
}

// Changed is another pod of which the dilation changes.
type Changed struct {
	Pod      string  `json:"pod"`
	Dilation float64 `json:"dilation"`
	Now      float64 `json:"now"`
}

// negligible is a difference of dilations that is not worth words.
const negligible = 0.005

// placed is a pod, the first, on its node.
type placed struct {
	*node.Node

	now       *contention.Prediction
	free      resource.Quantity // CPU that no other pod requests
	resources *profile.Resources
	// Of the pod: assumed says that its vector is, by its requests, and stated that it is of the pod without a limit, with
	// its neutral time, nil where that is not known.
	assumed, stated bool
	neutral         *float64
}

// errNoNode says that the pod has no neighbours yet.
var errNoNode = errors.New("what if? is about a pod that is on a node: this one waits for one")

// whatIf answers what a change does.
func (p *placed) whatIf(c *Change) (*WhatIf, error) {
	if c.Dilation == 0 {
		return p.answerFor(c.Request, c.Limit)
	}
	if !(c.Dilation > 1) || c.Request != nil {
		return nil, fmt.Errorf("dilation: %v is not above 1, or a request is given, too: ask for one", c.Dilation)
	}
	answer, err := p.smallest(c)
	if err != nil {
		return nil, err
	}
	met := answer.Dilation <= c.Dilation
	answer.Target, answer.Met = &c.Dilation, &met
	return answer, nil
}

// smallest returns the answer for the smallest request with which the pod is dilated by no more than the given bound, else
// that for the largest one: the dilation falls as the request grows.
func (p *placed) smallest(c *Change) (*WhatIf, error) {
	ask := func(milli int64) (*WhatIf, error) {
		return p.answerFor(resource.NewMilliQuantity(milli, resource.DecimalSI), c.Limit)
	}
	low, err := ask(0)
	if err != nil || low.Dilation <= c.Dilation {
		return low, err
	}
	request, limit := cgroup.CPU(p.Pods[0].Pod)
	if c.Limit != nil {
		limit = c.Limit
	}
	most := max(p.free.MilliValue(), request.MilliValue(), 1)
	if limit != nil && !limit.IsZero() && limit.Cmp(*request) != 0 {
		most = min(most, limit.MilliValue())
	}
	best, err := ask(most)
	if err != nil || best.Dilation > c.Dilation {
		return best, err
	}
	for less, enough := int64(0), most; enough-less > 1; {
		middle := less + (enough-less)/2
		answer, err := ask(middle)
		if err != nil {
			return nil, err
		}
		if answer.Dilation <= c.Dilation {
			best, enough = answer, middle
		} else {
			less = middle
		}
	}
	return best, nil
}

// answerFor answers for one request and limit.
func (p *placed) answerFor(request, limit *resource.Quantity) (*WhatIf, error) {
	changed, err := p.WithCPU(0, request, limit)
	if err != nil {
		return nil, err
	}
	pod := &changed.Pods[0]
	if p.assumed {
		changed = changed.WithVector(0, p.resources.Within(pod.AtDevices(), cgroup.Flat(pod.Pod).Limit))
		pod = &changed.Pods[0]
	}
	then, err := changed.Predict()
	if err != nil {
		return nil, err
	}
	w := &WhatIf{QoSClass: cgroup.QoS(pod.Pod), Dilation: then.Dilations[0]}
	w.Request, w.Limit = cgroup.CPU(pod.Pod)
	throttling := then.Throttling(0)
	if node.Throttles(throttling) {
		w.Throttling = &throttling
	}
	if p.stated {
		w.MaxThrottling = node.MaxThrottling(pod.AtDevices()[p.CPU], w.Limit, p.neutral, throttling)
	}
	for j := 1; j < len(p.Pods); j++ {
		before, after := p.now.Dilations[j], then.Dilations[j]
		if after-before >= negligible || before-after >= negligible {
			w.Neighbours = append(w.Neighbours, Changed{text.QualifiedName(p.Pods[j]), after, before})
		}
	}
	return w, nil
}
