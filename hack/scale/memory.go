package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"loadline.dev/loadline/hack/local"
)

// memoryLimit is the variable of the environment by which a program of Go collects its garbage sooner where memory is short.
const memoryLimit = "GOMEMLIMIT"

// startLimited starts a program that collects its garbage as it does where it is installed, with a limit of memory, "" for the one that it is
// shipped with.
func startLimited(ctx context.Context, program, memory string, start func() (*local.Process, error)) (p *local.Process, err error) {
	root, err := local.Root(ctx)
	if err != nil {
		return nil, err
	}
	limit, err := memoryLimitOf(memory)
	if memory == "" {
		limit, err = shippedMemoryLimit(root, program)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Setenv(memoryLimit, limit); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Unsetenv(memoryLimit)) }()
	return start()
}

// memoryLimitOf returns how much memory a program tries to do with that may have some: nine tenths of it, as the chart has it. There is no limit
// for "".
func memoryLimitOf(memory string) (limit string, err error) {
	if memory == "" {
		return "", nil
	}
	may, err := resource.ParseQuantity(memory)
	if err != nil || may.Sign() <= 0 {
		return "", fmt.Errorf("%q is no amount of memory above 0, such as 1Gi", memory)
	}
	return strconv.FormatInt(may.Value()/10*9, 10), nil
}

// shippedMemoryLimit returns the limit that the Deployment of a program has in config.
func shippedMemoryLimit(root, program string) (limit string, err error) {
	path := filepath.Join(root, "config", strings.TrimPrefix(program, "loadline-"), "deployment.yaml")
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	objects, err := local.Decode(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		var d appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		for _, v := range d.Spec.Template.Spec.Containers[0].Env {
			if v.Name == memoryLimit {
				return v.Value, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no Deployment with %s", path, memoryLimit)
}
