// Package timeline writes every instruction's way through the pipeline to a
// file for a viewer: Konata's text format, or Perfetto's trace format. It
// holds what it is given, up to a bound, and knows nothing of who produced it.
package timeline
