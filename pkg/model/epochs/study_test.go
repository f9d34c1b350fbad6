package epochs_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// The study of section 5, Fig. 4. The paper says: ten streams, jobs chosen from
// Table 10, 0.167 jobs per second on average. It does not say how many servers
// there are, nor how many jobs: with three servers of one core and one disk the
// cores are 72 % busy; with two it is more than all, with four half.
const (
	paperStreams  = 10
	studyStreams  = 100 // the first ten are the paper's
	studyServers  = 3
	studyJobs     = 100
	studyRate     = 0.167
	studyBaseline = "round-robin"
)

// studyTypes are the jobs of Table 10, service demands at cpu and disk.
var studyTypes = []struct {
	name    string
	demands []float64
}{{"nbench", []float64{25, 0}}, {"bonnie++", []float64{8.2, 9.8}}, {"dbench", []float64{5.5, 4.5}}}

// studyPolicies are all policies, the default of kube-scheduler also for jobs that
// request nothing.
var studyPolicies = append(placement.Names(), withoutRequests)

const withoutRequests = "least-requested, no requests"

// stream returns one of the streams: Poisson arrivals, all types equally likely. If
// it requests anything, a job requests as much cpu as it uses if it is alone.
func stream(t testing.TB, number int, requesting bool) iter.Seq2[epochs.Job, error] {
	t.Helper()
	gaps, err := arrivals.Exponential(1/studyRate, arrivals.Source(uint64(number), arrivals.Gaps))
	if err != nil {
		t.Fatal(err)
	}
	draws, err := arrivals.NewMix([]float64{1, 1, 1}, arrivals.Source(uint64(number), arrivals.Types))
	if err != nil {
		t.Fatal(err)
	}
	types, neutral := make([]*mix.JobType, len(studyTypes)), make([]float64, len(studyTypes))
	for k, kind := range studyTypes {
		types[k], neutral[k] = typeOf(kind.name, kind.demands...)
	}
	return func(yield func(epochs.Job, error) bool) {
		n := 0
		for arrival := range arrivals.Times(gaps, studyJobs) {
			k := draws.Choose()
			n++
			job := placement.Job{Type: types[k], Neutral: neutral[k]}
			if requesting {
				job.Requests = []float64{types[k].Vector[0].Loading}
			}
			if !yield(epochs.Job{Name: strconv.Itoa(n), Arrival: arrival, Job: job}, nil) {
				return
			}
		}
	}
}

// studied is the result of a policy on a stream.
type studied struct {
	makespan, response float64 // s, the mean response time from arrival to end
	last               float64 // when the last job arrived, after the first
}

// runStudy replays all streams with all policies.
func runStudy(t testing.TB) map[string][]studied {
	t.Helper()
	class := nodes(studyServers, 1, 1)
	class.Allocatable = []float64{1}
	results := map[string][]studied{}
	for _, name := range studyPolicies {
		for s := range studyStreams {
			policy, err := placement.Named(strings.TrimSuffix(name, ", no requests"), placement.Options{
				Rand: rand.New(rand.NewPCG(uint64(s), 1)), Scored: []placement.Scored{placement.ScoredCPU(0)},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := replay(t, stream(t, s+1, name != withoutRequests), []epochs.NodeClass{class}, policy, epochs.Options{})
			result := studied{makespan: r.Result.Makespan()}
			for _, o := range r.Outcomes {
				result.response += o.Response() / float64(len(r.Outcomes))
				result.last = max(result.last, o.Arrival-r.Result.FirstArrival)
			}
			results[name] = append(results[name], result)
		}
	}
	return results
}

// interval is a mean and its 95 % confidence interval, mean ± half.
type interval struct{ mean, half float64 }

func (i interval) String() string { return fmt.Sprintf("%+.1f ± %.1f %%", 100*i.mean, 100*i.half) }

// confidence returns the interval of the mean of independent values by Student's t.
func confidence(values []float64) interval {
	mean, deviation := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	return interval{mean, quantile * deviation / math.Sqrt(n)}
}

// improvement returns by which fraction a policy makes something shorter than the
// baseline does, stream by stream.
func improvement(results map[string][]studied, policy string, of func(studied) float64) interval {
	gains := make([]float64, studyStreams)
	for s, r := range results[policy] {
		gains[s] = 1 - of(r)/of(results[studyBaseline][s])
	}
	return confidence(gains)
}

func makespan(r studied) float64 { return r.makespan }
func response(r studied) float64 { return r.response }

// What does not depend on chance. (On how many servers there are it does: the more
// there are, the less there is to choose.)
func TestTheStudyOfFig4(t *testing.T) {
	t.Parallel()
	results := runStudy(t)
	for name, streams := range results {
		for s, r := range streams {
			if r.makespan < r.last+10 { // no job takes less than 10 s
				t.Errorf("%s, stream %d: all is done after %.1f s, the last job arrives after %.1f", name, s+1, r.makespan, r.last)
			}
		}
	}
	mustGain := func(policy string, of func(studied) float64, least, most float64) {
		if gain := improvement(results, policy, of); gain.mean-gain.half < least || gain.mean+gain.half > most {
			t.Errorf("%s makes it shorter by %v than %s, want %v to %v", policy, gain, studyBaseline, least, most)
		}
	}
	mustGain("random", response, -1, -0.3)
	// Policies that use the remaining work are better than round robin, and those that ask the
	// model are best.
	for _, policy := range []string{"list", "least-requested", "least-dilation", "lmuf-t"} {
		mustGain(policy, response, 0.05, 0.12)
	}
	for _, policy := range []string{"lrt", "least-completion"} {
		mustGain(policy, response, 0.1, 0.15)
		mustGain(policy, makespan, 0.005, 0.03)
	}
	// A policy that counts jobs does not distinguish those that compute.
	mustGain(withoutRequests, response, 0.02, 0.1)
	// By utilizations alone all busy cores are equal, however many jobs wait for them; the number
	// of jobs decides between equal ones.
	for _, policy := range []string{"lmuf", "target-load-packing"} {
		mustGain(policy, response, 0.02, 0.1)
	}
}

// fig4 returns the table of the paper's figure.
func fig4(t testing.TB) string {
	t.Helper()
	results := runStudy(t)
	policies := []string{"round-robin", "lrt", "lmuf", "lmuf-t"}
	rows := [][]string{append([]string{"stream"}, policies...)}
	for s := range paperStreams {
		row := []string{strconv.Itoa(s + 1)}
		for _, policy := range policies {
			row = append(row, fmt.Sprintf("%.1f", results[policy][s].makespan))
		}
		rows = append(rows, row)
	}
	return table(rows)
}

// improvements returns the table of all policies.
func improvements(t testing.TB) string {
	t.Helper()
	results := runStudy(t)
	rows := [][]string{{"policy", "mean response time", "shorter than with " + studyBaseline, "makespan", "shorter than with " + studyBaseline}}
	for _, policy := range studyPolicies {
		seconds := func(of func(studied) float64) string {
			sum := 0.0
			for _, r := range results[policy] {
				sum += of(r) / studyStreams
			}
			return fmt.Sprintf("%.1f s", sum)
		}
		gain := func(of func(studied) float64) string {
			if policy == studyBaseline {
				return "-"
			}
			return improvement(results, policy, of).String()
		}
		rows = append(rows, []string{policy, seconds(response), gain(response), seconds(makespan), gain(makespan)})
	}
	return table(rows)
}
