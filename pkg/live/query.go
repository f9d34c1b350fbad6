package live

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/report/page"
	"loadline.dev/loadline/pkg/text"
)

// query narrows what is shown. It is in the address, so that a link to it can be shared.
type query struct {
	namespace string
	text      string
	above     float64 // 0 for all findings
	at        time.Time
}

// The names of the parameters.
const (
	namespaceParameter = "namespace"
	textParameter      = "q"
	aboveParameter     = "above"
	atParameter        = "at"
	nameParameter      = "name"
)

// readQuery reads a query. The error names the parameter.
func readQuery(values url.Values) (q query, err error) {
	q.namespace, q.text = values.Get(namespaceParameter), strings.TrimSpace(values.Get(textParameter))
	if s := values.Get(aboveParameter); s != "" {
		q.above, err = strconv.ParseFloat(strings.TrimSuffix(s, "×"), 64)
		if err != nil || !(q.above >= 1) || math.IsInf(q.above, 0) {
			return q, fmt.Errorf("%s: %q is not a number from 1 on", aboveParameter, s)
		}
	}
	if s := values.Get(atParameter); s != "" {
		seconds, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return q, fmt.Errorf("%s: %q is not a time in seconds since 1970", atParameter, s)
		}
		q.at = time.Unix(seconds, 0)
	}
	return q, nil
}

// narrow returns the part of an answer that a query asks for.
func (q *query) narrow(a *findings.Answer) *findings.Answer {
	if q.namespace != "" {
		a = a.In([]string{q.namespace}, nil)
	}
	if q.text == "" && q.above == 0 {
		return a
	}
	narrowed := *a
	wanted := strings.ToLower(q.text)
	about := func(p *findings.Pod) bool {
		return wanted == "" || strings.Contains(strings.ToLower(p.Pod+"\n"+p.Node+"\n"+p.Workload), wanted)
	}
	narrowed.Findings = those(a.Findings, func(f *findings.Finding) bool { return f.Dilation >= q.above && about(&f.Pod) })
	narrowed.Pods = those(a.Pods, about)
	if wanted != "" {
		on := map[string]bool{}
		for i := range narrowed.Pods {
			on[narrowed.Pods[i].Node] = true
		}
		narrowed.Nodes = those(a.Nodes, func(n *findings.NodeSummary) bool {
			return on[n.Name] || strings.Contains(strings.ToLower(n.Name), wanted)
		})
	}
	return &narrowed
}

// those returns what is wanted of a long list, in its order.
func those[T any](all []T, wanted func(*T) bool) []T {
	some := []T{}
	for i := range all {
		if wanted(&all[i]) {
			some = append(some, all[i])
		}
	}
	return some
}

// form returns the form of a query, given the smallest dilation of a finding, the namespaces to choose from, and the moments.
func (q *query) form(least float64, namespaces []string, first, last time.Time) *page.Form {
	all := page.Field{Type: page.SelectField, Name: namespaceParameter, Label: "Namespace", Options: []page.Option{{Text: "all"}}}
	for _, n := range namespaces {
		all.Options = append(all.Options, page.Option{Value: n, Text: n, Chosen: n == q.namespace})
	}
	above := page.Field{Type: page.NumberField, Name: aboveParameter, Label: "Slower than", Min: text.Exact(least), Step: "any", Placeholder: text.Exact(least)}
	if q.above > 0 {
		above.Value = text.Exact(q.above)
	}
	f := &page.Form{Label: "What is shown", Submit: "Show", Fields: []page.Field{
		all, {Type: page.SearchField, Name: textParameter, Label: "Find", Value: q.text, Placeholder: "pod, node, workload"}, above,
	}}
	if first.Before(last) {
		at := last
		if !q.at.IsZero() {
			at = q.at
		}
		f.Fields = append(f.Fields, page.Field{
			Type: page.RangeField, Name: atParameter, Label: "At", End: true, Value: strconv.FormatInt(at.Unix(), 10), Shown: at.UTC().Format("15:04:05"),
			Min: strconv.FormatInt(first.Unix(), 10), Max: strconv.FormatInt(last.Unix(), 10), Step: strconv.Itoa(int(step.Seconds())),
		})
	}
	return f
}
