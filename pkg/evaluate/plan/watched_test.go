//go:build race

package plan

// thinned is of how many random clusters one is drawn: the race detector makes the arithmetic of each take ten times as long, and sees in a
// few of them what it would see in all.
const thinned = 8
