package explain

// The Kepler-style core: what package exec/kasm and the core do. R63 is zero by convention only.
const kasmWords = `
NOP    Does nothing.
ADD    Adds {1+}, and puts the sum into {0}.
SUB    Subtracts the other operands from the first one of {1+}, and puts the difference into {0}.
MUL    Multiplies the first one of {1+} with the sum of the others, and puts the lower 32 bits of the product into {0}.
IMAD   Multiplies {1} with {2}, adds {3}, and puts the result into {0}.
NEG    Puts {1} with the opposite sign into {0}.
MOV    Puts the bits of {1+}, joined by or, into {0}.
SLT    Puts 1 into {0} where {1} is less than the other operands of {1+} (unsigned), else 0.
SLE    Puts 1 into {0} where {1} is at most the sum of the other operands of {1+}, else 0.
SEQ    Puts 1 into {0} where {1} equals the sum of the other operands of {1+}, else 0.
IDIV   Divides {1} by the sum of the other operands of {1+}, and puts the quotient into {0}.
IREM   Divides {1} by the sum of the other operands of {1+}, and puts the remainder into {0}.
IABS   Puts {1} without its sign into {0}.
IMIN   Puts the least of {1+} into {0}.
IMAX   Puts the greatest of {1+} into {0}.
AND    Puts the bits that {1} has in common with the other operands of {1+} into {0}.
OR     Puts the bits that any of {1+} has into {0}.
XOR    Puts the bits in which {1} differs from the other operands of {1+} into {0}.
NOT    Inverts the bits of {1}, and puts them into {0}.
SHL    Shifts {1} to the left, by the sum of the other operands of {1+}, and puts the result into {0}.
SHR    Shifts {1} to the right, by the sum of the other operands of {1+}, fills with zeros, and puts the result into {0}.
SHA    Shifts {1} to the right, by the sum of the other operands of {1+}, keeps the sign, and puts the result into {0}.
POPC   Counts the bits of {1} that are set, and puts the number into {0}.
CLZ    Counts the zeros above the highest set bit of {1}, and puts the number into {0}.
BREV   Reverses the order of the bits of {1}, and puts them into {0}.
CNOT   Puts 1 into {0} where {1} is zero, else 0.
TID    Puts the number of the lane, 0 to 31, into {0}.
LDR    Loads the word at address {1} of global memory into {0}.
STR    Stores {1} at address {0} of global memory.
LDS    Loads the word at address {1} of shared memory into {0}.
STS    Stores {1} at address {0} of shared memory.
BEQ    Branches by {2} instructions in lanes where {0} equals {1}; the others go on.
BNE    Branches by {2} instructions in lanes where {0} differs from {1}; the others go on.
BRA    Branches by {0} instructions.
SSY    Notes where lanes meet again after a branch that splits them: {0} instructions from here.
JOIN   Waits here for the lanes that took the other way; then all go on together.
BAR    Waits until all warps have come to the barrier.
CALL   Calls the function that begins {0} instructions from here.
RET    Returns to the instruction after the last CALL.
EXIT   Ends the warp.
FADD   Adds {1} and {2} as floating-point numbers, and puts the sum into {0}.
FSUB   Subtracts {2} from {1} as floating-point numbers, and puts the difference into {0}.
FMUL   Multiplies {1} with {2} as floating-point numbers, and puts the product into {0}.
FFMA   Multiplies {1} with {2}, adds {3}, all as floating-point numbers, and puts the result into {0}.
FDIV   Divides {1} by {2} as floating-point numbers, and puts the quotient into {0}.
FTOI   Turns the floating-point number {1} into an integer, in {0}.
ITOF   Turns the integer {1} into a floating-point number, in {0}.
FMIN   Puts the lesser of the floating-point numbers {1} and {2} into {0}.
FMAX   Puts the greater of the floating-point numbers {1} and {2} into {0}.
FABS   Puts the floating-point number {1} without its sign into {0}.
FNEG   Puts the floating-point number {1} with the opposite sign into {0}.
SIN    Puts the sine of {1} into {0}, from a table.
COS    Puts the cosine of {1} into {0}, from a table.
EX2    Puts two to the power of {1} into {0}, from a table.
LG2    Puts the binary logarithm of {1} into {0}, from a table.
RCP    Puts the reciprocal of {1} into {0}, from a table.
RSQ    Puts the reciprocal of the square root of {1} into {0}, from a table.
SQRT   Puts the square root of {1} into {0}, from a table.
TANH   Puts the hyperbolic tangent of {1} into {0}, from a table.
ISETP  Sets {0} in lanes where {1} {cmp} {2}, as integers, and clears it in the others.
FSETP  Sets {0} in lanes where {1} {cmp} {2}, as floating-point numbers, and clears it in the others.
SELP   Puts {1} into {0} in lanes where {3} holds, {2} in the others.
ATOM.ADD  Adds {2} to the word at {1} of global memory, lane after lane; {0} is what was there before.
ATOM.MIN  Keeps the lesser of {2} and the word at {1} of global memory; {0} is what was there before.
ATOM.MAX  Keeps the greater of {2} and the word at {1} of global memory; {0} is what was there before.
ATOM.AND  Keeps the bits that {2} and the word at {1} of global memory have in common; {0} is what was there before.
ATOM.OR   Sets the bits of {2} in the word at {1} of global memory; {0} is what was there before.
ATOM.XOR  Flips the bits of {2} in the word at {1} of global memory; {0} is what was there before.
ATOM.EXCH Exchanges {2} for the word at {1} of global memory; {0} is what was there before.
ATOM.CAS  Stores {3} at {1} of global memory if the word there equals {2}; {0} is what was there before.
ATOMS.ADD  Adds {2} to the word at {1} of shared memory, lane after lane; {0} is what was there before.
ATOMS.MIN  Keeps the lesser of {2} and the word at {1} of shared memory; {0} is what was there before.
ATOMS.MAX  Keeps the greater of {2} and the word at {1} of shared memory; {0} is what was there before.
ATOMS.AND  Keeps the bits that {2} and the word at {1} of shared memory have in common; {0} is what was there before.
ATOMS.OR   Sets the bits of {2} in the word at {1} of shared memory; {0} is what was there before.
ATOMS.XOR  Flips the bits of {2} in the word at {1} of shared memory; {0} is what was there before.
ATOMS.EXCH Exchanges {2} for the word at {1} of shared memory; {0} is what was there before.
ATOMS.CAS  Stores {3} at {1} of shared memory if the word there equals {2}; {0} is what was there before.
TRI    Sets a triangle up for the lane; {0} is twice its area.
RAST   Sets {0} in lanes whose triangle covers the pixel {1}.
BARY   Puts the barycentric coordinates of a pixel into {0}.
INTP   Interpolates an attribute over the triangle, and puts it into {0}.
TEX    Reads the texture at {3} at the coordinates {1} and {2}, and puts the texel into {0}.
SMID   Puts the number of the SM that executes it into {0}.
`

