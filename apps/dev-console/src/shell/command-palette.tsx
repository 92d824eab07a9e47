import { Modal, Text, TextInput, useMantineColorScheme } from '@mantine/core';
import { FileId } from '@review/contract';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { Icon, type IconName } from '../ui/icon.tsx';
import classes from './command-palette.module.css';
import { NAVIGATION } from './navigation.ts';
import { useSignOut } from './sign-out.ts';
import { SCHEMES } from './theme-switch.tsx';

interface Command {
  label: string;
  icon: IconName;
  keywords: string;
  run: () => void;
}

export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const listId = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const commands = useCommands(text.trim());
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
      <Modal.Content aria-label="Search pages and commands">
        <TextInput
          variant="unstyled"
          size="md"
          className={classes.input}
          leftSection={<Icon name="search" />}
          placeholder="Go to, switch, or paste the id of a file"
          aria-label="Search pages and commands"
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
              key={command.label}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === current}
              className={classes.command}
              onMouseMove={() => setChosen(index)}
              onClick={() => run(command)}
            >
              <Icon name={command.icon} />
              {command.label}
            </div>
          ))}
        </div>
        {commands.length === 0 && (
          <Text c="dimmed" size="sm" p="md">
            No page or command matches. Try the name of a page, or paste a file id that begins with FX.
          </Text>
        )}
      </Modal.Content>
    </Modal.Root>
  );
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
