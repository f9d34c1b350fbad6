package reading

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Stalls polls the stall times of control groups: a group is stalled while some task of it could run on a processor, and none does.
// It is the kernel's account of tasks that come and go between two readings.
//
// # Windows
//
// The kernel keeps stall times per processor. A file of pressure stall information shows their mean, weighted by how long each
// processor had a task of the group that could run, within a window that ends when the file is read, and after 2 seconds at the
// latest. A chain of tasks with one active at a time, as a shell and its children, that was on two processors within a window
// therefore shows less than its stall time, by up to half. So the files are read every [pollPeriod]: in a short window a chain is
// mostly on one processor.
//
// The error that a window still has is proportional to its length, as long as a chain changes the processor at most once in it.
// Containers are polled twice as often as their pods, which have an account of their own: [stalled] extrapolates from the two to
// windows of no length. On 11 chains of shell commands on two processors windows of 20 ms missed 0.020 of their time on average,
// and the extrapolation from 20 and 40 ms was off by 0.008 in either direction.
//
// All methods may be called at once. The zero value is not of use; see [NewStalls].
type Stalls struct {
	mu       sync.Mutex
	followed map[string]*polled // by the path of the file
	rounds   int
	cost     time.Duration // of a round that polls everything, about
	buffer   [512]byte
	changed  chan struct{} // holds a value when the set of followed files has changed
}

// NewStalls returns stalls that follow no files.
func NewStalls() *Stalls {
	return &Stalls{followed: map[string]*polled{}, changed: make(chan struct{}, 1)}
}

const (
	// pollPeriod is the shortest polling period of containers: shorter windows would miss times below the unit of 1 to 10 ms in
	// which the kernel weights processors.
	pollPeriod = 20 * time.Millisecond
	// pollShare bounds the time that polling takes, as a fraction of one processor: 1/500.
	pollShare = 500
	// maxFollowed bounds how many containers are polled.
	maxFollowed = 64
)

// Stall is what polling found of a control group. Both counters began when the group was followed.
type Stall struct {
	Stalled time.Duration
	// Polls is how often the file was read, each time ending a window.
	Polls int64
}

// polled is a file that is being polled.
type polled struct {
	file   *os.File
	pod    bool // the file is that of a pod, not of a container
	first  time.Duration
	state  Stall
	failed error // after which it is polled no more
}

// Run polls until the context ends. While no group is followed it waits.
func (s *Stalls) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			s.follow(nil)
			return
		case <-s.changed:
		case <-timer.C:
		}
		if next := s.round(); next > 0 {
			timer.Reset(next)
		}
	}
}

// round polls the containers, and in every second round the pods. It returns when to do so again, 0 if there are none.
func (s *Stalls) round() (next time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds++
	began, all := time.Now(), s.rounds%2 == 0
	for _, p := range s.followed {
		if all || !p.pod {
			s.poll(p)
		}
	}
	if len(s.followed) == 0 {
		return 0
	}
	if all {
		// A round that was itself kept waiting says nothing of what polling costs: the cost falls at once and rises slowly.
		s.cost = min(time.Since(began), s.cost+s.cost/8+time.Microsecond)
	}
	return max(pollPeriod, pollShare*s.cost)
}

// poll reads the file, unless that failed before.
func (s *Stalls) poll(p *polled) {
	if p.failed != nil {
		return
	}
	n, err := p.file.ReadAt(s.buffer[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		p.failed = err
		return
	}
	_, stalled, err := pressure(s.buffer[:n])
	switch {
	case err != nil:
		p.failed = named(p.file.Name(), err)
		return
	case stalled == Unknown:
		p.failed = errors.ErrUnsupported
		return
	}
	if p.state.Polls == 0 {
		p.first = stalled
	}
	p.state.Stalled = max(p.state.Stalled, stalled-p.first)
	p.state.Polls++
}

// take polls a file once more and returns the result, nil if the file is not followed or its group is gone.
func (s *Stalls) take(path string) (*Stall, error) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.followed[path]
	if p == nil {
		return nil, nil
	}
	s.poll(p)
	if p.failed == nil {
		return new(p.state), nil
	}
	delete(s.followed, path)
	_ = p.file.Close() // only read
	if absent(p.failed) {
		return nil, nil
	}
	return nil, p.failed
}

