package report_test

import (
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/report"
)

func TestUnitsOfWorkHaveAColumnWhereSomePodHasACounter(t *testing.T) {
	t.Parallel()
	u := &findings.PerUnit{Unit: "request", Dilation: 1.378, Waiting: 1.12, Inflation: 1.23, Beside: []string{"Deployment batch/thrash"}}
	const want = "requests take 1.38 times as long: 1.12 times by waiting, 1.23 times by slower service beside Deployment batch/thrash"
	if got := report.UnitWords(u); got != want {
		t.Errorf("got %s", got)
	}
	for unit, plural := range map[string]string{"query": "queries", "batch": "batches", "row": "rows", "key": "keys"} {
		if got := report.UnitWords(&findings.PerUnit{Unit: unit}); !strings.HasPrefix(got, plural+" take ") {
			t.Errorf("got %s", got)
		}
	}
	a := &findings.Answer{Above: 1.2, Findings: []findings.Finding{{Pod: findings.Pod{Pod: "shop/cart", Dilation: 1.3, PerUnit: u}}}}
	if notes := strings.Join(report.FindingsNotes(a), "\n"); !strings.Contains(notes, "shop/cart: "+want+".") {
		t.Errorf("the notes are %s", notes)
	}
	for _, counted := range []bool{true, false} {
		if !counted {
			a.Findings[0].PerUnit = nil
		}
		var out strings.Builder
		if err := report.WorstTable(a).Write(&out); err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(out.String(), "PER UNIT"); has != counted {
			t.Errorf("with a counter: %v\n%s", counted, out.String())
		}
	}
}

func TestThePageOfAPodSaysHowMuchLongerItsUnitsTake(t *testing.T) {
	t.Parallel()
	pod := findings.Pod{Pod: "shop/api", Dilation: 1.02, PerUnit: &findings.PerUnit{Unit: "request", Dilation: 2, Waiting: 2, Inflation: 1}}
	of := func() string {
		p, is := report.PodPage(situation(&findings.Answer{Above: 1.2, Pods: []findings.Pod{pod}}), "shop/api")
		if !is {
			t.Fatal("there is no page")
		}
		return p.Sections[0].Bars.Rows[0].Words
	}
	const units = "requests take 2.00 times as long: 2.00 times by waiting, 1.00 times by slower service"
	if got := of(); got != units {
		t.Errorf("got %s", got)
	}
	pod.Causes = []observed.Cause{{Kind: observed.ByNeighbour, Pod: "etl/sort", Dilation: 0.5}}
	if got, want := of(), "because of etl/sort +0.50; "+units; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	pod.Causes, pod.PerUnit = nil, nil
	if got := of(); got != "nothing slows it down noticeably" {
		t.Errorf("got %s", got)
	}
}
