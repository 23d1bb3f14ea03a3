// Package ptx reads and writes NVIDIA's PTX assembly language, versions 1.4 to 9.x.
// It parses text into a tree in which every name is resolved and every function
// flattened, reports precise errors, and prints a tree back as text.
//
// Parse works in four steps, one file each: the lexer splits the text into tokens
// (lexer.go); a recursive-descent parser builds declarations, blocks and
// instructions (parser.go, decl.go, stmt.go, expr.go); names are resolved in their
// scopes (resolve.go) while functions are flattened into lists of instructions
// (flatten.go); and each instruction is matched against the instruction table
// (forms*.go, check.go).
// Errors of all steps are collected (errors.go). Print writes a module in one
// canonical layout (print.go); parsing its output gives the same module.
//
// A well-formed instruction that matches no row of the table does not invalidate
// its file: Inst.Bad says why it cannot be executed.
//
// What instructions do to data is in exec/ptx. The package knows no latencies, does
// not link modules, and has no host API.
package ptx
