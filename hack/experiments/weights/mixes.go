package main

// oneCore are the mixes on a node with one core. The first four are of equal pods.
func oneCore() []string {
	return []string{
		"100m cpu, 100m cpu",
		"100m 60% exp, 100m 60% exp",
		"100m 60% exp, 100m 60% exp, 100m 60% exp",
		"100m 30% exp, 100m 30% exp, 100m 30% exp, 100m 30% exp",
		"500m cpu, 50m cpu",
		"500m 60% exp, 50m 60% exp",
		"500m 60%, 50m 60%",
		"600m 60% exp, 60m cpu",
		"600m 60%, 60m cpu",
		"60m 60% exp, 600m cpu",
		"40m 60% exp, 800m 60% exp",
		"200m 60% exp, 100m 60% exp",
		"400m 60% exp, 100m 60% exp, 50m 60% exp",
		"300m cpu, 100m 30% exp, 100m 60% exp",
		"0 cpu, 100m cpu",
		"0 60% exp, 100m 60% exp",
		"0 cpu, 200m 60% exp, =400m 25% exp",
		"100m limit=300m cpu, 100m cpu",
		"400m limit=500m cpu, 100m 60% exp",
		"300m 60% exp, 100m limit=200m cpu, 100m 30% exp",
		"100m+100m cpu, 100m cpu",
		"200m+50m cpu, 100m 60% exp",
		"100m cpu x2, 100m cpu",
		"200m cpu x2, 100m cpu",
		"300m 60% exp x2, 100m 60% exp",
		"400m 30% exp, 200m 30% exp, 100m 30% exp, 50m 30% exp",
		"250m 60% exp, 100m cpu, 50m 30% exp, 25m 30% exp, 0 30% exp",
		"400m 30% exp, 200m 30%, 100m 30% exp, 50m 30%, 40m 60% exp, 20m cpu",
	}
}

// twoCores are the mixes on a node with two cores. The first four are of equal pods; in the last three one pod has a
// core to itself.
func twoCores() []string {
	return []string{
		"100m cpu, 100m cpu, 100m cpu",
		"100m 60% exp, 100m 60% exp, 100m 60% exp",
		"100m 60% exp, 100m 60% exp, 100m 60% exp, 100m 60% exp",
		"100m 60% exp x2, 100m 60% exp x2",
		"500m cpu, 50m cpu",
		"400m cpu, 200m cpu, 100m cpu",
		"800m cpu, 400m cpu, 200m cpu, 100m cpu",
		"500m cpu x2, 50m cpu",
		"500m 60% exp x2, 50m cpu",
		"50m 60% exp x2, 500m cpu, 100m cpu",
		"400m 60% exp, 200m 60% exp, 100m 60% exp, 50m 60% exp",
		"400m 60%, 200m 60%, 100m 60%, 50m 60%",
		"400m cpu, 200m 60% exp, 100m 60% exp, 50m 60% exp, 50m 30% exp",
		"400m 60% exp x2, 100m 60% exp, 100m cpu, 0 30% exp",
		"100m limit=500m cpu, 400m cpu, 100m cpu",
		"200m limit=1000m cpu x2, 200m 60% exp, 100m cpu",
		"100m+100m cpu, 400m cpu, 100m cpu",
		"0 cpu, 100m cpu x2",
		"400m 60% exp, 200m 60% exp, 100m 60% exp, 100m 30% exp, 50m 60% exp, 25m 60% exp",
		"400m 30% exp, 300m 30% exp, 200m 30% exp, 100m 30% exp, 100m 60% exp, 50m 60% exp, 50m 30% exp, 25m cpu",
		"=1 cpu, 400m cpu, 100m cpu",
		"=1 cpu, 400m 60% exp, 100m 60% exp, 50m cpu",
		"=1 60% exp, 200m 60% exp x2, 50m 60% exp",
	}
}
