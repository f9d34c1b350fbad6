package live

import (
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/report/explained"
	"loadline.dev/loadline/pkg/report/page"
)

// simulation says where a workload of a manifest would go, as kubectl loadline explain --simulate does.
func (s *Server) simulation(r *request, l *Look, manifest string) ([]page.Section, error) {
	applied, err := s.Applied(strings.NewReader(manifest))
	if err != nil {
		return nil, err
	}
	in, err := l.room(&applied.Workload.Pod)
	if err != nil {
		return nil, err
	}
	in.Ranked = true
	var e *explanation.Answer
	if err := s.work(r, func() (err error) {
		e, err = explanation.Simulate(in, applied)
		return err
	}); err != nil {
		return nil, err
	}
	x := explained.Of(e, false, s.Clock.Now())
	sections := []page.Section{{Title: "Answer", Text: joined(x.Headlines), Table: x.Resources, Notes: x.Lines}}
	if x.Ranking != nil {
		sections = append(sections, page.Section{Title: "Nodes", Table: x.Ranking, Link: l.nodeLink, Notes: x.Conclusion})
	}
	return sections, nil
}

// nodeLink returns where the name of a node leads, "" for what is none.
func (l *Look) nodeLink(name string) string {
	if !slices.ContainsFunc(l.In.Nodes, func(n corev1.Node) bool { return n.Name == name }) {
		return ""
	}
	return "node?" + url.Values{nameParameter: {name}}.Encode()
}
