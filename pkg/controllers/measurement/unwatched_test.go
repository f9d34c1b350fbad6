//go:build !race

package measurement

// thinned is of how many situations one is simulated.
const thinned = 1
