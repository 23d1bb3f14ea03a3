package job

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/report/timeline"
)

// spans notes when the steps of a job ran.
func (x *runner) spans(r *timeline.Recorder) {
	for i, o := range x.timing.ops {
		if o == nil || !o.Begun() {
			continue
		}
		s := x.job.Steps[i]
		name := s.Kind.String()
		if o.Kernel != nil {
			name = fmt.Sprintf("launch %d: %s", s.Number, o.Kernel.Name)
		} else if m := x.moves[s]; m != nil {
			name = fmt.Sprintf("%s %s → %s", name, m.From, m.To)
		}
		r.AddSpan(timeline.Span{Name: name, Track: fmt.Sprintf("stream %d", s.Stream), Start: o.Start, End: max(o.End, o.Start)})
	}
}
