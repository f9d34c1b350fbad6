package fit

// side is one half of the model, sensitivities or pressures, and the target of its pull.
type side struct {
	mean   []float64 // the average job
	scaled []float64 // for typical
}

func (a *alternation) suffersAtAll(job int) bool  { return len(a.suffers[job]) > 0 }
func (a *alternation) inflictsAtAll(job int) bool { return len(a.inflicts[job]) > 0 }

// average sets a side's mean to that of the jobs that were observed and have no belief.
func (a *alternation) average(s *side, of func(int) []float64, observed func(int) bool) {
	clear(s.mean)
	count := 0.0
	for j := range a.jobs {
		if !observed(j) || a.belief(j) != nil {
			continue
		}
		count++
		for i, v := range of(j) {
			s.mean[i] += v
		}
	}
	for i := range s.mean {
		s.mean[i] /= max(1, count)
	}
}

// typical returns the target of the pull of a job without a belief: the average job, scaled to the
// job's own size as far as that was observed. So the pull keeps to the average which resources
// matter, and hardly how much.
func (s side) typical(values []float64, observations int, pull float64) []float64 {
	scale := s.scale(values, observations, pull)
	for i, v := range s.mean {
		s.scaled[i] = scale * v
	}
	return s.scaled
}

// scale returns the ratio of a job's size to that of the average one, as far as it was observed.
func (s side) scale(values []float64, observations int, pull float64) float64 {
	along, size := dot(s.mean, values), dot(s.mean, s.mean)
	if size == 0 {
		return 1
	}
	return (pull + float64(observations)*along/size) / (pull + float64(observations))
}
