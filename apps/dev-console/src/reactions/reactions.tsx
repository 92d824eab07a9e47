import { ActionIcon, Button, Group, Popover, TextInput, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type CommentRecord, normalizeEmoji } from '@review/contract';
import { useState } from 'react';
import { client } from '../api.ts';
import { Icon } from '../ui/icon.tsx';
import { WithHint } from '../ui/with-hint.tsx';
import classes from './reactions.module.css';

const OFFERED = ['👍', '❤️', '🎉', '😄', '👀', '🤔', '👎', '✅'];

type Reactions = CommentRecord['reactions'];

/** Adds the reaction, or removes it if `reacted`. */
export interface Toggle {
  type: string;
  reacted: boolean;
}

export const sendToggle = (id: string, { type, reacted }: Toggle) =>
  reacted
    ? client.reactions.delete({ params: { id }, body: { type } })
    : client.reactions.create({ params: { id }, body: { type } });

export function toggleReaction(reactions: Reactions, type: string): Reactions {
  const held = reactions.find((reaction) => reaction.type === type);
  if (held === undefined) return [...reactions, { type, count: 1, reacted: true }];
  const change = held.reacted ? -1 : 1;
  return reactions
    .map((each) => (each === held ? { ...each, count: each.count + change, reacted: !each.reacted } : each))
    .filter(({ count }) => count > 0);
}

interface ReactionsProps {
  reactions: Reactions;
  refusal: string | null;
  onToggle: (toggle: Toggle) => void;
}

export function Reactions({ reactions, refusal, onToggle }: ReactionsProps) {
  const [picking, picker] = useDisclosure(false);
  const press = (type: string) => {
    picker.close();
    if (refusal !== null) return;
    onToggle({ type, reacted: reactions.some((each) => each.type === type && each.reacted) });
  };
  return (
    <>
      {reactions.map(({ type, count, reacted }) => (
        <UnstyledButton
          key={type}
          className={classes.reaction}
          aria-pressed={reacted}
          aria-label={`${type} ${count}`}
          onClick={() => press(type)}
        >
          {type} <span className="numbers">{count}</span>
        </UnstyledButton>
      ))}
      <WithHint hint={refusal}>
        <Popover opened={picking} onChange={picker.toggle} trapFocus withinPortal position="top-start">
          <Popover.Target>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label="React"
              disabled={refusal !== null}
              onClick={picker.toggle}
            >
              <Icon name="smile" size={16} />
            </ActionIcon>
          </Popover.Target>
          <Popover.Dropdown p="xs">
            <Picker onPick={press} />
          </Popover.Dropdown>
        </Popover>
      </WithHint>
    </>
  );
}

function Picker({ onPick }: { onPick: (emoji: string) => void }) {
  const [typed, setTyped] = useState('');
  const emoji = normalizeEmoji(typed.trim());
  return (
    <>
      <Group gap={2} role="group" aria-label="Emoji">
        {OFFERED.map((each) => (
          <UnstyledButton key={each} className={classes.offered} aria-label={each} onClick={() => onPick(each)}>
            {each}
          </UnstyledButton>
        ))}
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (emoji !== null) onPick(emoji);
        }}
      >
        <Group gap={4} mt={6} wrap="nowrap" align="flex-start">
          <TextInput
            size="xs"
            aria-label="Another emoji"
            placeholder="Another emoji"
            value={typed}
            error={typed.trim() !== '' && emoji === null ? 'Exactly one emoji' : null}
            onChange={({ target }) => setTyped(target.value)}
          />
          <Button size="xs" type="submit" variant="default" disabled={emoji === null}>
            React
          </Button>
        </Group>
      </form>
    </>
  );
}
