package main

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

// place is where standard jobs run, in flags.
type place struct {
	dir, peer string
	size      resource.QuantityValue
}

func (p *place) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&p.dir, "dir", ".", "Directory of the file of a disk job, which has no name and leaves a tenth of the disk and 1 GiB free.")
	flags.StringVar(&p.peer, "peer", "", "Address of the sink of the network job, as HOST:PORT.")
	flags.Var(&p.size, "size", "Size of the file of a disk job or of the memory of another job, from 16Mi (2Mi for llc) to 1Gi. Defaults to 256Mi for disks, 512Mi for memory and half of the last-level cache for llc.")
}

func (p *place) job(name string) probe.Job {
	return probe.Job{Name: name, Dir: p.dir, Peer: p.peer, Size: p.size.Value()}
}

// addJob gives a command the flag for its job.
func addJob(command *cobra.Command, name *string) {
	command.Flags().StringVar(name, "job", "", "The standard job: "+strings.Join(result.Jobs(), ", ")+".")
	must(command.MarkFlagRequired("job"))
}

// must panics on an error that only a bug can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
