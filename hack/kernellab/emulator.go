package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
)

// emulators says of which packages of Debian the emulator of several processors is.
//
//go:embed emulator.csv
var emulators string

//go:embed pace/pace.c
var paceSource []byte

// emulator is a QEMU.
type emulator struct {
	program string
	folders []string // with firmware, besides its own
	pace    string   // file of the plugin that keeps processors in step; empty for one processor
}

// newEmulator returns the QEMU for a number of processors: for one of them that of this machine. Several need the version that
// pace.c is written for, which is downloaded the first time and kept in a folder; it takes the libraries of the other one.
func newEmulator(ctx context.Context, o *options, scratch string) (*emulator, error) {
	installed, err := exec.LookPath(o.qemu)
	if err != nil {
		return nil, fmt.Errorf("%w: make lab-packages installs it on Debian", err)
	}
	if o.processors == 1 {
		return &emulator{program: installed}, nil
	}
	packages, err := packagesOf(emulators, "qemu")
	if err != nil {
		return nil, err
	}
	root := filepath.Join(o.folder, "qemu")
	for _, p := range packages {
		file, err := p.fetch(ctx, o.mirror, o.folder)
		if err != nil {
			return nil, err
		}
		if said, err := exec.CommandContext(ctx, "dpkg-deb", "--extract", file, root).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: dpkg-deb: %w: %s", file, err, said)
		}
	}
	e := &emulator{
		program: filepath.Join(root, "usr", "bin", "qemu-system-x86_64"),
		folders: []string{filepath.Join(root, "usr", "share", "qemu"), filepath.Join(root, "usr", "share", "seabios")},
		pace:    filepath.Join(scratch, "libpace.so"),
	}
	return e, compile(ctx, paceSource, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", e.pace)
}

// compile compiles a program of C, with all warnings as errors.
func compile(ctx context.Context, source []byte, flags ...string) error {
	command := exec.CommandContext(ctx, "gcc", append([]string{"-Wall", "-Wextra", "-Werror", "-x", "c", "-"}, flags...)...)
	command.Stdin = bytes.NewReader(source)
	if messages, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("gcc: %w\n%s", err, messages)
	}
	return nil
}

// arguments returns what the emulator of a number of processors is told, but for the guest.
func (e *emulator) arguments(processors int) []string {
	args := []string{
		"-smp", fmt.Sprint(processors), "-cpu", "qemu64", "-m", "512", "-nodefaults", "-display", "none", "-no-reboot",
		"-rtc", "base=2026-01-01,clock=vm",
	}
	for _, f := range e.folders {
		args = append(args, "-L", f)
	}
	if processors == 1 {
		return append(args, "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off")
	}
	const quantum = 50000 // nanoseconds by which a processor may be ahead of another one
	return append(args, "-accel", "tcg,thread=multi", "-plugin", fmt.Sprintf("%s,quantum=%d", e.pace, quantum))
}
