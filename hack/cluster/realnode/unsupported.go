//go:build !linux

package realnode

import (
	"context"
	"errors"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// errNotLinux is what everything here fails with.
var errNotLinux = errors.New("real nodes need Linux")

// Machine is this machine as a host of real nodes, which only a machine with Linux can be.
type Machine struct{}

// Node is a real node.
type Node struct{}

// Claim fails: real nodes need Linux.
func Claim(context.Context, Options) (*Machine, error) { return nil, errNotLinux }

// Clean does nothing: nothing can be left.
func Clean(context.Context, string) error { return nil }

// Address returns no address.
func (*Machine) Address() string { return "" }

// AddNodes fails: real nodes need Linux.
func (*Machine) AddNodes(context.Context, *controlplane.ControlPlane) error { return errNotLinux }

// Load fails: real nodes need Linux.
func (*Machine) Load(context.Context, string) error { return errNotLinux }

// Node fails: real nodes need Linux.
func (*Machine) Node(string) (*Node, error) { return nil, errNotLinux }

// Release does nothing.
func (*Machine) Release() error { return nil }

// Start fails: real nodes need Linux.
func (*Node) Start(context.Context) error { return errNotLinux }

// Stop fails: real nodes need Linux.
func (*Node) Stop(context.Context) error { return errNotLinux }

// KillKubelet fails: real nodes need Linux.
func (*Node) KillKubelet(context.Context) error { return errNotLinux }
