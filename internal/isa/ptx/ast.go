package ptx

import "github.com/heddle-sim/heddle/internal/isa"

// Pos is a line and a column in the file of its module.
type Pos = isa.Pos

// Type is a PTX fundamental or packed type, written as in PTX without the dot:
// "u32", "f16x2", "b8", "pred", "e4m3x2", "texref". The empty type means none.
type Type string

// Module is a PTX file.
type Module struct {
	File         string // name used in messages
	VersionMajor int
	VersionMinor int
	Targets      []string // as written: "sm_80", "map_f64_to_f32", …
	SM           int      // from the sm_NN (sm_90a → 90) in Targets
	AddressSize  int      // 32 or 64; 32, as PTX says, without the directive
	Items        []Item   // everything at module scope, in source order
	Lines        []string // the text, for carets in messages and for reports

	Vars    []*Var         // module-scope variables (all declarations, in order)
	Funcs   []*Func        // entries and functions (prototypes too), in order
	Files   map[int]string // .file directives: index → name
	Aliases []*Alias
}

// Item is an item at module scope: *VarDecl, *Func, *Directive, *Alias.
type Item interface{ item() }

// Alias is `.alias NAME, ALIASEE;`.
type Alias struct {
	Pos          Pos
	Name, Target string
}

// Directive is a module- or function-level directive without an effect on
// execution, kept for printing: .file, .loc (see Loc), .pragma, .section … Raw is
// its text as printed, without indentation.
type Directive struct {
	Pos  Pos
	Name string // ".file", ".pragma", ".section" …
	Raw  string
}

// Linkage is a linking directive.
type Linkage uint8

// The linkages; NoLinkage is module-local.
const (
	NoLinkage Linkage = iota
	Extern
	Visible
	Weak
	Common
)

// StateSpace is a declared state space of a variable or register.
type StateSpace uint8

// The state spaces of declarations and memory instructions.
const (
	SpaceNone StateSpace = iota
	SpaceReg
	SpaceSreg
	SpaceConst
	SpaceGlobal
	SpaceLocal
	SpaceParam
	SpaceShared
	SpaceTex
)

// Var is a declared variable or register.
type Var struct {
	Pos     Pos
	Name    string
	Linkage Linkage
	Space   StateSpace
	Type    Type     // element type; "texref", "samplerref", "surfref" for opaque ones
	Vec     int      // 0 (scalar), 2, 4 or 8 elements
	Align   int      // bytes; 0 if not given (natural alignment)
	Dims    []int64  // array dimensions; -1 for [] (extern shared, or given by Init); nil for a scalar
	Bank    int      // .const[n]; 0 otherwise
	Init    *Init    // initialiser, nil if none
	Ptr     *PtrAttr // .ptr attribute of a kernel parameter
	Attrs   []string // .attribute(...) contents, as written

	// Count is N of a parameterised declaration `%r<N>`: it declares %r0 … %r(N-1),
	// which share this Var and are distinguished by Operand.Index. 0: one name.
	Count int

	Func *Func // the function that declares it; nil at module scope
	ID   int   // unique within its module; the executor's key
}

// Size returns the variable's size in bytes (0 for an unsized array); for `[]` it
// depends on Init. Predicates and opaque types have size 0.
func (v *Var) Size() int64 { return varSize(v) }

// PtrAttr is `.ptr.space.align N` on a kernel parameter.
type PtrAttr struct {
	Space StateSpace
	Align int
}

// Init is an initialiser: a scalar, or a nested list in braces.
type Init struct {
	Pos  Pos
	List []*Init // non-nil for { … }
	Expr *Expr   // otherwise
}

// Expr is a constant expression in an initialiser or an operand, folded as far
// as symbols allow: Value plus the address of Sym (Generic: its generic
// address), with Mask selecting a byte field as in `0xFF00(sym)`.
type Expr struct {
	Pos     Pos
	Imm     Imm
	Sym     string     // variable or function whose address is added; "" if none
	Var     *Var       // the variable that Sym refers to, if it is one
	Generic bool       // generic(sym)
	Mask    uint64     // byte mask operator; 0 if none
	Entry   *InitField // `.name = value` fields of opaque initialisers (samplerref …); nil otherwise
}

// InitField is one `name = value` of an opaque variable's initialiser.
type InitField struct{ Name, Value string }

// Imm is a literal. Kind determines which field counts.
type Imm struct {
	Kind ImmKind
	Bits uint64 // ImmInt: two's complement; ImmF32: bits of a float32; ImmF64: bits of a float64
	Text string // as printed
}

// ImmKind is the kind of a literal.
type ImmKind uint8

// The kinds. A decimal floating literal and 0d… are ImmF64, 0f… is ImmF32. ImmUint
// is an integer with the suffix U or too large for a signed one.
const (
	ImmInt ImmKind = iota
	ImmUint
	ImmF32
	ImmF64
)

