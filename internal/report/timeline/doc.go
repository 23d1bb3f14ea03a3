// Package timeline writes every instruction's way through the pipeline to a file for a
// viewer: Konata's text format, or Perfetto's trace format. It stores the instructions up
// to a limit, and is independent of what produced them.
package timeline
