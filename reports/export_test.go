package reports

// TextWidth is the width in points of a text of the picture.
func TextWidth(size float64, bold, mono bool, s string) float64 {
	return newRuler().width(style{size: size, bold: bold, mono: mono}, s)
}

// Height is the height of the picture in points.
func (p *Picture) Height() float64 { return p.layout.height }
