package sass

import (
	"encoding/binary"
	"fmt"
)

// Bytes is the size of a kernel's code.
func (k *Kernel) Bytes() int { return max(len(k.Code)*InstBytes, len(k.Binary)) }

// LocalLabel begins the names of the labels that SetCode makes.
const LocalLabel = ".L_"

// SetCode gives a kernel its instructions, as words, two for each with the low one first.
// Words that no form describes become instructions that only hold them (NoOp). Branch targets
// get labels, in addition to those that the kernel has: .L_1, .L_2 …, in the order of their
// addresses. It fails if the code ends within an instruction, or is longer than an address
// can tell.
func (k *Kernel) SetCode(code []byte) error {
	if len(code)%InstBytes != 0 || len(code) >= 1<<31 {
		return fmt.Errorf("kernel %s has %d bytes of code; want a multiple of %d below %d", k.Name, len(code), InstBytes, 1<<31)
	}
	k.Code, k.Binary, k.Control, k.declared = make([]Inst, len(code)/InstBytes), nil, true, true
	target := make([]bool, len(k.Code)+1)
	for i := range k.Code {
		w := word128{binary.LittleEndian.Uint64(code[InstBytes*i:]), binary.LittleEndian.Uint64(code[InstBytes*i+8:])}
		k.Code[i] = fromWords(k.Arch, w, uint32(i)*InstBytes)
	}
	k.link()
	for i := range k.Code {
		for j := range k.Code[i].Operands {
			if o := &k.Code[i].Operands[j]; o.Kind == Target && o.Index >= 0 && !o.Tail {
				target[o.Index] = true
			}
		}
	}
	for _, l := range k.Labels {
		target[l.Index] = false
	}
	n := 0
	for i, yes := range target {
		if yes {
			n++
			k.Labels = append(k.Labels, Label{fmt.Sprintf(LocalLabel+"%d", n), i})
		}
	}
	return nil
}

// SetTarget gives a branch or a call, at an offset in bytes, its target. It does nothing if no such
// instruction is there.
func (k *Kernel) SetTarget(offset, target uint64) {
	n := offset / InstBytes
	if offset%InstBytes != 0 || n >= uint64(len(k.Code)) {
		return
	}
	for j := range k.Code[n].Operands {
		if o := &k.Code[n].Operands[j]; o.Kind == Target {
			o.Imm, o.Index = int64(target), -1
			if target%InstBytes == 0 && target/InstBytes < uint64(len(k.Code)) {
				o.Index = int32(target / InstBytes)
			}
		}
	}
}
