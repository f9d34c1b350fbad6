//go:build linux

package kindnode

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// tree is files to put into an archive, by their paths without the first slash. Folders above them need not be named.
type tree map[string]entry

// entry is a file, a link or a folder: one of its fields is set, or none for an empty folder.
type entry struct {
	content []byte
	source  string // the path of a file to copy
	link    string // the target of a symbolic link
	mode    fs.FileMode
}

// file adds a file with a content.
func (t tree) file(name, content string, mode fs.FileMode) {
	t[name] = entry{content: []byte(content), mode: mode}
}

// copyFile adds a copy of a file.
func (t tree) copyFile(name, source string, mode fs.FileMode) {
	t[name] = entry{source: source, mode: mode}
}

// symlink adds a symbolic link.
func (t tree) symlink(name, target string) { t[name] = entry{link: target} }

// folder adds an empty folder.
func (t tree) folder(name string, mode fs.FileMode) { t[name+"/"] = entry{mode: mode} }

// writeOver writes an archive of the folder root with the tree's files in place of its own, and without those that skip names.
func (t tree) writeOver(w io.Writer, root string, skip func(name string) bool) error {
	archive := tar.NewWriter(w)
	known := map[string]bool{} // docker load refuses an archive that has a path twice
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." || skip(name) {
			return err
		}
		if _, replaced := t[name]; replaced {
			return nil
		}
		known[name] = d.IsDir()
		return copyInto(archive, name, path, d)
	})
	if err != nil {
		return err
	}
	return errors.Join(t.writeInto(archive, known), archive.Close())
}

// write writes an archive of the tree alone.
func (t tree) write(w io.Writer) error {
	archive := tar.NewWriter(w)
	return errors.Join(t.writeInto(archive, map[string]bool{}), archive.Close())
}

// copyInto adds a file, a link, a folder or a device as it is, but for the date of its last change.
func copyInto(archive *tar.Writer, name, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket != 0 {
		return nil
	}
	var link string
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	header.Name, header.Uname, header.Gname = name, "", ""
	if d.IsDir() {
		header.Name += "/"
	}
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return copyContent(archive, path)
}

func copyContent(w io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}

// writeInto adds the tree's files, each after those folders above it that known does not have, all of root.
func (t tree) writeInto(archive *tar.Writer, known map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if known[strings.TrimSuffix(name, "/")] {
			continue
		}
		if err := writeFolders(archive, path.Dir(strings.TrimSuffix(name, "/")), known); err != nil {
			return err
		}
		if err := t[name].writeInto(archive, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// writeFolders adds a folder and those above it, unless known has them.
func writeFolders(archive *tar.Writer, name string, known map[string]bool) error {
	if name == "." || known[name] {
		return nil
	}
	if err := writeFolders(archive, path.Dir(name), known); err != nil {
		return err
	}
	known[name] = true
	return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
}

func (e entry) writeInto(archive *tar.Writer, name string) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(e.mode)}
	content := io.Reader(bytes.NewReader(e.content))
	switch {
	case strings.HasSuffix(name, "/"):
		header.Typeflag = tar.TypeDir
	case e.link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, e.link, 0o777
	case e.source != "":
		info, err := os.Stat(e.source)
		if err != nil {
			return err
		}
		header.Size = info.Size()
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		return copyContent(archive, e.source)
	default:
		header.Size = int64(len(e.content))
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}
