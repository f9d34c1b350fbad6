package placement

// LeastCompletion puts a job on the node that would be done first with all its
// jobs, this one included, by the model, if no other job arrives: Graham's list
// scheduler, with completion times in place of the sum of neutral times.
type LeastCompletion struct{ forecast forecast }

// Name returns "least-completion".
func (*LeastCompletion) Name() string { return "least-completion" }

// Choose returns the node that is done first.
func (l *LeastCompletion) Choose(now float64, j *Job, nodes []*Node) int {
	return l.forecast.first(true, now, j, nodes)
}
