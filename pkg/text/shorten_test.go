package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestATableIsShortenedToItsWidth(t *testing.T) {
	t.Parallel()
	table := NewTable(Right("DILATION"), Left("VICTIM"), Left("BECAUSE OF"), Left("REMEDY"), Whole("REMARK"))
	table.Add("6.74 ± 0.15×", "shop/cart-7c9f4-x2k8p", "etl/sort-2 +2.84, etl/sort-3 +2.84", "step 1: move etl/sort-2 to node-3", "it is new")
	table.Add("1.34×", "batch/report-8z4tn", "44 pods together +0.34 (a, b and 42 more)", "limit 1 (now 300m)", "-")
	table.Add("2 more pods", "which nothing would help, whatever one does about them, and about the node that they are on")
	for width, want := range map[int]string{
		139: lines(
			"    DILATION   VICTIM                  BECAUSE OF                                  REMEDY                              REMARK",
			"6.74 ± 0.15×   shop/cart-7c9f4-x2k8p   etl/sort-2 +2.84, etl/sort-3 +2.84          step 1: move etl/sort-2 to node-3   it is new",
			"       1.34×   batch/report-8z4tn      44 pods together +0.34 (a, b and 42 more)   limit 1 (now 300m)                  -",
			" 2 more pods   which nothing would help, whatever one does about them, and about the node that they are on",
		),
		111: lines(
			"    DILATION   VICTIM                  BECAUSE OF                 REMEDY                              REMARK",
			"6.74 ± 0.15×   shop/cart-7c9f4-x2k8p   etl/sort-2 +2.84, …        step 1: move etl/sort-2 to node-3   it is new",
			"       1.34×   batch/report-8z4tn      44 pods together +0.34 …   limit 1 (now 300m)                  -",
			" 2 more pods   which nothing would help, whatever one does about them, and about the node that they are on",
		),
		102: lines(
			"    DILATION   VICTIM         BECAUSE OF                 REMEDY                              REMARK",
			"6.74 ± 0.15×   shop/…-x2k8p   etl/sort-2 +2.84, …        step 1: move etl/sort-2 to node-3   it is new",
			"       1.34×   batch…-8z4tn   44 pods together +0.34 …   limit 1 (now 300m)                  -",
			" 2 more pods   which nothing would help, whatever one does about them, and about the node that they are on",
		),
		99: lines(
			"    DILATION   VICTIM         BECAUSE OF                 REMEDY                           REMARK",
			"6.74 ± 0.15×   shop/…-x2k8p   etl/sort-2 +2.84, …        step 1: … etl/sort-2 to node-3   it is new",
			"       1.34×   batch…-8z4tn   44 pods together +0.34 …   limit 1 (now 300m)               -",
			" 2 more pods   which nothing would help, whatever one does about them, and about the node that they are on",
		),
	} {
		table.Width = width
		if diff := cmp.Diff(want, written(t, table)); diff != "" {
			t.Errorf("in %d columns (-want +got):\n%s", width, diff)
		}
	}
}

func TestATableThatCannotFitIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("POD"), Right("CPUS"), Whole("REMARK"))
	table.Add("shop/cart-7c9f4-x2k8p", "0.948", "a sentence of some length")
	want := written(t, table)
	for _, width := range []int{1, 20, 47} { // 12 for the name would take 48
		table.Width = width
		if diff := cmp.Diff(want, written(t, table)); diff != "" {
			t.Errorf("in %d columns (-want +got):\n%s", width, diff)
		}
	}
	table.Width = 48
	if got := written(t, table); got == want {
		t.Errorf("in 48 columns it is still\n%s", got)
	}
}

func TestACellIsShortened(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cell  string
		limit int
		how   shortening
		want  string
	}{
		{"shop/cart-7c9f4-x2k8p", 14, keepWords, "shop/c…4-x2k8p"},
		{"2026-10-30 12:00:00.000000", 12, dropWords, "2026-10-30 12:00:00.000000"},
		{"1234567.89012345", 12, dropWords, "1234567.89012345"},
		{"日本語日本語日本語", 13, keepWords, "日本語…日本語"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", 5, keepWords, "e\u0301e\u0301…e\u0301e\u0301"},
		{"etl/sort-2 +2.84, etl/sort-3 +2.84", 20, keepWords, "etl/sort-2 +2.84, …"},
		{"shop/cart-7c9f4-x2k8p +2.84, etl/sort-3 +2.84", 20, keepWords, "shop/…-x2k8p +2.84, …"},
		{"1.02× (at most 3.82×), slows logs/agent-kk3fd by 0.07, relieves others by 0.50", 60, keepWords, "1.02× (at most 3.82×), slows logs/agent-kk3fd by 0.07, …"},
		{"1.02× (at most 3.82×), slows logs/agent-kk3fd by 0.07, relieves others by 0.50", 24, keepWords, "1.02× (at most 3.82×), …"},
		{"1.02× (at most 3.82×), slows logs/agent-kk3fd by 0.07, relieves others by 0.50", 12, keepWords, "1.02× …"},
		{"move etl/sort-2 from node-1 to node-3", 12, keepWords, "move etl/sort-2 from node-1 to node-3"},
		{"move etl/sort-2 from node-1 to node-3", 12, dropWords, "move etl/sort-2 from … node-3"},
		{"limit 1500m of istio-proxy of shop/cart-7c9f4-x2k8p (now 300m)", 12, dropWords, "limit 1500m … shop/…-x2k8p …"},
		{"44 pods together +0.34 (a, b, c and 41 more)", 30, keepWords, "44 pods together +0.34 …"},
	} {
		if got := shortened(test.cell, test.limit, test.how); got != test.want {
			t.Errorf("%q in %d (%d) is %q, want %q", test.cell, test.limit, test.how, got, test.want)
		}
	}
}

