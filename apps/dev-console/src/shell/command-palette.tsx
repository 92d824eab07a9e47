import { Modal, Text, TextInput, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { FileId } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { Icon, type IconName } from '../ui/icon.tsx';
import classes from './command-palette.module.css';
import { NAVIGATION } from './navigation.ts';
import { detailOf, pageOf, RESULT_ICONS, searchQuery } from './search-query.ts';
import { useSignOut } from './sign-out.ts';
import { SCHEMES } from './theme-switch.tsx';

interface Command {
  /** Of a search result; the label identifies the others. */
  id?: string;
  label: string;
  icon: IconName;
  keywords: string;
  /** Shown below the label. */
  detail?: string;
  run: () => void;
}

export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const listId = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [keyword] = useDebouncedValue(text.trim(), 150);
  const found = useFound(keyword);
  const commands = [...useCommands(text.trim()), ...(text.trim() === '' ? [] : found.commands)];
  const current = Math.min(chosen, commands.length - 1);

  function run(command: Command | undefined) {
    if (command === undefined) return;
    onClose();
    command.run();
  }

  function steer(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((current + step + commands.length) % Math.max(1, commands.length));
    else if (event.key === 'Enter') run(commands[current]);
    else return;
    event.preventDefault();
  }

  return (
    <Modal.Root opened onClose={onClose} padding={0} yOffset="14vh" size="34rem">
      <Modal.Overlay />
      <Modal.Content aria-label="Search everything">
        <TextInput
          variant="unstyled"
          size="md"
          className={classes.input}
          leftSection={<Icon name="search" />}
          placeholder="Files, projects, comments, people, pages and commands"
          aria-label="Search everything"
          role="combobox"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={commands.length > 0 ? `${listId}-${current}` : undefined}
          data-autofocus
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={steer}
        />
        <div id={listId} role="listbox" aria-label="Commands" className={classes.list}>
          {commands.map((command, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which refers to the active option.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
            <div
              key={command.id ?? command.label}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === current}
              className={classes.command}
              onMouseMove={() => setChosen(index)}
              onClick={() => run(command)}
            >
              <Icon name={command.icon} />
              <span className={classes.text}>
                <span className={classes.label}>{command.label}</span>
                {command.detail !== undefined && <span className={classes.detail}>{command.detail}</span>}
              </span>
            </div>
          ))}
        </div>
        <Text c="dimmed" size="sm" p={found.isSearching || commands.length === 0 ? 'md' : 0} role="status">
          {found.isSearching
            ? 'Searching…'
            : commands.length === 0 && 'Nothing matches. Try a shorter word, or paste a file id that begins with FX.'}
        </Text>
      </Modal.Content>
    </Modal.Root>
  );
}

/** The search results as commands that open their pages. */
function useFound(keyword: string): { commands: Command[]; isSearching: boolean } {
  const navigate = useNavigate();
  const { data = [], isFetching } = useQuery(searchQuery(keyword));
  const commands = data.flatMap((result): Command[] => {
    const page = pageOf(result);
    if (page === undefined) return [];
    return [
      {
        id: `${result.type} ${result.id}`,
        label: result.title,
        icon: RESULT_ICONS[result.type],
        keywords: '',
        detail: detailOf(result),
        run: () => void navigate(page),
      },
    ];
  });
  return { commands: keyword === '' ? [] : commands, isSearching: isFetching };
}

function useCommands(text: string): Command[] {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  if (FileId.safeParse(text).success) {
    const params = { fileId: text };
    return [
      {
        label: `Open the file ${text}`,
        icon: 'image',
        keywords: '',
        run: () => navigate({ to: '/files/$fileId', params }),
      },
      {
        label: `How ${text} was made`,
        icon: 'pulse',
        keywords: '',
        run: () => navigate({ to: '/runs/$fileId', params }),
      },
    ];
  }
  const all: Command[] = [
    ...NAVIGATION.map(({ label, to, icon, keywords }) => ({ label, icon, keywords, run: () => navigate({ to }) })),
    { label: 'API reference', icon: 'book', keywords: 'docs openapi', run: () => window.location.assign('/docs') },
    ...SCHEMES.map(({ value, label, icon }) => ({
      label: `Colours: ${label.toLowerCase()}`,
      icon,
      keywords: 'theme scheme mode',
      run: () => setColorScheme(value),
    })),
    { label: 'Sign out', icon: 'leave', keywords: 'log out leave key', run: signOut },
  ];
  const words = text.toLowerCase().split(/\s+/);
  return all.filter(({ label, keywords }) =>
    words.every((word) => `${label} ${keywords}`.toLowerCase().includes(word)),
  );
}
