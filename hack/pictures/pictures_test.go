package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
)

// docs is the folder of the page and its pictures.
var docs = filepath.Join("..", "..", "docs")

func TestThePicturesAreThoseThatAreDrawn(t *testing.T) {
	t.Parallel()
	for _, p := range pictures() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c, err := p.draw()
			if err != nil {
				t.Fatal(err)
			}
			var drawn bytes.Buffer
			if err := chart.Encode(&drawn, c, chart.SVG); err != nil {
				t.Fatal(err)
			}
			committed, err := os.ReadFile(filepath.Join(docs, "images", p.name+".svg"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(drawn.Bytes(), committed) {
				t.Errorf("docs/images/%s.svg is stale: go run ./hack/pictures draws it anew", p.name)
			}
		})
	}
}

func TestThePagesShowEveryPictureOnce(t *testing.T) {
	t.Parallel()
	for _, p := range pictures() {
		if n := strings.Count(readPage(t, p.page), "(images/"+p.name+".svg)"); n != 1 {
			t.Errorf("docs/%s shows %s %d times, want once", p.page, p.name, n)
		}
	}
}

// The page says what the model says: each claim below is computed, written as in the page, and must be there.
func TestTheNumbersOfThePageAreComputed(t *testing.T) {
	t.Parallel()
	page := readPage(t, "model.md")
	for name, claim := range map[string]func(t *testing.T) []string{
		"utilization":  claimUtilization,
		"dilation":     claimDilation,
		"price":        claimPrice,
		"servers":      claimServers,
		"threads":      claimThreads,
		"requests":     claimRequests,
		"interference": claimInterference,
		"epochs":       claimEpochs,
		"sizing":       claimSizing,
		"share":        claimShare,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, want := range claim(t) {
				if !strings.Contains(page, unwrapped(want)) {
					t.Errorf("docs/model.md does not say %q", want)
				}
			}
		})
	}
}

func claimUtilization(t *testing.T) []string {
	besideReader := dilationOf(t, reader, loading.Loadings(0, 1))
	besideComputer := dilationOf(t, reader, loading.Loadings(1, 0))
	all := loading.Loadings(1, 0)
	return []string{
		fmt.Sprintf("takes %.1f times as long as alone", besideReader),
		fmt.Sprintf("would have taken %.1f times as long", besideComputer),
		fmt.Sprintf("runs %.0f times slower", dilationOf(t, all, all)),
		fmt.Sprintf("others %.0f times", dilationOf(t, all, all, all, all, all, all)),
	}
}

func claimDilation(t *testing.T) []string {
	pair := dilationOf(t, fileComp, stdIO)
	return []string{
		fmt.Sprintf("takes %.2f times as long as alone, %.1f s instead of %.1f s", pair, pair*fileCompSeconds, fileCompSeconds),
		fmt.Sprintf("waits another %.1f s for the disk", (pair-1)*fileCompSeconds),
		fmt.Sprintf("λ = 1 + (0.58 · 0.58 + 0.42 · 1.42) − (0.58² + 0.42²) = %.2f", firstOrder(fileComp, stdIO)),
		fmt.Sprintf("is dilated by %.2f, where the formula says %.2f", dilationOf(t, fileComp, stdIO, sorting), firstOrder(fileComp, stdIO, sorting)),
	}
}

func claimPrice(*testing.T) []string {
	nodes := nodesOfPrice()
	first, one := totals(nodes[0])
	second, two := totals(nodes[1])
	return []string{
		fmt.Sprintf("add up to the same, %.1f.", first[0]+first[1]),
		fmt.Sprintf("total loading vectors (%.1f, %.1f) and (%.1f, %.1f)", first[0], first[1], second[0], second[1]),
		fmt.Sprintf("p'·p̄ is 0.2 · %.1f + 0.7 · %.1f = %.2f there, and %.2f on the second", first[0], first[1], one, two),
	}
}

func claimThreads(t *testing.T) []string {
	two := loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 2}}
	alone, err := contention.Alone(two, []int{1}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := contention.PredictSharing([]loading.Vector{two, two}, []int{1}, contention.EqualShares(0, 2), queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		fmt.Sprintf("take %.2f times as long on one core as on two", alone),
		fmt.Sprintf("then take %.2f times as long as one of them does", pair.Dilations[0]),
	}
}

func claimServers(t *testing.T) []string {
	crowded := func(pods, cores int) float64 {
		dilation, err := crowdedCores(pods, cores)
		if err != nil {
			t.Fatal(err)
		}
		return dilation
	}
	if one, many := crowded(4, 1), crowded(64, 16); fmt.Sprintf("%.1f", one) != fmt.Sprintf("%.1f", many) {
		t.Errorf("4 pods per core are dilated by %v on one core and by %v on 16: the page says alike", one, many)
	}
	gentle, harsh := loading.Loadings(0.5), loading.Vector{{Loading: 0.5, Pressure: 0.8, Threads: 1}}
	return []string{
		fmt.Sprintf("on one core they are dilated by %.2f, on 16 cores by %.2f", crowded(2, 1), crowded(32, 16)),
		fmt.Sprintf("both take %.1f times as long", crowded(4, 1)),
		fmt.Sprintf("a pressure of 0.8 is dilated by %.1f", firstOrder(gentle, harsh)),
	}
}