// PTX, by its manual. Sentences name the operation; types and roundings are in the instruction itself.
const ptxWords = `
abs        Puts {1} without its sign into {0}.
activemask Puts the mask of the lanes that execute this together into {0}.
add        Adds {1+}, and puts the {kind}sum into {0}.
addc       Adds {1+} and the carry of the addition before, and puts the sum into {0}.
alloca     Takes {1} bytes of the thread's stack; {0} is their address.
and        Puts the bits that {1} and {2} have in common into {0}.
applypriority Changes how readily the L2 evicts the line at {0}.
atom       Changes the word at {1} in one step that nothing comes between ({mods}), with {2}; {0} is what was there before.
bar,barrier Meets other warps of the block at barrier {0}: waits until they have come.
bar.warp   Waits for the lanes of mask {0} of the same warp.
barrier.cluster Meets all threads of the cluster.
bar.arrive,barrier.arrive Arrives at barrier {0}, and goes on without waiting.
bfe        Takes {3} bits of {1}, from bit {2} on, and puts them into {0}.
bfi        Puts {4} bits of {1} into {2}, from bit {3} on; the result is {0}.
bfind      Puts the number of the highest significant bit of {1} into {0}.
bmsk       Puts a mask of {2} bits, from bit {1} on, into {0}.
bra        Branches to {0}.
brev       Reverses the order of the bits of {1}, and puts them into {0}.
brkpt      Stops for a debugger.
brx        Branches to one of several places, which {0} selects.
call       Calls a function: {0+}.
clusterlaunchcontrol Takes over the work of a block that has not begun.
clz        Counts the zeros above the highest set bit of {1}, and puts the number into {0}.
cnot       Puts 1 into {0} if {1} is zero, else 0.
copysign   Puts {2} with the sign of {1} into {0}.
cos        Puts an approximation of the cosine of {1} into {0}.
cp         Starts a copy of memory that goes on in the background: {0+}.
cp.async   Starts a copy of {2} bytes from {1} in global memory to {0} in shared memory, which goes on in the background.
cp.async.commit_group Closes the group of the copies that were started.
cp.async.wait_group Waits until at most {0} groups of copies are under way.
cp.async.wait_all Waits for all copies that were started.
cp.async.mbarrier.arrive Has the barrier object at {0} count the copies that were started.
cp.async.bulk Starts a copy of a whole range of memory in the background: {0+}.
createpolicy Makes a policy for the L2 cache, in {0}.
cvt        Converts {1} to another type ({mods}), and puts it into {0}.
cvta       Turns the address {1} of a state space into a generic one, in {0}.
cvta.to    Turns the generic address {1} into one of a state space, in {0}.
discard    Drops the line at {0} from the L2 without writing it back.
div        Divides {1} by {2}, and puts the {kind}quotient into {0}.
dp2a       Multiplies two pairs of small numbers in {1} and {2}, adds the products to {3}, and puts the sum into {0}.
dp4a       Multiplies the four bytes of {1} with those of {2}, adds the products to {3}, and puts the sum into {0}.
elect      Elects one of the lanes of mask {1}: {0} holds there.
ex2        Puts an approximation of two to the power of {1} into {0}.
exit       Ends the threads that execute it.
fence,membar Orders accesses to memory: those before it are seen before those after it.
fma        Multiplies {1} with {2}, adds {3}, rounds once, and puts the {kind}result into {0}.
fns        Finds the n-th set bit of {1}, and puts its number into {0}.
getctarank Puts the rank of the block that owns the shared address {1} into {0}.
griddepcontrol Orders this grid and the one that depends on it.
isspacep   Sets {0} where the generic address {1} is one of the state space.
istypep    Sets {0} where {1} is a handle of the type.
ld         Loads from address {1} into {0}.
ld.global  Loads from address {1} of global memory into {0}.
ld.shared  Loads from address {1} of shared memory into {0}.
ld.local   Loads from address {1} of the thread's own memory into {0}.
ld.const   Loads from address {1} of constant memory into {0}.
ld.param   Loads the parameter {1} into {0}.
ldmatrix   Loads 8x8 matrices from shared memory, whose rows begin at {1} of the lanes, into {0}.
ldu        Loads from address {1}, the same in all lanes, into {0}.
lg2        Puts an approximation of the binary logarithm of {1} into {0}.
lop3       Combines the bits of {1}, {2} and {3} by the truth table {4}, and puts the result into {0}.
mad        Multiplies {1} with {2}, adds {3}, and puts the result into {0}.
mad24      Multiplies the lower 24 bits of {1} and {2}, adds {3}, and puts the result into {0}.
madc       Multiplies {1} with {2}, adds {3} and the carry, and puts the result into {0}.
mapa       Puts the address of {1} in the shared memory of another block of the cluster into {0}.
match      Finds the lanes that have the same value {1}: {0} is their mask.
max        Puts the greater of {1} and {2} into {0}.
mbarrier   Works with the barrier object in shared memory ({mods}): {0+}.
mbarrier.init Sets the barrier object at {0} up for {1} arrivals.
mbarrier.arrive Arrives at a barrier object: {0+}.
mbarrier.test_wait Sets {0} if the phase {2} of the barrier object at {1} is complete.
mbarrier.try_wait Waits a while for the phase {2} of the barrier object at {1}, and sets {0} if it is complete.
min        Puts the lesser of {1} and {2} into {0}.
mma,wgmma,tcgen05 Multiplies and adds matrices in the tensor cores, or prepares it ({mods}): {0+}.
mov        Puts {1} into {0}.
movmatrix  Transposes an 8x8 matrix whose rows the lanes of the warp hold in {1}; the result is {0}.
mul        Multiplies {1} with {2}, and puts the {kind}product into {0}.
mul.lo     Multiplies {1} with {2}, and puts the lower half of the product into {0}.
mul.hi     Multiplies {1} with {2}, and puts the upper half of the product into {0}.
mul.wide   Multiplies {1} with {2}, and puts the whole product, twice as wide, into {0}.
mul24      Multiplies the lower 24 bits of {1} and {2}, and puts the product into {0}.
multimem   Accesses the same memory of several devices ({mods}): {0+}.
nanosleep  Sleeps for about {0} nanoseconds.
neg        Puts {1} with the opposite sign into {0}.
not        Inverts the bits of {1}, and puts them into {0}.
or         Puts the bits that {1} or {2} has into {0}.
pmevent    Triggers event {0} of performance monitors.
popc       Counts the bits of {1} that are set, and puts the number into {0}.
prefetch,prefetchu Asks a cache to load the line at {0}.
prmt       Picks four of the eight bytes of {1} and {2}, as {3} says, and puts them into {0}.
rcp        Puts the reciprocal of {1} into {0}.
red        Changes the word at {0} in one step that nothing comes between ({mods}), with {1}.
redux      Reduces {1} over the lanes of mask {2} ({mods}); all get the result in {0}.
rem        Divides {1} by {2}, and puts the remainder into {0}.
ret        Returns from the function; from a kernel, ends the threads that execute it.
rsqrt      Puts an approximation of the reciprocal of the square root of {1} into {0}.
sad        Adds the distance of {1} and {2} to {3}, and puts the sum into {0}.
selp       Puts {1} into {0} where {3} holds, else {2}.
set        Puts "true" into {0} where {1} {cmp} {2}, else 0.
setmaxnreg Changes how many registers the warp has, to {0}.
setp       Sets {0} where {1} {cmp} {2}, and clears it elsewhere.
shf        Shifts the pair of {2} and {1} by {3} bits, and puts 32 bits of it into {0}.
shfl       Takes {1} of another lane ({mods}, by {2}), and puts it into {0}.
shl        Shifts {1} to the left by {2} bits, and puts the result into {0}.
shr        Shifts {1} to the right by {2} bits, and puts the result into {0}.
sin        Puts an approximation of the sine of {1} into {0}.
slct       Puts {1} into {0} where {3} is not negative, else {2}.
sqrt       Puts the square root of {1} into {0}.
st         Stores {1} at address {0}.
st.global  Stores {1} at address {0} of global memory.
st.shared  Stores {1} at address {0} of shared memory.
st.local   Stores {1} at address {0} of the thread's own memory.
st.param   Passes {1} as the parameter {0} of a call.
stackrestore Restores the thread's stack to {0}.
stacksave  Notes the end of the thread's stack in {0}.
stmatrix   Stores 8x8 matrices {1} to shared memory; their rows begin at {0} of the lanes.
sub        Subtracts {2} from {1}, and puts the {kind}difference into {0}.
subc       Subtracts {2} and the borrow from {1}, and puts the difference into {0}.
suld       Loads from a surface into {0}.
suq        Asks for a property of the surface {1}; {0} is the answer.
sured      Changes a word of a surface in one step.
sust       Stores to a surface: {0+}.
szext      Extends the sign or the zeros of {1} from bit {2} on, and puts the result into {0}.
tanh       Puts an approximation of the hyperbolic tangent of {1} into {0}.
tensormap  Changes a field of the tensor map at {0}.
testp      Sets {0} where {1} is such a number ({mods}).
tex        Reads the texture and coordinates {1}, and puts the texel into {0}.
tld4       Reads one component of the four texels around the coordinates {1} into {0}.
trap       Ends the kernel with an error.
txq        Asks for a property of the texture {1}; {0} is the answer.
vabsdiff,vabsdiff2,vabsdiff4 Puts the distance of {1} and {2}, part by part, into {0}.
vadd,vadd2,vadd4 Adds {1} and {2}, part by part, and puts the sums into {0}.
vavrg2,vavrg4 Puts the means of {1} and {2}, part by part, into {0}.
vmad       Multiplies parts of {1} and {2}, adds {3}, and puts the result into {0}.
vmax,vmax2,vmax4 Puts the greater of {1} and {2}, part by part, into {0}.
vmin,vmin2,vmin4 Puts the lesser of {1} and {2}, part by part, into {0}.
vote       Asks all lanes for {1} ({mods}); {0} is the answer.
vset,vset2,vset4 Compares {1} with {2}, part by part, and puts 1 or 0 into {0}.
vshl       Shifts a part of {1} to the left by {2}, and puts the result into {0}.
vshr       Shifts a part of {1} to the right by {2}, and puts the result into {0}.
vsub,vsub2,vsub4 Subtracts {2} from {1}, part by part, and puts the differences into {0}.
wmma       Loads, multiplies or stores matrices of the tensor cores ({mods}): {0+}.
xor        Puts the bits in which {1} and {2} differ into {0}.
`

