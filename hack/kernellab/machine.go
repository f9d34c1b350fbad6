package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed guest/guest.c
var guestSource []byte

// machine is a virtual machine whose clock counts the instructions of the guest, one a nanosecond on each processor: what it measures
// depends on little else that this machine does, and with one processor on nothing.
type machine struct {
	*emulator
	processors int
	kernel     string // file
	arguments  string // more of them, for the kernel
	gauge      string // file of loadline-gauge, to observe each mix; empty for none
	folder     string // for files
}

// run boots the machine with the mixes of a text, as guest.c reads them, and calls heard with each line of results.
func (m *machine) run(ctx context.Context, text string, heard func(line string) error) (messages string, err error) {
	root, console, guest := filepath.Join(m.folder, "root.cpio"), filepath.Join(m.folder, "console.log"), filepath.Join(m.folder, "guest")
	if err := compile(ctx, guestSource, "-O1", "-static", "-o", guest, "-lm"); err != nil {
		return "", err
	}
	program, err := os.ReadFile(guest)
	if err != nil {
		return "", err
	}
	files := []file{{"proc", directory, nil}, {"sys", directory, nil}, {"dev", directory, nil}, {"init", executable, program}, {"mixes", plain, []byte(text)}}
	if m.gauge != "" {
		program, err := os.ReadFile(m.gauge)
		if err != nil {
			return "", err
		}
		files = append(files, file{"gauge", executable, program})
	}
	if err := os.WriteFile(root, rootFiles(files...), 0o644); err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	command := exec.CommandContext(ctx, m.program, append(m.emulator.arguments(m.processors),
		"-serial", "file:"+console, "-serial", "stdio", "-kernel", m.kernel, "-initrd", root,
		"-append", "console=ttyS0 quiet panic=-1 tsc=reliable nokaslr "+m.arguments)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	results, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := command.Start(); err != nil {
		return "", err
	}
	ended, err := listen(results, heard)
	if err != nil {
		stop()
	}
	if failed := command.Wait(); err == nil && (failed != nil || !ended) {
		said, _ := os.ReadFile(console) // as far as there is anything: what is wrong is known
		err = fmt.Errorf("%s ended before the mixes did: %w\n%s%s", m.program, errors.Join(failed, ctx.Err()), &stderr, said)
	}
	return stderr.String(), err
}

// listen calls heard with each line of results, and returns whether the guest was done.
func listen(results io.Reader, heard func(line string) error) (ended bool, err error) {
	lines := bufio.NewScanner(results)
	for lines.Scan() {
		switch line := strings.TrimSpace(lines.Text()); {
		case line == "end":
			ended = true
		case strings.HasPrefix(line, "error,"):
			return false, fmt.Errorf("guest: %s", strings.TrimPrefix(line, "error,"))
		case line != "":
			if err := heard(line); err != nil {
				return false, err
			}
		}
	}
	return ended, lines.Err()
}

// file is one of the file system that the kernel begins with.
type file struct {
	name    string
	mode    int // with its type
	content []byte
}

// Types and modes of files.
const (
	directory  = 0o040755
	executable = 0o100755
	plain      = 0o100644
)

// rootFiles returns the file system that the kernel begins with: an archive of cpio's format newc.
func rootFiles(files ...file) []byte {
	var b bytes.Buffer
	for i, f := range append(slices.Clip(files), file{name: "TRAILER!!!"}) {
		fields := []int{i + 1, f.mode, 0, 0, 1, 0, len(f.content), 0, 0, 0, 0, len(f.name) + 1, 0}
		b.WriteString("070701")
		for _, v := range fields {
			fmt.Fprintf(&b, "%08X", v)
		}
		b.WriteString(f.name + "\x00")
		align(&b)
		b.Write(f.content)
		align(&b)
	}
	return b.Bytes()
}

// align fills up to a multiple of four bytes.
func align(b *bytes.Buffer) {
	for b.Len()%4 != 0 {
		b.WriteByte(0)
	}
}
