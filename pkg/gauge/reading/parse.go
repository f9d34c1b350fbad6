package reading

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// tick is the unit of times in /proc: USER_HZ is 100 wherever Kubernetes runs.
const tick = 10 * time.Millisecond

// lineError says which line of a file cannot be right, and why. The file's name and a colon come before it.
type lineError struct {
	line int
	what string
}

func (e *lineError) Error() string { return fmt.Sprintf("%d: %s", e.line, e.what) }

func wrong(line int, format string, args ...any) error {
	return &lineError{line: line, what: fmt.Sprintf(format, args...)}
}

// number returns the number that a text is, if it is one of at most limit.
func number(text []byte, limit int64) (n int64, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		digit := int64(c - '0')
		if n > (limit-digit)/10 {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, len(text) > 0
}

// duration returns the time that a text is, in a unit.
func duration(text []byte, unit time.Duration) (time.Duration, bool) {
	n, ok := number(text, math.MaxInt64/int64(unit))
	return time.Duration(n) * unit, ok
}

// field returns the text before the first space, and the text after the spaces.
func field(text []byte) (first, rest []byte) {
	at := bytes.IndexByte(text, ' ')
	if at < 0 {
		return text, nil
	}
	rest = text[at:]
	for len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	return text[:at], rest
}

// nextLine returns the first line of a text, and the lines after it.
func nextLine(text []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(text, []byte("\n"))
	return first, rest
}

// schedstat takes the counters from the text of /proc/ID/schedstat: how long a task ran, how long it waited to run, and
// how often it began to.
func (t *Task) schedstat(text []byte) error {
	first, _ := nextLine(text)
	ran, rest := field(first)
	waited, rest := field(rest)
	slices, _ := field(rest)
	var okRan, okWaited, okSlices bool
	t.Run, okRan = duration(ran, time.Nanosecond)
	t.Wait, okWaited = duration(waited, time.Nanosecond)
	t.Slices, okSlices = number(slices, math.MaxInt64)
	if !okRan || !okWaited || !okSlices {
		return wrong(1, "%q is not how long a task ran and waited and how often it ran", first)
	}
	return nil
}

// stat takes what schedstat does not have from the text of /proc/ID/stat. The command may hold anything, also parentheses
// and line ends; nothing after it does.
func (t *Task) stat(text []byte) error {
	closing := bytes.LastIndex(text, []byte(") "))
	if closing < 0 {
		return wrong(1, "%.80q has no command in parentheses", text)
	}
	_, command, _ := bytes.Cut(text[:closing], []byte("("))
	t.Pause = isPause(command)
	line := 1 + bytes.Count(text[:closing], []byte("\n"))
	rest, _ := nextLine(text[closing+2:])
	var value []byte
	last := 2 // the number of the field that was taken last, as in the manual, which counts from 1
	take := func(wanted int) []byte {
		for last < wanted {
			value, rest = field(rest)
			last++
		}
		return value
	}
	parent, okParent := number(take(4), math.MaxInt32)
	start, okStart := duration(take(22), tick)
	cpu, okCPU := number(take(39), math.MaxInt32)
	blocked, okBlocked := duration(take(42), tick)
	if !okParent || !okStart || !okCPU || !okBlocked {
		return wrong(line, "fields 4, 22, 39 and 42 are not a parent, a start, a processor and a delay: %.200q", text[closing+2:])
	}
	t.Parent, t.Start, t.CPU, t.Blocked = int(parent), start, int(cpu), blocked
	return nil
}

// sched sets what /proc/ID/sched counts: voluntary context switches, and migrations where there are any.
func (t *Task) sched(text []byte) (err error) {
	if t.Sleeps, err = countIn(text, "\nnr_voluntary_switches "); err != nil {
		return err
	}
	if t.Sleeps == Uncounted {
		return wrong(1, "has no line that begins with nr_voluntary_switches")
	}
	t.Moves, err = countIn(text, "\nse.nr_migrations ")
	return err
}

// countIn returns the count in the text of /proc/ID/sched whose line begins in a way, [Uncounted] if there is none. Its first line has the command,
// which may hold anything: the count is in the last line that begins so.
func countIn(text []byte, begins string) (int64, error) {
	at := bytes.LastIndex(text, []byte(begins))
	if at < 0 {
		return Uncounted, nil
	}
	first, _ := nextLine(text[at+1:])
	_, value := field(first)
	_, value = field(value) // a colon
	n, ok := number(value, math.MaxInt64)
	if !ok {
		return Uncounted, wrong(2+bytes.Count(text[:at], []byte("\n")), "%.80q does not end in a count", first)
	}
	return n, nil
}

// isPause reports whether a command is one that images of sandboxes run: that of Kubernetes, which most others repackage, is pause,
// and that of OpenShift pod.
func isPause(command []byte) bool { return string(command) == "pause" || string(command) == "pod" }

// account is the content of a control group's cpu.stat, or cpu.stat.local.
type account struct {
	// used is how long its tasks ran, and throttled how long its limit held them back. Each can be [Unknown].
	used, throttled time.Duration
	// periods and throttledPeriods count those of its quota, 0 without one.
	periods, throttledPeriods int64
}

// noAccount is that of a control group without either file.
var noAccount = account{used: Unknown, throttled: Unknown}

// cpuStat returns what cpu.stat or cpu.stat.local has, of control groups of either version.
func cpuStat(text []byte) (account, error) {
	a := noAccount
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		key, value := field(first)
		ok := true
		switch string(key) {
		case "usage_usec":
			a.used, ok = duration(value, time.Microsecond)
		case "throttled_usec":
			a.throttled, ok = duration(value, time.Microsecond)
		case "throttled_time":
			a.throttled, ok = duration(value, time.Nanosecond)
		case "nr_periods":
			a.periods, ok = number(value, math.MaxInt64)
		case "nr_throttled":
			a.throttledPeriods, ok = number(value, math.MaxInt64)
		}
		if !ok {
			return noAccount, wrong(line, "%q does not end in a time or a count", first)
		}
	}
	return a, nil
}

