package queueing

// scales returns roughly by how much a station slows down the jobs there, and
// each job as a whole, as if all were fluids. The exact solvers work with weights
// relative to these so that they neither overflow nor vanish: precision does not
// depend on them.
func (c *closed) scales() (station, class []float64) {
	station, class = make([]float64, c.m), make([]float64, c.n)
	for i := range station {
		station[i] = 1
	}
	for range fluidIterations {
		for k := range class {
			class[k] = c.idle[k]
			for i, s := range station {
				class[k] += c.demand[k*c.m+i] * s
			}
		}
		for i, s := range station {
			there := 0.0
			for k := range class {
				there += c.threads[k*c.m+i] * c.demand[k*c.m+i] * s / class[k]
			}
			station[i] = max(1, there/float64(c.servers[i]))
		}
	}
	return station, class
}

// fluidIterations is how often scales goes round. Roughly is enough.
const fluidIterations = 100
