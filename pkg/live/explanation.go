package live

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/report/explained"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// The parameters of what-if questions.
const (
	requestParameter = "request"
	limitParameter   = "limit"
	moveParameter    = "move"
)

// explanation explains the place of a pod as kubectl loadline explain does, and answers what another request, limit or node would do. It
// names the pods of all namespaces, so it takes the right to list these, as explain does.
func (s *Server) explanation(r *request, l *Look, pod *corev1.Pod) ([]page.Section, error) {
	if _, all := r.rights.(everything); !all {
		return []page.Section{{
			Title: "Where else could it run?",
			Text:  "The answer names pods of all namespaces: it takes the right to list them, as kubectl loadline explain does.",
		}}, nil
	}
	in, err := l.room(pod)
	if err != nil {
		return nil, err
	}
	in.Ranked = true
	asked, err := readWhatIf(r.URL.Query(), pod)
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, err}
	}
	if pod.Spec.NodeName != "" {
		in.WhatIf = asked.change
	}
	var e *explanation.Answer
	if err := s.work(r, func() (err error) {
		e, err = explanation.OfPod(in)
		return err
	}); err != nil {
		return []page.Section{{Title: "Where else could it run?", Text: oneLine(err)}}, nil //nolint:nilerr // the page says so, and shows what was observed
	}
	x := explained.Of(e, false, s.Clock.Now())
	var sections []page.Section
	if pod.Spec.NodeName != "" {
		sections = append(sections, page.Section{Title: "What if?", Form: asked.form(l, pod, e), Text: asked.answer(e)})
	}
	why := page.Section{Title: "By its profile", Table: x.Resources, Notes: x.Lines}
	if pod.Spec.NodeName == "" {
		why.Title = "Why does it wait?"
	}
	why.Text = joined(x.Headlines)
	sections = append(sections, why)
	if x.Ranking != nil {
		sections = append(sections, page.Section{
			Title: "Where else could it run?", Table: x.Ranking, Notes: x.Conclusion,
			Link: l.nodeLink,
		})
	}
	return sections, nil
}

// joined returns lines as paragraphs.
func joined(lines []string) (prose string) {
	for _, line := range lines {
		prose += line + "\n\n"
	}
	return prose
}

// whatIf is a question about a pod.
type whatIf struct {
	request, limit int64 // in thousandths; a limit of 0 is none
	move           string
	change         *explanation.Change // nil if nothing would change
}

// maxMilliCPU is the largest request and limit that can be asked about.
const maxMilliCPU = 1_000_000

// readWhatIf reads a question about a pod. The error names the parameter.
func readWhatIf(values url.Values, pod *corev1.Pod) (*whatIf, error) {
	request, limit := cgroup.CPU(pod)
	now := whatIf{request: request.MilliValue()}
	if limit != nil {
		now.limit = limit.MilliValue()
	}
	asked := now
	asked.move = values.Get(moveParameter)
	for name, to := range map[string]*int64{requestParameter: &asked.request, limitParameter: &asked.limit} {
		if s := values.Get(name); s != "" {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || n < 0 || n > maxMilliCPU {
				return nil, fmt.Errorf("%s: %q is not a number of thousandths of a processor from 0 to %d", name, s, int64(maxMilliCPU))
			}
			*to = n
		}
	}
	if asked.limit > 0 && asked.limit < asked.request { // as the API server has it: the slider that was moved takes the other along
		asked.request = asked.limit
	}
	if asked.request != now.request || asked.limit != now.limit {
		asked.change = &explanation.Change{
			Request: resource.NewMilliQuantity(asked.request, resource.DecimalSI), Limit: resource.NewMilliQuantity(asked.limit, resource.DecimalSI),
		}
	}
	return &asked, nil
}

