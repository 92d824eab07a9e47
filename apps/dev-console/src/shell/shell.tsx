import { AppShell, Burger, Group, Kbd, NavLink, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { useSession } from '../ping/session-query.ts';
import { Icon } from '../ui/icon.tsx';
import { PLACES } from './navigation.ts';
import classes from './shell.module.css';
import { useSignOut } from './sign-out.ts';
import { ThemeSwitch } from './theme-switch.tsx';

const CommandPalette = lazy(() => import('./command-palette.tsx'));

export function Shell() {
  const { workspace, scopes } = useSession();
  const [menuOpen, menu] = useDisclosure(false);
  const [paletteOpen, palette] = useDisclosure(false);
  const { pathname } = useLocation();
  const signOut = useSignOut();
  useHotkeys([['mod+K', palette.toggle]], []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone the menu covers the page it led to.
  useEffect(menu.close, [pathname]);

  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
    >
      <a href="#main" className={classes.skip}>
        Skip to the page
      </a>
      <AppShell.Header hiddenFrom="sm" className={classes.header}>
        <Burger opened={menuOpen} onClick={menu.toggle} size="sm" aria-label="Menu" />
        <Text fw={600} truncate>
          {workspace.name}
        </Text>
        <UnstyledButton onClick={palette.open} className={classes.find} aria-label="Find or do something">
          <Icon name="search" />
        </UnstyledButton>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} component="nav" aria-label="Console">
        <Group className={classes.workspace} wrap="nowrap">
          <span className={classes.mark} aria-hidden="true">
            {workspace.name.slice(0, 1)}
          </span>
          <div className={classes.names}>
            <Text fw={600} size="sm" truncate>
              {workspace.name}
            </Text>
            <Text size="xs" c="dimmed">
              {scopes.length} scopes
            </Text>
          </div>
          <Burger hiddenFrom="sm" opened onClick={menu.close} size="sm" aria-label="Close the menu" />
        </Group>
        <UnstyledButton onClick={palette.open} className={classes.search} visibleFrom="sm">
          <Icon name="search" />
          <span>Find or do…</span>
          <Kbd size="xs">⌘K</Kbd>
        </UnstyledButton>
        <div className={classes.places}>
          {PLACES.map(({ label, to, icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon name={icon} />}
              active={pathname === to || pathname.startsWith(`${to}/`)}
            />
          ))}
          <NavLink href="/docs" label="API reference" leftSection={<Icon name="book" />} />
        </div>
        <div className={classes.foot}>
          <ThemeSwitch />
          <NavLink component="button" label="Sign out" leftSection={<Icon name="leave" />} onClick={signOut} />
        </div>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} className={classes.main}>
        <Outlet />
      </AppShell.Main>
      <Suspense>{paletteOpen && <CommandPalette onClose={palette.close} />}</Suspense>
    </AppShell>
  );
}
