import { setImmediate } from 'node:timers/promises';
import { MAX_PDF_CHARACTERS, MAX_PDF_COMMENTS, MAX_PDF_PICTURES, type Shape, withoutMarks } from '@review/contract';
import PDFDocument from 'pdfkit';
import { type Comments, type ExportedComment, type ExportedFile, oneLine, positionAt } from './exported.ts';
import { type Frame, MAX_PAGES } from './frames.ts';
import { type Box, drawShapes } from './pdf-drawing.ts';
import { FONT, Lettering, type Line } from './pdf-letters.ts';

/** What the pictures of a document are made from. */
export interface PictureSource {
  /** Returns the picture of a comment; null if there is none. Throws if it cannot be read. */
  frameOf(comment: ExportedComment): Promise<Frame | null>;
  shapesOf(comment: ExportedComment): Promise<readonly Shape[]>;
  /** Whether a page of the file has no picture in the document because of the maximum of pages. */
  isPageLeftOut(): boolean;
}

const LIMITS = { comments: MAX_PDF_COMMENTS, characters: MAX_PDF_CHARACTERS, pictures: MAX_PDF_PICTURES };

const MARGIN = 48;
const INDENT = 16;
const PICTURE = { width: 240, height: 240 };
const GREY = '#667085';
const BLACK = '#101828';
const GREEN = '#067647';

/** Comments as a document, page by page. Other work runs between any two lines. */
export async function* pdfOf(
  file: ExportedFile,
  comments: Comments,
  pictures: PictureSource,
  exportedAt: Date,
  limits = LIMITS,
): AsyncGenerator<Buffer> {
  const sheet = new Sheet(`Comments on ${oneLine(file.name)}`, exportedAt);
  await sheet.write(`Comments on ${oneLine(file.name)}`, { size: 18 });
  await sheet.write(`Exported ${exportedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`, { color: GREY });
  let [number, written, characters, drawn] = [0, 0, 0, 0];
  let isComplete = true;
  for await (const comment of comments) {
    const texts = [comment, ...comment.replies];
    written += texts.length;
    characters += texts.reduce((sum, { author, text }) => sum + author.length + text.length, 0);
    isComplete = written <= limits.comments && characters <= limits.characters;
    if (!isComplete) break;
    number += 1;
    await writeHeading(sheet, file, comment, number);
    if (drawn < limits.pictures && (await drawPicture(sheet, file, comment, pictures))) drawn += 1;
    if (comment.text !== '') await sheet.write(withoutMarks(comment.text));
    for (const reply of comment.replies) {
      sheet.space(4);
      await sheet.write(`${oneLine(reply.author)}, ${minuteOf(reply.createdAt)}`, { indent: INDENT, color: GREY });
      await sheet.write(withoutMarks(reply.text), { indent: INDENT });
    }
    yield* sheet.made();
  }
  sheet.space(18);
  if (number === 0) await sheet.write('There are no comments.', { color: GREY });
  if (!isComplete) {
    await sheet.write(`Only the first ${number} comments are in this document. The export as a table has all.`);
  }
  if (drawn === limits.pictures) {
    await sheet.write(`Only the first ${limits.pictures} pictures are in this document.`, { color: GREY });
  }
  if (pictures.isPageLeftOut()) {
    const pages = `Only the first ${MAX_PAGES} pages with comments have a picture in this document.`;
    await sheet.write(pages, { color: GREY });
  }
  sheet.end();
  yield* sheet.made();
}

const minuteOf = (at: string) => `${at.slice(0, 16).replace('T', ' ')} UTC`;

async function writeHeading(sheet: Sheet, file: ExportedFile, comment: ExportedComment, number: number) {
  sheet.space(16);
  // A heading at the end of a page would be apart from its comment.
  sheet.need(60);
  const place = placeOf(file, comment);
  await sheet.write([`${number}.`, ...(place === null ? [] : [place]), authorOf(comment)].join('  '), { size: 12 });
  await sheet.write(minuteOf(comment.createdAt), { color: GREY, size: 8 });
  if (comment.resolvedAt !== null) await sheet.write('Resolved', { color: GREEN, size: 8 });
  sheet.space(3);
}

const authorOf = ({ author }: ExportedComment) => (author === '' ? 'Deleted comment' : oneLine(author));

/** The page, the time or the range of a comment. */
function placeOf({ anchors, rate }: ExportedFile, { anchor, duration }: ExportedComment): string | null {
  if (anchor === null) return null;
  if (anchors === 'pages') return `Page ${anchor}`;
  const start = positionAt(anchor, rate);
  return duration === null ? start : `${start} – ${positionAt(anchor + duration, rate)}`;
}

