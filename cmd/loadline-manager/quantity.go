package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity is a flag's value such as 500m or 2Gi, above 0.
type quantity resource.Quantity

// String returns the quantity as users write it.
func (q *quantity) String() string { return (*resource.Quantity)(q).String() }

// Set takes a quantity.
func (q *quantity) Set(text string) error {
	parsed, err := resource.ParseQuantity(text)
	if err != nil || parsed.Sign() <= 0 {
		return fmt.Errorf("%q is not a quantity above 0 such as 500m or 2Gi", text)
	}
	*q = quantity(parsed)
	return nil
}

// Type names the kind of value.
func (*quantity) Type() string { return "quantity" }
