//go:build !race

package measurement

// thinned is the divisor of the number of simulated situations.
const thinned = 1
