package program

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	logSize = 8 << 20
	// distance is how long the collector takes to acknowledge, as one that is far away does.
	distance = 5 * time.Millisecond
)

// openShipper writes a log and starts a collector at the loopback.
func openShipper(ctx context.Context, s *Spec, folder string) (*program, error) {
	text, err := logLines(s.Seed, logSize)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	collector, err := startCollector(ctx)
	if err != nil {
		return nil, err
	}
	p := &shipper{collector: collector, path: path, lines: s.Size}
	p.packed = gzip.NewWriter(&p.batch)
	return &program{p.ship, p.close}, nil
}

// shipper sends a log, and begins anew at its end.
type shipper struct {
	*collector
	path   string
	log    *os.File
	reader *bufio.Reader
	batch  bytes.Buffer
	packed *gzip.Writer
	lines  int
}

// ship sends the next lines but those for debugging.
func (s *shipper) ship(context.Context) error {
	s.batch.Reset()
	s.packed.Reset(&s.batch)
	encoder := json.NewEncoder(s.packed)
	for range s.lines {
		line, err := s.next()
		if err != nil {
			return err
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Level == "debug" {
			continue
		}
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	if err := s.packed.Close(); err != nil {
		return err
	}
	return s.send(s.batch.Bytes())
}

// next returns the next line.
func (s *shipper) next() ([]byte, error) {
	if s.log == nil {
		file, err := os.Open(s.path)
		if err != nil {
			return nil, err
		}
		s.log, s.reader = file, bufio.NewReader(file)
	}
	line, err := s.reader.ReadBytes('\n')
	if !errors.Is(err, io.EOF) {
		return line, err
	}
	if err := s.log.Close(); err != nil {
		return nil, err
	}
	s.log = nil
	return s.next()
}

func (s *shipper) close() error {
	err := s.collector.close()
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return err
}

// collector is a service that takes batches, seen from its client.
type collector struct {
	connection net.Conn
	ended      chan error
}

// startCollector starts one, and connects to it.
func startCollector(ctx context.Context) (c *collector, err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c = &collector{ended: make(chan error, 1)}
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			err = errors.Join(collect(connection), connection.Close())
		}
		c.ended <- errors.Join(err, listener.Close())
	}()
	c.connection, err = (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close(), <-c.ended)
	}
	return c, nil
}

// collect acknowledges batches, until the connection ends.
func collect(connection net.Conn) error {
	for {
		var size uint32
		switch err := binary.Read(connection, binary.BigEndian, &size); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if _, err := io.CopyN(io.Discard, connection, int64(size)); err != nil {
			return err
		}
		<-time.After(distance)
		if _, err := connection.Write([]byte{1}); err != nil {
			return err
		}
	}
}

// send sends a batch and waits until it is acknowledged.
func (c *collector) send(batch []byte) error {
	if err := binary.Write(c.connection, binary.BigEndian, uint32(len(batch))); err != nil {
		return err
	}
	if _, err := c.connection.Write(batch); err != nil {
		return err
	}
	_, err := io.ReadFull(c.connection, make([]byte, 1))
	return err
}

func (c *collector) close() error { return errors.Join(c.connection.Close(), <-c.ended) }
