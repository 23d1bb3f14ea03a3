package near

import (
	"fmt"
	"strings"
)

// Suggest returns what was probably meant, such as `; did you mean "buffers"?`, or else the
// list of choices.
func Suggest(word string, names []string, kind string) string {
	if n := Name(word, names); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	if len(names) == 0 {
		return fmt.Sprintf("; there are no %s", kind)
	}
	shown := names
	more := ""
	if len(shown) > 12 {
		shown, more = shown[:12], ", …"
	}
	return fmt.Sprintf("; %s: %s%s", kind, strings.Join(shown, ", "), more)
}
