//go:build race

package measurement

// thinned is of how many situations one is simulated: the race detector makes each
// take several times as long, and sees in a few of them what it would see in all.
const thinned = 4
