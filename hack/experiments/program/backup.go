package program

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	backedUp = 64
	fileSize = 256 * kib
)

// openBackup writes the files.
func openBackup(_ context.Context, s *Spec, folder string) (*program, error) {
	b := &backup{from: filepath.Join(folder, "from"), to: filepath.Join(folder, "to"), files: s.Size}
	if err := errors.Join(os.Mkdir(b.from, 0o750), os.Mkdir(b.to, 0o750)); err != nil {
		return nil, err
	}
	if _, err := writeFiles(b.from, s.Seed, backedUp, fileSize); err != nil {
		return nil, err
	}
	return &program{b.next, nothingToClose}, nil
}

// backup copies a folder, some files at a time, again and again.
type backup struct {
	from, to    string
	files, done int
}

// next walks the folder and copies the files whose turn it is.
func (b *backup) next(context.Context) error {
	var all []string
	err := filepath.WalkDir(b.from, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errNothing
	}
	for range b.files {
		path := all[b.done%len(all)]
		b.done++
		if err := withFile(path, func(file *os.File) error { return b.copy(file) }); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a file, with its hash at the end, and returns when it is on the disk.
func (b *backup) copy(file *os.File) (err error) {
	to, err := os.Create(filepath.Join(b.to, filepath.Base(file.Name())))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(hash, to), file); err != nil {
		return err
	}
	if _, err := to.Write(hash.Sum(nil)); err != nil {
		return err
	}
	return to.Sync()
}
