package profile

// Source is the origin of a pod's loading vector.
type Source string

// The sources of vectors. Where a profile has several, the first in this order is used; requests make the vector of a pod
// without a profile, or whose profile has no vector yet.
const (
	SourceMeasured Source = "Measured"
	SourceObserved Source = "Observed"
	SourceDeclared Source = "Declared"
	SourceRequests Source = "Requests"
)

// Source returns the origin of the vector: the pod's requests where no vector is in use.
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
