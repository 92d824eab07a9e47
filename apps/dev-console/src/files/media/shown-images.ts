/** Images that browsers show. An SVG is shown as an image, in which scripts and links do not work, and never as part of the page. */
export const SHOWN_IMAGES = /^image\/(png|jpeg|webp|gif|avif|svg\+xml)$/;
