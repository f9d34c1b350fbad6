//go:build !linux || !(amd64 || arm64)

package probe

import (
	"context"
	"time"
)

// What measuring needs of the kernel, where there is none of it.

type exits struct{}

func (*exits) wait([]int, time.Duration) error { return ErrPlatform }
func (*exits) close() error                    { return ErrPlatform }

// Now returns [ErrPlatform].
func Now() (int64, error) { return 0, ErrPlatform }

type processorSet struct{}

func usableProcessors() (*processorSet, error) { return nil, ErrPlatform }
func (*processorSet) IsSet(int) bool           { return false }
func (*processorSet) Count() int               { return 0 }

func cpuTime() (int64, error)       { return 0, ErrPlatform }
func threadTime() (int64, error)    { return 0, ErrPlatform }
func awaitTime(int64) error         { return ErrPlatform }
func sleepUntil(int64) error        { return ErrPlatform }
func pin(int) error                 { return ErrPlatform }
func bootID() (string, error)       { return "", ErrPlatform }
func freeBuffer([]byte) error       { return ErrPlatform }
func newBuffer(int) ([]byte, error) { return nil, ErrPlatform }

func newHugeBuffer(int) ([]byte, error) { return nil, ErrPlatform }

type scratch struct{}

func openScratch(string, int64) (*scratch, error) { return nil, ErrPlatform }

func (*scratch) read([]byte, int64) error  { return ErrPlatform }
func (*scratch) write([]byte, int64) error { return ErrPlatform }
func (*scratch) store() error              { return ErrPlatform }
func (*scratch) close() error              { return ErrPlatform }

type line struct{}

func dial(context.Context, string) (*line, error) { return nil, ErrPlatform }

func (*line) exchange() error { return ErrPlatform }
func (*line) close() error    { return ErrPlatform }
