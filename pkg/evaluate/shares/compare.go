package shares

import (
	"context"
	"errors"
	"math"
	"time"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/text"
)

// ComparedMethod is how one method does on a tree.
type ComparedMethod struct {
	Method string `json:"method"`
	// ElapsedSeconds is how long it took; absent if it was given up.
	ElapsedSeconds *float64 `json:"elapsedSeconds,omitempty"`
	// Error is the largest difference from the response times of the reference,
	// race to 1e-13, relative to them; Claimed is what the method says it may be.
	Error   *float64 `json:"error,omitempty"`
	Claimed *float64 `json:"claimed,omitempty"`
	// Evaluations is how much it computed, by its own count.
	Evaluations int `json:"evaluations,omitempty"`
	// GivenUp says why it has no answer.
	GivenUp string `json:"givenUp,omitempty"`
}

// Compare solves a tree by every method for the standard model, which are given up
// after a limit each; now is the time that it goes by. The errors are those of
// [OfTree].
func Compare(ctx context.Context, in TreeInput, limit time.Duration, now func() time.Time) ([]ComparedMethod, error) {
	reference := in
	reference.Options.Method, reference.Options.Tolerance = fairshare.Race.String(), fairshare.MinTolerance
	truth, err := OfTree(ctx, reference)
	if err != nil {
		return nil, err
	}
	var all []ComparedMethod
	for _, method := range fairshare.Methods() {
		in.Options.Method = method.String()
		compared, err := in.compare(ctx, truth, limit, now)
		if err != nil {
			return nil, err
		}
		all = append(all, compared)
	}
	return all, nil
}

// compare solves the tree by the method of its options.
func (in *TreeInput) compare(ctx context.Context, truth *TreeAnswer, limit time.Duration, now func() time.Time) (ComparedMethod, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := now()
	answer, err := OfTree(limited, *in)
	elapsed := now().Sub(start)
	compared := ComparedMethod{Method: in.Options.Method}
	switch {
	case ctx.Err() != nil:
		return compared, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		compared.GivenUp = "takes longer than " + text.Elapsed(limit)
		return compared, nil
	case errors.Is(err, fairshare.ErrTooCostly) || errors.Is(err, fairshare.ErrNotReached):
		compared.GivenUp = err.Error()
		return compared, nil
	case err != nil:
		return compared, err
	}
	compared.ElapsedSeconds, compared.Error = new(elapsed.Seconds()), new(answer.differenceFrom(truth))
	compared.Claimed, compared.Evaluations = new(answer.RelativeError), answer.Evaluations
	return compared, nil
}

// differenceFrom returns the largest relative difference from the response times of
// another answer for the tree.
func (a *TreeAnswer) differenceFrom(truth *TreeAnswer) float64 {
	difference := 0.0
	for i, n := range a.Nodes {
		if n.Factor != nil {
			difference = math.Max(difference, math.Abs(*n.Factor / *truth.Nodes[i].Factor - 1))
		}
	}
	return difference
}
