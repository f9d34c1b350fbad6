package cli

import (
	"runtime"

	"github.com/spf13/cobra"
)

// versionAnswer is what version prints as JSON and YAML.
type versionAnswer struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(version string, streams Streams) *cobra.Command {
	var output outputFlag
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  kubectl loadline version
  kubectl loadline version -o json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			answer := versionAnswer{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return output.print(streams.Out, answer, func() error {
				_, err := streams.Out.Write([]byte("kubectl loadline " + answer.Version + " (" + answer.Go + ", " + answer.Platform + ")\n"))
				return err
			})
		},
	}
	output.add(command)
	return command
}
