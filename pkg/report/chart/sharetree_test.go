package chart

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"testing"
)

func twoGroups() ShareTree {
	return ShareTree{Title: "Shares", Name: "company", Busy: 0.9, Rows: []ShareRow{
		{Name: "web", Depth: 1, Share: "50", Busy: 0.35},
		{Name: "web.hi", Depth: 2, Share: "75", Busy: 0.2, Workload: true, Response: &ShareResponse{Factor: 1.9, Limit: 2.5}},
		{Name: "web.lo", Depth: 2, Share: "25", Busy: 0.15, Workload: true, Response: &ShareResponse{Factor: 14.2, Limit: 4, Missed: true}},
		{Name: "db", Depth: 1, Share: "1,000", Busy: 0.55},
		{Name: "orders", Depth: 2, Share: "60", Busy: 0.55, Workload: true, Response: &ShareResponse{Factor: 2.5}},
	}}
}

func TestADrawnTreeHasEveryNameShareUtilizationAndResponse(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoGroups(),
		"Shares", "share", "busy", "mean response / service time", "SLA", "missed", "company", "90.0%", "web", "1,000", "web.lo", "15.0%", "14.20×", "1.90×")
}

func TestTreesOfEverySizeAreDrawn(t *testing.T) {
	t.Parallel()
	before := math.Inf(1)
	for _, n := range []int{1, 45, 150, 2000} {
		chart := ShareTree{Name: "company", Busy: 0.9}
		for i := range n {
			chart.Rows = append(chart.Rows, ShareRow{Name: "w" + strconv.Itoa(i), Depth: 1, Share: "1", Workload: true, Response: &ShareResponse{Factor: 1, Before: 3}})
		}
		if err := Encode(io.Discard, chart, SVG); err != nil {
			t.Errorf("%d workloads: %v", n, err)
		}
		_, height := chart.size()
		if each := float64(height) / float64(n); each > before {
			t.Errorf("%d workloads take %v points each, fewer took %v", n, each, before)
		} else {
			before = each
		}
	}
}

func TestADrawingOfSharesRefusesWhatIsNoTree(t *testing.T) {
	t.Parallel()
	noFactor, noResponse, many := twoGroups(), twoGroups(), twoGroups()
	noFactor.Rows[1].Response.Factor = math.NaN()
	noResponse.Rows[1].Response = nil
	many.Rows = make([]ShareRow, 2001)
	for want, chart := range map[string]ShareTree{
		"rows: there are 0; a drawing shows 1 to 2000":                          {},
		"rows: there are 2001; a drawing shows 1 to 2000":                       many,
		`rows[1] ("web.hi").response.factor: is no finite number of at least 1`: noFactor,
		`rows[1] ("web.hi").response: is missing`:                               noResponse,
	} {
		var b bytes.Buffer
		if err := Encode(&b, chart, PNG); err == nil || err.Error() != want || b.Len() > 0 {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
