package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/image/sbom"
)

func newImage() *cobra.Command {
	return &cobra.Command{
		Use:   "image FOLDER PROGRAM...",
		Short: "Write images of static programs into a folder, and what the programs are made of",
		Long: `image writes, for clusters and for registries, an image of each static program into a
folder: of those of one name NAME, which are for different platforms, the archive
NAME.tar, for the platform of the first, and the OCI layout NAME, for all. Beside them it
writes each program's bill of materials. It prints each image's digest.`,
		Example: `  # For two platforms
  cluster image out/images bin/linux/amd64/loadline-probe bin/linux/arm64/loadline-probe`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("image takes a folder and static programs, such as out/images bin/loadline-manager")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			folder, programs := args[0], args[1:]
			for len(programs) > 0 {
				name := filepath.Base(programs[0])
				others := func(program string) bool { return filepath.Base(program) != name }
				same := slices.DeleteFunc(slices.Clone(programs), others)
				programs = slices.DeleteFunc(programs, func(program string) bool { return !others(program) })
				digest, err := writeImage(folder, name, same)
				if err != nil {
					return err
				}
				fmt.Fprintln(command.OutOrStdout(), digest, name)
			}
			return nil
		},
	}
}

// writeImage writes the image of a program, which was built for one or several platforms, and returns its digest.
func writeImage(folder, name string, programs []string) (digest string, err error) {
	if err := image.WriteFile(filepath.Join(folder, name+".tar"), reference(name), programs[0]); err != nil {
		return "", err
	}
	if digest, err = image.WriteLayout(filepath.Join(folder, name), programs...); err != nil {
		return "", err
	}
	for _, program := range programs {
		file, err := sbom.FileName(program)
		if err != nil {
			return "", err
		}
		if err := sbom.WriteFile(filepath.Join(folder, file), program); err != nil {
			return "", err
		}
	}
	return digest, nil
}

// reference names the image of a program as a pod does.
func reference(program string) string {
	return "loadline/" + filepath.Base(program) + ":dev"
}
