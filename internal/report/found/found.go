// Package found holds what checkers have found, as results and files have it: the model of what
// heddle check --json writes, which is also a part of every result of a run with checkers. It
// knows no checker; internal/check/output fills it.
package found

// Version is the version of the form. It rises when a field changes its meaning.
const Version = 1

// Document is the findings of a run, or of several that were merged. Each rule is in it once.
type Document struct {
	Version  int       `json:"version"`
	Rules    []Rule    `json:"rules"`
	Findings []Finding `json:"findings"`
}

// Rule is a kind of finding.
type Rule struct {
	ID      string   `json:"id"`
	Checker string   `json:"checker"`
	Level   string   `json:"level"` // note, warning or error
	Short   string   `json:"short"`
	Full    string   `json:"full,omitempty"`
	Mend    string   `json:"mend,omitempty"`
	Tags    []string `json:"tags,omitempty"`
}

// Finding is an error that a checker has found.
type Finding struct {
	Rule    string            `json:"rule"`
	Level   string            `json:"level"` // the rule's, or less
	Message string            `json:"message"`
	Kernel  string            `json:"kernel,omitempty"`
	Launch  int               `json:"launch"` // -1 for the host's
	Count   uint64            `json:"count"`
	Cause   string            `json:"cause,omitempty"` // of a race
	Order   string            `json:"order,omitempty"` // of blocks and warps, under which it was found
	Steps   []Step            `json:"steps"`           // the first is where the finding is
	Details map[string]string `json:"details,omitempty"`
}

// Step is a place with what happens there.
type Step struct {
	Role string `json:"role"` // access, other access, allocation, free, launch or call
	Text string `json:"text,omitempty"`
	Place
	Chain []Place `json:"chain,omitempty"` // callers, the innermost first
}

// Place is a place in a program's text.
type Place struct {
	File     string `json:"file,omitempty"` // as the compiler was given it
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	PC       int    `json:"pc,omitempty"`
	Inst     string `json:"inst,omitempty"`
	Library  bool   `json:"library,omitempty"` // in a header of the SDK
}

// Causes are the causes of races in words.
var Causes = map[string]string{
	"scope-too-narrow":    "there is synchronisation between the two, but its scope does not include both threads",
	"fence-missing":       "one thread sees what the other has written to synchronise, but a fence is missing",
	"copy-not-waited-for": "nothing waits for the asynchronous copy between the two",
	"plain-beside-atomic": "one of the accesses is not atomic",
	"mixed-size":          "the two accesses have different sizes or begin at different bytes, so that atomics do not protect them",
}
