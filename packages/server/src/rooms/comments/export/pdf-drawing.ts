import { LETTER_HEIGHT, type Shape } from '@review/contract';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Writes a line of text with its upper left corner at a place. */
type WriteText = (text: string, at: { x: number; y: number }, size: number, color: string) => void;

/** Draws the shapes of an annotation onto the picture in a box, as the console does. A pin of a 3D file has no place on a picture. */
export function drawShapes(doc: PDFKit.PDFDocument, shapes: readonly Shape[], box: Box, write: WriteText): void {
  doc.save();
  doc.rect(box.x, box.y, box.width, box.height).clip();
  doc.lineCap('round').lineJoin('round');
  for (const shape of shapes) drawShape(doc, shape, box, write);
  doc.restore();
}

function drawShape(doc: PDFKit.PDFDocument, shape: Shape, box: Box, write: WriteText): void {
  const thickness = shape.strokeWidth * Math.min(box.width, box.height);
  const place = ([x = 0, y = 0]: readonly number[]): [number, number] => [
    box.x + x * box.width,
    box.y + y * box.height,
  ];
  doc.lineWidth(thickness).strokeColor(shape.color).fillColor(shape.color);
  switch (shape.type) {
    case 'PEN': {
      const [first = [], ...rest] = shape.points;
      doc.moveTo(...place(first));
      // A line without a length draws the dot of a single point.
      for (const point of rest.length > 0 ? rest : [first]) doc.lineTo(...place(point));
      doc.stroke();
      return;
    }
    case 'LINE':
    case 'ARROW': {
      const [from, to] = [place(shape.from), place(shape.to)];
      doc.moveTo(...from).lineTo(...to);
      if (shape.type === 'ARROW') {
        const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
        const wing = (turn: number): [number, number] => [
          to[0] - thickness * 5 * Math.cos(angle + turn),
          to[1] - thickness * 5 * Math.sin(angle + turn),
        ];
        doc
          .moveTo(...wing(0.5))
          .lineTo(...to)
          .lineTo(...wing(-0.5));
      }
      doc.stroke();
      return;
    }
    case 'RECTANGLE':
      doc.rect(...place([shape.x, shape.y]), shape.width * box.width, shape.height * box.height).stroke();
      return;
    case 'ELLIPSE': {
      const [rx, ry] = [(shape.width * box.width) / 2, (shape.height * box.height) / 2];
      const [x, y] = place([shape.x, shape.y]);
      doc.ellipse(x + rx, y + ry, rx, ry).stroke();
      return;
    }
    case 'TEXT': {
      const [x, y] = place([shape.x, shape.y]);
      write(shape.text, { x, y }, thickness * LETTER_HEIGHT, shape.color);
      return;
    }
    case 'PIN':
      if (shape.z !== undefined) return;
      doc.circle(...place([shape.x, shape.y]), thickness * 3).fillAndStroke(shape.color, '#ffffff');
  }
}
