package second_test

import "testing"

func FuzzPassesToo(f *testing.F) {
	f.Add("a")
	f.Fuzz(func(*testing.T, string) {})
}
