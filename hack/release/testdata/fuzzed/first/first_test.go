package first_test

import "testing"

func FuzzFails(f *testing.F) {
	f.Add("a")
	f.Fuzz(func(t *testing.T, text string) {
		if text != "a" {
			t.Errorf("%q is not a", text)
		}
	})
}

func FuzzPasses(f *testing.F) {
	f.Add("a")
	f.Fuzz(func(*testing.T, string) {})
}
