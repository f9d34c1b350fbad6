//go:build !linux

package main

import "errors"

var errPlatform = errors.New("reading past the page cache needs Linux")

func newBuffer(int) ([]byte, error) { return nil, errPlatform }

func freeBuffer([]byte) error { return nil }

func readDirect(string, []byte) error { return errPlatform }
