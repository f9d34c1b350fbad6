package trace

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

// packing is a way to pack files that is not read: how its content starts, and how a
// user unpacks it.
type packing struct {
	name   string
	offset int // of the magic number
	magic  []string
	remedy string
}

// packings are those in which traces are offered. Of zip and bzip2, empty files start
// in a way of their own. What has been unzipped and starts like gzip again was zipped
// twice.
var packings = []packing{
	{name: "a zip archive", magic: []string{"PK\x03\x04", "PK\x05\x06", "PK\x07\x08"}, remedy: "unzip"},
	{name: "a tar archive", offset: 257, magic: []string{"ustar\x00", "ustar  \x00"}, remedy: "tar -xf"},
	{name: "a 7z archive", magic: []string{"7z\xBC\xAF\x27\x1C"}, remedy: "7z x"},
	{name: "compressed with bzip2", magic: bzip2Magic(), remedy: "bunzip2"},
	{name: "compressed with xz", magic: []string{"\xFD7zXZ\x00"}, remedy: "unxz"},
	{name: "compressed with zstd", magic: []string{"\x28\xB5\x2F\xFD"}, remedy: "unzstd"},
	{name: "compressed with gzip twice", magic: []string{gzipMagic}, remedy: "gunzip"},
}

// gzipMagic is how a file starts that is compressed with gzip, which is read.
const gzipMagic = "\x1f\x8b"

// bzip2Magic returns how bzip2 starts: with the size of its blocks and then one, or
// the end.
func bzip2Magic() []string {
	var magic []string
	for size := '1'; size <= '9'; size++ {
		magic = append(magic, "BZh"+string(size)+"1AY&SY", "BZh"+string(size)+"\x17rE8P\x90")
	}
	return magic
}

// refusePacked returns an error for content that is packed in a way that is not read.
func (l *lines) refusePacked() error {
	const farthest = 257 + len("ustar  \x00")
	start, err := l.in.Peek(farthest)
	if err != nil { // what comes before it is read all the same
		l.in = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(start), failing{err}), MaxLineBytes+2)
	}
	for _, p := range packings {
		if p.starts(start) {
			return &Error{File: l.file, Rule: "is " + p.name + "; a trace must be plain text, or plain text compressed with gzip: unpack it first, with " + p.remedy}
		}
	}
	return nil
}

// failing is the end of an input, or the error that it ends with.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (p packing) starts(content []byte) bool {
	return len(content) > p.offset && slices.ContainsFunc(p.magic, func(magic string) bool {
		return bytes.HasPrefix(content[p.offset:], []byte(magic))
	})
}
