//go:build linux

package kindnode

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// tree is the root file system of a node. Paths in it have no first slash; the folders above a file are made with it.
type tree struct{ *os.Root }

// write writes a file.
func (t tree) write(name, content string, mode fs.FileMode) error {
	return errors.Join(t.MkdirAll(path.Dir(name), 0o755), t.WriteFile(name, []byte(content), mode))
}

// copy copies a file of this machine.
func (t tree) copy(name, source string, mode fs.FileMode) (err error) {
	if err := t.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := t.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// symlink makes a symbolic link.
func (t tree) symlink(name, target string) error {
	return errors.Join(t.MkdirAll(path.Dir(name), 0o755), t.Symlink(target, name))
}

// remove removes what fits a pattern.
func (t tree) remove(pattern string) error {
	names, err := fs.Glob(t.FS(), pattern)
	for _, name := range names {
		err = errors.Join(err, t.RemoveAll(name))
	}
	return err
}
