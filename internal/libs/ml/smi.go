package ml

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/near"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// none is what nvidia-smi prints for values that a device does not have.
const none = "[N/A]"

// UsageError is an error in the arguments of nvidia-smi.
type UsageError struct{ message string }

func (e *UsageError) Error() string { return e.message }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// field is a value that --query-gpu prints.
type field struct {
	unit  string
	value func(d *Device, count int) string
}

// fixed is a field whose value is the same for all devices.
func fixed(s string) field { return field{"", func(*Device, int) string { return s }} }

// missing is a field without a value, which has a unit all the same.
func missing(unit string) field { return field{unit, func(*Device, int) string { return none }} }

// mebibytes is a field in MiB.
func mebibytes(f func(free, total uint64) uint64) field {
	return field{"MiB", func(d *Device, _ int) string { return strconv.FormatUint(f(d.Free())>>20, 10) }}
}

// megahertz is a field in MHz.
func megahertz(c Clock) field {
	return field{"MHz", func(d *Device, _ int) string {
		n, res := d.MHz(c)
		if res != Success {
			return none
		}
		return strconv.Itoa(int(n))
	}}
}

func total(_, n uint64) uint64   { return n }
func free(n, _ uint64) uint64    { return n }
func used(free, n uint64) uint64 { return n - free }

// fields are those of --query-gpu (nvidia-smi --help-query-gpu), by name.
var fields = map[string]field{
	"name":           {"", func(d *Device, _ int) string { return d.Name }},
	"index":          {"", func(d *Device, _ int) string { return strconv.Itoa(d.Index) }},
	"count":          {"", func(_ *Device, n int) string { return strconv.Itoa(n) }},
	"uuid":           {"", func(d *Device, _ int) string { return d.UUID() }},
	"driver_version": fixed(DriverVersion),
	"pci.bus_id":     {"", func(d *Device, _ int) string { return d.Address(8) }},
	"pci.domain":     {"", func(d *Device, _ int) string { n, _, _ := d.Bus(); return fmt.Sprintf("0x%04X", n) }},
	"pci.bus":        {"", func(d *Device, _ int) string { _, n, _ := d.Bus(); return fmt.Sprintf("0x%02X", n) }},
	"pci.device":     {"", func(d *Device, _ int) string { _, _, n := d.Bus(); return fmt.Sprintf("0x%02X", n) }},
	"compute_cap":    {"", func(d *Device, _ int) string { return fmt.Sprintf("%d.%d", d.Major, d.Minor) }},
	"memory.total":   mebibytes(total), "memory.free": mebibytes(free), "memory.used": mebibytes(used),
	"memory.reserved": mebibytes(func(_, _ uint64) uint64 { return 0 }),
	"clocks.gr":       megahertz(GraphicsClock), "clocks.sm": megahertz(SMClock), "clocks.mem": megahertz(MemoryClock), "clocks.video": megahertz(VideoClock),
	"clocks.max.gr": megahertz(GraphicsClock), "clocks.max.sm": megahertz(SMClock), "clocks.max.mem": megahertz(MemoryClock),
	"persistence_mode": fixed("Disabled"), "compute_mode": fixed("Default"), "display_mode": fixed("Disabled"), "display_active": fixed("Disabled"),
	"pstate": fixed("P0"), "ecc.mode.current": fixed("Disabled"), "ecc.mode.pending": fixed("Disabled"), "mig.mode.current": missing(""), "mig.mode.pending": missing(""),
	"temperature.gpu": missing(""), "temperature.memory": missing(""), "power.draw": missing("W"), "power.limit": missing("W"), "fan.speed": missing("%"),
	"utilization.gpu": missing("%"), "utilization.memory": missing("%"), "serial": missing(""), "vbios_version": missing(""),
	"pcie.link.gen.current": missing(""), "pcie.link.width.current": missing(""), "pcie.link.gen.max": missing(""), "pcie.link.width.max": missing(""),
}

// aliases are other names of fields.
var aliases = map[string]string{
	"gpu_name": "name", "gpu_uuid": "uuid", "gpu_bus_id": "pci.bus_id", "clocks.current.graphics": "clocks.gr", "clocks.current.sm": "clocks.sm",
	"clocks.current.memory": "clocks.mem", "clocks.current.video": "clocks.video", "clocks.max.graphics": "clocks.max.gr", "clocks.max.memory": "clocks.max.mem",
}

// smiFlags are the parsed arguments of nvidia-smi.
type smiFlags struct {
	query               string // fields, separated by commas
	format              string
	list, details, help bool
	version             bool
	ids                 string // devices, separated by commas
}

