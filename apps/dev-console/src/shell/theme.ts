import { createTheme, type MantineColorsTuple } from '@mantine/core';

const stone: MantineColorsTuple = [
  '#faf9f7',
  '#f3f2ef',
  '#e6e4e0',
  '#d5d2cc',
  '#aaa69f',
  '#716d66',
  '#5a564f',
  '#45423d',
  '#2b2926',
  '#1b1a18',
];

/** From the text colour to the darkest background. */
const night: MantineColorsTuple = [
  '#e9e7e3',
  '#cbc8c2',
  '#aaa69f',
  '#918d86',
  '#4b4844',
  '#393633',
  '#282623',
  '#1b1a18',
  '#151412',
  '#0f0e0d',
];

const pine: MantineColorsTuple = [
  '#eef8f5',
  '#d8efe8',
  '#aedfd2',
  '#80cdba',
  '#54b5a0',
  '#33927f',
  '#21796a',
  '#1b6357',
  '#174f46',
  '#123f38',
];

/** Where menus and tooltips are drawn: inside the landmark of the page, so that people who go from landmark to landmark find them. */
export const FLOATING = 'floating';

export const theme = createTheme({
  colors: { gray: stone, dark: night, pine },
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: 'md',
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: '0.75rem', sm: '0.84rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.2' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    // Links inside text need more than colour to be recognised.
    Anchor: { defaultProps: { underline: 'always' } },
    // The first item takes the focus: a menu must hold nothing but items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // Its <header> would be a second banner of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
    Popover: { defaultProps: { portalProps: { target: `#${FLOATING}` } } },
    Tooltip: { defaultProps: { portalProps: { target: `#${FLOATING}` } } },
  },
});
