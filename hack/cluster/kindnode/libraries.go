//go:build linux

package kindnode

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// addLibraries adds, from the root file system root, the dynamic linker of a program, and the libraries that it, or a library,
// needs, to content: all at the paths where root has them. A static program needs none.
func addLibraries(content tree, root, binary string) error {
	file, err := elf.Open(binary)
	if err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	names, err := file.ImportedLibraries()
	linker, linkerErr := linkerOf(file)
	if err := errors.Join(err, linkerErr, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	if linker != "" {
		source, err := resolve(root, linker)
		if err != nil {
			return fmt.Errorf("%s: its dynamic linker: %w", binary, err)
		}
		content.copyFile(strings.TrimPrefix(linker, "/"), source, 0o755)
	}
	for _, name := range names {
		if err := addLibrary(content, root, name); err != nil {
			return fmt.Errorf("%s: %w", binary, err)
		}
	}
	return nil
}

// addLibrary adds a library, unless content has it, and what it needs itself.
func addLibrary(content tree, root, name string) error {
	found, err := filepath.Glob(filepath.Join(root, "usr", "lib", "*", name))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("it needs the library %s, which is not below %s/usr/lib", name, root)
	}
	place, err := filepath.Rel(root, found[0])
	if err != nil {
		return err
	}
	if _, added := content[place]; added {
		return nil
	}
	source, err := resolve(root, "/"+place)
	if err != nil {
		return err
	}
	content.copyFile(place, source, 0o644)
	return addLibraries(content, root, source)
}

// linkerOf returns the path of the dynamic linker that a program asks for, or "".
func linkerOf(file *elf.File) (string, error) {
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			path, err := io.ReadAll(segment.Open())
			return string(bytes.TrimRight(path, "\x00")), err
		}
	}
	return "", nil
}

// resolve returns where a file of the root file system root is once all symbolic links are followed, which mean paths there.
func resolve(root, path string) (string, error) {
	const maxLinks = 40 // as Linux
	rest, at := strings.Split(strings.TrimPrefix(path, "/"), "/"), "/"
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(filepath.Join(root, next))
		if err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many symbolic links", path)
		}
		target, err := os.Readlink(filepath.Join(root, next))
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
	}
	return filepath.Join(root, at), nil
}
