//go:build !race

package plan

// thinned is of how many random clusters one is drawn.
const thinned = 1
