package simt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/param"
)

// This file: options of GPGPU-Sim's files that set several parameters or depend on
// each other. The others are declared with the parameters.

const (
	pipelineWidths = "-gpgpu_pipeline_widths"
	tensorPresent  = "-gpgpu_tensor_core_avail"
)

// options returns the options that set several parameters.
func options() []param.Option {
	list := []param.Option{
		{Name: "-gpgpu_scheduler", Default: "gto", Set: setScheduler},
		{Name: pipelineWidths, Default: "1,1,1,1,1,1,1,1,1,1,1,1,1", Keys: []string{"simt.issue", "simt.exec", "simt.write_back"}, Set: func(v string, _ param.Put) error {
			list, err := param.Numbers(v, ",")
			for _, n := range list {
				if n < 0 || n > maxWidth {
					return fmt.Errorf("width %d is out of bounds: want 0 to %d", n, maxWidth)
				}
			}
			return err
		}},
	}
	for _, x := range []struct{ table, ints, floats, doubles string }{
		{"latency", "1,1,19,25,145,32", "1,1,1,1,30", "8,8,8,8,335"}, {"initiation", "1,1,4,4,32,4", "1,1,1,1,5", "8,8,8,8,130"},
	} {
		option, table := "-ptx_opcode_"+x.table, "simt."+x.table
		ints := param.OfNumbers(option+"_int", x.ints, ",", param.Below(table, "int_add", "int_max", "int_mul", "int_mad", "int_div", "int_shfl")...)
		set := ints.Set
		ints.Set = func(v string, put param.Put) error {
			if strings.Count(v, ",") == 4 { // from a version without shuffles
				v += ",1"
			}
			return set(v, put)
		}
		list = append(list, ints,
			param.OfNumbers(option+"_fp", x.floats, ",", param.Below(table, "fp_add", "fp_max", "fp_mul", "fp_mad", "fp_div")...),
			param.OfNumbers(option+"_dp", x.doubles, ",", param.Below(table, "dp_add", "dp_max", "dp_mul", "dp_mad", "dp_div")...))
	}
	list = append(list, param.OfNumbers("-ptx_opcode_latency_sfu", "8", ",", "simt.latency.sfu"), param.OfNumbers("-ptx_opcode_initiation_sfu", "8", ",", "simt.initiation.sfu"),
		param.OfNumbers("-ptx_opcode_latency_tesnor", "64", ",", "simt.latency.tensor"), param.OfNumbers("-ptx_opcode_initiation_tensor", "64", ",", "simt.initiation.tensor"))
	const times = "-trace_opcode_latency_initiation_"
	for _, class := range []string{"int", "sp", "dp", "sfu", "tensor"} {
		list = append(list, param.OfNumbers(times+class, "4,1", ",", "simt.trace_latency."+class, "simt.trace_initiation."+class))
	}
	for _, c := range []struct{ option, key, units, ports string }{
		{"gen", "gen", "0", "0"}, {"sp", "sp", "4", "1"}, {"dp", "dp", "0", "0"}, {"int", "int", "0", "0"},
		{"sfu", "sfu", "4", "1"}, {"mem", "mem", "2", "1"}, {"tensor_core", "tensor", "4", "1"},
	} {
		const option = "-gpgpu_operand_collector_num_"
		at := "simt.collector." + c.key
		list = append(list, param.OfNumbers(option+"units_"+c.option, c.units, ",", at+".units"),
			param.OfNumbers(option+"in_ports_"+c.option, c.ports, ",", at+".in_ports"), param.OfNumbers(option+"out_ports_"+c.option, c.ports, ",", at+".out_ports"))
	}
	for i := range len(Params{}.Special) {
		at := fmt.Sprintf("simt.special%d", i+1)
		list = append(list, param.Option{Name: fmt.Sprintf("-specialized_unit_%d", i+1), Default: "0,4,4,4,4,BRA", Set: func(v string, put param.Put) error { return setSpecial(at, v, put) }},
			param.OfNumbers(fmt.Sprintf("%sspec_op_%d", times, i+1), "4,4", ",", at+".latency", at+".initiation"))
	}
	return list
}

// setSpecial reads an option of a specialised unit.
func setSpecial(table, text string, put param.Put) error {
	parts := strings.Split(text, ",")
	if len(parts) != 6 {
		return fmt.Errorf("%d parts; want 6: enabled, units, depth, two widths, name", len(parts))
	}
	on, err := param.Truth(parts[0])
	if err != nil {
		return err
	}
	for i, k := range param.Below(table, "units", "depth", "issue_width", "exec_width") {
		n, err := param.Number(parts[i+1])
		if err != nil {
			return err
		}
		if i == 0 && !on {
			n = 0
		}
		if err := put(k, n); err != nil {
			return err
		}
	}
	return put(table+".name", strings.TrimSpace(parts[5]))
}

// setScheduler reads -gpgpu_scheduler, which is matched by substrings in this order.
func setScheduler(text string, put param.Put) error {
	for _, p := range []struct {
		part, word string
		at         int // index of the number of warps; 0: there is none
	}{
		{"lrr", "lrr", 0}, {"two_level_active", "two-level", 1}, {"gto", "gto", 0}, {"rrr", "rrr", 0}, {"old", "old", 0},
		{"warp_limiting", "warp-limiting", 2},
	} {
		if !strings.Contains(text, p.part) {
			continue
		}
		if p.at > 0 {
			parts := strings.Split(text, ":")
			if len(parts) <= p.at {
				return fmt.Errorf("the number of warps is missing; want for example two_level_active:6:0:1 or warp_limiting:2:6")
			}
			n, err := param.Number(parts[p.at])
			if err == nil {
				err = put("simt.active_warps", n)
			}
			if err != nil {
				return err
			}
		}
		return put("simt.scheduler", p.word)
	}
	return errors.New("want lrr, two_level_active:n:i:o, gto, rrr, old or warp_limiting:p:n")
}

// finish distributes -gpgpu_pipeline_widths to its parameters.
func finish(g param.Given, _ bool) error {
	widths, err := param.Numbers(g.Value(pipelineWidths), ",")
	if err != nil {
		return err
	}
	tensor, want := g.Value(tensorPresent), 11
	if w := widths; len(w) == 7 && tensor == "0" { // GPGPU-Sim 3: SP, SFU and MEM only
		widths = []int64{w[0], 0, 0, w[1], w[2], w[3], 0, 0, w[4], w[5], w[6]}
	}
	if tensor != "0" {
		want = 13
	}
	if n := len(widths); n < want || n > 13 {
		return fmt.Errorf("%s has %d numbers; want %d with %s %s", pipelineWidths, n, want, tensorPresent, tensor)
	}
	for i, key := range []string{
		"issue.sp", "issue.dp", "issue.int", "issue.sfu", "issue.mem", "exec.sp", "exec.dp", "exec.int", "exec.sfu", "exec.mem",
		"write_back", "issue.tensor", "exec.tensor",
	} {
		n := int64(0)
		if i < want {
			n = widths[i]
		}
		if err := g.Put(pipelineWidths, "simt."+key, n); err != nil {
			return fmt.Errorf("%s: %w", pipelineWidths, err)
		}
	}
	return nil
}
