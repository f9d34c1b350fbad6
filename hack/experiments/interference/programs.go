package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// program is a real program, of Debian's packages gzip, xz-utils, sqlite3 and coreutils.
type program struct {
	name    string
	command []string
}

// join makes a table of 400,000 rows in memory and joins it with itself in no order.
const join = `CREATE TABLE t(a INTEGER PRIMARY KEY, b INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 400000) INSERT INTO t SELECT i, (i*7919)%400000+1 FROM n;
SELECT sum(y.b) FROM t x JOIN t y ON y.a = x.b;`

// programs returns the programs from cache-friendly to streaming, each of some 0.1 to 0.3 s. They read files of a folder that
// prepare has made.
func programs(dir string) []program {
	return []program{
		{"gzip", []string{"gzip", "-9", "-c", "/usr/bin/bash"}},                                     // a window of 32 KiB
		{"xz", []string{"xz", "-2", "-T1", "-c", "/usr/bin/bash"}},                                  // a dictionary of 2 MiB and its tables
		{"sqlite", []string{"sqlite3", ":memory:", join}},                                           // pages of 10 MiB, at random
		{"sort", []string{"sort", "--parallel=1", filepath.Join(dir, lines)}},                       // 15 MiB of lines, through pointers
		{"dd", []string{"dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=20", "status=none"}}, // a stream of writes
	}
}

// lines is the file that sort sorts.
const lines = "lines"

// prepare makes the files in a folder.
func prepare(dir string) error {
	file, err := os.Create(filepath.Join(dir, lines))
	if err != nil {
		return err
	}
	to := bufio.NewWriter(file)
	const count, seed = 400_000, 1
	random := rand.New(rand.NewPCG(seed, seed))
	for range count {
		fmt.Fprintf(to, "%016x some more text\n", random.Uint64())
	}
	if err := to.Flush(); err != nil {
		return err
	}
	return file.Close()
}
