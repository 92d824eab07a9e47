import { Page } from '../ui/page.tsx';

export function GeneratePage() {
  return <Page title="Generate">{null}</Page>;
}