// Func is a kernel (.entry) or a function (.func).
type Func struct {
	Pos      Pos
	Name     string
	Entry    bool
	Linkage  Linkage
	Params   []*Var // .param or .reg
	Rets     []*Var // .param or .reg
	Variadic bool   // prototype with no list or `_` unsized param
	Proto    bool   // declaration without a body
	NoReturn bool
	Attrs    []string    // .attribute(...) contents, as written
	Perf     []Directive // .maxntid, .reqntid, .minnctapersm, .maxnreg, .pragma … before the body
	MaxNTID  [3]int      // 0 where absent
	ReqNTID  [3]int
	MaxNReg  int
	MinNCTA  int
	Cluster  [3]int // .reqnctapercluster

	Body *Block // nil for a prototype, and before Load
	load func() error

	// The flattened body: nested blocks inlined, labels resolved.
	Code   []*Inst
	Vars   []*Var            // every variable and register declared inside, in all scopes, in order
	Labels map[string]int    // function-scope label → index in Code, for reports; inner-scope labels get a unique suffix
	Protos map[string]*Func  // .callprototype labels; a name used again gets a unique suffix like Labels
	Tables map[string]*Table // .branchtargets and .calltargets labels; likewise
}

// Table is the list of a .branchtargets or .calltargets directive.
type Table struct {
	Pos     Pos
	Name    string
	Call    bool
	Names   []string
	Targets []int   // .branchtargets: indices in Code (len(Code) for a label at the very end)
	Funcs   []*Func // .calltargets: the functions
}

// Stmt is a statement of a body: *Inst, *Label, *VarDecl, *Block, *Loc, *Directive,
// *Table, *Func (a .callprototype).
type Stmt interface{ stmt() }

// Block is `{ … }`, a scope.
type Block struct {
	Pos   Pos
	Stmts []Stmt
}

// Label is `name:`.
type Label struct {
	Pos  Pos
	Name string
}

// VarDecl is a declaration statement; it may declare several names.
type VarDecl struct {
	Pos  Pos
	Vars []*Var
}

// Loc is a .loc directive.
type Loc struct {
	Pos             Pos
	File, Line, Col int
	Raw             string // the whole directive (function_name, inlined_at …)

	// Where the outermost function of the line was inlined, if it was; otherwise
	// InLine is 0. nvcc states it by inlined_at, with the number of a file, clang
	// in a comment, with its name.
	InFile, InLine int
	InName         string
}

// Inst is an instruction.
type Inst struct {
	Pos   Pos
	Guard *Guard
	Op    string   // "ld", "add", "wmma": up to the first dot
	Mods  []string // without dots, in source order: "global", "v4", "u32", "shared::cta"; shared between instructions, so do not modify it
	Args  []Operand

	Form *Form // the matching row of the instruction table; nil if none matches
	Bad  error // why none matches (unknown opcode, or an unsupported combination); loading a kernel that reaches the instruction reports this

	Index int  // in Func.Code
	Loc   *Loc // nearest preceding .loc of its function, nil if none
}

// Guard is `@p` or `@!p`.
type Guard struct {
	Neg bool
	Reg Operand
}

// OperandKind is the kind of an operand.
type OperandKind uint8

// The kinds of operand.
const (
	OpReg     OperandKind = iota // a register (Var, Index, Elem)
	OpSpecial                    // a special register: Name "%tid", Elem "x" or ""
	OpImm                        // a literal
	OpSym                        // address of a variable or function, plus Imm.Bits: `mov.u64 %rd, arr+8`; an undeclared callee has neither Var nor Func, and its Inst is Bad
	OpLabel                      // a label (Target)
	OpAddr                       // [base+offset]: List[0] is the base (OpReg, OpSym, OpImm), Offset is added
	OpVec                        // {a, b, c, d}
	OpPair                       // p|q, List has two
	OpSink                       // _
	OpTexAddr                    // [tex, {coords}], [tex, sampler, {coords}], [a, {..}, ..]: List has the parts
	OpList                       // (a, b) of a call
	OpTable                      // a .branchtargets, .calltargets or .callprototype label: Name
)

// Operand is an operand of an instruction.
type Operand struct {
	Kind    OperandKind
	Pos     Pos
	Neg     bool   // `!p`, or `-%r` (only where PTX allows it)
	Name    string // as written
	Elem    string // vector element: "x", "y", "z", "w" (r g b a are mapped); "" for the whole
	Var     *Var   // OpReg, OpSym (variable)
	Func    *Func  // OpSym that names a function; OpTable that names a .callprototype
	Table   *Table // OpTable that names .branchtargets or .calltargets
	Index   int    // register number in a parameterised declaration
	Imm     Imm    // OpImm; OpSym: the byte offset in Bits; OpReg: Bits is added to the value (`st.u64 [a], %rd1+1`)
	Generic bool   // OpSym written as generic(sym)
	Offset  int64  // OpAddr
	Target  int    // OpLabel: index in Func.Code; len(Code) for a label at the very end
	List    []Operand
}

func (*VarDecl) item()   {}
func (*Func) item()      {}
func (*Directive) item() {}
func (*Alias) item()     {}

func (*Inst) stmt()      {}
func (*Label) stmt()     {}
func (*VarDecl) stmt()   {}
func (*Block) stmt()     {}
func (*Loc) stmt()       {}
func (*Directive) stmt() {}
func (*Table) stmt()     {}
func (*Func) stmt()      {}

// Has reports whether the instruction carries the modifier.
func (in *Inst) Has(mod string) bool {
	for _, m := range in.Mods {
		if m == mod {
			return true
		}
	}
	return false
}

// FullName returns opcode and modifiers as written: "ld.global.v4.u32".
func (in *Inst) FullName() string { return join(in.Op, in.Mods) }

// Types returns the instruction's type modifiers in order: cvt.rn.f16.f32 has
// {"f16", "f32"}.
func (in *Inst) Types() []Type { return instTypes(in) }
