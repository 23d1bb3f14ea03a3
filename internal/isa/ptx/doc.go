// Package ptx reads and writes NVIDIA's PTX assembly language, versions 1.4 to
// 9.x: it turns text into a tree with every name resolved and every function
// flattened, says precisely what is wrong with text that it cannot read, and
// prints a tree back as text.
//
// Parse does it in four steps, one file each: the lexer cuts the text into
// tokens (lexer.go), a recursive-descent parser builds declarations, blocks and
// instructions (parser.go, decl.go, stmt.go, expr.go), names are looked up in
// their scopes (resolve.go) while functions are flattened into lists of
// instructions (flatten.go), and each instruction is matched against the
// instruction table (forms*.go, check.go).
// Errors of all steps are collected (errors.go). Print writes a module in one
// canonical layout (print.go); parsing that gives the same module again.
//
// An instruction that is well-formed but in no row of the table does not break
// its file: Inst.Bad says why it cannot be executed.
//
// The package is not an executor: what instructions do to data is in exec/ptx,
// and it knows no latencies, no linking of several modules and no host API.
package ptx
