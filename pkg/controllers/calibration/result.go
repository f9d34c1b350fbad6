package calibration

import (
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/probe/result"
)

// read makes the result of a question from the output of its pod. An error says why it cannot be
// used.
func read(message string, q *question) (*v1alpha1.CalibratedResource, error) {
	c, err := result.ParseCalibration(message)
	switch {
	case errors.Is(err, result.ErrTruncated):
		return nil, fmt.Errorf("%w; is the image that of this release?", err)
	case err != nil:
		return nil, err
	case c.Job != q.job:
		return nil, fmt.Errorf("it is of the standard job %s, not %s", c.Job, q.job)
	case c.Servers > q.maxServers:
		return nil, fmt.Errorf("it found %d servers, more than the %d that were looked for", c.Servers, q.maxServers)
	}
	found := &v1alpha1.CalibratedResource{
		Name: q.resource, Job: q.job,
		Dilation: quantity(c.Dilation), DilationError: quantity(c.DilationError), UnitsPerSecond: quantity(c.UnitsPerSecond),
	}
	if c.Servers > 0 {
		found.Servers = new(int32(c.Servers))
	}
	return found, nil
}

// quantity returns a number to a thousandth.
func quantity(f float64) *resource.Quantity {
	return new(resource.MustParse(strconv.FormatFloat(f, 'f', 3, 64)))
}