func claimRequests(t *testing.T) []string {
	pair := func(p float64, first, second loading.Share) (one, two float64) {
		pod := loading.Loadings(p)
		one, two, err := sharing(pod, pod, []loading.Share{first, second})
		if err != nil {
			t.Fatal(err)
		}
		return one, two
	}
	equal, _ := pair(computing, loading.Share{}, loading.Share{})
	heavy, light := pair(computing, loading.Share{Weight: 10}, loading.Share{})
	busyHeavy, busyLight := pair(1, loading.Share{Weight: 10}, loading.Share{})
	throttled, neighbor := pair(1, loading.Share{Limit: 0.3}, loading.Share{})
	if throttled != 1 {
		t.Errorf("a pod that is held back by its limit alone is dilated by %v", throttled)
	}
	_, least := pair(0.3, loading.Share{Weight: 10, Burst: 0.01}, loading.Share{Burst: 1})
	_, usual := pair(0.3, loading.Share{Weight: 10}, loading.Share{})
	_, most := pair(0.3, loading.Share{Weight: 10, Burst: 100}, loading.Share{Burst: 1})
	return []string{
		fmt.Sprintf("with equal requests either is dilated by %.2f; with 500m beside 50m it is %.2f and %.2f", equal, heavy, light),
		fmt.Sprintf("it is %.1f and %.0f for pods that compute all the time", busyHeavy, busyLight),
		fmt.Sprintf("takes %.1f times as long even alone", 1/0.3),
		fmt.Sprintf("is dilated by %.2f and not by 2", neighbor),
		fmt.Sprintf("is dilated by %.2f if both compute for equally long at a time, by %.2f if its neighbor computes for a hundredth of that, and by %.2f if for a hundred times that", usual, least, most),
	}
}

func claimInterference(t *testing.T) []string {
	at := func(pressure float64, cores, caches int) float64 {
		dilation, err := besideScan(pressure, cores, caches)
		if err != nil {
			t.Fatal(err)
		}
		return dilation
	}
	if at(1, 2, 1) < at(1, 1, 1) || at(1, 2, 1) != at(1.5, 2, 1) {
		t.Error("the page says that one core is better beside a pressure of 1, and that more than that costs no more")
	}
	return []string{
		fmt.Sprintf("takes %.2f times as long, and beside a pressure of 0.5 %.2f times", at(1, 2, 1), at(0.5, 2, 1)),
		fmt.Sprintf("On one core the two would take turns, and the pod %.2f times as long", at(0, 1, 1)),
		fmt.Sprintf("with two caches it takes %.2f times as long", at(1, 8, 2)),
	}
}

func claimEpochs(t *testing.T) []string {
	_, runs := day()
	ends, epochs, err := epochsOf(runs)
	if err != nil {
		t.Fatal(err)
	}
	if slowest := epochs[1].dilations[0]; slowest < 1.9 || slowest > 2.1 {
		t.Errorf("filecomp is dilated by %v beside both others: the page says that it runs at half of its speed", slowest)
	}
	return []string{
		fmt.Sprintf("run at 1/%.2f of their speed", epochs[0].dilations[0]),
		fmt.Sprintf("in %s epochs", []string{"no", "one", "two", "three", "four", "five"}[len(epochs)]),
		fmt.Sprintf("done after %.1f s, the sort job after %.1f s, and `filecomp`, alone at last, after %.1f s", ends[1], ends[2], ends[0]),
	}
}

func claimSizing(t *testing.T) []string {
	percent := func(rate float64, servers int) string {
		fraction, stable, err := answered(rate, servers)
		if err != nil || !stable {
			t.Fatalf("%v a second at %d servers: stable %v, error %v", rate, servers, stable, err)
		}
		return fmt.Sprintf("%.1f %%", 100*fraction)
	}
	for rate, want := range map[float64]int{4: 4, 8: 6} {
		if got, err := fewest(rate); err != nil || got != want {
			t.Errorf("%v a second take %d servers (%v), the page says %d", rate, got, err, want)
		}
	}
	if _, stable, err := answered(8, 3); stable || err != nil {
		t.Errorf("8 a second at three servers: stable %v, error %v", stable, err)
	}
	return []string{
		fmt.Sprintf("three servers answer %s within 2 s and four %s", percent(4, 3), percent(4, 4)),
		fmt.Sprintf("six are enough, at %s", percent(8, 6)),
	}
}

func claimShare(t *testing.T) []string {
	at := func(ratio float64) (large, small float64) {
		large, small, err := shared(ratio)
		if err != nil {
			t.Fatal(err)
		}
		const exact = 1e-6
		if mean := (large + small) / 2; mean < 5-exact || mean > 5+exact {
			t.Errorf("shares of %v : 1 have a mean of %v, the page says 5", ratio, mean)
		}
		return large, small
	}
	equal, _ := at(1)
	large4, small4 := at(4)
	large10, small10 := at(10)
	return []string{
		fmt.Sprintf("responses take %.0f times as long", equal),
		fmt.Sprintf("4 : 1 it is %.0f and %.0f times, with 10 : 1 it is %.2f and %.2f", large4, small4, large10, small10),
	}
}

// dilationOf returns the exact dilation of the first of some jobs on a node with one CPU and one disk.
func dilationOf(t *testing.T, jobs ...loading.Vector) float64 {
	t.Helper()
	dilations, err := exactly(single, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return dilations[0]
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	return unwrapped(string(page))
}

// unwrapped returns a text on one line: where lines break says nothing.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// firstOrder returns the dilation of the first of some jobs on a node with a server per resource, by the formula.
func firstOrder(jobs ...loading.Vector) float64 {
	load := price.NewLoad(single)
	for _, v := range jobs {
		load.Add(v)
	}
	return load.Dilation(jobs[0])
}

// fewest returns how many servers keep the promise.
func fewest(rate float64) (int, error) {
	for servers := 1; ; servers++ {
		fraction, _, err := answered(rate, servers)
		if err != nil || fraction >= promised {
			return servers, err
		}
	}
}
