package live

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

const (
	// replications is the smallest number with which disciplines without a formula can be simulated.
	replications = 8
	// maxObjects is how many PoolPlans and ShareTrees are worked out for a page, and patience how long that may take for each.
	maxObjects = 20
	patience   = 5 * time.Second
)

// objects shows the pools, replays, profiles and trees of shares of the cluster.
func (s *Server) objects(r *request) error {
	m, err := s.latest(r)
	if err != nil {
		return err
	}
	l := m.look
	p := page.Page{Title: "Pools, replays, profiles and shares", Footer: s.footer()}
	sections := []page.Section{profilesSection(l, r.rights)}
	err = s.work(r, func() error {
		sections = append(sections, poolSections(r.Context(), l, r.rights)...)
		sections = append(sections, shareSections(r.Context(), l, r.rights)...)
		return nil
	})
	if err != nil {
		return err
	}
	p.Sections = slices.Concat(sections, replaySections(l, r.rights))
	write(r.writer, s.site("objects", m, nil), p, http.StatusOK)
	return nil
}

// profilesSection shows the profiles of workloads.
func profilesSection(l *Look, rights findings.Rights) page.Section {
	t := text.NewTable(text.Left("PROFILE"), text.Left("VECTOR"), text.Right("PODS"), text.Right("ACCURACY"), text.Left("READY"), text.Left("DRIFTED"))
	rows := 0
	for i := range l.Workloads {
		p := &l.Workloads[i]
		if !mayList(rights, workloadProfiles, p.Namespace) {
			continue
		}
		rows++
		pods, accuracy := text.Absent, text.Absent
		if p.Status.Pods != nil {
			pods = text.Count(int64(*p.Status.Pods))
		}
		if a := p.Status.Accuracy; a != nil && a.MeanRelativeError != nil {
			accuracy = "± " + text.Percent(a.MeanRelativeError.AsApproximateFloat64())
		}
		t.Add(text.QualifiedName(p), vectorOf(p), pods, accuracy, status(p.Status.Conditions, v1alpha1.ConditionReady), status(p.Status.Conditions, v1alpha1.ConditionDrifted))
	}
	section := page.Section{Title: "Which vectors do workloads have, and are they still true?"}
	if rows == 0 {
		section.Text = "There is no WorkloadProfile: pods count by their requests. kubectl loadline profiles suggest writes profiles by what gauges observed."
		return section
	}
	section.Table = t
	return section
}

// vectorOf writes the vector of a profile that is in use.
func vectorOf(p *v1alpha1.WorkloadProfile) string {
	var parts []string
	add := func(name string, loading *resource.Quantity) {
		if loading != nil {
			parts = append(parts, name+" "+text.Value(loading.AsApproximateFloat64()))
		}
	}
	for i := range p.Status.Resources {
		add(p.Status.Resources[i].Name, p.Status.Resources[i].Loading)
	}
	for i := range p.Spec.Resources {
		if len(p.Status.Resources) == 0 {
			add(p.Spec.Resources[i].Name, p.Spec.Resources[i].Loading)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), text.Absent)
}

// status returns the status of a condition, and its reason where it is not true.
func status(conditions []metav1.Condition, kind string) string {
	c := meta.FindStatusCondition(conditions, kind)
	switch {
	case c == nil:
		return text.Absent
	case c.Status == metav1.ConditionTrue:
		return "yes"
	default:
		return fmt.Sprintf("%s (%s)", map[metav1.ConditionStatus]string{metav1.ConditionFalse: "no", metav1.ConditionUnknown: "not known"}[c.Status], c.Reason)
	}
}

// poolSections answer PoolPlans as kubectl loadline size does. Their classes may name profiles of any namespace, so it takes the right to see
// all.
func poolSections(ctx context.Context, l *Look, rights findings.Rights) (sections []page.Section) {
	if _, all := rights.(everything); !all {
		return nil
	}
	for i := range l.Plans[:min(len(l.Plans), maxObjects)] {
		plan := &l.Plans[i]
		s := page.Section{Title: "How many servers does the plan " + plan.Name + " need?"}
		in := pools.Input{Plan: plan, Profiles: l.Workloads, Namespaces: pools.Labels(l.Namespaces), Quick: true}
		in.Simulation.Confidence, in.Simulation.Replications = report.SizeConfidence, replications
		ctx, cancel := context.WithTimeout(ctx, patience)
		if answer, err := pools.Plan(ctx, in); err != nil {
			s.Text = sentence(err)
		} else {
			s.Text, s.Table = report.SizeSummary(answer), report.SizeTable(answer, false)
			if curve, err := pools.ServersByRate(ctx, in); err == nil {
				s.Charts = append(s.Charts, report.ServersChart(curve))
			}
		}
		cancel()
		sections = append(sections, s)
	}
	return sections
}

// shareSections answer ShareTrees as kubectl loadline share does.
func shareSections(ctx context.Context, l *Look, rights findings.Rights) (sections []page.Section) {
	if _, all := rights.(everything); !all {
		return nil
	}
	for i := range l.Trees[:min(len(l.Trees), maxObjects)] {
		tree := &l.Trees[i]
		s := page.Section{Title: "Which response times does the tree " + tree.Name + " give?"}
		ctx, cancel := context.WithTimeout(ctx, patience)
		if answer, err := shares.OfTree(ctx, shares.TreeInput{Tree: tree, Profiles: l.Workloads}); err != nil {
			s.Text = sentence(err)
		} else {
			s.Table, s.Charts, s.Notes = report.ShareTable(answer), []chart.Chart{report.ShareChart(answer, tree.Name)}, report.ShareLeftOut(answer)
		}
		cancel()
		sections = append(sections, s)
	}
	return sections
}

// replaySections show what replays found.
func replaySections(l *Look, rights findings.Rights) (sections []page.Section) {
	for i := range l.Replays {
		r := &l.Replays[i]
		if !mayList(rights, traceReplays, r.Namespace) || len(sections) == maxObjects {
			continue
		}
		s := page.Section{Title: "What if? Replay " + text.QualifiedName(r), Text: "It has not been run."}
		if len(r.Status.Conditions) > 0 {
			s.Text = "Complete: " + status(r.Status.Conditions, v1alpha1.ConditionComplete) + "."
		}
		if len(r.Status.Results) > 0 {
			t := text.NewTable(text.Left("POLICY"), text.Right("MAKESPAN"), text.Right("MEAN RESPONSE"), text.Right("SAVED"))
			for k := range r.Status.Results {
				t.Add(replayRow(&r.Status.Results[k])...)
			}
			s.Table = t
		}
		if r.Status.Best != "" {
			s.Text += " The least mean response time has " + r.Status.Best + "."
		}
		if of := r.Status.Report; of != nil {
			s.Notes = []string{fmt.Sprintf("The whole report: kubectl get configmap %s -n %s -o yaml.", of.Name, r.Namespace)}
		}
		sections = append(sections, s)
	}
	return sections
}

func replayRow(r *v1alpha1.ReplayResult) []string {
	makespan, mean, saved := text.Absent, text.Absent, text.Absent
	const millis = 1000
	if r.MakespanMillis != nil {
		makespan = text.Duration(float64(*r.MakespanMillis) / millis)
	}
	if r.Response != nil && r.Response.MeanMillis != nil {
		mean = text.Seconds(float64(*r.Response.MeanMillis)/millis, 1)
	}
	if r.Improvement != nil {
		saved = text.Percent(r.Improvement.AsApproximateFloat64())
	}
	return []string{r.Policy, makespan, mean, saved}
}
