// Package sizing finds the fewest servers that meet every SLA: of one pool that all
// classes of jobs share, of a pool for each, or of the best partition in between.
//
// A [Class] of jobs arrives at random (a Poisson process) with a rate, takes a mean
// service time, and has an [SLA]: Prob[response time ≤ x] ≥ y. A pool is a number of
// equal servers with one queue. Rates are per second and times in seconds, though any
// other unit of time will do if it is the same everywhere. The questions are those of
// Hu, Wong, Iszlai and Litoiu, "Resource provisioning for cloud computing", CASCON
// 2009, for any number of classes.
//
//	Fewest       the servers of one pool for all classes
//	Dedicated    a pool for each class
//	Shared       one pool for all, as a plan
//	Best         the partition into pools that costs least
//	MeanServers  how demanding an SLA is: the paper's G(SLA)
//	Attain       what a given number of servers attains
//	Sensitive    how far rates may move before a pool is too small
//
// # Disciplines
//
//	           waiting jobs are taken           answer                           classes
//	FCFS       in order of arrival              exact, or an approximation (1)   any
//	HOL        of the highest class first       exact to 1e-9 (2)                equal service rates
//	PDP        of the class furthest behind     simulated                        exponential
//	LateLast   as PDP, late ones last           simulated                        exponential
//
// (1) [queueing.MGm]: exact for one server, and for several while classes and servers are
// few; else [Pool].Error bounds the error, and FewerMayDo and MoreMayBeNeeded say whether
// the answer depends on it. (2) The order of the classes is chosen, too:
// it is one with which the fewest servers do.
//
// A server is busy with one job at a time and finishes it. A class with no arrivals
// still needs a server, so that its first job is served: no pool is empty. Some SLAs no
// number of servers can meet, because the service alone takes too long too often: they
// are refused with an [InfeasibleError].
//
// # The paper
//
// The paper chooses between shared and dedicated pools by a table of angles, without the
// number of servers that either takes. Computing both numbers is exact and takes
// microseconds.
//
// Nothing here reads a clock, a file or a cluster. Simulations take their seed from
// [Options] and give the same answer however many processors there are.
package sizing
