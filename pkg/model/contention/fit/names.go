package fit

import (
	"math"
	"regexp"
	"strconv"
)

// lastNumber is the last number of a name, such as a batch size.
var lastNumber = regexp.MustCompile(`\d+(\D*)$`)

// variant is a job's name without its last number, and that number.
type variant struct {
	stem   string
	number float64
}

func variantOf(name string) variant {
	at := lastNumber.FindStringSubmatchIndex(name)
	if at == nil {
		return variant{stem: name, number: 1}
	}
	number, err := strconv.ParseFloat(name[at[0]:at[2]], 64)
	if err != nil { // more digits than a float64 can hold
		return variant{stem: name, number: 1}
	}
	return variant{stem: name[:at[0]] + "\x00" + name[at[2]:], number: max(1, number)}
}

// likenessByName returns how alike two jobs are by their names, from 0 to 1: names
// that differ in their last number only, as in "LM (batch size 10)" and "LM (batch
// size 20)", are variants of one job, the less alike the larger the ratio of the
// numbers: exp(−½·|log₂ ratio|).
func likenessByName(a, b variant) float64 {
	if a.stem != b.stem {
		return 0
	}
	return math.Exp(-math.Abs(math.Log2(a.number/b.number)) / 2)
}
