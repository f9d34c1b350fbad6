package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// spool keeps the pods of a recording that goes on in a file, where they are safe
// if the command is killed: a header and then a pod per line, in JSON, each written
// at once.
type spool struct {
	header spoolHeader
	file   *os.File
	seen   map[types.UID]bool
}

// spoolHeader describes the recording.
type spoolHeader struct {
	Format    string    `json:"format"`
	Namespace string    `json:"namespace"` // empty for all
	Selector  string    `json:"selector"`  // empty for all
	Since     time.Time `json:"since"`     // zero for the first pod
}

const spoolFormat = "loadline-recording/v1"

// openSpool opens the spool of a recording, and makes one if there is none. One of
// another recording is an error; of the same, its Since counts.
func openSpool(path string, header spoolHeader) (*spool, error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	header.Format = spoolFormat
	s := &spool{header: header, file: file, seen: map[types.UID]bool{}}
	if err := s.resume(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// resume reads the existing spool. A part after the last whole line is a pod that was cut short: it
// is dropped, and comes again.
func (s *spool) resume() error {
	end, err := s.read(func(pod *corev1.Pod) { s.seen[pod.UID] = true })
	if err != nil {
		return err
	}
	if err := s.file.Truncate(end); err != nil {
		return err
	}
	if _, err := s.file.Seek(end, io.SeekStart); err != nil || end > 0 {
		return err
	}
	return s.writeLine(s.header)
}

// add adds a pod unless it is there.
func (s *spool) add(pod *corev1.Pod) error {
	if s.seen[pod.UID] {
		return nil
	}
	if err := s.writeLine(pod); err != nil {
		return err
	}
	s.seen[pod.UID] = true
	return nil
}

// size returns the number of pods.
func (s *spool) size() int { return len(s.seen) }

// each hands over every pod, in the order in which they were added.
func (s *spool) each(take func(*corev1.Pod)) error {
	_, err := s.read(take)
	return err
}

func (s *spool) close() error {
	err := s.file.Close()
	if errors.Is(err, os.ErrClosed) { // removed
		return nil
	}
	if len(s.seen) == 0 {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

func (s *spool) remove() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

func (s *spool) writeLine(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = s.file.Write(append(line, '\n'))
	return err
}

// read reads the header and the pods from the start of the file, and returns where
// the last whole line ends.
func (s *spool) read(take func(*corev1.Pod)) (end int64, err error) {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	in := bufio.NewReader(s.file)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err == nil {
			err = s.readLine(number, line, take)
		}
		if err != nil {
			return 0, fmt.Errorf("%s, line %d: %w", s.file.Name(), number, err)
		}
		end += int64(len(line))
	}
}

func (s *spool) readLine(number int, line []byte, take func(*corev1.Pod)) error {
	if number > 1 {
		pod := &corev1.Pod{}
		if err := json.Unmarshal(line, pod); err != nil { //nolint:forbidigo // this program wrote it
			return err
		}
		take(pod)
		return nil
	}
	var header spoolHeader
	decoder := json.NewDecoder(bytes.NewReader(line)) //nolint:forbidigo // this program wrote it
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&header); err != nil || header.Format != spoolFormat {
		return errors.New("this is no recording that goes on: remove the file, or name another one with --to")
	}
	if header.Namespace != s.header.Namespace || header.Selector != s.header.Selector {
		return fmt.Errorf("this is a recording of namespace %q with selector %q, not of %q with %q: remove the file, or name another one with --to",
			header.Namespace, header.Selector, s.header.Namespace, s.header.Selector)
	}
	s.header = header
	return nil
}
