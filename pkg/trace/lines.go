package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// MaxLineBytes is the longest line that is read. A longer one is an error, so
// that a file which is no trace cannot fill the memory.
const MaxLineBytes = 64 << 10

// lines hands out the lines of a plain or gzip input, one at a time.
type lines struct {
	file   string
	in     *bufio.Reader
	number int // of the line handed out last, from 1
}

func openLines(file string, in io.Reader) (*lines, error) {
	// bufio reports a full buffer before it sees the end of the line, hence
	// room for CR and LF.
	buffered := bufio.NewReaderSize(in, MaxLineBytes+2)
	l := &lines{file: file, in: buffered}
	if err := l.decompress(); err != nil {
		return nil, err
	}
	if err := l.refusePacked(); err != nil {
		return nil, err
	}
	return l, l.skipByteOrderMark()
}

// decompress puts a gzip reader in front of the input if it starts with
// gzip's magic number.
func (l *lines) decompress() error {
	magic, err := l.in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return l.unreadable(err)
	}
	if !bytes.Equal(magic, []byte(gzipMagic)) {
		return nil
	}
	plain, err := gzip.NewReader(l.in)
	if err != nil {
		return l.unreadable(err)
	}
	l.in = bufio.NewReaderSize(plain, MaxLineBytes+2)
	return nil
}

func (l *lines) skipByteOrderMark() error {
	mark, err := l.in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return l.unreadable(err)
	}
	if bytes.Equal(mark, []byte{0xEF, 0xBB, 0xBF}) {
		_, err = l.in.Discard(len(mark))
		return err
	}
	return nil
}

// next returns the next line that is not blank, without its line end, and
// io.EOF after the last one.
func (l *lines) next() (string, error) {
	for {
		raw, err := l.in.ReadSlice('\n')
		last := errors.Is(err, io.EOF)
		if last && len(raw) == 0 {
			return "", io.EOF
		}
		l.number++
		line := bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		switch {
		case errors.Is(err, bufio.ErrBufferFull), len(line) > MaxLineBytes:
			return "", l.wrong("is longer than " + grouped(MaxLineBytes) + " bytes; is this a trace?")
		case err != nil && !last:
			return "", l.unreadable(err)
		case len(bytes.TrimSpace(line)) > 0:
			return string(line), nil
		}
	}
}

func (l *lines) wrong(rule string) error {
	return &Error{File: l.file, Line: l.number, Rule: rule}
}

// unreadable is the error for input that stops before its end.
func (l *lines) unreadable(err error) error {
	rule := "cannot be read"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		rule = "the file is cut short"
	}
	return &Error{File: l.file, Line: l.number, Rule: rule, Err: err}
}
