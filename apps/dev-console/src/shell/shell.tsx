import { Kbd, UnstyledButton } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { useKeyRefused } from '../connection/refusal.ts';
import { useSession } from '../session/session-query.ts';
import { Icon } from '../ui/icon.tsx';
import { useUploadsPresent } from '../uploads/present.ts';
import { NAVIGATION } from './navigation.ts';
import classes from './shell.module.css';
import { useSignOut } from './sign-out.ts';
import { FLOATING } from './theme.ts';
import { ThemeSwitch } from './theme-switch.tsx';

const CommandPalette = lazy(() => import('./command-palette.tsx'));
const UploadDock = lazy(() => import('../uploads/dock.tsx'));
const SignInAgain = lazy(() => import('./sign-in-again.tsx'));

const PALETTE_KEYS = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

/** The layout around every page, with the navigation. On a phone the navigation is an overlay. */
export function Shell() {
  const { workspace } = useSession();
  const [menuOpen, menu] = useDisclosure(false);
  const [paletteOpen, palette] = useDisclosure(false);
  const { pathname } = useLocation();
  const signOut = useSignOut();
  const isKeyRefused = useKeyRefused();
  const hasUploads = useUploadsPresent();
  useHotkeys([['mod+K', palette.toggle]], []);
  useHotkeys([['Escape', menu.close]]);
  // Closes the overlay after navigation.
  useEffect(() => void (pathname && menu.close()), [pathname, menu.close]);

  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <header className={classes.header}>
        <UnstyledButton
          className={classes.tool}
          aria-label={menuOpen ? 'Close the menu' : 'Menu'}
          aria-expanded={menuOpen}
          aria-controls="menu"
          onClick={menu.toggle}
        >
          <Icon name={menuOpen ? 'cross' : 'menu'} size={20} />
        </UnstyledButton>
        <span className={classes.name}>{workspace.name}</span>
        <UnstyledButton className={classes.tool} aria-label="Search everything" onClick={palette.open}>
          <Icon name="search" size={20} />
        </UnstyledButton>
      </header>
      <nav id="menu" className={classes.menu} data-open={menuOpen || undefined} aria-label="Console">
        <div className={classes.workspace}>
          <span className={classes.mark} aria-hidden="true">
            {workspace.name.slice(0, 1)}
          </span>
          <span className={classes.name}>{workspace.name}</span>
        </div>
        <UnstyledButton className={classes.search} onClick={palette.open}>
          <Icon name="search" size={16} />
          <span>Find or do…</span>
          <Kbd size="xs">{PALETTE_KEYS}</Kbd>
        </UnstyledButton>
        <ul className={classes.places}>
          {NAVIGATION.map(({ label, to, icon }) => (
            <li key={to}>
              <Link to={to} className={classes.place} activeProps={{ 'aria-current': 'page' }}>
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
          <li>
            <a href="/docs" className={classes.place}>
              <Icon name="book" />
              API reference
            </a>
          </li>
        </ul>
        <ThemeSwitch />
        <UnstyledButton className={classes.place} onClick={signOut}>
          <Icon name="leave" />
          Sign out
        </UnstyledButton>
      </nav>
      {menuOpen && <div className={classes.curtain} onPointerDown={menu.close} aria-hidden="true" />}
      <main id="main" tabIndex={-1} className={classes.main}>
        <Outlet />
        <div id={FLOATING} />
      </main>
      <Suspense>{hasUploads && <UploadDock />}</Suspense>
      <Suspense>{isKeyRefused && <SignInAgain />}</Suspense>
      <Suspense>{paletteOpen && <CommandPalette onClose={palette.close} />}</Suspense>
    </div>
  );
}
