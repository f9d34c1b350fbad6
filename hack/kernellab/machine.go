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
	"strings"
)

//go:embed guest/guest.c
var guestSource []byte

// buildGuest returns the guest program, statically linked.
func buildGuest(ctx context.Context, folder string) ([]byte, error) {
	file := filepath.Join(folder, "guest")
	command := exec.CommandContext(ctx, "gcc", "-O1", "-static", "-Wall", "-Wextra", "-Werror", "-x", "c", "-o", file, "-", "-lm")
	command.Stdin = bytes.NewReader(guestSource)
	if messages, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, messages)
	}
	return os.ReadFile(file)
}

// machine is a virtual machine of one processor, whose clock counts the instructions of the guest, one a nanosecond: what it measures
// depends on nothing else that this machine does.
//
// One processor is all that this can be: several would take turns at the one clock.
type machine struct {
	qemu   string
	kernel string // file
	guest  []byte // program
}

// run boots the machine with the mixes of a text, as guest.c reads them, and calls heard with each line of results.
func (m *machine) run(ctx context.Context, text, folder string, heard func(line string) error) (err error) {
	root, console := filepath.Join(folder, "root.cpio"), filepath.Join(folder, "console.log")
	if err := os.WriteFile(root, rootFiles(m.guest, text), 0o644); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	command := exec.CommandContext(ctx, m.qemu,
		"-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm",
		"-cpu", "qemu64", "-smp", "1", "-m", "256", "-nodefaults", "-display", "none", "-no-reboot",
		"-serial", "file:"+console, "-serial", "stdio",
		"-kernel", m.kernel, "-initrd", root, "-append", "console=ttyS0 quiet panic=-1 tsc=reliable nokaslr")
	var messages bytes.Buffer
	command.Stderr = &messages
	results, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	ended, err := listen(results, heard)
	if err != nil {
		stop()
	}
	if failed := command.Wait(); err == nil && (failed != nil || !ended) {
		said, _ := os.ReadFile(console) // as far as there is anything: what is wrong is known
		err = fmt.Errorf("%s ended before the mixes did: %w\n%s%s", m.qemu, errors.Join(failed, ctx.Err()), messages.Bytes(), said)
	}
	return err
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

// rootFiles returns the file system that the kernel begins with: an archive of cpio's format newc.
func rootFiles(guest []byte, mixes string) []byte {
	const folder, program, text = 0o040755, 0o100755, 0o100644 // types and modes
	var b bytes.Buffer
	for i, f := range []struct {
		name    string
		mode    int
		content []byte
	}{
		{"proc", folder, nil},
		{"sys", folder, nil},
		{"dev", folder, nil},
		{"init", program, guest},
		{"mixes", text, []byte(mixes)},
		{"TRAILER!!!", 0, nil},
	} {
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
