package text

import "testing"

func TestCountedIsPluralButForOne(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 jobs", 1: "1 job", 2: "2 jobs", 1204: "1,204 jobs"} {
		if got := Counted(n, "job"); got != want {
			t.Errorf("Counted(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestNamesListsFive(t *testing.T) {
	t.Parallel()
	all := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{0: "", 1: "a", 5: "a, b, c, d, e", 6: "a, b, c, d, e and 1 more", 7: "a, b, c, d, e and 2 more"} {
		if got := Names(all[:n]); got != want {
			t.Errorf("Names of %d is %q, want %q", n, got, want)
		}
	}
}

func TestACapitalizedClauseBeginsASentence(t *testing.T) {
	t.Parallel()
	for clause, want := range map[string]string{"": "", "a": "A", "no node": "No node", "äpfel": "Äpfel", "3 nodes": "3 nodes", "\xffx": "\xffx", "\u202ex": "\u202ex"} {
		if got := Capitalized(clause); got != want {
			t.Errorf("Capitalized(%q) is %q, want %q", clause, got, want)
		}
	}
}
