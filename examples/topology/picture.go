package main

import (
	"image/color"

	"github.com/resvec/resvec/examples/internal/picture"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 3.1 * vg.Inch
	panelHeight = 1.85 * vg.Inch
	columns     = 3
	square      = vg.Length(9) // a place
	lineHeight  = vg.Length(17)
)

var (
	ink  = color.Gray{0x20}
	edge = color.Gray{0x99}
	// Blue of the palette by Okabe and Ito, which people with any color vision can
	// distinguish from white and gray.
	blue = color.RGBA{0x00, 0x72, 0xB2, 0xFF}
)

// writePicture draws the answers that are to be drawn, a panel each.
func writePicture(path string, answers []answer) error {
	var drawn []answer
	for _, a := range answers {
		if a.drawn {
			drawn = append(drawn, a)
		}
	}
	rows := (len(drawn) + columns - 1) / columns
	canvas := vgsvg.New(columns*panelWidth+picture.Margin, vg.Length(rows)*panelHeight+picture.Margin)
	p := pen{draw.New(canvas), text.Plain{Fonts: font.NewCache(liberation.Collection())}}
	picture.Background(p.canvas)
	for i, a := range drawn {
		p.panel(vg.Length(i%columns)*panelWidth+picture.Margin, vg.Length(rows-i/columns)*panelHeight, a)
	}
	return picture.WriteSVG(path, canvas)
}

// pen draws on a canvas.
type pen struct {
	canvas  draw.Canvas
	handler text.Plain
}

// panel draws the cluster with what a gang takes, from its upper left corner.
func (p pen) panel(x, y vg.Length, a answer) {
	p.write(x, y-9, 10, a.title)
	y -= 18
	for first := 0; first < len(hosts); {
		n := 1
		for first+n < len(hosts) && hosts[first+n].block == hosts[first].block {
			n++
		}
		p.block(x, y, n, first, a)
		x += panelWidth/2 - 6
		first += n
	}
}

// block draws a block of n hosts, the first of which has an index.
func (p pen) block(x, y vg.Length, n, first int, a answer) {
	width := panelWidth/2 - 14
	racks := 1
	for i := first + 1; i < first+n; i++ {
		if hosts[i].rack != hosts[i-1].rack {
			racks++
		}
	}
	p.box(x, y-vg.Length(n)*lineHeight-vg.Length(racks)*15-16, width, vg.Length(n)*lineHeight+vg.Length(racks)*15+16, color.White, edge)
	p.write(x+5, y-11, 9, hosts[first].block)
	y -= 15
	for i := first; i < first+n; i++ {
		if i == first || hosts[i].rack != hosts[i-1].rack {
			in := 0
			for _, other := range hosts[first : first+n] {
				if other.rack == hosts[i].rack {
					in++
				}
			}
			p.box(x+5, y-vg.Length(in)*lineHeight-12, width-10, vg.Length(in)*lineHeight+12, color.Gray{0xF2}, edge)
			p.write(x+9, y-9, 8, hosts[i].rack)
			y -= 11
		}
		p.write(x+11, y-11, 8, hosts[i].name)
		for k := range hosts[i].free {
			fill := color.Color(color.White)
			if k < a.taken[i] {
				fill = blue
			}
			p.box(x+26+vg.Length(k)*(square+3), y-13, square, square, fill, ink)
		}
		y -= lineHeight
		if i+1 == first+n || hosts[i+1].rack != hosts[i].rack {
			y -= 4
		}
	}
}

// box draws a rectangle by its lower left corner.
func (p pen) box(x, y, width, height vg.Length, fill, line color.Color) {
	corners := []vg.Point{{X: x, Y: y}, {X: x + width, Y: y}, {X: x + width, Y: y + height}, {X: x, Y: y + height}}
	p.canvas.FillPolygon(fill, corners)
	p.canvas.StrokeLines(draw.LineStyle{Color: line, Width: 0.6}, append(corners, corners[0]))
}

// write writes a line of text by its lower left corner.
func (p pen) write(x, y, size vg.Length, line string) {
	style := text.Style{Color: ink, Font: picture.Sans(size), Handler: p.handler}
	p.canvas.FillText(style, vg.Point{X: x, Y: y}, line)
}
