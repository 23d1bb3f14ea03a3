package job

import (
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// This file: framebuffers as pictures.

// FrameImage makes pictures of a buffer.
type FrameImage struct {
	Pos           isa.Pos
	Buffer        tomlfile.Text
	Width, Height int    // pixels
	Format        string // bit, u8 or rgb
	Colours       color.Palette
	Scale         int           // a pixel's side in the picture
	PNG, GIF      tomlfile.Text // files, S is "" for none
	Frame         int           // of the PNG
	Delay         int           // of the GIF, hundredths of a second for each frame
}

// pixelFormats are the ways in which a buffer holds pixels, row by row.
var pixelFormats = []string{
	"bit", // rows of whole bytes, the lowest bit on the left
	"u8",  // a byte for each pixel, which is the index of a colour
	"rgb", // a word for each pixel, 0x00RRGGBB
}

// bytes returns the memory that the pixels take.
func (m *FrameImage) bytes() int64 {
	w, h := int64(m.Width), int64(m.Height)
	switch m.Format {
	case "bit":
		return (w + 7) / 8 * h
	case "u8":
		return w * h
	}
	return 4 * w * h
}

// image reads an [[images]].
func (p *keplerParser) image(t *tomlfile.Node) {
	m := &FrameImage{Pos: t.KeyPos}
	p.k.Images = append(p.k.Images, m)
	p.Known(t, "buffer", "width", "height", "format", "colours", "scale", "png", "gif", "frame", "delay")
	for _, key := range []string{"buffer", "width", "height"} {
		if t.Kids[key] == nil {
			p.Add(t.KeyPos, "the picture has no %s", key)
		}
	}
	m.Buffer, _ = p.Str(t, "buffer")
	p.knownBuffer(m.Buffer)
	m.Width, m.Height = int(p.Integer(t, "width", 1, maxEdge, 1)), int(p.Integer(t, "height", 1, maxEdge, 1))
	m.Format = p.OneOf(t, "format", pixelFormats...)
	m.Scale = int(p.Integer(t, "scale", 1, maxScale, 1))
	if m.Scale*max(m.Width, m.Height) > maxEdge {
		p.Add(t.KeyPos, "the picture's longer side has %d pixels; the maximum is %d", m.Scale*max(m.Width, m.Height), maxEdge)
	}
	if n := m.Scale * m.Scale * m.Width * m.Height; t.Kids["gif"] != nil && n*p.k.Frames > maxPixels {
		p.Add(t.KeyPos, "%d frames of %d pixels exceed the limit of a GIF, %d pixels", p.k.Frames, n, maxPixels)
	}
	m.Delay = int(p.Integer(t, "delay", 0, 10_000, 5))
	m.PNG, _ = p.Str(t, "png")
	m.GIF, _ = p.Str(t, "gif")
	if t.Kids["png"] == nil && t.Kids["gif"] == nil {
		p.Add(t.KeyPos, "the picture has no file: add png = \"FILE\" or gif = \"FILE\"")
	}
	m.Frame = p.frame(t, false)
	p.colours(t, m)
}

// colours reads the colours of pixel values; the defaults are black and white for bits,
// shades of grey for bytes.
func (p *keplerParser) colours(t *tomlfile.Node, m *FrameImage) {
	switch m.Format {
	case "bit":
		m.Colours = color.Palette{color.RGBA{A: 255}, color.RGBA{255, 255, 255, 255}}
	case "u8":
		for i := range 256 {
			m.Colours = append(m.Colours, color.RGBA{uint8(i), uint8(i), uint8(i), 255})
		}
	}
	k := t.Kids["colours"]
	switch {
	case k == nil:
		return
	case m.Format == "rgb":
		p.Add(k.KeyPos, "format = \"rgb\" has its own colours; remove colours")
		return
	case !k.Array || len(k.Items) > len(m.Colours):
		p.Add(k.Pos, "colours must be a list of at most %d, such as [\"#000000\", \"#ffffff\"]", len(m.Colours))
		return
	}
	for i, it := range k.Items {
		s, _ := it.Val.(string)
		v, err := strconv.ParseUint(s[min(1, len(s)):], 16, 32)
		if err != nil || len(s) != 7 || s[0] != '#' {
			p.Add(it.Pos, "not a colour; want \"#rrggbb\"")
			continue
		}
		m.Colours[i] = rgb(uint32(v))
	}
}

func rgb(v uint32) color.RGBA { return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

// colour returns the colour of a pixel.
func (m *FrameImage) colour(b []byte, x, y int) color.Color {
	switch m.Format {
	case "bit":
		return m.Colours[b[y*((m.Width+7)/8)+x/8]>>(x%8)&1]
	case "u8":
		return m.Colours[b[y*m.Width+x]]
	}
	return rgb(binary.LittleEndian.Uint32(b[4*(y*m.Width+x):]))
}

// palette returns the palette for some frames: the colours of all pixel values, the
// colours that occur if they are few, or a general one.
func (m *FrameImage) palette(frames [][]byte) color.Palette {
	if m.Format != "rgb" {
		return m.Colours
	}
	var list color.Palette
	seen := map[uint32]bool{}
	for _, b := range frames {
		for i := range m.Width * m.Height {
			v := binary.LittleEndian.Uint32(b[4*i:]) & 0xffffff
			if seen[v] {
				continue
			}
			if seen[v] = true; len(seen) > 256 {
				return m.commonest(frames)
			}
			list = append(list, rgb(v))
		}
	}
	return list
}

// commonest returns the 256 most frequent colours. Colours that share the upper five bits
// of each channel count as one, their mean.
func (m *FrameImage) commonest(frames [][]byte) color.Palette {
	type bucket struct{ n, r, g, b, at int }
	all := make([]bucket, 1<<15)
	for _, f := range frames {
		for i := range m.Width * m.Height {
			v := int(binary.LittleEndian.Uint32(f[4*i:]))
			r, g, b := v>>16&255, v>>8&255, v&255
			at := r>>3<<10 | g>>3<<5 | b>>3
			s := &all[at]
			*s = bucket{s.n + 1, s.r + r, s.g + g, s.b + b, at}
		}
	}
	slices.SortFunc(all, func(x, y bucket) int { return cmp.Or(y.n-x.n, x.at-y.at) })
	var list color.Palette
	for _, s := range all[:256] {
		if s.n > 0 {
			list = append(list, color.RGBA{uint8(s.r / s.n), uint8(s.g / s.n), uint8(s.b / s.n), 255})
		}
	}
	return list
}

// paint makes a picture of a buffer's bytes.
func (m *FrameImage) paint(b []byte, pal color.Palette) *image.Paletted {
	im := image.NewPaletted(image.Rect(0, 0, m.Scale*m.Width, m.Scale*m.Height), pal)
	for y := range m.Height {
		for x := range m.Width {
			c := uint8(pal.Index(m.colour(b, x, y)))
			for dy := range m.Scale {
				row := im.Pix[im.PixOffset(m.Scale*x, m.Scale*y+dy):]
				for dx := range m.Scale {
					row[dx] = c
				}
			}
		}
	}
	return im
}

// still returns the frame that the PNG shows; last is the last one that runs.
func (m *FrameImage) still(last int) int {
	if m.Frame == lastFrame {
		return last
	}
	return m.Frame
}

// writePNG writes one frame.
func (m *FrameImage) writePNG(w io.Writer, b []byte) error {
	if m.Format != "rgb" {
		return png.Encode(w, m.paint(b, m.Colours))
	}
	im := image.NewRGBA(image.Rect(0, 0, m.Scale*m.Width, m.Scale*m.Height))
	for y := range im.Rect.Max.Y {
		for x := range im.Rect.Max.X {
			im.Set(x, y, m.colour(b, x/m.Scale, y/m.Scale))
		}
	}
	return png.Encode(w, im)
}

// writeGIF writes all frames as an endless animation.
func (m *FrameImage) writeGIF(w io.Writer, frames [][]byte) error {
	pal := m.palette(frames)
	g := &gif.GIF{}
	for _, b := range frames {
		g.Image = append(g.Image, m.paint(b, pal))
		g.Delay = append(g.Delay, m.Delay)
	}
	return gif.EncodeAll(w, g)
}

// create writes a file of the job.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
