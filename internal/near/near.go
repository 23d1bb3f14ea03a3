// Package near finds the known name that an unknown word was probably meant to be, for
// messages. It does not know what the names stand for.
package near

import "strings"

// longest is the longest word that is compared: longer ones are unlikely to be typos (our
// choice).
const longest = 80

// Name returns the name closest to a word, ignoring case; "" if none is close enough to be a
// typo. A typo changes at most one letter or a third of the word's letters, whichever is more
// (our choice). Ties go to the first name.
func Name(word string, names []string) string {
	if len(word) > longest {
		return ""
	}
	best, least := "", max(1, len(word)/3)+1
	word = strings.ToLower(word)
	for _, n := range names {
		if d := len(n) - len(word); d >= least || -d >= least {
			continue
		}
		if d := distance(word, strings.ToLower(n)); d < least && d < max(len(word), len(n)) {
			best, least = n, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of neighbouring letters
// that turn a into b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