// form returns the form of the question.
func (q *whatIf) form(l *Look, pod *corev1.Pod, e *explanation.Answer) *page.Form {
	top := int64(1000)
	if i := slices.IndexFunc(l.In.Nodes, func(n corev1.Node) bool { return n.Name == pod.Spec.NodeName }); i >= 0 {
		top = max(10, l.In.Nodes[i].Status.Allocatable.Cpu().MilliValue())
	}
	move := page.Field{Type: page.SelectField, Name: moveParameter, Label: "Move to", Options: []page.Option{{Text: "stay here"}}}
	for i := range e.Nodes {
		if n := &e.Nodes[i]; !n.Here && n.Takes() {
			move.Options = append(move.Options, page.Option{Value: n.Node, Text: n.Node, Chosen: n.Node == q.move})
		}
	}
	slider := func(name, label string, value int64) page.Field {
		shown := fmt.Sprintf("%dm", value)
		if name == limitParameter && value == 0 {
			shown = "none"
		}
		return page.Field{
			Type: page.RangeField, Name: name, Label: label, Value: strconv.FormatInt(value, 10), Shown: shown,
			Min: "0", Max: strconv.FormatInt(max(top, value), 10), Step: strconv.FormatInt(sliderStep(max(top, value)), 10),
		}
	}
	return &page.Form{Label: "What if it had another request, limit or node", Submit: "Ask", Fields: []page.Field{
		{Type: page.HiddenField, Name: namespaceParameter, Value: pod.Namespace}, {Type: page.HiddenField, Name: nameParameter, Value: pod.Name},
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

// answer answers the question.
func (q *whatIf) answer(e *explanation.Answer) string {
	var lines []string
	lines = append(lines, explained.WhatIf(e)...)
	if q.move == "" {
		return joined(lines)
	}
	i := slices.IndexFunc(e.Nodes, func(n explanation.RankedNode) bool { return n.Node == q.move })
	here := slices.IndexFunc(e.Nodes, func(n explanation.RankedNode) bool { return n.Here })
	switch {
	case i < 0 || !e.Nodes[i].Takes():
		lines = append(lines, fmt.Sprintf("%s does not take it.", q.move))
	default:
		n := &e.Nodes[i]
		line := fmt.Sprintf("On %s it would wait %.3f and make others wait %.3f", n.Node, n.Waits, n.Inflicts)
		if here >= 0 {
			line += fmt.Sprintf("; here it is %.3f and %.3f", e.Nodes[here].Waits, e.Nodes[here].Inflicts)
		}
		lines = append(lines, line+fmt.Sprintf(", in times of what they take alone, as the scheduler reckons it: rank %s of %s.", text.Count(int64(n.Rank)), text.Counted(len(e.Nodes), "node")))
	}
	return joined(lines)
}

// before asks for a manifest, and says where it would go, how it would run there, and whom it would slow.
func (s *Server) before(r *request) error {
	m, err := s.latest(r)
	if err != nil {
		return err
	}
	manifest := ""
	form := page.Form{To: "before", Post: true, Label: "Manifest", Submit: "Where would it go?", Fields: []page.Field{{
		Type: page.AreaField, Name: manifestParameter, Label: "Paste a Pod, Deployment, StatefulSet, ReplicaSet, Job or CronJob, with WorkloadProfiles beside it if they are new, too. Nothing is created.",
		Placeholder: "apiVersion: apps/v1\nkind: Deployment\n…",
	}}}
	p := page.Page{Title: "Where would it go, and what would that do?", Footer: s.footer()}
	ask := page.Section{Title: "Manifest", Form: &form}
	if _, all := r.rights.(everything); !all {
		return failed(http.StatusForbidden, "the answer names pods of all namespaces: it takes the right to list them, as kubectl loadline explain --simulate does")
	}
	if r.Method == http.MethodPost {
		if err := r.ParseForm(); err != nil {
			return failed(http.StatusRequestEntityTooLarge, "the manifest is longer than %d bytes", maxBody)
		}
		manifest = r.PostForm.Get(manifestParameter)
		form.Fields[0].Value = manifest
		sections, err := s.simulation(r, m.look, manifest)
		if err != nil {
			p.Summary = oneLine(err)
		}
		p.Sections = append(p.Sections, sections...)
	}
	p.Sections = append(p.Sections, ask)
	site := s.site("before", m, nil)
	write(r.writer, site, p, http.StatusOK)
	return nil
}

const manifestParameter = "manifest"
