package profile

// Source says what a pod's loading vector follows from.
type Source string

// The sources of vectors. Where a profile has several, the first of these is used; requests make the vector of a pod without
// a profile, or whose profile has no vector yet.
const (
	SourceMeasured Source = "Measured"
	SourceObserved Source = "Observed"
	SourceDeclared Source = "Declared"
	SourceRequests Source = "Requests"
)

// Source returns what the vector follows from: the requests of the pod where there is none in use.
func (u *InUse) Source() Source {
	switch {
	case u == nil:
		return SourceRequests
	case u.Measured != nil:
		return SourceMeasured
	case u.Observed != nil:
		return SourceObserved
	default:
		return SourceDeclared
	}
}

// Unlimited reports whether the vector is of a pod without a limit: that of a profile that declares or observes it. One that was
// measured is of the pod with its limit, and one by requests is assumed.
func (s Source) Unlimited() bool { return s == SourceDeclared || s == SourceObserved }
