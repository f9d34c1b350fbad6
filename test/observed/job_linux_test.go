package observed

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// jobVariable has the job that a process of the test's binary is to be, instead of the tests.
const jobVariable = "LOADLINE_READING_JOB"

// job is threads that run for a burst and sleep, over and over.
type job struct {
	Groups       []string // to be in
	Threads      int
	CPUs         []int
	Burst, Sleep time.Duration
	// RandomBursts and RandomSleeps report whether they are the means of exponential distributions, drawn with the seed.
	RandomBursts, RandomSleeps bool
	Seed                       uint64
	// Loops, if above 0, is how often a shell counts that each thread starts and awaits in place of its burst.
	Loops int
}

// cycle is the state of a thread at the end of a burst and a sleep: the time since 1970, and what it ran and meant to sleep until
// then, in nanoseconds.
type cycle struct{ End, Run, Slept int64 }

// runJob is a job until its input ends. It says when all threads have done a cycle, and at the end what their cycles were.
func runJob(text string, stdin io.Reader, stdout io.Writer) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	if j.Loops == 0 { // otherwise the shell goes there
		for _, group := range j.Groups {
			if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
				return err
			}
		}
	}
	var (
		stop  atomic.Bool
		done  sync.WaitGroup
		tapes = make([]tape, j.Threads)
	)
	for i := range tapes {
		tapes[i].cycles = make([]cycle, 1<<17)
		done.Go(func() {
			runtime.LockOSThread()
			j.pin()
			if j.Loops > 0 {
				j.shell(&tapes[i], &stop)
			} else {
				rng := rand.New(rand.NewPCG(j.Seed, uint64(i)))
				work(lengths(j.Burst, j.RandomBursts, rng), lengths(j.Sleep, j.RandomSleeps, rng), &tapes[i], &stop)
			}
		})
	}
	for i := range tapes {
		for tapes[i].length.Load() == 0 {
			<-time.After(10 * time.Millisecond)
		}
	}
	if _, err := fmt.Fprintln(stdout, "running"); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, stdin); err != nil {
		return err
	}
	stop.Store(true)
	done.Wait()
	cycles := make([][]cycle, len(tapes))
	for i := range tapes {
		cycles[i] = tapes[i].cycles[:tapes[i].length.Load()]
	}
	return json.NewEncoder(stdout).Encode(cycles)
}

// tape has the cycles of a thread, of which the first length are there.
type tape struct {
	cycles []cycle
	length atomic.Int64
}

//go:nosplit
func (t *tape) add(c cycle) (full bool) {
	n := t.length.Load()
	t.cycles[n] = c
	t.length.Store(n + 1)
	return int(n)+1 == len(t.cycles)
}

// lengths returns the lengths of bursts or sleeps in nanoseconds, which a thread has in turns.
func lengths(mean time.Duration, random bool, rng *rand.Rand) []int64 {
	if !random {
		return []int64{int64(mean)}
	}
	all := make([]int64, 1<<14)
	for i := range all {
		all[i] = int64(float64(mean) * rng.ExpFloat64())
	}
	return all
}

// slack is how long after its time a sleeper wakes on an idle processor, in nanoseconds: the timer slack of Linux.
const slack = 50_000

// work runs for a burst and sleeps, in turns, until it shall stop. Go has no chance to give its place to another goroutine:
// as this goroutine keeps to its thread, other threads would have to run to bring it back, and it would be slow for reasons that
// are not the kernel's. So nothing here checks the stack, which is where Go would.
//
//go:nosplit
func work(bursts, sleeps []int64, to *tape, stop *atomic.Bool) {
	var slept, spin int64
	for turn := 0; !stop.Load(); turn++ {
		burst, sleep := bursts[turn%len(bursts)], sleeps[turn%len(sleeps)]
		until := clock(threadClock) + burst
		for clock(threadClock) < until {
			for i := range int64(5_000) {
				spin += i
			}
		}
		if sleep > 0 {
			wish := syscall.Timespec{Sec: sleep / 1e9, Nsec: sleep % 1e9}
			at := uintptr(unsafe.Pointer(&wish))
			for {
				if _, _, errno := syscall.RawSyscall(syscall.SYS_NANOSLEEP, at, at, 0); errno == 0 {
					break
				}
			}
			slept += sleep + slack
		}
		if to.add(cycle{End: clock(realClock), Run: clock(threadClock), Slept: slept}) || spin < 0 {
			return
		}
	}
}

// shell has a shell count in a child and sleep in another, over and over. How long all of them ran, their group says: what it
// has ends with a cycle or a moment later.
func (j *job) shell(to *tape, stop *atomic.Bool) {
	script := ""
	for _, group := range j.Groups {
		script += fmt.Sprintf("echo $$ > %s/cgroup.procs\n", group)
	}
	const loop = "while :; do sh -c 'i=0; while [ $i -lt %d ]; do i=$((i+1)); done'; sleep %f; echo; done"
	script += fmt.Sprintf(loop, j.Loops, j.Sleep.Seconds())
	command := exec.Command("sh", "-c", script) //nolint:noctx // it is killed
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := command.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := command.Start(); err != nil {
		panic(err)
	}
	var slept int64
	for lines := bufio.NewScanner(stdout); lines.Scan() && !stop.Load(); {
		slept += int64(j.Sleep + slack)
		if to.add(cycle{End: time.Now().UnixNano(), Run: groupUsage(j.Groups), Slept: slept}) {
			break
		}
	}
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, stdout)
	_ = command.Wait() // it was killed
}

// groupUsage returns how long the tasks of a group ran, in nanoseconds.
func groupUsage(groups []string) int64 {
	for _, group := range groups {
		if text, err := os.ReadFile(filepath.Join(group, "cpuacct.usage")); err == nil {
			used, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err != nil {
				panic(err)
			}
			return used
		}
	}
	text, err := os.ReadFile(filepath.Join(groups[0], "cpu.stat"))
	if err != nil {
		panic(err)
	}
	var used int64
	if _, err := fmt.Sscanf(string(text), "usage_usec %d", &used); err != nil {
		panic(err)
	}
	return used * 1000
}

// pin keeps the calling thread, and what it starts, to the processors of the job.
func (j *job) pin() {
	var mask [16]uint64
	for _, cpu := range j.CPUs {
		mask[cpu/64] |= 1 << (cpu % 64)
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); errno != 0 {
		panic(errno)
	}
}

const realClock, threadClock = 0, 3

// clock returns a time in nanoseconds: that since 1970, or what the thread ran. CLOCK_REALTIME, CLOCK_THREAD_CPUTIME_ID.
//
//go:nosplit
func clock(id uintptr) int64 {
	var at syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&at)), 0); errno != 0 {
		return 0
	}
	return at.Sec*1e9 + at.Nsec
}
