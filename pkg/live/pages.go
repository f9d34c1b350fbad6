package live

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// situation returns what pages show of an answer. Links keep the moment that is shown.
func (s *Server) situation(m *moment, a *findings.Answer, q *query) *report.Situation {
	to := func(path string, values url.Values) string {
		if !q.at.IsZero() {
			values.Set(atParameter, strconv.FormatInt(q.at.Unix(), 10))
		}
		return path + "?" + values.Encode()
	}
	situation := &report.Situation{
		Answer: a, NodeObjects: m.look.In.Nodes, PodObjects: m.look.In.Pods,
		PodLink: func(name string) string {
			namespace, pod, qualified := strings.Cut(name, "/")
			if !qualified {
				return ""
			}
			return to("pod", url.Values{namespaceParameter: {namespace}, nameParameter: {pod}})
		},
		NodeLink: func(name string) string { return to("node", url.Values{nameParameter: {name}}) },
	}
	if q.at.IsZero() {
		situation.Past, situation.PastIs, situation.PastEvery = s.history.Dilations, "the last hour", bucket
	}
	return situation
}

// overview shows the whole cluster.
func (s *Server) overview(r *request) error {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return &statusError{http.StatusBadRequest, err}
	}
	m, answer, err := s.answered(r, &q)
	if err != nil {
		return err
	}
	first, last := m.look.span()
	filter := q.form(answer.Above, namespacesOf(answer), first, last)
	p := report.Overview(s.situation(m, q.narrow(answer), &q))
	if cards := s.approvals(m.look, r.rights); len(cards) > 0 {
		p.Sections = slices.Insert(p.Sections, 0, page.Section{Title: "Changes that wait for approval", Cards: cards})
	}
	p.Footer = s.footer()
	write(r.writer, s.siteAt("./", m, filter, &q), p, http.StatusOK)
	return nil
}

func (s *Server) footer() string { return "Loadline " + s.Version + "." }

// namespacesOf returns the namespaces of the pods of an answer.
func namespacesOf(a *findings.Answer) []string {
	all := map[string]bool{}
	for i := range a.Pods {
		namespace, _, _ := strings.Cut(a.Pods[i].Pod, "/")
		all[namespace] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// about returns the moment that the page of one node or pod is about, and its whole answer.
func (s *Server) about(r *request) (*query, *moment, *findings.Answer, error) {
	q, err := readQuery(url.Values{atParameter: {r.URL.Query().Get(atParameter)}})
	if err != nil {
		return nil, nil, nil, &statusError{http.StatusBadRequest, err}
	}
	m, answer, err := s.answered(r, &q)
	return &q, m, answer, err
}

// node shows a node.
func (s *Server) node(r *request) error {
	values := r.URL.Query()
	q, m, answer, err := s.about(r)
	if err != nil {
		return err
	}
	name := values.Get(nameParameter)
	p, is := report.NodePage(s.situation(m, answer, q), name)
	if !is {
		return failed(http.StatusNotFound, "there is no node %q, or you may not see it", name)
	}
	if _, all := r.rights.(everything); all {
		if section := weights(r.Context(), m.look, name); section != nil {
			p.Sections = append(p.Sections, *section)
		}
	}
	p.Footer = s.footer()
	write(r.writer, s.siteAt("node", m, nil, q), p, http.StatusOK)
	return nil
}

// pod shows a pod.
func (s *Server) pod(r *request) error {
	values := r.URL.Query()
	q, m, answer, err := s.about(r)
	if err != nil {
		return err
	}
	name := values.Get(namespaceParameter) + "/" + values.Get(nameParameter)
	if !r.rights.Pods(values.Get(namespaceParameter)) {
		return failed(http.StatusForbidden, "you may not list the pods of namespace %q", values.Get(namespaceParameter))
	}
	pod := podNamed(m.look.In.Pods, name)
	p, is := report.PodPage(s.situation(m, answer, q), name)
	switch {
	case pod == nil && !is:
		return failed(http.StatusNotFound, "there is no pod %q", name)
	case !is:
		p = page.Page{Title: name + " is not observed", Status: podState(pod)}
	}
	if section := s.lastHour(name); section != nil && q.at.IsZero() {
		p.Sections = append(p.Sections, *section)
	}
	if pod != nil {
		sections, err := s.explanation(r, m, pod)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, sections...)
	}
	p.Footer = s.footer()
	write(r.writer, s.siteAt("pod", m, nil, q), p, http.StatusOK)
	return nil
}

// podState says where a pod is that is not observed.
func podState(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return "It waits for a node."
	}
	return fmt.Sprintf("It is %s on %s.", strings.ToLower(string(pod.Status.Phase)), pod.Spec.NodeName)
}

func podNamed(pods []corev1.Pod, name string) *corev1.Pod {
	for i := range pods {
		if text.QualifiedName(&pods[i]) == name {
			return &pods[i]
		}
	}
	return nil
}

// lastHour shows what a pod did in the last hour, nil if that is not known.
func (s *Server) lastHour(name string) *page.Section {
	moments := s.history.Pod(name)
	activities := make([]report.Activity, len(moments))
	for i, m := range moments {
		if !math.IsNaN(m.Dilation) {
			activities[i] = report.Activity{Run: m.Run, Wait: m.Wait, Throttled: m.Throttled, Blocked: m.Blocked}
		}
	}
	drawn := report.ActivityChart(name, activities, float64(len(moments))*bucket.Minutes())
	if drawn == nil {
		return nil
	}
	return &page.Section{Title: "What did it do in the last hour?", Charts: []chart.Chart{drawn}}
}

// approvals returns a card for each change that waits for approval.
func (s *Server) approvals(l *Look, rights findings.Rights) (cards []page.Card) {
	for i := range l.Remediations {
		r := &l.Remediations[i]
		if remediations.Step(r) != v1alpha1.ReasonAwaitingApproval || !mayList(rights, remediationObjects, r.Namespace) {
			continue
		}
		c := page.Card{
			Title: r.Namespace + "/" + r.Spec.Pod.Name + ": " + remediations.Describe(&r.Spec.Change),
			Lines: []string{"Policy " + r.Spec.Policy + ", Remediation " + r.Name + "."},
		}
		if s.Approve != nil && s.Access.May() {
			c.Action = &page.Action{Label: "Approve", To: "approve", Fields: []page.Hidden{{Name: namespaceParameter, Value: r.Namespace}, {Name: nameParameter, Value: r.Name}}}
		}
		cards = append(cards, c)
	}
	return cards
}

// approve approves a change, with the rights of the user.
func (s *Server) approve(r *request) error {
	if s.Approve == nil || !s.Access.May() {
		return failed(http.StatusForbidden, "changes cannot be approved here: kubectl patch does it")
	}
	name := types.NamespacedName{Namespace: r.PostFormValue(namespaceParameter), Name: r.PostFormValue(nameParameter)}
	if err := s.Approve(r.Context(), name); err != nil {
		return failed(http.StatusUnprocessableEntity, "Remediation %s was not approved: %s", name, oneLine(err))
	}
	if err := s.lookOnce(context.WithoutCancel(r.Context())); err != nil {
		return err
	}
	http.Redirect(r.writer, r.Request, "./", http.StatusSeeOther)
	return nil
}
