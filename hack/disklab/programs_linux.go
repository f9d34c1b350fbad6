package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"k8s.io/utils/clock"

	observer "loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
)

// runPrograms runs the mixes of programs, and shows what became of them.
func runPrograms(ctx context.Context, o options, out, log io.Writer) (err error) {
	if err := mayRecord(); err != nil {
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
	var all []fate
	for i, m := range programMixes() {
		done, err := l.mix(ctx, m, o.rounds, rand.New(rand.NewPCG(o.seed, uint64(i))))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		fates, err := done.fates()
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		all = append(all, fates...)
		for _, f := range fates {
			fmt.Fprintf(log, "%s: %s takes %.2f times as long, observed %.2f\n", f.mix, f.program, f.measured, f.observed)
		}
	}
	return showFates(out, all)
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

// fates returns what became of the programs of a mix. What operations take on the quiet disk is learned from the runs alone, as a gauge learns it.
func (m *mixRecord) fates() ([]fate, error) {
	kept, err := history.New(1, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	served := func(r *run) (*usage.Interval, error) {
		v := *r.Interval
		if err := kept.Add(&v); err != nil {
			return nil, err
		}
		return &v, json.Unmarshal(kept.Last(1)[0], &v)
	}
	for i := range m.Runs { // first those alone, of which is learned
		if len(m.Runs[i].Jobs) == 1 {
			if _, err := served(&m.Runs[i]); err != nil {
				return nil, err
			}
		}
	}
	vectors, known := make([]loading.Vector, len(m.Jobs)), true
	all := make([]fate, len(m.Jobs))
	together := 0.0
	for i := range m.Runs {
		r := &m.Runs[i]
		v, err := served(r)
		if err != nil {
			return nil, err
		}
		switch len(r.Jobs) {
		case 1:
			vector, is := aloneIn(v, r.Jobs[0])
			vectors[r.Jobs[0]], known = vector, known && is
		case len(m.Jobs):
			together++
			of, err := said(v, len(m.Jobs))
			if err != nil {
				return nil, err
			}
			for k := range of {
				all[k].observed += of[k].dilation
				all[k].atDisk += of[k].added
				all[k].first = m.program(of[k].first)
			}
		}
	}
	predicted := slices.Repeat([]float64{math.NaN()}, len(m.Jobs))
	if known {
		if predicted, err = predict(vectors, runtime.NumCPU()); err != nil {
			return nil, err
		}
	}
	for k := range all {
		f, t := &all[k], &m.Truth[k]
		f.mix, f.program, f.measured, f.noisy, f.predicted = m.Name, m.program(k), t.LatencyTogether/t.LatencyAlone, t.Noisy, predicted[k]
		f.observed, f.atDisk = f.observed/together, f.atDisk/together
		if t.Culprit >= 0 {
			f.culprit = m.program(t.Culprit)
		}
	}
	return all, nil
}

// program returns the name of the program of a pod, none for -1.
func (m *mixRecord) program(pod int) string {
	if pod < 0 {
		return ""
	}
	return m.Jobs[pod].Program
}

// aloneIn returns the vector of a pod that ran alone, and whether it says how much the pod is at the disk.
func aloneIn(v *usage.Interval, pod int) (loading.Vector, bool) {
	alone := observer.AloneIn(v)
	for i := range v.Pods {
		if p := &v.Pods[i]; p.UID == podUID(pod) {
			threads := max(1, int(math.Round(p.Threads)))
			return loading.Vector{
				{Loading: alone[i].CPU, Pressure: alone[i].CPU, Threads: threads}, {Loading: alone[i].Disk, Pressure: alone[i].Disk, Threads: threads},
			}, alone[i].DiskKnown
		}
	}
	return loading.Vector{{Threads: 1}, {Threads: 1}}, true // it did nothing
}
