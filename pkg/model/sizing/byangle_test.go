package sizing

import (
	"errors"
	"fmt"
	"math"
)

// AngleTable gives the angle α up to which dedicated pools are preferred, by intervals
// of the SLA difference, in ascending order: Table 5 of Hu et al.
type AngleTable []Interval

// Interval is a row of an [AngleTable]. It begins where the one before ends.
type Interval struct {
	Below float64 // the SLA difference that it ends before
	Angle float64 // α in degrees
}

// PaperAngleTable returns Table 5 as printed.
func PaperAngleTable() AngleTable {
	return AngleTable{{30, 0}, {62, 22}, {78, 52}, {82, 69}, {86.1, 77}}
}

// limit returns the angle for an SLA difference: that of the last interval beyond the
// table, 0 if the table is empty.
func (t AngleTable) limit(difference float64) float64 {
	last := 0.0
	for _, row := range t {
		last = row.Angle
		if difference < row.Below {
			break
		}
	}
	return last
}

// AngleChoice is the choice of [ByAngle], with its reason.
type AngleChoice struct {
	Strategy   Strategy // DedicatedPools or SharedPool
	Difference float64  // D of the SLAs
	// Angle is that of the point of both arrival rates in degrees, from the axis of the
	// class with the looser SLA: Figs. 4 to 8 of Hu et al. Dedicated pools are chosen up
	// to Limit, unless that is 0.
	Angle, Limit float64
}

// ByAngle chooses between dedicated pools and a shared one as Algorithm 2 of Hu et al.
// does, without the number of servers that either takes: dedicated if the class with
// the stricter SLA has at most the share of the arrivals that the angle for the SLA
// difference allows. There must be two classes, with one rate of exponential service
// and one cost; the other errors are those of [Validate].
func ByAngle(classes []Class, table AngleTable) (AngleChoice, error) {
	if len(classes) != 2 {
		return AngleChoice{}, fmt.Errorf("the angle table is for two classes, and there are %d", len(classes))
	}
	if err := Validate(classes); err != nil {
		return AngleChoice{}, err
	}
	if !uniform(classes) || classes[0].cost() != classes[1].cost() {
		return AngleChoice{}, errors.New("the angle table is for two classes with the same exponential service and the same cost of a server")
	}
	loose, strict := classes[0], classes[1]
	gLoose, errLoose := loose.MeanServers()
	gStrict, errStrict := strict.MeanServers()
	if err := errors.Join(errLoose, errStrict); err != nil {
		return AngleChoice{}, err
	}
	if gLoose > gStrict {
		loose, strict = strict, loose
	}
	c := AngleChoice{Strategy: SharedPool, Difference: math.Abs(gLoose - gStrict), Angle: angle(loose.Arrival, strict.Arrival)}
	if c.Limit = table.limit(c.Difference); c.Limit > 0 && c.Angle <= c.Limit {
		c.Strategy = DedicatedPools
	}
	return c, nil
}

// angle returns the angle of a point of Figs. 4 to 8 in degrees, from the axis of the
// class with the looser SLA.
func angle(loose, strict float64) float64 { return math.Atan2(strict, loose) * 180 / math.Pi }
