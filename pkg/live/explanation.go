package live

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/report/explained"
	"loadline.dev/loadline/pkg/report/page"
)

// explanation answers what another request, limit or node would do, by what was observed, and explains the place of a pod by the profiles
// as kubectl loadline explain does. It names the pods of all namespaces, so it takes the right to list these, as explain does.
func (s *Server) explanation(r *request, m *moment, pod *corev1.Pod) ([]page.Section, error) {
	const where = "Where else could it run?"
	if _, all := r.rights.(everything); !all {
		return []page.Section{{Title: where, Text: "The answer names pods of all namespaces: it takes the right to list them, as kubectl loadline explain does."}}, nil
	}
	in, err := m.look.room(pod)
	if err != nil {
		return nil, err
	}
	asked, err := readWhatIf(r.URL.Query(), pod)
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, err}
	}
	in.Ranked, in.WhatIf = true, asked.change(pod)
	var e *explanation.Answer
	var lines []string
	if err := s.work(r, func() (err error) {
		if pod.Spec.NodeName != "" {
			lines = asked.answer(m, pod, s.Above)
		}
		e, err = explanation.OfPod(in)
		return err
	}); err != nil {
		return []page.Section{{Title: where, Text: sentence(err)}}, nil // the page shows what was observed
	}
	var sections []page.Section
	if pod.Spec.NodeName != "" {
		if by := explained.WhatIf(e); len(by) > 0 {
			lines = append(lines, "By its profile, as kubectl loadline explain --what-if reckons: "+by[0])
		}
		sections = append(sections, page.Section{Title: "What if?", Form: asked.form(m.look, pod, takers(e)), Text: joined(lines)})
	}
	e.WhatIf = nil // it was answered
	x := explained.Of(e, false, s.Clock.Now())
	why := page.Section{Title: "What do the profiles say?", Text: joined(x.Headlines), Table: x.Resources, Notes: x.Lines}
	if pod.Spec.NodeName == "" {
		why.Title = "Why does it wait?"
	}
	sections = append(sections, why)
	if x.Ranking != nil {
		sections = append(sections, page.Section{Title: where, Table: x.Ranking, Link: m.look.nodeLink, Notes: x.Conclusion})
	}
	return sections, nil
}

// takers returns the names of other nodes that take the pod.
func takers(e *explanation.Answer) (names []string) {
	for i := range e.Nodes {
		if n := &e.Nodes[i]; !n.Here && n.Takes() {
			names = append(names, n.Node)
		}
	}
	return names
}

// joined returns lines as paragraphs.
func joined(lines []string) (prose string) {
	for _, line := range lines {
		prose += line + "\n\n"
	}
	return prose
}

// before asks for a manifest, and says where it would go, how it would run there, and whom it would slow.
func (s *Server) before(r *request) error {
	m, err := s.latest(r)
	if err != nil {
		return err
	}
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
		manifest := r.PostForm.Get(manifestParameter)
		form.Fields[0].Value = manifest
		sections, err := s.simulation(r, m.look, manifest)
		if err != nil {
			p.Summary = sentence(err)
		}
		p.Sections = append(p.Sections, sections...)
	}
	p.Sections = append(p.Sections, ask)
	site := s.site("before", m, nil)
	write(r.writer, site, p, http.StatusOK)
	return nil
}

const manifestParameter = "manifest"
