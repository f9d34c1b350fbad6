package observability

import (
	"context"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
)

// Everything is asked of one Prometheus that has watched one site at work.
func TestQueriesAgainstRealPrograms(t *testing.T) {
	s := startSite(t)
	p := startPrometheus(t, s)
	began := time.Now()
	for _, ours := range []string{"loadline_measurements_active", "loadline_dilation_nodes_repriced_total"} {
		p.await(t, "one of two programs to lead", func(ctx context.Context) (bool, error) {
			v, err := p.now(ctx, "leader_election_master_status == 1 and on (job, instance) "+ours)
			return len(v) == 1, err
		})
	}
	s.work(t)
	// The last of them: the pod that fits nowhere, or the measurement that fails,
	// which must be seen twice, and a step ago, before a panel can show its rate.
	p.await(t, "the end to be seen", func(ctx context.Context) (bool, error) {
		v, err := p.now(ctx, `ALERTS{alertname="LoadlinePodsUnschedulable"} and on () (loadline_measurements_total{outcome="TargetFailed"} offset 4s > 0)`)
		return len(v) == 1, err
	})

	t.Run("every metric that is asked for exists, with the labels that are asked for", func(t *testing.T) {
		known, recorded := p.names(t), map[string]bool{}
		for _, g := range groups(t) {
			for _, r := range g.Rules {
				recorded[r.Record] = true
			}
		}
		for where, query := range queries(t) {
			selectors, err := p.selectors(t.Context(), query)
			if err != nil {
				t.Errorf("%s: %s: %v", where, query, err)
			}
			for _, s := range selectors {
				switch {
				case known[s.name]:
					checkLabels(t, p, where, s)
				case recorded[s.name]: // nothing to record yet
				default:
					t.Errorf("%s: no program exposes %s", where, s.name)
				}
			}
		}
	})
	t.Run("every panel has an answer", func(t *testing.T) {
		for _, d := range dashboards(t) {
			for _, panel := range d.Panels {
				answered := slices.ContainsFunc(panel.Targets, func(q target) bool {
					a, err := p.answer(t.Context(), began, &q)
					if err != nil {
						t.Errorf("%s, panel %q: %v", d.file, panel.Title, err)
					}
					return a.hasData()
				})
				why, excused := silentPanels[panel.Title]
				if panel.Type != row && answered == excused {
					t.Errorf("%s, panel %q: has data: %v; should be without it because %q", d.file, panel.Title, answered, why)
				}
			}
		}
	})
	t.Run("the rules are evaluated, and nothing fires", func(t *testing.T) { checkRules(t, p) })
	if *renderTo != "" {
		for _, d := range dashboards(t) {
			must(t, render(t.Context(), p, began, &d, *renderTo))
		}
	}
}

// silentPanels are the panels that show nothing at a site where all is well, and
// why.
var silentPanels = map[string]string{
	"Alerts that fire":             "no alert fires",
	"Attempts with errors":         "no attempt fails",
	"Requests refused, last day":   "the managers have all rights",
	"How long measurements take":   "no measurement has a result",
	"How long calibrations take":   "nothing is calibrated",
	"Error of predicted dilations": "there are no gauges",
	"Won of what was predicted":    "no change is made",
}

// useful finds the queries in the tables of docs/observability.md.
var useful = regexp.MustCompile("(?m)^\\| (.+\\?) \\| `(.+)` \\|$")

// queries are all queries of rules, dashboards and docs, by where they are.
func queries(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, g := range groups(t) {
		for _, r := range g.Rules {
			all["rule "+r.Alert+r.Record] = r.Expr
		}
	}
	for _, d := range dashboards(t) {
		for _, panel := range d.Panels {
			for _, q := range panel.Targets {
				all[d.file+", panel "+panel.Title+", query "+q.RefID] = withoutVariables(q.Expr)
			}
		}
	}
	docs, err := os.ReadFile(filepath.Join(root(t), "docs", "observability.md"))
	must(t, err)
	found := useful.FindAllStringSubmatch(string(docs), -1)
	if len(found) == 0 {
		t.Error("docs/observability.md has no queries")
	}
	for _, m := range found {
		all["docs/observability.md, "+m[1]] = m[2]
	}
	return all
}

// withoutVariables puts in what Grafana would.
func withoutVariables(query string) string {
	return strings.NewReplacer("$__rate_interval", "30s", "$__range", "1h").Replace(query)
}

// checkLabels checks that a metric has the labels by which a query chooses.
func checkLabels(t *testing.T, p *prometheus, where string, s selector) {
	t.Helper()
	for _, label := range s.labels {
		var values []string
		must(t, p.ask(t.Context(), "label/"+label+"/values", url.Values{"match[]": {s.name}}, &values))
		if len(values) == 0 {
			t.Errorf("%s: no %s has a label %s", where, s.name, label)
		}
	}
}

// answer is what a panel's query is answered with: now, or over time.
type answer struct {
	vector model.Vector
	matrix model.Matrix
}

// hasData reports whether there is a number in it.
func (a answer) hasData() bool {
	is := func(v model.SampleValue) bool { return !math.IsNaN(float64(v)) }
	return slices.ContainsFunc(a.vector, func(s *model.Sample) bool { return is(s.Value) }) ||
		slices.ContainsFunc(a.matrix, func(s *model.SampleStream) bool {
			return slices.ContainsFunc(s.Values, func(v model.SamplePair) bool { return is(v.Value) })
		})
}

// answer asks what a panel asks.
func (p *prometheus) answer(ctx context.Context, from time.Time, q *target) (answer, error) {
	var a answer
	var err error
	if query := withoutVariables(q.Expr); q.Instant {
		a.vector, err = p.now(ctx, query)
	} else {
		a.matrix, err = p.since(ctx, from, query)
	}
	return a, err
}

// checkRules checks that all rules are evaluated without errors, that the pod that
// fits nowhere is noticed, and that nothing else is wrong.
func checkRules(t *testing.T, p *prometheus) {
	t.Helper()
	var state struct {
		Groups []struct {
			Rules []struct{ Name, Type, State, Health, LastError string }
		}
	}
	must(t, p.ask(t.Context(), "rules", nil, &state))
	evaluated := 0
	for _, g := range state.Groups {
		for _, r := range g.Rules {
			evaluated++
			if r.Health != "ok" {
				t.Errorf("%s: %s: %s", r.Name, r.Health, r.LastError)
			}
			if r.Type == "recording" {
				continue
			}
			want := []string{"inactive", "pending"} // started a moment ago, on a slow machine
			if r.Name == "LoadlinePodsUnschedulable" {
				want = want[1:]
			}
			if !slices.Contains(want, r.State) {
				t.Errorf("%s is %s, want %v", r.Name, r.State, want)
			}
		}
	}
	wanted := 0
	for _, g := range groups(t) {
		wanted += len(g.Rules)
	}
	if evaluated != wanted {
		t.Errorf("%d rules are evaluated, want %d", evaluated, wanted)
	}
}
