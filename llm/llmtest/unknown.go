package llmtest

import "fmt"

// unknown says that got is none of the words that may stand there, and which of them is nearest.
func unknown(what, got string, known []string) error {
	best, least := "", len(got)/2+2
	for _, k := range known {
		if d := distance(got, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return fmt.Errorf("unknown %s %.40q; known are %v", what, got, known)
	}
	return fmt.Errorf("unknown %s %.40q; did you mean %s?", what, got, best)
}

// distance is how many bytes must be added, removed or changed to make b from a. It looks no further than the longest word
// that is known.
func distance(a, b string) int {
	const longest = 20
	a = a[:min(len(a), longest)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
