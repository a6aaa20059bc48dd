// Package spelling finds the known word nearest to a misspelled one, for errors with a suggestion.
package spelling

// longest bounds the compared length of a word, in runes: a longer word is not a typing error.
const longest = 64

// Distance is how many letters must be added, removed, changed or swapped with their neighbour to make b of a.
func Distance(a, b string) int {
	from, to := runes(a), runes(b)
	var before []int // the row above the last one
	last := make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range from {
		row := make([]int, len(to)+1)
		row[0] = i + 1
		for j, y := range to {
			change := last[j]
			if x != y {
				change++
			}
			row[j+1] = min(change, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && x == to[j-1] && from[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(to)]
}

// Nearest returns the known word with the least distance, if that is at most most; otherwise "".
func Nearest(word string, known []string, most int) string {
	best := ""
	for _, k := range known {
		if d := Distance(word, k); d < most || d == most && best == "" {
			best, most = k, d
		}
	}
	return best
}

func runes(word string) []rune {
	var out []rune
	for _, r := range word {
		if len(out) == longest {
			break
		}
		out = append(out, r)
	}
	return out
}