// follow polls the files of these paths, and no others. A file that cannot be opened belongs to a group that is gone, or to a
// kernel that does not keep pressure: it is left out.
func (s *Stalls) follow(files map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, p := range s.followed {
		if _, ok := files[path]; !ok {
			delete(s.followed, path)
			_ = p.file.Close() // only read
		}
	}
	for path, pod := range files {
		if s.followed[path] != nil {
			continue
		}
		if file, err := os.Open(path); err == nil {
			s.followed[path] = &polled{file: file, pod: pod}
		}
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Follow starts polling the stalls of the containers whose tasks come and go, by an interval that ended with a reading of r, and of
// their pods. Without Stalls it does nothing.
func (r *Reader) Follow(after *Reading, v *usage.Interval) {
	if r.Stalls == nil || r.trees == nil || r.trees.pressure == "" || v == nil {
		return
	}
	type container struct {
		pod, path string
		unseen    float64
	}
	var found []container
	for i := range v.Pods {
		at, ok := slices.BinarySearchFunc(after.Pods, v.Pods[i].UID, func(p Pod, uid string) int { return cmp.Compare(p.UID, uid) })
		if !ok {
			continue
		}
		pod := &after.Pods[at]
		for _, c := range v.Pods[i].Containers {
			if c.Unseen == 0 || c.Unseen < unseenMatters/2*v.Pods[i].Run {
				continue
			}
			if at := slices.IndexFunc(pod.Groups, func(g Group) bool { return g.ID == c.ID }); at >= 0 {
				found = append(found, container{pod.Path, pod.Groups[at].Path, c.Unseen})
			}
		}
	}
	slices.SortFunc(found, func(a, b container) int { return cmp.Or(cmp.Compare(b.unseen, a.unseen), cmp.Compare(a.path, b.path)) })
	files := map[string]bool{}
	for _, c := range found[:min(len(found), maxFollowed)] {
		files[r.pressureFile(c.path)] = false
		files[r.pressureFile(c.pod)] = true
	}
	r.Stalls.follow(files)
}

func (r *Reader) pressureFile(group string) string {
	return filepath.Join(r.trees.pressure, group, "cpu.pressure")
}

// stalled returns the stall time in an interval, in seconds, of the containers of a pod whose tasks come and go, as far as they
// were polled from its beginning to its end.
func stalled(before, after *Pod, seconds float64) (total float64, known bool) {
	n, window := 0, 0.0
	for i := range after.Groups {
		for j := range before.Groups {
			if before.Groups[j].ID != after.Groups[i].ID {
				continue
			}
			if time, each, ok := polledFor(before.Groups[j].Stall, after.Groups[i].Stall, seconds); ok {
				total, window = total+time, each
				n++
			}
		}
	}
	if n == 0 {
		return 0, false
	}
	if around, wider, ok := polledFor(before.Stall, after.Stall, seconds); ok && n == 1 && wider > window {
		total += max(0, total-around) * window / (wider - window)
	}
	return bound(total, seconds), true
}

// minPolls is how often a group must have been polled in an interval: in windows of a second nothing is gained.
const minPolls = 8

// polledFor returns for how long a group was stalled between two readings, and in windows of what length.
func polledFor(before, after *Stall, seconds float64) (time, window float64, ok bool) {
	if before == nil || after == nil || after.Polls-before.Polls < minPolls || after.Stalled < before.Stalled {
		return 0, 0, false
	}
	return (after.Stalled - before.Stalled).Seconds(), seconds / float64(after.Polls-before.Polls), true
}