// SMI prints what nvidia-smi prints about devices: a table, with -L a list, with
// --query-gpu some fields, with -q an abridged description. name is the program that stands
// in for it. Errors in the arguments are an *UsageError.
func SMI(w io.Writer, name string, devices []Device, args []string) error {
	f, err := parseSMI(args)
	if err != nil {
		return err
	}
	chosen, err := choose(devices, f.ids)
	if err != nil {
		return err
	}
	var b strings.Builder
	switch {
	case f.help:
		b.WriteString(smiHelp)
	case f.version:
		fmt.Fprintf(&b, "NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version        : %s\n", name, Version, DriverVersion, cudaVersion())
	case f.query != "":
		if err := query(&b, f, chosen, len(devices)); err != nil {
			return err
		}
	case f.format != "":
		return usage("--format needs --query-gpu")
	case f.list:
		for _, d := range chosen {
			fmt.Fprintf(&b, "GPU %d: %s (UUID: %s)\n", d.Index, d.Name, d.UUID())
		}
	case f.details:
		describe(&b, chosen, len(devices))
	default:
		table(&b, name, chosen)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

const smiHelp = `Usage: heddle cuda [flags] -- nvidia-smi [-L | -q | --query-gpu=FIELDS --format=csv[,noheader][,nounits]] [-i INDEX,...]

It describes the simulated GPU in place of NVIDIA's program. Fields without a value in a
simulation are [N/A].
`

// parseSMI parses the arguments.
func parseSMI(args []string) (f smiFlags, err error) {
	valued := map[string]*string{"--query-gpu": &f.query, "--format": &f.format, "-i": &f.ids, "--id": &f.ids}
	plain := map[string]*bool{"-L": &f.list, "--list-gpus": &f.list, "-q": &f.details, "--query": &f.details, "-h": &f.help, "--help": &f.help, "--version": &f.version}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if yes, ok := plain[args[i]]; ok {
			*yes = true
			continue
		}
		to, ok := valued[name]
		switch {
		case !ok:
			known := slices.Sorted(maps.Keys(valued))
			known = append(known, slices.Sorted(maps.Keys(plain))...)
			hint := "see nvidia-smi -h"
			if n := near.Name(name, known); n != "" {
				hint = fmt.Sprintf("did you mean %s?", n)
			}
			return f, usage("%s is not supported; %s", args[i], hint)
		case !joined && i+1 == len(args), joined && value == "":
			return f, usage("%s: a value is missing", name)
		case !joined:
			i++
			value = args[i]
		}
		*to = value
	}
	return f, nil
}

// choose returns the devices of -i, by index, UUID or bus address; all if it is empty.
func choose(devices []Device, ids string) ([]*Device, error) {
	var list []*Device
	for i := range devices {
		d := &devices[i]
		if ids == "" || slices.ContainsFunc(strings.Split(ids, ","), func(id string) bool {
			return id == strconv.Itoa(d.Index) || strings.EqualFold(id, d.UUID()) || strings.EqualFold(id, d.Address(8)) || strings.EqualFold(id, d.Address(4))
		}) {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return nil, usage("no device %s; there are %d, from 0", ids, len(devices))
	}
	return list, nil
}

// query prints fields as comma-separated values.
func query(b *strings.Builder, f smiFlags, devices []*Device, count int) error {
	header, units := true, true
	words := strings.Split(f.format, ",")
	if words[0] != "csv" {
		return usage("--format=%s is not supported; want csv, csv,noheader or csv,noheader,nounits", f.format)
	}
	for _, word := range words[1:] {
		switch strings.TrimSpace(word) {
		case "noheader":
			header = false
		case "nounits":
			units = false
		default:
			return usage("--format=%s is not supported; want csv, csv,noheader or csv,noheader,nounits", f.format)
		}
	}
	names := strings.Split(f.query, ",")
	list := make([]field, len(names))
	heads := make([]string, len(names))
	for i, name := range names {
		name = strings.TrimSpace(name)
		known := name
		if to, ok := aliases[name]; ok {
			known = to
		}
		var ok bool
		if list[i], ok = fields[known]; !ok {
			hint := "known are " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
			if n := near.Name(name, slices.Concat(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(aliases)))); n != "" {
				hint = fmt.Sprintf("did you mean %q?", n)
			}
			return usage("field %q is not a valid field to query; %s", name, hint)
		}
		heads[i] = name
		if list[i].unit != "" {
			heads[i] += " [" + list[i].unit + "]"
		}
	}
	if header {
		fmt.Fprintln(b, strings.Join(heads, ", "))
	}
	for _, d := range devices {
		values := make([]string, len(list))
		for i, x := range list {
			if values[i] = x.value(d, count); units && x.unit != "" && values[i] != none {
				values[i] += " " + x.unit
			}
		}
		fmt.Fprintln(b, strings.Join(values, ", "))
	}
	return nil
}

func cudaVersion() string {
	return fmt.Sprintf("%d.%d", cuda.DriverVersion/1000, cuda.DriverVersion%1000/10)
}

// describe prints an abridged form of nvidia-smi -q.
func describe(b *strings.Builder, devices []*Device, count int) {
	line := func(depth int, name string, value any) {
		fmt.Fprintf(b, "%-*s: %v\n", 49, strings.Repeat(" ", 4*depth)+name, value)
	}
	get := func(d *Device, name string) string {
		f := fields[name]
		v := f.value(d, count)
		if v == none {
			return "N/A"
		}
		if f.unit != "" {
			v += " " + f.unit
		}
		return v
	}
	b.WriteString("\n==============NVSMI LOG==============\n\n")
	line(0, "Driver Version", DriverVersion)
	line(0, "CUDA Version", cudaVersion())
	b.WriteString("\n")
	line(0, "Attached GPUs", count)
	for _, d := range devices {
		fmt.Fprintf(b, "GPU %s\n", d.Address(8))
		for _, x := range [][2]string{
			{"Product Name", "name"}, {"Display Mode", "display_mode"}, {"Persistence Mode", "persistence_mode"}, {"Serial Number", "serial"}, {"GPU UUID", "uuid"},
			{"VBIOS Version", "vbios_version"}, {"Fan Speed", "fan.speed"}, {"Performance State", "pstate"}, {"Compute Mode", "compute_mode"},
		} {
			line(1, x[0], get(d, x[1]))
		}
		for _, group := range []struct {
			name  string
			lines [][2]string
		}{
			{"PCI", [][2]string{{"Bus", "pci.bus"}, {"Device", "pci.device"}, {"Domain", "pci.domain"}, {"Bus Id", "pci.bus_id"}}},
			{"FB Memory Usage", [][2]string{{"Total", "memory.total"}, {"Reserved", "memory.reserved"}, {"Used", "memory.used"}, {"Free", "memory.free"}}},
			{"Utilization", [][2]string{{"GPU", "utilization.gpu"}, {"Memory", "utilization.memory"}}},
			{"ECC Mode", [][2]string{{"Current", "ecc.mode.current"}, {"Pending", "ecc.mode.pending"}}},
			{"Temperature", [][2]string{{"GPU Current Temp", "temperature.gpu"}}},
			{"GPU Power Readings", [][2]string{{"Power Draw", "power.draw"}, {"Current Power Limit", "power.limit"}}},
			{"Clocks", [][2]string{{"Graphics", "clocks.gr"}, {"SM", "clocks.sm"}, {"Memory", "clocks.mem"}, {"Video", "clocks.video"}}},
			{"Max Clocks", [][2]string{{"Graphics", "clocks.max.gr"}, {"SM", "clocks.max.sm"}, {"Memory", "clocks.max.mem"}}},
		} {
			fmt.Fprintf(b, "    %s\n", group.name)
			for _, x := range group.lines {
				line(2, x[0], get(d, x[1]))
			}
		}
		line(1, "Processes", "None")
	}
	b.WriteString("\n")
}

// table prints the usual table.
func table(b *strings.Builder, name string, devices []*Device) {
	const wide = 89 // between the frame's corners
	rule := func(line, corner string) string {
		return corner + strings.Repeat(line, 41) + "+" + strings.Repeat(line, 24) + "+" + strings.Repeat(line, 22) + corner + "\n"
	}
	row := func(left, middle, right string) {
		fmt.Fprintf(b, "|%-41s|%-24s|%-22s|\n", cut(left, 41), cut(middle, 24), cut(right, 22))
	}
	whole := func(text string) { fmt.Fprintf(b, "|%-*s|\n", wide, cut(text, wide)) }
	edge := "+" + strings.Repeat("-", wide) + "+\n"

	b.WriteString(edge)
	whole(fmt.Sprintf(" NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-8s", cut("("+name+")", 22), DriverVersion, cudaVersion()))
	b.WriteString(rule("-", "+"))
	row(" GPU  Name                 Persistence-M", " Bus-Id          Disp.A", " Volatile Uncorr. ECC")
	row(" Fan  Temp   Perf          Pwr:Usage/Cap", "           Memory-Usage", " GPU-Util  Compute M.")
	row("", "", "               MIG M.")
	b.WriteString(rule("=", "|"))
	for _, d := range devices {
		free, total := d.Free()
		row(fmt.Sprintf(" %3d  %-30s Off", d.Index, cut(d.Name, 30)), fmt.Sprintf("   %16s Off", d.Address(8)), fmt.Sprintf("%21s", "Off"))
		row(" N/A   N/A    P0              N/A /  N/A", fmt.Sprintf(" %22s", fmt.Sprintf("%dMiB / %6dMiB", (total-free)>>20, total>>20)), "     N/A      Default")
		row("", "", fmt.Sprintf("%21s", "N/A"))
		b.WriteString(rule("-", "+"))
	}
	b.WriteString("\n" + edge)
	whole(" Processes:")
	whole("  GPU   GI   CI              PID   Type   Process name                        GPU Memory")
	whole("        ID   ID                                                               Usage")
	b.WriteString("|" + strings.Repeat("=", wide) + "|\n")
	whole("  No running processes found")
	b.WriteString(edge)
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
