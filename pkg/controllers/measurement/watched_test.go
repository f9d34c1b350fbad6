//go:build race

package measurement

// thinned is the divisor of the number of simulated situations: the race detector makes each take
// several times as long, and finds in a few of them the same as in all.
const thinned = 4
