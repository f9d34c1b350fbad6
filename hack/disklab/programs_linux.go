package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"loadline.dev/loadline/hack/recording"
)

// runPrograms runs the mixes of programs, and shows what became of them.
func runPrograms(ctx context.Context, o options, out, log io.Writer) (err error) {
	if err := mayRecord(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	l, err := openLab(ctx, o.dir, o, log)
	defer func() { err = errors.Join(err, l.close()) }()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.dir, "source.c"), source(), 0o600); err != nil {
		return err
	}
	r := newRecorded(l, o)
	for i, m := range programMixes() {
		fmt.Fprintf(log, "%s, %d of %d\n", m.Name, i+1, len(programMixes()))
		done, err := l.mix(ctx, m, o.rounds, rand.New(rand.NewPCG(o.seed, uint64(i))))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		r.Mixes = append(r.Mixes, done)
		if err := recording.Save(o.out, r); err != nil {
			return err
		}
	}
	return judgeAll(out, r)
}

// source is a program in C that takes a compiler a while.
func source() []byte {
	var b bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&b, "int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) { if (a[i] %% %d) s += a[i] * i; else s ^= a[i] >> %d; } return s; }\n", i, i, i+2, i%31)
	}
	return b.Bytes()
}

// repeat runs the program of the job again and again.
func (j *job) repeat() {
	p, err := programOf(j.Program)
	for err == nil {
		began := j.begin()
		err = shell(p.run, j.folder)
		j.end(began)
	}
	j.mutex.Lock()
	j.err = err
	j.mutex.Unlock()
}

// prepare makes the folder of the program of a job, and what it needs there.
func (j *job) prepare(path string) error {
	p, err := programOf(j.Program)
	if err != nil {
		return err
	}
	j.folder = path + ".folder"
	if err := errors.Join(os.RemoveAll(j.folder), os.Mkdir(j.folder, 0o755)); err != nil {
		return err
	}
	return shell(p.prepare, j.folder)
}

// shell runs a command in a folder.
func shell(line, folder string) error {
	c := exec.Command("sh", "-ec", line)
	c.Dir, c.Env = folder, append(os.Environ(), "SOURCE="+filepath.Join(filepath.Dir(folder), "source.c"))
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, said)
	}
	return nil
}
