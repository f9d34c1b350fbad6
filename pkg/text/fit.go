package text

import "slices"

// fitted returns the rows as they are printed: shortened to the width of the table, the widest columns first, if it then
// has that width.
func (t *Table) fitted() [][]string {
	full := t.widths(t.rows)
	if t.Width <= 0 || lineWidth(full) <= t.Width {
		return t.rows
	}
	for _, how := range []shortening{keepWords, dropWords} {
		least := t.widths(t.shortened(slices.Repeat([]int{narrowest}, len(full)), how))
		if lineWidth(least) <= t.Width {
			return t.shortenedTo(full, least, how)
		}
	}
	return t.rows
}

// shortenedTo returns the rows in the width of the table, given how wide columns are in full and at least. That must fit.
func (t *Table) shortenedTo(full, least []int, how shortening) [][]string {
	limits := slices.Clone(full)
	for range lineWidth(full) - t.Width {
		widest := -1
		for i := range limits {
			if limits[i] > least[i] && (widest < 0 || limits[i] > limits[widest]) {
				widest = i
			}
		}
		limits[widest]--
	}
	rows := t.shortened(limits, how)
	// Cells are cut between words and parts, so room may be left. What lost most is the first to get it.
	var cut []int
	for i := range limits {
		if limits[i] < full[i] {
			cut = append(cut, i)
		}
	}
	slices.SortStableFunc(cut, func(a, b int) int { return (full[b] - limits[b]) - (full[a] - limits[a]) })
	for _, i := range cut {
		widths := t.widths(rows)
		limits[i] = widths[i] + t.Width - lineWidth(widths)
		rows = t.shortened(limits, how)
	}
	return rows
}

// shortened returns the rows with their words in limits, as far as they can be shortened.
func (t *Table) shortened(limits []int, how shortening) [][]string {
	rows := make([][]string, len(t.rows))
	for r, row := range t.rows {
		rows[r] = slices.Clone(row)
		for i, cell := range row {
			if !t.columns[i].whole && !t.isRemark(row, i) {
				rows[r][i] = shortened(cell, limits[i], how)
			}
		}
	}
	return rows
}

// lineWidth returns how wide lines of columns are.
func lineWidth(widths []int) int {
	for len(widths) > 0 && widths[len(widths)-1] == 0 {
		widths = widths[:len(widths)-1]
	}
	width := len(gap) * max(0, len(widths)-1)
	for _, w := range widths {
		width += w
	}
	return width
}