// SASS. NVIDIA documents its opcodes by a line each ("Instruction Set Reference" of the CUDA binary
// utilities); what they do in detail is what package exec/sass does. Uniform forms begin with U.
const sassWords = `
ACQBULK,CGAERRBAR,ERRBAR Orders accesses to memory with those of others.
ARRIVES  Has a barrier object count the copies that were started: {0+}.
ATOM,ATOMG Changes a word of global memory in one step that nothing comes between ({mods}): {0+}. The first register gets what was there before.
ATOMS    Changes a word of shared memory in one step that nothing comes between ({mods}): {0+}. The first register gets what was there before.
B2R,R2B  Moves between a barrier register and a register: {0+}.
BAR      Meets the other warps of the block at barrier {0}: waits until they have come.
BAR.ARV  Arrives at barrier {0}, and goes on without waiting.
BMMA,DMMA,HMMA,IMMA,OMMA,QMMA Multiplies the matrices {1} and {2} in the tensor core, adds {3}, and puts the result into {0}.
BMOV     Moves between a convergence barrier and a register: {0+}.
BMSK     Puts a mask of {2} bits, from bit {1} on, into {0}.
BPT      Stops for a debugger.
BRA      Branches to {0}.
BREAK    Takes the lanes that execute it out of the convergence barrier {0}.
BREV     Reverses the order of the bits of {1}, and puts them into {0}.
BRX,BRXU,JMX Branches to the address in {0}.
BSSY     Notes in the convergence barrier {0} that these lanes will meet again at {1}.
BSYNC    Waits for the lanes of the convergence barrier {0}; then all go on together.
CALL     Calls the function at {0}.
CCTL     Controls a cache: {0+}.
CREDUX,REDUX Reduces {1} over all active lanes ({mods}); {0} is the result.
CS2R     Puts the special register {1} into {0}.
CS2UR    Puts the special register {1} into {0}, one value for all lanes.
DADD     Adds {1+} in double precision, and puts the sum into {0}.
DEPBAR   Waits until at most so many of the accesses of a scoreboard are under way: {0+}.
DFMA     Multiplies {1} with {2}, adds {3}, in double precision, and puts the result into {0}.
DMUL     Multiplies {1} with {2} in double precision, and puts the product into {0}.
DSETP,FSETP Sets {0} where {2} {cmp} {3}, as floating-point numbers.
BGMMA,HGMMA,IGMMA,QGMMA Multiplies matrices in the tensor core for four warps together, in the background, and adds the product to {0} ({mods}).
ELECT    Elects one of the active lanes.
ENDCOLLECTIVE Ends a collective operation.
EXIT     Ends the threads that execute it.
F2F,FRND Rounds or converts the floating-point number {1} ({mods}), and puts it into {0}.
F2FP,F2IP,I2IP,I2FP Converts and packs {1+}, and puts the result into {0}.
F2I      Turns the floating-point number {1} into an integer, in {0}.
FADD,FADD2 Adds {1+} as floating-point numbers, and puts the sum into {0}.
FCHK     Sets {0} where dividing {1} by {2} needs special care.
FENCE,MEMBAR Orders accesses to memory: those before it are seen before those after it.
FFMA,FFMA2 Multiplies {1} with {2}, adds {3}, as floating-point numbers, and puts the result into {0}.
FLO      Puts the number of the highest set bit of {1+} into {0}.
FMNMX    Puts the lesser of {1} and {2} into {0} where {3} holds, else the greater, as floating-point numbers.
FMNMX3   Puts the least or greatest of {1+} into {0}, as floating-point numbers.
FMUL     Multiplies {1} with {2} as floating-point numbers, and puts the product into {0}.
FSEL,SEL Puts {1} into {0} where {3} holds, else {2}.
FSET     Puts 1 or all ones into {0} where {1} {cmp} {2}, else 0.
FSWZADD  Adds or subtracts {1} and {2}, as a pattern by lane says, and puts the result into {0}.
HADD2    Adds the two pairs of half-precision numbers {1} and {2}, and puts the sums into {0}.
HFMA2    Multiplies the pairs of half-precision numbers {1} and {2}, adds {3}, and puts the results into {0}.
HMNMX2   Puts the lesser or greater of the pairs of half-precision numbers {1} and {2} into {0}.
HMUL2    Multiplies the pairs of half-precision numbers {1} and {2}, and puts the products into {0}.
HSET2    Compares the pairs of half-precision numbers {1} and {2}, and puts the answers into {0}.
HSETP2   Sets {0} and {1} where the pairs of half-precision numbers {2} and {3} compare as asked.
I2F      Turns the integer {1} into a floating-point number, in {0}.
I2I      Converts the integer {1} to another size ({mods}), in {0}.
IABS     Puts {1} without its sign into {0}.
IADD,IADD3,VIADD Adds {1+}, and puts the sum into {0}.
IDP      Multiplies the small numbers packed in {1} and {2}, adds the products to {3}, and puts the sum into {0}.
IMAD     Multiplies {1} with {2}, adds {3}, and puts the result into {0}.
IMAD.MOV Puts {1+} into {0}, by the unit that multiplies.
IMAD.WIDE Multiplies {1} with {2}, adds the 64 bits from {3} on, and puts the 64 bits of the result into {0} and the register after it.
IMAD.SHL Shifts {1} to the left, by the unit that multiplies: multiplies it with {2}, and puts the product into {0}.
IMAD.IADD Adds {1} and {3}, by the unit that multiplies, and puts the sum into {0}.
IMNMX,VIMNMX Puts the lesser of {1} and {2} into {0} where the predicate at the end holds, else the greater.
ISETP    Sets {0} where {2} {cmp} {3}, as integers.
JMP      Jumps to {0}.
KILL     Ends the threads that execute it, of a pixel.
LD,LDG   Loads from address {1} of global memory into {0}.
LDC,LDCU Loads the constant {1} into {0}.
LDG.E.64,LDG.E.64.CONSTANT Loads 64 bits from address {1} of global memory into {0} and the register after it.
LDG.E.128,LDG.E.128.CONSTANT Loads 128 bits from address {1} of global memory into {0} and the three registers after it.
LDGDEPBAR Closes the group of the copies that were started.
LDGSTS   Starts a copy from {1} in global memory to {0} in shared memory, which goes on in the background.
LDL      Loads from address {1} of the thread's own memory into {0}.
LDS      Loads from address {1} of shared memory into {0}.
LDSM     Loads 8x8 matrices from shared memory, whose rows begin at {1} of the lanes, into {0}.
LDTM,STTM Moves between tensor memory and registers: {0+}.
LEA      Shifts {1} to the left by {3} bits, adds {2}, and puts the address into {0}.
LEPC     Puts the address of an instruction into {0}.
LOP3     Combines the bits of {1}, {2} and {3} by the truth table {4}, and puts the result into {0}.
MATCH    Finds the lanes that have the same value; {0} is their mask.
MOV      Puts {1} into {0}.
MOVM     Transposes an 8x8 matrix whose rows the lanes of the warp hold in {1}; the result is {0}.
MUFU     Puts an approximation of a function ({mods}) of {1} into {0}.
NANOSLEEP Sleeps for about {0} nanoseconds.
NOP      Does nothing.
P2R      Puts predicates as bits into {0}.
PLOP3    Combines predicates by a truth table: {0} is the result.
PMTRIG   Triggers an event of performance monitors.
POPC     Counts the bits of {1} that are set, and puts the number into {0}.
PREEXIT  Lets the next grid begin.
PRMT     Picks four of the eight bytes of {1} and {3}, as {2} says, and puts them into {0}.
PSETP    Combines predicates: {0} is the result.
QSPC     Sets {0} where the generic address is one of the state space.
R2P      Sets predicates from the bits of {1+}.
R2UR     Puts {1} of the first active lane into {0}, one value for all lanes.
REDAS    Changes a word in the shared memory of a block of the cluster, in one step that nothing comes between ({mods}): {0+}.
RED,REDG Changes a word of global memory in one step that nothing comes between ({mods}): {0+}.
RET      Returns from the function to the address in {0}.
RPCMOV   Moves the address to return to: {0+}.
S2R      Puts the special register {1} into {0}.
S2UR     Puts the special register {1} into {0}, one value for all lanes.
SGXT     Extends the sign or the zeros of {1} from bit {2} on, and puts the result into {0}.
SHF      Shifts the pair of {1} and {3} ({mods}) by {2} bits, and puts 32 bits of it into {0}.
SHFL     Takes {2} of another lane ({mods}, by {3}), and puts it into {1}; {0} says whether there is one.
ST,STG   Stores {1} at address {0} of global memory.
STAS     Stores into the shared memory of a block of the cluster: {0+}.
STL      Stores {1} at address {0} of the thread's own memory.
STS      Stores {1} at address {0} of shared memory.
STSM     Stores 8x8 matrices {1} to shared memory; their rows begin at {0} of the lanes.
SULD     Loads from a surface into the first of {0+}.
SUST     Stores to a surface: {0+}.
SYNCS    Works with a barrier object in shared memory ({mods}): {0+}.
TEX,TLD,TLD4,TXD Reads a texture: {0+}. The first register gets the texel.
TXQ      Asks for a property of a texture; {0} is the answer.
UBLKCP,UBLKPF,UBLKRED,UTMALDG,UTMASTG,UTMAREDG,UTMAPF,UTMACCTL,UTMACMDFLUSH Starts or closes copies of whole ranges of memory in the background: {0+}.
P2UR     Puts predicates as bits into {0}.
UR2UP,R2UP Sets predicates from the bits of {1+}.
UCGABAR_ARV Arrives at the barrier of the cluster.
UCGABAR_WAIT Waits at the barrier of the cluster.
USETMAXREG Changes how many registers the warp has: {0+}.
USETSHMSZ Changes how much shared memory the block has: {0+}.
UTCATOMSWS,UTCBAR,UTCHMMA,UTCIMMA,UTCOMMA,UTCQMMA,UTCSHIFT Works with tensor memory and the tensor core ({mods}): {0+}.
UVIRTCOUNT,VIRTCOUNT Counts virtual resources.
VABSDIFF,VABSDIFF4 Adds the distance of {1} and {2} to {3}, and puts the sum into {0}.
VIADDMNMX Adds {1} and {2}, and puts the lesser or greater of the sum and {3} into {0}.
VIMNMX3  Puts the least or greatest of {1+} into {0}.
VOTE     Asks all lanes for a predicate ({mods}): {0+} get the answer.
VOTEU    Asks all lanes for a predicate ({mods}); {0} is the answer, one value for all lanes.
WARPGROUP Begins or waits for multiplications of four warps together ({mods}): {0+}.
WARPSYNC Waits for the lanes of mask {0} of the same warp.
YIELD    Lets another part of the warp run.
`
