import { Button, Skeleton, VisuallyHidden } from '@mantine/core';
import type { FileDetails } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy } from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { useEffect, useRef, useState } from 'react';
import { useDesk } from '../../review/desk.tsx';
import { DrawingBar } from '../../review/drawing/bar.tsx';
import { DrawingLayer } from '../../review/drawing/layer.tsx';
import { type Shortcut, useShortcuts } from '../../review/shortcuts.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ProblemNotice } from '../../ui/problem-notice.tsx';
import { DrawControl } from './draw-control.tsx';
import { PageStrip } from './page-strip.tsx';
import { keysOf, Stage } from './stage.tsx';
import { useShownShapes } from './use-shown-shapes.ts';
import type { ViewerProps } from './viewer-props.ts';
import classes from './viewers.module.css';

GlobalWorkerOptions.workerSrc = workerUrl;

/** Shows one page at a time, because comments refer to pages. */
export default function PdfViewer({ file, url, asked, onPosition }: ViewerProps) {
  const document = useQuery({
    queryKey: ['pdf', file.id],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
    queryFn: () => getDocument({ url }).promise,
  });
  const desk = useDesk();
  const [page, setPage] = useState(Math.max(1, asked?.at ?? 1));
  useEffect(() => {
    if (asked !== null) setPage(Math.max(1, asked.at));
  }, [asked]);
  const count = document.data?.numPages ?? 1;
  const current = Math.min(page, count);
  const turn = (to: number) => {
    desk?.setTool(null);
    const next = Math.min(count, Math.max(1, to));
    setPage(next);
    onPosition(next, true);
  };
  const back = () => turn(current - 1);
  const on = () => turn(current + 1);
  const shortcuts: Shortcut[] = [
    { keys: ['ArrowLeft', 'PageUp'], label: 'Previous page', run: back },
    { keys: ['ArrowRight', 'PageDown'], label: 'Next page', run: on },
  ];
  useShortcuts(shortcuts);
  const isLoaded = document.data !== undefined;
  // A comment can be pinned before the first turn.
  useEffect(() => {
    if (isLoaded) onPosition(current, false);
  }, [isLoaded]);
  if (document.isError) return <ProblemNotice error={document.error} />;
  if (document.data === undefined) return <Skeleton h={420} />;
  return (
    <div className={classes.frame}>
      <Stage className={classes.sheet} label="Document: the arrows turn pages" keys={keysOf(shortcuts)}>
        <Sheet file={file} document={document.data} number={current} />
      </Stage>
      {desk !== null && desk.tool !== null && <DrawingBar desk={desk} />}
      <div className={classes.bar}>
        <Button size="compact-sm" variant="default" aria-label="Previous page" disabled={current === 1} onClick={back}>
          <Icon name="previous" size={14} />
        </Button>
        <Button size="compact-sm" variant="default" aria-label="Next page" disabled={current === count} onClick={on}>
          <Icon name="next" size={14} />
        </Button>
        <output className="numbers">
          Page {current} of {count}
        </output>
        <span className={classes.spring} />
        <DrawControl desk={desk} />
      </div>
      {count > 1 && <PageStrip file={file} count={count} current={current} onTurn={turn} />}
    </div>
  );
}

interface SheetProps {
  file: FileDetails;
  document: PDFDocumentProxy;
  number: number;
}

function Sheet({ file, document, number }: SheetProps) {
  const desk = useDesk();
  const shapes = useShownShapes(file, desk, ({ anchor }) => anchor === number);
  const [ratio, setRatio] = useState(1);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [words, setWords] = useState('');
  useEffect(() => {
    let cancel = () => {};
    let current = true;
    const draw = async () => {
      const page = await document.getPage(number);
      const element = canvas.current;
      if (!current || element === null) return;
      const viewport = page.getViewport({ scale: 1.4 * window.devicePixelRatio });
      element.width = viewport.width;
      element.height = viewport.height;
      setRatio(viewport.width / viewport.height);
      const task = page.render({ canvas: element, viewport });
      cancel = () => task.cancel();
      // Together, because rendering may be cancelled while the text is read.
      const [{ items }] = await Promise.all([page.getTextContent(), task.promise]);
      if (current) setWords(items.map((item) => ('str' in item ? item.str : '')).join(' '));
      element.dataset['drawn'] = String(number);
    };
    draw().catch((error: unknown) => {
      // Rendering was cancelled because another page was requested.
      if (current) throw error;
    });
    return () => {
      current = false;
      cancel();
    };
  }, [document, number]);
  return (
    <>
      <div className={classes.page}>
        <canvas ref={canvas} />
        <DrawingLayer ratio={ratio} shapes={shapes} desk={desk} />
      </div>
      <VisuallyHidden>{words}</VisuallyHidden>
    </>
  );
}