// cpuacctUsage returns the time that cpuacct.usage is.
func cpuacctUsage(text []byte) (time.Duration, error) {
	first, _ := nextLine(text)
	used, ok := duration(first, time.Nanosecond)
	if !ok {
		return Unknown, wrong(1, "%q is not a time in nanoseconds", first)
	}
	return used, nil
}

// micros parses a file that holds a time in microseconds.
func micros(text []byte) (time.Duration, error) {
	first, _ := nextLine(text)
	time, ok := duration(first, time.Microsecond)
	if !ok {
		return 0, wrong(1, "%q is not a time in microseconds", first)
	}
	return time, nil
}

// pressure returns for how long some task waited, and for how long all did, by a file of the pressure stall information. The
// latter is [Unknown] on Linux before 5.13.
func pressure(text []byte) (some, full time.Duration, err error) {
	some, full = Unknown, Unknown
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		key, rest := field(first)
		ok := true
		switch string(key) {
		case "some":
			some, ok = total(rest)
		case "full":
			full, ok = total(rest)
		}
		if !ok {
			return Unknown, Unknown, wrong(line, "%q has no total in microseconds", first)
		}
	}
	if some == Unknown {
		return Unknown, Unknown, wrong(1, "has no line that begins with some")
	}
	return some, full, nil
}

// total returns the first total in microseconds among fields.
func total(fields []byte) (time.Duration, bool) {
	for len(fields) > 0 {
		var value []byte
		value, fields = field(fields)
		if text, found := bytes.CutPrefix(value, []byte("total=")); found {
			if sum, ok := duration(text, time.Microsecond); ok {
				return sum, true
			}
		}
	}
	return Unknown, false
}

// procStat returns how many processors /proc/stat has, and how long in all they were busy and stolen.
func procStat(text []byte) (cpus int, busy, stolen time.Duration, err error) {
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		key, rest := field(first)
		if !bytes.HasPrefix(key, []byte("cpu")) {
			break
		}
		if len(key) > len("cpu") {
			cpus++
			continue
		}
		if busy, stolen, err = ticks(line, first, rest); err != nil {
			return 0, 0, 0, err
		}
	}
	if cpus == 0 {
		return 0, 0, 0, wrong(1, "has no processor")
	}
	return cpus, busy, stolen, nil
}

// uptime returns the time since the boot, by /proc/uptime.
func uptime(text []byte) (time.Duration, error) {
	first, _ := nextLine(text)
	since, _ := field(first)
	whole, part, ok := bytes.Cut(since, []byte("."))
	seconds, okSeconds := duration(whole, time.Second)
	hundredths, okHundredths := number(part, 99)
	if !ok || !okSeconds || !okHundredths || len(part) != 2 || seconds > math.MaxInt64-time.Second {
		return 0, wrong(1, "%q does not begin with seconds since the boot", first)
	}
	return seconds + time.Duration(hundredths)*tick, nil
}

// ids appends the ids in a text of one per line.
func ids(text []byte, found []int) ([]int, error) {
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		id, ok := number(first, math.MaxInt32)
		if !ok {
			return found, wrong(line, "%q is not the id of a task", first)
		}
		if id == 0 {
			return found, wrong(line, "a task has no id here: what reads needs the process ids of the host")
		}
		found = append(found, int(id))
	}
	return found, nil
}
