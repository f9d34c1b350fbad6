package installation

import (
	"loadline.dev/loadline/pkg/evaluate/savings"
)

// judgeContention says how much pods slow each other down, and what there is to win. Nothing of that is wrong: whether pods are
// slowed down is not whether Loadline works.
func (f *Facts) judgeContention(a *Answer) Check {
	c := Check{Name: "contention", State: StateOK}
	switch {
	case f.ContentionErr != nil:
		c.State, c.Message, c.Do = StateWarning, "cannot tell: "+f.ContentionErr.Error(), askForRight
	case f.WorkloadsErr != nil || len(f.Workloads) == 0:
		c.Message = "no profile says what pods use"
	case f.Contention == nil:
		c.Message = "none: no node that was looked at has a pod that uses anything"
	case f.Contention.WithoutProfile == f.Contention.Pods:
		c.Message = "no pod on the nodes follows a profile, and requests do not say what pods use"
	default:
		made, err := savings.Made()
		if err != nil {
			c.State, c.Message = StateWarning, "cannot tell: "+err.Error()
			return c
		}
		a.Contention = f.Contention.On(made)
		c.Message = a.Contention.String()
	}
	return c
}
