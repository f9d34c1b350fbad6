package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// program is a real program that a pod runs again and again, in a shell in a folder of its own: each run is a unit of work.
type program struct{ name, prepare, run string }

// programs are those that are run beside each other.
var programs = []program{
	{
		"database", `sqlite3 data.db "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)"`,
		`for i in 1 2 3 4 5; do echo "INSERT INTO t (v) VALUES (hex(randomblob(500)));"; done | sqlite3 data.db`,
	},
	{
		"redis", `redis-server --port 0 --unixsocket redis.sock --dir . --appendonly yes --appendfsync always --save '' --daemonize yes >redis.log &&
			until redis-cli -s redis.sock ping; do sleep 0.1; done`,
		"redis-benchmark -s redis.sock -t set -n 200 -c 4 -d 200 -q",
	},
	{"compiler", "cp \"$SOURCE\" big.c", "gcc -O1 -c big.c -o big.o"},
	{
		"backup", "head -c 67108864 /dev/urandom >data && sync data",
		"tar cf - data | cat >/dev/null; dd if=data iflag=nocache count=0 status=none", // the next one reads it again
	},
	{"copy", "head -c 16777216 /dev/urandom >data && sync data", "cp data copy && sync copy"},
	{"log", "", "dd if=/dev/zero of=log bs=512 count=20 oflag=dsync,append conv=notrunc status=none"},
}

// programOf returns a program by its name.
func programOf(name string) (*program, error) {
	for i := range programs {
		if programs[i].name == name {
			return &programs[i], nil
		}
	}
	return nil, fmt.Errorf("program: %q is none of those that there are", name)
}

// togetherWith are the programs that run together, by their numbers: pairs, and threes.
var togetherWith = [][]int{{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {2, 3}, {3, 5}, {0, 1}, {0, 3, 5}, {1, 2, 4}, {0, 2, 3}}

// programMixes returns the mixes of programs.
func programMixes() (all []mix) {
	for _, numbers := range togetherWith {
		m := mix{}
		for _, n := range numbers {
			m.Name += " " + programs[n].name
			m.Jobs = append(m.Jobs, spec{Program: programs[n].name, Depth: 1})
		}
		m.Name = m.Name[1:]
		all = append(all, m)
	}
	return all
}

func programsCommand() *cobra.Command {
	o := options{}
	c := &cobra.Command{
		Use:   "programs",
		Short: "Run real programs beside each other, and compare what is said of them with how long they take (needs Linux, root, sqlite3, redis and gcc)",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case o.seconds < 1:
				return fmt.Errorf("--seconds: %d is not at least 1", o.seconds)
			case o.rounds < 1:
				return fmt.Errorf("--rounds: %d is not at least 1", o.rounds)
			case o.dir == "":
				return errors.New("--dir: is empty: want the name of a folder")
			case o.out == "":
				return errors.New("--output: is empty: want the name of a file")
			}
			return runPrograms(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.tries, o.foreignCPU, o.warm, o.patience = 2, 0.1, 2*time.Second, 30*time.Second
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "/var/tmp", "a `folder` on the disk")
	f.StringVarP(&o.out, "output", "o", "out/disklab/programs.json.gz", "the `file` to write: JSON, compressed if its name ends in .gz")
	pressureFlag(f, &o.pressureOnly)
	f.IntVar(&o.seconds, "seconds", 8, "for how many seconds a run is measured")
	f.IntVar(&o.rounds, "rounds", 2, "how often each program runs alone, and all together")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the order of runs")
	return c
}

// predict returns the dilations of pods by their vectors alone: processors, and a disk that serves one operation after the other.
func predict(vectors []loading.Vector, processors int) ([]float64, error) {
	p, err := contention.Predict(vectors, []int{processors, 1}, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}
