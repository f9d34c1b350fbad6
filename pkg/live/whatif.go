package live

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// The parameters of what-if questions.
const (
	requestParameter = "request"
	limitParameter   = "limit"
	moveParameter    = "move"
)

// whatIf is a question about a pod: another request or limit of a container, or another node.
type whatIf struct {
	container      string
	request, limit int64 // in thousandths; a limit of 0 is none
	wasRequest     int64
	wasLimit       int64
	move           string
}

// maxMilliCPU is the largest request and limit that can be asked about.
const maxMilliCPU = 1_000_000

// readWhatIf reads a question about a pod, of its container that requests most. The error names the parameter.
func readWhatIf(values url.Values, pod *corev1.Pod) (*whatIf, error) {
	q := &whatIf{move: values.Get(moveParameter)}
	container, request, limit := cgroup.Largest(pod)
	if container == "" {
		request, limit = cgroup.CPU(pod)
	}
	if q.container = container; request != nil {
		q.wasRequest = request.MilliValue()
	}
	if limit != nil {
		q.wasLimit = limit.MilliValue()
	}
	q.request, q.limit = q.wasRequest, q.wasLimit
	for name, to := range map[string]*int64{requestParameter: &q.request, limitParameter: &q.limit} {
		if s := values.Get(name); s != "" {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 0 || n > maxMilliCPU {
				return nil, fmt.Errorf("%s: %q is not a number of thousandths of a processor from 0 to %d", name, s, int64(maxMilliCPU))
			}
			*to = n
		}
	}
	if q.limit > 0 && q.limit < q.request { // the API server admits no other
		q.request = q.limit
	}
	return q, nil
}

// resizes reports whether another request or limit is asked about.
func (q *whatIf) resizes() bool { return q.request != q.wasRequest || q.limit != q.wasLimit }

// change returns what the model of profiles is asked, nil for nothing.
func (q *whatIf) change(pod *corev1.Pod) *explanation.Change {
	if !q.resizes() || pod.Spec.NodeName == "" || len(pod.Spec.Containers) > 1 {
		return nil
	}
	return &explanation.Change{Request: milli(q.request), Limit: milli(q.limit)}
}

func milli(n int64) *resource.Quantity { return resource.NewMilliQuantity(n, resource.DecimalSI) }

// changes returns the changes that are asked about, each by itself.
func (q *whatIf) changes(pod *corev1.Pod) (all []plan.Change) {
	of := plan.Change{Pod: text.QualifiedName(pod), Workload: workloads.Of(pod), Node: pod.Spec.NodeName}
	if q.resizes() {
		c := of
		c.Action, c.Container, c.Request = plan.RaiseRequest, q.container, milli(q.request)
		if q.limit != q.wasLimit {
			c.Action, c.Limit = plan.RaiseLimit, milli(q.limit)
		}
		all = append(all, c)
	}
	if q.move != "" {
		c := of
		c.Action, c.To = plan.MovePod, q.move
		all = append(all, c)
	}
	return all
}

// form returns the form of the question.
func (q *whatIf) form(l *Look, pod *corev1.Pod, nodes []string) *page.Form {
	top := int64(1000)
	if i := slices.IndexFunc(l.In.Nodes, func(n corev1.Node) bool { return n.Name == pod.Spec.NodeName }); i >= 0 {
		top = max(10, l.In.Nodes[i].Status.Allocatable.Cpu().MilliValue())
	}
	move := page.Field{Type: page.SelectField, Name: moveParameter, Label: "Move to", Options: []page.Option{{Text: "stay here"}}}
	for _, name := range nodes {
		move.Options = append(move.Options, page.Option{Value: name, Text: name, Chosen: name == q.move})
	}
	of := ""
	if len(pod.Spec.Containers) > 1 && q.container != "" {
		of = " of " + q.container
	}
	slider := func(name, label string, value int64) page.Field {
		shown := fmt.Sprintf("%dm", value)
		if name == limitParameter && value == 0 {
			shown = "none"
		}
		most := max(top, value)
		return page.Field{
			Type: page.RangeField, Name: name, Label: label + of, Value: strconv.FormatInt(value, 10), Shown: shown,
			Min: "0", Max: strconv.FormatInt(most, 10), Step: strconv.FormatInt(sliderStep(most), 10),
		}
	}
	return &page.Form{Label: "What if it had another request, limit or node", Submit: "Ask", Fields: []page.Field{
		{Type: page.HiddenField, Name: namespaceParameter, Value: pod.Namespace},
		{Type: page.HiddenField, Name: nameParameter, Value: pod.Name},
		slider(requestParameter, "CPU request", q.request), slider(limitParameter, "CPU limit", q.limit), move,
	}}
}

// sliderStep returns the step of a slider: tens up to ten processors.
func sliderStep(top int64) int64 {
	const finest, coarse = 10, 10_000
	if top > coarse {
		return 10 * finest
	}
	return finest
}

// answer says what the changes would do, by what was observed.
func (q *whatIf) answer(m *moment, pod *corev1.Pod, above float64) (lines []string) {
	if m.cluster == nil {
		return []string{"The plan is being worked out: this follows."}
	}
	for _, change := range q.changes(pod) {
		t, err := m.try(change, above)
		if err != nil {
			lines = append(lines, sentence(err))
			continue
		}
		lines = append(lines, trialLine(&change, t))
	}
	return lines
}

// trialLine says what a change would do.
func trialLine(c *plan.Change, t *plan.Trial) string {
	what := "With a request of " + c.Request.String()
	switch {
	case c.Action == plan.MovePod:
		what = "On " + c.To
	case c.Limit != nil && c.Limit.IsZero():
		what += " and no limit"
	case c.Limit != nil:
		what += " and a limit of " + c.Limit.String()
	}
	line := fmt.Sprintf("%s it would take %s as long as alone (now %s)", what, text.Times(t.Then), text.Times(t.Now))
	var others []string
	more := 0
	for _, e := range t.Pods {
		if e.Pod == c.Pod {
			continue
		}
		if len(others) == 3 {
			more++
			continue
		}
		others = append(others, fmt.Sprintf("%s %s (now %s)", e.Pod, text.Times(e.Then), text.Times(e.Now)))
	}
	if more > 0 {
		others = append(others, text.Counted(more, "further pod"))
	}
	if len(others) > 0 {
		line += ", and " + strings.Join(others, ", ")
	}
	line += ", by what was observed."
	if t.Unknown != "" {
		line += " Not known: " + t.Unknown + "."
	}
	if t.Refused != "" {
		line += " It cannot be made: " + t.Refused + "."
	}
	notes := make([]string, len(t.Notes))
	for i, note := range t.Notes {
		notes[i] = " " + text.Capitalized(note) + "."
	}
	return line + strings.Join(notes, "")
}
