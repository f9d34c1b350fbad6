package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report/text"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// comparedMethod is how one method does on a tree.
type comparedMethod struct {
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

// compareTimeout is how long a method may take.
const compareTimeout = 20 * time.Second

// compareShareMethods solves a tree by every method for the standard model.
func compareShareMethods(ctx context.Context, in shares.TreeInput) ([]comparedMethod, error) {
	reference := in
	reference.Options.Method, reference.Options.Tolerance = fairshare.Race.String(), fairshare.MinTolerance
	truth, _, err := timedShareTree(ctx, reference)
	if err != nil {
		return nil, err
	}
	var all []comparedMethod
	for _, method := range fairshare.Methods() {
		compared, err := compareShareMethod(ctx, in, method.String(), truth)
		if err != nil {
			return nil, err
		}
		all = append(all, compared)
	}
	return all, nil
}

func compareShareMethod(ctx context.Context, in shares.TreeInput, method string, truth *shares.TreeAnswer) (comparedMethod, error) {
	limited, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	in.Options.Method = method
	answer, elapsed, err := timedShareTree(limited, in)
	switch {
	case ctx.Err() != nil:
		return comparedMethod{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return comparedMethod{Method: method, GivenUp: "takes longer than " + text.Elapsed(compareTimeout)}, nil
	case errors.Is(err, fairshare.ErrTooCostly) || errors.Is(err, fairshare.ErrNotReached):
		return comparedMethod{Method: method, GivenUp: err.Error()}, nil
	case err != nil:
		return comparedMethod{}, err
	}
	difference := 0.0
	for i, n := range answer.Nodes {
		if n.Factor != nil {
			difference = math.Max(difference, math.Abs(*n.Factor / *truth.Nodes[i].Factor - 1))
		}
	}
	return comparedMethod{
		Method: method, ElapsedSeconds: new(elapsed.Seconds()), Error: &difference, Claimed: new(answer.RelativeError), Evaluations: answer.Evaluations,
	}, nil
}

// printComparedMethods prints a table, unless there is nothing to print.
func printComparedMethods(p *page, all []comparedMethod) error {
	if len(all) == 0 {
		return nil
	}
	if err := p.lines(""); err != nil {
		return err
	}
	table := text.NewTable(text.Left("METHOD"), text.Right("TIME"), text.Right("ERROR"), text.Right("CLAIMED"), text.Right("EVALUATIONS"))
	for _, m := range all {
		if m.GivenUp != "" {
			table.Add(m.Method, m.GivenUp)
			continue
		}
		elapsed := time.Duration(*m.ElapsedSeconds * float64(time.Second))
		table.Add(m.Method, text.Elapsed(elapsed), fmt.Sprintf("%.0e", *m.Error), fmt.Sprintf("%.0e", *m.Claimed), text.Count(int64(m.Evaluations)))
	}
	return p.table(table)
}
