package sass

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/near"
)

// parseInstruction reads an instruction without its control code: guard, mnemonic, operands,
// optionally a semicolon. col is the column of its first byte. The table suggests a name for
// an unknown opcode.
func parseInstruction(text string, col int, t *table) (*source, *lineError) {
	s := &source{guard: Guard{Pred: PT}}
	body := strings.TrimRight(text, " \t")
	body = strings.TrimRight(strings.TrimSuffix(body, ";"), " \t")
	lead := len(body) - len(strings.TrimLeft(body, " \t"))
	col, body = col+lead, body[lead:]
	if strings.HasPrefix(body, "@") {
		n := strings.IndexAny(body, " \t")
		if n < 0 {
			return nil, &lineError{col, len(body), "a guard without an instruction", ""}
		}
		name := body[1:n]
		if rest, ok := strings.CutPrefix(name, "!"); ok {
			s.guard.Not, name = true, rest
		}
		digits, plain := predPattern.digits(name)
		if !plain {
			digits, s.guard.Uniform = upredPattern.digits(name)
		}
		if s.guard.Pred, _ = number(digits, PT, 6); !plain && !s.guard.Uniform {
			return nil, &lineError{col, n, fmt.Sprintf("%q is not a guard", body[:n]), "want @P0 to @P6 or @UP0 to @UP6, with ! to negate it"}
		}
		rest := strings.TrimLeft(body[n:], " \t")
		col += len(body) - len(rest)
		body = rest
	}
	n := strings.IndexAny(body, " \t")
	if n < 0 {
		n = len(body)
	}
	s.opText, s.opCol = body[:n], col
	if s.opText == "" {
		return nil, &lineError{col, 1, "expected an instruction", ""}
	}
	parts := strings.Split(s.opText, ".")
	op, ok := opsByName[parts[0]]
	if !ok {
		fix := ""
		if n := near.Name(parts[0], t.names()); n != "" {
			fix = "did you mean " + n + "?"
		}
		return nil, &lineError{col, len(parts[0]), fmt.Sprintf("unknown opcode %q", parts[0]), fix}
	}
	s.op, s.mods = op, parts[1:]
	args, err := parseArgs(body[n:], col+n)
	if err != nil {
		return nil, err
	}
	s.args = args
	return s, nil
}
