package savings_test

import (
	"testing"

	"loadline.dev/loadline/pkg/evaluate/savings"
)

// contention returns that of a cluster whose pods have an excess, at a point.
func contention(excess float64, at savings.Point) *savings.Contention {
	return &savings.Contention{Nodes: 3, AllNodes: 3, Pods: 40, ExcessDilation: excess, Point: at}
}

// On the map, Loadline takes nine tenths of the excess away.
func TestAProspectSaysWhatThereIsToWin(t *testing.T) {
	t.Parallel()
	inside := savings.Point{Load: 0.63, PodsPerCore: 2.12, Unlikeness: 0.4}
	byDilation, mostly := contention(0.02, inside), contention(0.021, inside)
	byDilation.ByDilation, mostly.ByDilation = 21, 20
	outside := contention(0.3, savings.Point{Load: 0.1, PodsPerCore: 2.12, Unlikeness: 0.4})
	unsure := contention(0.3, inside)
	unsure.WithoutProfile, unsure.AllNodes = 7, 5000
	for want, c := range map[string]*savings.Contention{
		"Excess dilation here is 0.03: there is little to win": contention(0.03, inside),
		"Excess dilation here is 0.30, load 63 %, 2.1 pods a core, unlikeness 0.40: on simulated clusters like this Loadline took 0.27 of it away": contention(0.3, inside),
		"Excess dilation here is 0.05, load 63 %, 2.1 pods a core, unlikeness 0.40: on simulated clusters like this Loadline took 0.05 of it away, " +
			"so there is little to win": contention(0.052, inside),
		"Excess dilation here is 0.30, load 10 %, 2.1 pods a core, unlikeness 0.40: what there is to win is not known " +
			"(load 10 %, where the map has 20 % to 80 %)": outside,
		"Excess dilation here is 0.01: there is little to win": contention(0.01, outside.Point),
		"Excess dilation here is 0.02, load 63 %, 2.1 pods a core, unlikeness 0.40, and 21 of 40 pods were placed by Loadline: " +
			"on simulated clusters like this it left 0.09 of the 0.88 that kube-scheduler came to": byDilation,
		"Excess dilation here is 0.02: there is little to win": mostly,
		"Excess dilation here is 0.30, load 63 %, 2.1 pods a core, unlikeness 0.40: on simulated clusters like this Loadline took 0.27 of it away; " +
			"7 of 40 pods follow no profile and count by their requests; 3 of 5,000 nodes were looked at": unsure,
	} {
		if got := c.On(small(t)).String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWhereLoadlineSavesNothingNothingIsSaved(t *testing.T) {
	t.Parallel()
	rows := smallRows()
	for i := range rows {
		rows[i].KubeScheduler = float64(i%2) * rows[i].Loadline / 2 // none at all, or less than with Loadline
	}
	m, err := savings.NewMap(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		p := contention(0.5, rows[i].Point).On(m)
		if p.Saves == nil || *p.Saves != 0 {
			t.Errorf("%+v: %+v", rows[i].Point, p)
		}
	}
}
