// Package ml implements NVML, the library that describes GPUs to monitoring tools, and
// the text of nvidia-smi, both from the description of the simulated machine. What a
// simulation does not have, such as a temperature or a power draw, is not supported, as on
// GPUs without a sensor for it.
//
// It changes nothing: clocks and modes of the simulated machine are those of its
// configuration.
package ml
