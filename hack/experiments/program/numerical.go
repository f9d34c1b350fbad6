package program

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// openNumerical draws two matrices.
func openNumerical(_ context.Context, s *Spec, _ string) (*program, error) {
	random := rand.New(rand.NewPCG(s.Seed, 0))
	draw := func() *mat.Dense {
		m := mat.NewDense(s.Size, s.Size, nil)
		m.Apply(func(_, _ int, _ float64) float64 { return random.NormFloat64() }, m)
		return m
	}
	a, b, product := draw(), draw(), mat.NewDense(s.Size, s.Size, nil)
	var factors mat.LU
	round := func(context.Context) error {
		product.Mul(a, b)
		factors.Factorize(product)
		return nil
	}
	return &program{round, nothingToClose}, nil
}
