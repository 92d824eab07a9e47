/** SVG paths on a 24 × 24 grid. */
const PATHS = {
  arrow: 'M5 19L19 5M9 5h10v10',
  book: 'M4 5a2 2 0 0 1 2-2h14v16H6a2 2 0 0 0-2 2zM4 19a2 2 0 0 1 2-2h14',
  box: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2',
  comment: 'M4 5h16v11H10l-4 4v-4H4z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  cross: 'M6 6l12 12M18 6L6 18',
  document: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  ellipse: 'M12 5c5 0 9 3.1 9 7s-4 7-9 7-9-3.1-9-7 4-7 9-7z',
  expand: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  film: 'M4 5h16v14H4zM8 5v14M16 5v14M4 9.5h4M4 14.5h4M16 9.5h4M16 14.5h4',
  folder: 'M3 6h6l2 2h10v11H3z',
  heart: 'M3 12h4l2.5-6 4.5 12 2.5-6H21',
  image: 'M4 5h16v14H4zM4 16l5-5 5 5 2-2 4 4M15 9.5h.01',
  key: 'M14 10a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM13 12.5L20 19v-3',
  leave: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  letter: 'M5 7V5h14v2M12 5v14M9 19h6',
  line: 'M5 19L19 5',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17',
  menu: 'M4 6.5h16M4 12h16M4 17.5h16',
  loop: 'M17 3l3 3-3 3M4 11V8a2 2 0 0 1 2-2h14M7 21l-3-3 3-3M20 13v3a2 2 0 0 1-2 2H4',
  minus: 'M5 12h14',
  more: 'M5.5 12a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0zM12.5 12a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0zM19.5 12a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0z',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  mute: 'M4 9.5v5h3.5L12 19V5L7.5 9.5zM16 9.5l5 5M21 9.5l-5 5',
  next: 'M9 5l7 7-7 7',
  paperclip: 'M8 12.5l6.5-6.5a3 3 0 0 1 4.2 4.2l-8.4 8.4a5 5 0 0 1-7-7L11 4',
  pause: 'M8 5v14M16 5v14',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6.5M17.5 14.5A6 6 0 0 1 21 20',
  pin: 'M12 21s-6-5.6-6-10.5a6 6 0 0 1 12 0C18 15.4 12 21 12 21zM12 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  pencil: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  play: 'M7 4.5v15l12-7.5z',
  plus: 'M12 5v14M5 12h14',
  previous: 'M15 5l-7 7 7 7',
  pulse: 'M4 6h10M4 12h16M4 18h7',
  redo: 'M20 5v6h-6M20 11a8 8 0 1 0-2.3 6',
  repeat: 'M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5',
  screen: 'M3 5h18v11H3zM8 20h8M12 16v4',
  smile: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 14.5a4.5 4.5 0 0 0 7 0M9 9.5h.01M15 9.5h.01',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
  sound:
    'M9 18V6l11-2.5v12.5M9 18a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0zM20 16a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0z',
  spark: 'M12 3l1.9 6.1L20 11l-6.1 1.9L12 19l-1.9-6.1L4 11l6.1-1.9zM19 16v4M17 18h4',
  stop: 'M6 6h12v12H6z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  undo: 'M4 5v6h6M4 11a8 8 0 1 1 2.3 6',
  upload: 'M12 20V9M7 13l5-5 5 5M5 4h14',
  volume: 'M4 9.5v5h3.5L12 19V5L7.5 9.5zM15.5 9a4.5 4.5 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
} as const;
export type IconName = keyof typeof PATHS;

/** A decorative icon, hidden from screen readers: use it beside text or inside a labelled control. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
