package input

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Files are the files and folders with manifests that a verb is given.
type Files struct {
	// Paths are those of files and folders; - is standard input. Of a folder the files are read whose
	// names end in .json, .yaml or .yml, as kubectl does.
	Paths []string
	// Recursive reads the folders in a folder, too.
	Recursive bool
	// For is the verb that reads them, for messages.
	For string
}

// Add adds the flags -f and -R to a verb. has describes the content of the files.
func (f *Files) Add(command *cobra.Command, by, has string) {
	f.For = by
	command.Flags().StringSliceVarP(&f.Paths, "filename", "f", nil, "file or folder with "+has)
	command.Flags().BoolVarP(&f.Recursive, "recursive", "R", false, "read the folders in a folder, too")
}

// extensions are those of the files that are read of a folder.
var extensions = []string{".json", ".yaml", ".yml"}

// Source is a file to read. Name is for messages.
type Source struct{ Path, Name string }

// Sources returns the files that are named, and those in the folders that are, by their whole paths.
func (f *Files) Sources() (all []Source, err error) {
	for _, path := range f.Paths {
		info, err := os.Stat(path)
		switch {
		case path == "-":
			all = append(all, Source{path, standardInput})
		case err != nil:
			return nil, err
		case info.IsDir():
			within, err := f.within(path)
			if err != nil {
				return nil, err
			}
			all = append(all, within...)
		default:
			all = append(all, Source{path, filepath.Base(path)})
		}
	}
	return all, nil
}

// within returns the files in a folder.
func (f *Files) within(folder string) (all []Source, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && !f.Recursive:
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
			all = append(all, Source{path, path})
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New(folder + ": there is no .json, .yaml or .yml file in the folder")
		if !f.Recursive {
			err = errors.New(folder + ": there is no .json, .yaml or .yml file in the folder; -R reads the folders in it, too")
		}
	}
	return all, err
}

const standardInput = "standard input"

// Open opens a file, or standard input for "-" where that may be. name is for
// messages.
func Open(path string, stdin io.Reader) (file io.ReadCloser, name string, err error) {
	if path == "-" && stdin != nil {
		return io.NopCloser(stdin), standardInput, nil
	}
	file, err = os.Open(filepath.Clean(path))
	return file, filepath.Base(path), err
}

// Text returns a reader of the text of a file in UTF-8, whose byte order mark, of UTF-8 or UTF-16, is heeded
// and left out.
func Text(file io.Reader) io.Reader {
	return transform.NewReader(file, unicode.BOMOverride(transform.Nop))
}