/** Draws the frame of a comment with the drawing on it. Returns whether there is one. */
async function drawPicture(
  sheet: Sheet,
  file: ExportedFile,
  comment: ExportedComment,
  pictures: PictureSource,
): Promise<boolean> {
  const frame = await pictures.frameOf(comment).catch(() => 'unreadable' as const);
  if (frame === null) return false;
  if (frame === 'unreadable') {
    await sheet.write('The picture cannot be read.', { color: GREY, size: 8 });
    return true;
  }
  sheet.picture(frame, comment.drawn ? await pictures.shapesOf(comment) : []);
  if (frame.at !== null) await sheet.write(`Picture at ${positionAt(frame.at, file.rate)}`, { color: GREY, size: 8 });
  sheet.space(3);
  return true;
}

interface Style {
  size?: number;
  color?: string;
  indent?: number;
}

/** A document that is filled from top to bottom. */
class Sheet {
  readonly #doc: PDFKit.PDFDocument;
  readonly #letters = new Lettering();
  readonly #embedded = new Map<Frame, { name: string; image: PDFKit.PDFKitReference }>();
  #pages = 0;
  #y = MARGIN;

  constructor(title: string, createdAt: Date) {
    this.#doc = new PDFDocument({
      size: 'A4',
      // Pages are added by `need` only.
      margin: 0,
      autoFirstPage: false,
      font: FONT,
      info: { Title: title, Creator: 'Project Review Service', CreationDate: createdAt },
    });
    this.#addPage();
  }

  get #width(): number {
    return this.#doc.page.width - 2 * MARGIN;
  }

  /** What is ready to be sent. */
  *made(): Generator<Buffer> {
    for (let chunk = this.#doc.read(); chunk !== null; chunk = this.#doc.read()) yield chunk;
  }

  end(): void {
    this.#doc.end();
  }

  space(height: number): void {
    this.#y += height;
  }

  /** Starts a page unless this one has that much space. */
  need(height: number): void {
    if (this.#y + height > this.#doc.page.height - MARGIN) this.#addPage();
  }

  #addPage(): void {
    this.#doc.addPage();
    this.#pages += 1;
    const [line] = this.#letters.lines(String(this.#pages), 8, this.#width);
    if (line !== undefined) this.#draw(line, { x: MARGIN, y: this.#doc.page.height - 32 }, 8, GREY);
    this.#y = MARGIN;
  }

  async write(text: string, { size = 10, color = BLACK, indent = 0 }: Style = {}): Promise<void> {
    const width = this.#width - indent;
    for (const line of this.#letters.lines(text, size, width)) {
      this.need(size * 1.35);
      const used = line.runs.reduce((sum, run) => sum + run.width, 0);
      const x = MARGIN + indent + (line.rightToLeft ? width - used : 0);
      this.#draw(line, { x, y: this.#y }, size, color);
      this.#y += size * 1.35;
      await setImmediate();
    }
  }

  #draw({ runs, rightToLeft }: Line, at: { x: number; y: number }, size: number, color: string): void {
    let { x } = at;
    this.#doc.fontSize(size).fillColor(color);
    for (const run of rightToLeft ? runs.toReversed() : runs) {
      // pdfkit caches the layout of words. With features it lays out a run at once, so that Hebrew words are in their order.
      const order = run.rightToLeft ? { features: ['kern' as const] } : {};
      this.#doc.text(run.text, x, at.y, { lineBreak: false, ...order });
      x += run.width;
    }
  }

  /** Draws a picture at the left edge, with shapes on it. */
  picture(frame: Frame, shapes: readonly Shape[]): void {
    const scale = Math.min(PICTURE.width / frame.width, PICTURE.height / frame.height);
    const [width, height] = [frame.width * scale, frame.height * scale];
    this.need(height + 24);
    const box = { x: MARGIN, y: this.#y, width, height };
    this.#place(frame, box);
    drawShapes(this.#doc, shapes, box, (text, at, size, color) => {
      const [line] = this.#letters.lines(oneLine(text), size, Number.POSITIVE_INFINITY);
      if (line !== undefined) this.#draw(line, at, size, color);
    });
    this.#y += height + 4;
  }

  /** Places a picture, which is in the document once. pdfkit itself would store it again for every use. */
  #place(frame: Frame, { x, y, width, height }: Box): void {
    const { name, image } = this.#embedded.get(frame) ?? this.#embed(frame);
    this.#doc.page.xobjects[name] = image;
    this.#doc
      .save()
      .transform(width, 0, 0, -height, x, y + height)
      .addContent(`/${name} Do`);
    this.#doc.restore();
  }

  #embed(frame: Frame) {
    const { width, height } = frame;
    const image = this.#doc.ref({
      Type: 'XObject',
      Subtype: 'Image',
      Width: width,
      Height: height,
      BitsPerComponent: 8,
      ColorSpace: 'DeviceRGB',
      Filter: 'FlateDecode',
      DecodeParms: { Predictor: 15, Colors: 3, BitsPerComponent: 8, Columns: width },
    });
    image.end(frame.data);
    const embedded = { name: `Frame${this.#embedded.size + 1}`, image };
    this.#embedded.set(frame, embedded);
    return embedded;
  }
}
