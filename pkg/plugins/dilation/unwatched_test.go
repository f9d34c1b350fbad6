//go:build !race

package dilation

// thinned is of how many random clusters one is drawn.
const thinned = 1