// aCell draws names, phrases and lists, and what nothing prepares for.
func aCell() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,9}/[a-z]{1,20}(-[a-z0-9]{4,10}){0,3}`),
		rapid.StringMatching(`(move|limit|request) [0-9]{1,4}m? of [a-z0-9-]{1,40} (to|in) [a-z0-9.-]{1,30}`),
		rapid.StringMatching(`([a-z]{1,9}/[a-z0-9-]{1,30} [+][0-9]{1,3}[.][0-9]{2}, ){0,4}the node( \(steal\))? [+]0[.]34`),
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("ab, ()\u0301日👩\u200d🔬…0"))),
	)
}

// aTable draws a table, and its columns.
func aTable(t *rapid.T) (*Table, []Column) {
	columns := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), func(kind int) Column {
		return []Column{Left("NAME"), Left("A LONG HEADER"), Right("N"), Whole("REMARK")}[kind]
	}), 1, 5).Draw(t, "columns")
	table := NewTable(columns...)
	table.NoHeader = rapid.Bool().Draw(t, "no header")
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		row := make([]string, rapid.IntRange(1, len(columns)).Draw(t, "cells"))
		for i := range row {
			row[i] = aCell().Draw(t, "cell")
			if columns[i].right {
				row[i] = rapid.StringMatching(`[0-9]{1,9}([.][0-9]{1,3})?`).Draw(t, "number")
			}
		}
		table.Add(row...)
	}
	return table, columns
}

// tableWidth returns how wide columns are together that are as wide as the rows need them.
func tableWidth(t *Table, rows [][]string) int { return lineWidth(t.widths(rows)) }

func TestShorteningKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, columns := aTable(t)
		before := tableWidth(table, table.rows)
		table.Width = rapid.IntRange(1, 200).Draw(t, "width")
		rows := table.fitted()
		after := tableWidth(table, rows)
		if cmp.Equal(rows, table.rows) {
			return // it fits, or cannot
		}
		if before <= table.Width || after > table.Width {
			t.Errorf("%d columns became %d, of %d", before, after, table.Width)
		}
		again := NewTable(columns...)
		again.NoHeader, again.Width, again.rows = table.NoHeader, table.Width, rows
		if diff := cmp.Diff(rows, again.fitted()); diff != "" {
			t.Errorf("once more (-once +twice):\n%s", diff)
		}
		for r, row := range rows {
			for i, cell := range row {
				checkShortened(t, table.rows[r][i], cell, columns[i].whole || table.isRemark(row, i))
			}
		}
	})
}

// checkShortened compares a cell as it is printed with the whole one.
func checkShortened(t *rapid.T, whole, cell string, keeps bool) {
	switch {
	case cell == whole:
		return
	case keeps:
		t.Errorf("%q became %q", whole, cell)
	case displayWidth(cell) >= displayWidth(whole):
		t.Errorf("%q became no shorter: %q", whole, cell)
	case Printable(cell) != cell:
		t.Errorf("%q became %q, which cannot be printed", whole, cell)
	}
	for word := range strings.SplitSeq(cell, " ") {
		head, tail, cut := strings.Cut(strings.TrimSuffix(word, ","), ellipsis)
		same := func(w string) bool { return strings.Trim(w, ",") == strings.Trim(word, ",") }
		if strings.ContainsAny(word, "0123456789") && isNumber(word) && !slices.ContainsFunc(strings.Split(whole, " "), same) {
			t.Errorf("%q has the number %q of %q", cell, word, whole)
		}
		if cut && !strings.Contains(whole, ellipsis) && (!strings.Contains(whole, head) || !strings.Contains(whole, tail)) {
			t.Errorf("%q has %q of %q", cell, word, whole)
		}
	}
}

func TestANameKeepsItsEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{3,20}(-[a-z0-9]{5,10}){1,3}`).Draw(t, "name")
		limit := rapid.IntRange(narrowest, 60).Draw(t, "limit")
		got := shortened(name, limit, keepWords)
		if displayWidth(got) > limit {
			t.Errorf("%q has more than %d columns", got, limit)
		}
		const ends = 5 // the suffix of a Deployment's pods
		if got[:ends] != name[:ends] || got[len(got)-ends:] != name[len(name)-ends:] {
			t.Errorf("%q became %q", name, got)
		}
	})
}

func BenchmarkALongTableOnATerminal(b *testing.B) {
	table := NewTable(Left("POD"), Right("CPUS"), Left("VECTOR"), Left("NODE"))
	for i := range 5000 {
		table.Add(fmt.Sprintf("namespace/deployment-7c9f4d5b6-%05d", i), "0.948", "cpu 0.60, disk 0.42 × 1.5 threads", "ip-10-0-12-34.eu-west-1.compute.internal")
	}
	table.Width = 80
	for b.Loop() {
		table.Lines()
	}
}
