package reading_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/reading"
)

// node is a made-up node: files below one directory.
type node struct {
	root string
	tb   testing.TB
}

func newNode(tb testing.TB) node {
	tb.Helper()
	n := node{root: tb.TempDir(), tb: tb}
	n.write("proc/stat", "cpu  100 10 50 1000 20 5 5 30 7 0\ncpu0 50 5 25 500 10 3 2 15 4 0\ncpu1 50 5 25 500 10 2 3 15 3 0\nintr 1 2\n")
	n.write("proc/uptime", "1000.50 1800.00\n")
	n.write("proc/sys/kernel/task_delayacct", "1\n")
	return n
}

func (n node) write(path, text string) {
	n.tb.Helper()
	path = filepath.Join(n.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		n.tb.Fatal(err)
	}
}

// task writes what /proc says of a task whose command is as awkward as one can be, and which began 100 s after the boot.
func (n node) task(id int, schedstat string) { n.taskOf("a) R 1 (\nb", id, schedstat) }

// taskOf writes what /proc says of a task with a command.
func (n node) taskOf(command string, id int, schedstat string) {
	n.tb.Helper()
	n.write(fmt.Sprintf("proc/%d/schedstat", id), schedstat+"\n")
	n.write(fmt.Sprintf("proc/%d/sched", id), fmt.Sprintf(sched, command, id, moves, sleeps))
	n.stat(command, id, 25)
}

// stat writes what /proc says of a task that waited for block I/O, in hundredths of a second.
func (n node) stat(command string, id, blocked int) {
	n.tb.Helper()
	const format = "%d (%s) S 1 7 7 0 -1 4194304 105 0 0 0 0 0 0 0 20 0 1 0 10000 3133440 390 18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 %d 0 0 1 1 1 1 1 1 1 0\n"
	n.write(fmt.Sprintf("proc/%d/stat", id), fmt.Sprintf(format, id, command, blocked))
}

// sleeps and moves are how often each task slept and went to another processor that node.task writes.
const sleeps, moves = 2, 5

// sched is what /proc says of a task's scheduling, in part, with a format for its command, id, moves and sleeps.
const sched = `%s (%d, #threads: 1)
-------------------------------------------------------------------
se.exec_start                                :     258183883.483301
se.nr_migrations                             :                    %d
nr_switches                                  :                  125
nr_voluntary_switches                        :                  %d
nr_involuntary_switches                      :                   23
policy                                       :                    0
`

func (n node) reader() *reading.Reader {
	return &reading.Reader{Proc: filepath.Join(n.root, "proc"), Cgroup: filepath.Join(n.root, "cgroup"), Sys: filepath.Join(n.root, "sys"), Now: func() time.Time { return noon }}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
